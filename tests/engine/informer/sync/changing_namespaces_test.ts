import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Abortable, Selection } from "../../../../src/engine/api/call_options.ts";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import { StatusError } from "../../../../src/engine/api/status.ts";
import { ChangingNamespaces } from "../../../../src/engine/informer/sync/changing_namespaces.ts";
import { ChangingParts } from "../../../../src/engine/informer/sync/changing_parts.ts";
import type { CollectionSync } from "../../../../src/engine/informer/sync/collection_sync.ts";
import { seedGlobals } from "../../../../src/testing/fake/random.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { entry, type Thing } from "../../../support/sources/fixtures.ts";

/** A controller of one namespace, which runs until it is ended, and a little longer while a test holds it. */
class FakePart {
  readonly source: { readonly selection: Selection };
  readonly namespace: string | undefined;
  readonly place: string;
  readonly gate = { version: "10" };
  readonly state: { cause?: unknown } = {};
  readonly calls: string[] = [];
  readonly gone: string[] = [];
  entries: CacheEntry<Thing>[] = [];
  readonly known = { list: (): readonly CacheEntry<Thing>[] => this.entries };
  /** Awaited by its run after the signal has aborted. */
  ending: Promise<void> = Promise.resolve();

  constructor(namespace: string | undefined) {
    this.namespace = namespace;
    this.place = namespace ?? "";
    this.source = { selection: { namespace } };
  }

  join(): void {
    this.calls.push("join");
  }

  delay(error: unknown, delayMs: number): void {
    this.calls.push(`delay ${(error as Error).message} ${delayMs > 0}`);
  }

  async run({ signal }: Abortable): Promise<void> {
    this.calls.push("run");
    await new Promise<void>((resolve) => signal!.addEventListener("abort", () => resolve(), { once: true }));
    await this.ending;
  }

  pause(): void {
    this.calls.push("pause");
  }

  end(): void {
    this.calls.push("end");
  }

  serverKeyOf({ key }: CacheEntry<Thing>): string {
    return key;
  }

  moved({ key }: CacheEntry<Thing>): void {
    this.gone.push(key);
  }
}

/** The namespaces of a collection, as a test answers the questions for them. */
class Changing {
  readonly time = new FakeTime();
  readonly questions: { readonly signal: AbortSignal; readonly answer: PromiseWithResolvers<readonly string[]> }[] = [];
  readonly reports: unknown[] = [];
  readonly failures: unknown[] = [];
  readonly stop = new AbortController();
  parts: readonly FakePart[] = [new FakePart(undefined)];
  make = ({ namespace }: Selection): FakePart => new FakePart(namespace);
  readonly changing: ChangingParts<Thing>;
  readonly namespaces: ChangingNamespaces;
  readonly running: Promise<void>;
  isOver = false;

  constructor() {
    const find = ({ signal }: Abortable): Promise<readonly string[]> => {
      const answer = Promise.withResolvers<readonly string[]>();
      signal!.addEventListener("abort", () => answer.reject(signal!.reason), { once: true });
      this.questions.push({ signal: signal!, answer });
      return answer.promise;
    };
    const parts = (): readonly FakePart[] => this.parts;
    const sync = {
      get parts() {
        return parts();
      },
      collection: { scope: { parts: [{}] } },
      sharesVersions: true,
      make: (selection: Selection) => this.make(selection),
      replace: (parts: readonly FakePart[]) => void (this.parts = parts),
      report: (error: unknown) => void this.reports.push(error),
    } as unknown as CollectionSync<Thing>;
    const changing = this.changing = new ChangingParts<Thing>(sync);
    this.namespaces = new ChangingNamespaces(find, Object.assign(sync, { changing }));
    changing.start([], this.stop.signal, (error) => void this.failures.push(error));
    this.running = this.namespaces.run(this.stop.signal).then(() => changing.ended());
    this.running.then(() => this.isOver = true, () => {});
  }

  async tick(ms = 0): Promise<void> {
    await this.time.tickAsync(ms);
  }

  /** Answers the last question. */
  async answer(...names: string[]): Promise<void> {
    this.questions.at(-1)!.answer.resolve(names);
    await this.tick();
  }

  /** The last question fails. */
  async fail(error: Error): Promise<void> {
    this.questions.at(-1)!.answer.reject(error);
    await this.tick();
  }

  /** Asks again, after the longest time between two questions. */
  async again(): Promise<void> {
    const { length } = this.questions;
    await this.tick(75_000);
    assertEquals(this.questions.length, length + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort();
    await this.tick();
    await this.running.catch(() => {});
    assertEquals(this.time.timers, 0);
    this.time[Symbol.dispose]();
  }
}

function forbidden(message: string): StatusError {
  return new StatusError(message, { code: 403, reason: "Forbidden", message });
}

Deno.test("ChangingNamespaces that cannot make a controller rejects", async () => {
  await using changing = new Changing();
  changing.make = () => {
    throw new Error("no such controller");
  };
  await changing.tick();
  const rejected = assertRejects(() => changing.running, Error, "no such controller");
  await changing.answer("a");
  await rejected;
});

Deno.test("ChangingNamespaces has ended when its controllers have, and follows nothing then", async () => {
  await using changing = new Changing();
  await changing.tick();
  await changing.answer("a", "b");
  const [a, b] = changing.parts;
  const [endA, endB] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  [a.ending, b.ending] = [endA.promise, endB.promise];
  await changing.again();
  await changing.answer("a", "c"); // the second one goes at once, and ends later
  const [, c] = changing.parts;
  changing.stop.abort();
  endA.resolve();
  await changing.tick();
  assertEquals([changing.parts, changing.isOver, b.calls], [[a, c], false, ["join", "run", "end"]]);
  endB.resolve();
  await changing.tick();
  assertEquals([changing.parts, changing.isOver], [[a, c], true]);
});

Deno.test("ChangingNamespaces removes what a controller has cached, and begins others paused meanwhile", async () => {
  await using changing = new Changing();
  await changing.tick();
  await changing.answer("a");
  const [a] = changing.parts;
  a.entries = [entry("late", 1, { namespace: "a" })];
  await changing.again();
  changing.changing.isPaused = true;
  await changing.answer("b");
  assertEquals([a.gone, a.calls], [["a/late"], ["join", "run", "end"]]);
  assertEquals(changing.parts.map(({ namespace, calls }) => [namespace, calls]), [["b", ["join", "pause", "run"]]]);
});

Deno.test("ChangingNamespaces that is paused ends its question, which is no failure", async () => {
  await using changing = new Changing();
  await changing.tick();
  const [{ signal }] = changing.questions;
  changing.namespaces.pause();
  await changing.tick(100_000);
  assertEquals([signal.aborted, changing.questions.length, changing.parts[0].calls], [true, 1, []]);
  changing.namespaces.resume();
  await changing.tick();
  await changing.answer("a");
  await changing.again();
  changing.namespaces.retry();
  await changing.tick();
  assertEquals([changing.questions.length, changing.reports], [4, []]);
});

Deno.test("ChangingNamespaces reports a refusal that no answer explains, also where the question for it has failed", async () => {
  await using changing = new Changing();
  await changing.tick();
  await changing.answer("a");
  const refusal = changing.parts[0].state.cause = forbidden("no");
  assertEquals(changing.namespaces.refused(refusal), true);
  await changing.tick(5_000);
  const failure = new Error("broken");
  await changing.fail(failure);
  assertEquals(changing.reports, [failure]);
  await changing.tick(5_000);
  await changing.answer("a");
  assertEquals(changing.reports, [failure, refusal]);
});

Deno.test("ChangingNamespaces asks later after each failure and each refusal in a row that is not explained, and sooner again", async () => {
  using _random = seedGlobals(() => 0.5);
  await using changing = new Changing();
  await changing.tick();
  await changing.answer("a");
  const [a] = changing.parts;
  const { questions } = changing;
  const refusal = forbidden("no");
  /** The seconds until the next question. */
  const waits = async (): Promise<number> => {
    const { length } = questions;
    for (let seconds = 0;; seconds += 0.1) {
      if (questions.length > length || seconds > 100) return seconds;
      await changing.tick(100);
    }
  };
  const failed = async (): Promise<number> => {
    await changing.fail(new Error("broken"));
    return await waits();
  };
  const refused = async (): Promise<number> => {
    a.state.cause = refusal;
    changing.namespaces.refused(refusal);
    await changing.answer("a");
    return await waits();
  };
  await changing.again();
  const [first, second, third] = [await failed(), await failed(), await failed()];
  assert(first < second && second < third, `${[first, second, third]}`);
  await changing.answer("a");
  await changing.again();
  assertEquals(await failed(), first);
  await changing.answer("a");
  await changing.again();
  const [once, twice, more] = [await refused(), await refused(), await refused()];
  assert(once < twice && twice < more, `${[once, twice, more]}`);
  a.state.cause = undefined;
  await changing.answer("a");
  await waits();
  assertEquals([await refused(), await refused()], [once, twice]);
});
