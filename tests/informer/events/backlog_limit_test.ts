import { assertEquals } from "@std/assert";
import { nextTurn } from "../../../src/async/next_turn.ts";
import { Pacer } from "../../../src/async/pacer.ts";
import { Quarantine } from "../../../src/informer/cache/quarantine.ts";
import { BacklogLimit } from "../../../src/informer/events/backlog_limit.ts";
import { Added } from "../../../src/informer/events/event.ts";
import { EventLog } from "../../../src/informer/events/event_log.ts";
import { entry, type Thing } from "../../support/fixtures.ts";

const event = new Added(entry("a", 1), new Quarantine<Thing>(() => {}, () => true), false);

/** A pacer whose turns come when a test says so. */
class HeldPacer extends Pacer {
  #go: (() => void) | undefined;

  override turn(): Promise<void> {
    return new Promise((resolve) => this.#go = resolve);
  }

  /** Lets the turn come, and what follows it. */
  async pass(): Promise<void> {
    await settled();
    this.#go?.();
    this.#go = undefined;
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 3; i++) await nextTurn();
}

/** A limit of 10 events, and the errors of overruns. */
function limited(): {
  pacer: HeldPacer;
  errors: string[];
  log: (count: number) => void;
  take: (count: number) => void;
} {
  const log = new EventLog<Thing>();
  const pacer = new HeldPacer();
  const errors: string[] = [];
  const limit: BacklogLimit<Thing> = new BacklogLimit<Thing>(10, log, pacer, ({ message }) => {
    errors.push(message);
    limit.end();
  });
  return {
    pacer,
    errors,
    log: (count) => {
      for (let i = 0; i < count; i++) log.append(event);
    },
    take: (count) => {
      for (let i = 0; i < count; i++) limit.taken(event);
    },
  };
}

Deno.test("BacklogLimit compares a backlog with the last one only when the reader has taken all of that", async () => {
  const { pacer, errors, log, take } = limited();
  log(20);
  await settled();
  take(20);
  log(15);
  await pacer.pass();
  // Of those 15, the reader takes 5 in its next turn, in which 12 more come: 22 in all, but 10 of the 15 are left.
  take(5);
  log(12);
  await pacer.pass();
  assertEquals(errors, []);
  take(10);
  log(4); // 16 behind, and all 15 are taken
  await pacer.pass();
  assertEquals(errors, ["more than 10 events behind"]);
});

Deno.test("BacklogLimit ends a reader that takes nothing, also after it has caught up once", async () => {
  const { pacer, errors, log, take } = limited();
  log(11);
  await settled();
  take(11);
  await pacer.pass();
  log(11);
  await settled();
  assertEquals(errors, []);
  await pacer.pass();
  assertEquals(errors, ["more than 10 events behind"]);
});
