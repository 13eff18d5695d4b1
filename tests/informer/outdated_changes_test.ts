import { assertEquals, assertMatch } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { OutdatedChanges } from "../../src/informer/sync/cache_writer.ts";
import { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { entry, modified, Thing, thing } from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { holding, Run } from "../support/informer.ts";
import { Wire } from "./_wire.ts";

const MINUTE = 60_000;

/** A step of a watch that was opened at version 10, while a@9 is cached. */
type Step =
  | { readonly do: "drop"; readonly version: number; readonly deleted?: boolean }
  | { readonly do: "settle" | "resume" | "list" | "wait a minute" }
  | { readonly do: "list up to"; readonly version: number }
  | { readonly do: "flush"; readonly version: number };

/** The versions whose changes are the reasons for lists. */
async function relistsAfter(...steps: Step[]): Promise<string[]> {
  using time = new FakeTime();
  const relists: string[] = [];
  const relist = ({ message }: Error): void => void relists.push(/version (\d+)/.exec(message)![1]);
  using outdated = new OutdatedChanges({ relist }, () => {});
  const watch = (): void => outdated.entered({ name: "watching", resourceVersion: "10", open: false } as never);
  watch();
  for (const step of steps) {
    if (step.do === "drop") outdated.dropped(entry("a", step.version), entry("a", 900), step.deleted ?? false);
    else if (step.do === "settle") outdated.settled("default/a");
    else if (step.do === "flush") outdated.reached(String(step.version));
    else if (step.do === "wait a minute") await time.tickAsync(MINUTE);
    else {
      if (step.do !== "resume") {
        outdated.entered({ name: "listing", resourceVersion: "10" } as never);
        outdated.reached(step.do === "list up to" ? String(step.version) : "10");
      }
      if (step.do !== "list up to") watch();
    }
    await time.tickAsync(0);
  }
  return relists;
}

const flush = (version: number): Step => ({ do: "flush", version });

Deno.test("OutdatedChanges requests a relist for an outdated change above the version at which the watch was opened", async () => {
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, flush(11)), ["11"]);
  assertEquals(await relistsAfter({ do: "drop", version: 11, deleted: true }, flush(11)), ["11"]);
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, { do: "list" }), [], "a list comes first");
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, { do: "list" }, flush(12)), [], "and settles it");
});

Deno.test("OutdatedChanges requests one relist until a list follows, because the reflector drops no request", async () => {
  const wait: Step = { do: "wait a minute" };
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, flush(11), wait, wait), ["11"]);
  assertEquals(await relistsAfter({ do: "drop", version: 11 }, flush(11), { do: "list" }, wait), ["11"]);
});

Deno.test("OutdatedChanges compares what follows a streaming list in the same batch with the version of that list", async () => {
  const list: Step = { do: "list up to", version: 20 };
  assertEquals(await relistsAfter(list, { do: "drop", version: 21 }, flush(21)), ["21"]);
  assertEquals(await relistsAfter(list, { do: "drop", version: 15 }, { do: "settle" }, flush(21)), []);
});

Deno.test("SharedIndexInformer that is stopped before a relist that is due leaves no timer", async () => {
  await using run = await new Run(holding(entry("a", 5))).start();
  run.source.list();
  await run.send(modified("a", 12), modified("a", 11));
  assertEquals(run.source.requests.at(-1), "list - limit=500", "the relist is not answered");
});

Deno.test("OutdatedChanges treats a change as a replay if its object arrives again before the watch continues", async () => {
  const drop: Step = { do: "drop", version: 8 };
  assertEquals(await relistsAfter(drop, flush(10), { do: "settle" }, flush(10), flush(11)), []);
  assertEquals(await relistsAfter(drop, flush(10), { do: "resume" }, { do: "settle" }, flush(11)), []);
  assertEquals(await relistsAfter(drop, flush(10)), [], "nothing has come behind it yet");
  assertEquals(await relistsAfter(drop, flush(10), flush(11)), ["8"]);
  assertEquals(await relistsAfter(drop, flush(10), { do: "list" }, flush(11)), [], "a list settles it");
  assertEquals(await relistsAfter({ ...drop, deleted: true }, flush(10), flush(11)), []);
});

Deno.test("SharedIndexInformer relists when a server does not order its versions, once a minute, and reports it once", async () => {
  using time = new FakeTime();
  const wire = new Wire(100, thing("a", 900));
  const errors: Error[] = [];
  await using informer = new SharedIndexInformer<Thing>(
    new Client({ server: "http://wire", transport: wire }).resource(Thing),
    { reflector: { streamingList: "off" }, onError: (error) => errors.push(error as Error) },
  );
  void informer.run();
  await time.tickAsync(0);
  const size = (): number | undefined => informer.lister.namespace("default").get("a")?.spec.size;
  const lists = (): number => wire.requests.filter((request) => request === "list").length;
  for (let change = 1; change <= 5; change++) {
    const version = 900 - change;
    const object = thing("a", version, { size: 1 + change });
    wire.list = { version: 100, objects: [object] };
    wire.send({ type: "MODIFIED", object });
    await time.tickAsync(10_000);
  }
  // One at once, and one for all that came in the minute after.
  assertEquals([lists(), size()], [2, 2]);
  await time.tickAsync(MINUTE);
  assertEquals([lists(), size(), informer.status().outdated], [3, 6, 5]);
  assertMatch(errors[0].message, /"default\/a": found version 899, older than the cached 900/);
  assertEquals(errors.length, 1);
  await time.tickAsync(10 * MINUTE);
  assertEquals(lists(), 3);
});

Deno.test("SharedIndexInformer does not relist when a resumed watch replays cached changes", async () => {
  using time = new FakeTime();
  const wire = new Wire(10, thing("a", 7), thing("b", 9, { uid: "second" }));
  await using informer = new SharedIndexInformer<Thing>(
    new Client({ server: "http://wire", transport: wire }).resource(Thing),
    { reflector: { streamingList: "off" } },
  );
  void informer.run();
  await time.tickAsync(0);
  wire.send({ type: "MODIFIED", object: thing("a", 5) }, { type: "MODIFIED", object: thing("b", 6) });
  wire.send({ type: "DELETED", object: thing("b", 8) }, { type: "ADDED", object: thing("b", 9, { uid: "second" }) });
  wire.send({ type: "MODIFIED", object: thing("a", 7) }, { type: "ADDED", object: thing("c", 11) });
  await time.tickAsync(2 * MINUTE);
  assertEquals(informer.status().outdated, 3);
  assertEquals(wire.requests.filter((request) => request === "list").length, 1);
});
