import { assert, assertEquals, assertInstanceOf, assertRejects, assertThrows } from "@std/assert";
import { DecodeError } from "../../../../src/engine/api/status.ts";
import { CheckpointError, type CheckpointRecord, type CheckpointStore } from "../../../../src/engine/api/stores.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { errorLine } from "../../../../src/engine/errors/errors.ts";
import { internals } from "../../../../src/engine/errors/internals.ts";
import { Checkpoint, MemoryCheckpoints } from "../../../../src/engine/informer/events/checkpoint.ts";
import type { HandlerOptions, InformerEvent } from "../../../../src/engine/informer/events/event.ts";
import type { SharedIndexInformerOptions } from "../../../../src/engine/informer/options.ts";
import { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { ConfigMap } from "../../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

/** A server under fake time, and a store of checkpoints that records the writes. */
class Fixture implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly server = new FakeApiServer({ bookmarkMs: 10_000 });
  readonly client = new Client({ server: "http://fake", transport: this.server });
  readonly kept = new MemoryCheckpoints();
  readonly errors: unknown[] = [];
  readonly writes: CheckpointRecord[] = [];
  readonly informers: SharedIndexInformer<ConfigMap>[] = [];
  /** Thrown by the next writes, if there are some. */
  readonly failures: Error[] = [];
  ownUid = "";
  readonly store: CheckpointStore = {
    get: (name) => this.kept.get(name),
    set: async (name, record, change) => {
      const failure = this.failures.shift();
      if (failure !== undefined) throw failure;
      const stamp = await this.kept.set(name, record, change);
      if (stamp !== undefined) this.writes.push({ ...record, objects: new Map(record.objects) });
      return stamp;
    },
    isOwn: (_name, uid) => uid === this.ownUid,
  };

  write(name: string, value: string): void {
    const key = `shop/${name}`;
    if (this.server.get(ConfigMap, key) !== undefined) this.server.patch(ConfigMap, key, { data: { value } });
    else this.server.create(ConfigMap, { metadata: { namespace: "shop", name }, data: { value } });
  }

  delete(name: string): void {
    this.server.delete(ConfigMap, `shop/${name}`);
  }

  informer(options: SharedIndexInformerOptions<ConfigMap> = {}): SharedIndexInformer<ConfigMap> {
    const informer = new SharedIndexInformer<ConfigMap>(this.client.resource(ConfigMap), {
      onError: (error) => this.errors.push(error),
      ...options,
    });
    this.informers.push(informer);
    return informer;
  }

  open(intervalMs = 0): Promise<Checkpoint> {
    return Checkpoint.open(this.store, { name: "test", intervalMs: intervalMs });
  }

  /** Starts an informer whose handler reads from the checkpoint, and returns the lines of its events. */
  async start(options: HandlerOptions<ConfigMap> = {}): Promise<Handled> {
    const checkpoint = options.checkpoint ?? await this.open();
    const handled = new Handled(this.informer(), { ...options, checkpoint });
    void handled.informer.run();
    await this.time.tickAsync(0);
    return handled;
  }

  /** The objects that the store has, such as `"shop/a@2"`. */
  get stored(): string[] {
    const { objects } = this.writes.at(-1)!;
    return [...objects].map(([key, [, version]]) => `${key}@${version}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const informer of this.informers) await informer[Symbol.asyncDispose]();
    await this.time.tickAsync(0);
    assertEquals(this.time.timers, 0, "a timer is left");
    this.client[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}

class Handled {
  readonly informer: SharedIndexInformer<ConfigMap>;
  readonly lines: string[] = [];
  readonly events: InformerEvent<ConfigMap>[] = [];
  /** Called by each call. */
  call: () => unknown = () => {};

  constructor(informer: SharedIndexInformer<ConfigMap>, options: HandlerOptions<ConfigMap>) {
    this.informer = informer;
    const note = (event: InformerEvent<ConfigMap>): unknown => {
      this.events.push(event);
      this.lines.push(lineOf(event));
      return this.call();
    };
    informer.addEventHandler({ onAdd: note, onUpdate: note, onDelete: note }, options);
  }

  take(): string[] {
    return this.lines.splice(0);
  }
}

function lineOf(event: InformerEvent<ConfigMap>): string {
  if (event.type === "synced") return "=";
  const { key, resourceVersion } = event;
  if (event.type === "added") return `+ ${key}@${resourceVersion}${event.initial ? " (initial)" : ""}`;
  if (event.type === "updated") return `~ ${key}@${event.before.resourceVersion}→${resourceVersion}`;
  return `- ${key}@${resourceVersion}${event.finalStateUnknown ? " (unknown)" : ""}`;
}

Deno.test("Checkpoint delivers after a restart what has changed since, with deletions, and nothing else", async () => {
  await using fixture = new Fixture();
  for (const name of ["same", "changed", "gone", "again"]) fixture.write(name, "1");
  const first = await fixture.start();
  const initial = first.take();
  assertEquals(initial.length, 4);
  assert(initial.every((line) => line.endsWith("(initial)")), "the very first objects are initial");
  await first.informer[Symbol.asyncDispose]();

  fixture.write("changed", "2");
  fixture.write("new", "1");
  for (const name of ["gone", "again"]) fixture.delete(name);
  fixture.write("again", "2");
  const second = await fixture.start();
  const version = (name: string): string => fixture.server.get(ConfigMap, `shop/${name}`)!.metadata.resourceVersion;
  const before = (name: string): string => initial.find((line) => line.includes(`/${name}@`))!.match(/@(\d+)/)![1];
  assertEquals(second.take().sort(), [
    `+ shop/again@${version("again")}`,
    `+ shop/new@${version("new")}`,
    `- shop/again@${before("again")} (unknown)`,
    `- shop/gone@${before("gone")} (unknown)`,
    `~ shop/changed@${before("changed")}→${version("changed")}`,
  ]);
  const [deleted, added] = second.events.filter((event) => "key" in event && event.key === "shop/again");
  assertEquals([deleted.type, added.type], ["deleted", "added"], "an earlier object is deleted before the later one");
  assertEquals(fixture.errors, []);
});

Deno.test("Checkpoint keeps uid and version, so that the state before a restart cannot be read", async () => {
  await using fixture = new Fixture();
  fixture.write("a", "1");
  fixture.write("b", "1");
  const { informer } = await fixture.start();
  await informer[Symbol.asyncDispose]();
  fixture.write("a", "2");
  fixture.delete("b");
  const { events } = await fixture.start();
  const updated = events.find((event) => event.type === "updated")!;
  assertEquals(updated.object.data, { value: "2" });
  const error = assertThrows(
    () => updated.previous,
    DecodeError,
    "a checkpoint keeps only uid and version, not the object",
  );
  assertEquals(updated.before.error, error);
  const deleted = events.find((event) => event.type === "deleted")!;
  assertEquals([deleted.namespace, deleted.name, deleted.uid !== ""], ["shop", "b", true]);
  assertThrows(() => deleted.object, DecodeError);
});

Deno.test("Checkpoint moves when the promise of a handler has resolved, and the next event waits for the write", async () => {
  await using fixture = new Fixture();
  const handled = await fixture.start();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  handled.call = () => gates[handled.lines.length - 1].promise;
  fixture.write("a", "1");
  fixture.write("b", "1");
  await fixture.time.tickAsync(0);
  assertEquals(handled.lines.length, 1);
  assertEquals(fixture.stored, ["shop/a@"], "what is about to be delivered is announced");
  const before = fixture.writes.length;
  gates[0].resolve();
  await fixture.time.tickAsync(0);
  assertEquals(handled.lines.length, 2);
  const [written] = fixture.writes.slice(before);
  assertEquals([...written.objects.values()].map(([, version]) => version), [
    fixture.server.get(ConfigMap, "shop/a")!.metadata.resourceVersion,
  ]);
  gates[1].resolve();
  await fixture.time.tickAsync(0);
  assertEquals(fixture.writes.at(-1)!.version, fixture.server.resourceVersion, "nothing is pending any more");
  assertEquals(handled.informer.status().handlers[0].checkpoint, fixture.server.resourceVersion);
});

Deno.test("Checkpoint of a stream moves when the next event is asked for", async () => {
  await using fixture = new Fixture();
  fixture.write("a", "1");
  const read = async (): Promise<string[]> => {
    const informer = fixture.informer();
    const checkpoint = await fixture.open();
    const lines: string[] = [];
    const reading = (async () => {
      for await (const event of informer.events({ checkpoint })) {
        lines.push(lineOf(event));
        if (lines.length === 2 || event.type === "synced") break;
      }
    })();
    void informer.run();
    await fixture.time.tickAsync(0);
    await reading;
    await informer[Symbol.asyncDispose]();
    await checkpoint[Symbol.asyncDispose]();
    return lines;
  };
  fixture.write("b", "1");
  const [first, second] = await read();
  assert(first.includes("/a@") && second.includes("/b@"));
  assertEquals(await read(), [second, "="], "of b the next event was not asked for");
  assertEquals(await read(), ["="]);
});

Deno.test("Checkpoint leaves an event whose call has failed, and delivers the object again after a restart", async () => {
  await using fixture = new Fixture();
  const first = await fixture.start();
  first.call = () => Promise.reject(new Error("mail server is down"));
  fixture.write("a", "1");
  await fixture.time.tickAsync(0);
  assertEquals(first.take().length, 1);
  await first.informer[Symbol.asyncDispose]();
  const second = await fixture.start();
  assertEquals(second.lines.length, 1);
  await second.informer[Symbol.asyncDispose]();
  assertEquals((await fixture.start()).lines, []);
});

Deno.test("Checkpoint has one reader, and the last one that opens it takes it over", async () => {
  await using fixture = new Fixture();
  const checkpoint = await fixture.open();
  const first = await fixture.start({ checkpoint, name: "mails" });
  const held = assertThrows(
    () => first.informer.addEventHandler({}, { checkpoint }),
    CheckpointError,
    "another handler or stream already uses it",
  );
  assertEquals(held.reason, "held");
  const second = await fixture.start();
  fixture.write("a", "1");
  await fixture.time.tickAsync(0);
  assertEquals([first.lines.length, second.lines.length], [0, 1]);
  const [error] = fixture.errors;
  assertInstanceOf(error, CheckpointError);
  assertEquals(error.message, 'Cannot keep checkpoint "test": another reader has opened it');
  assertEquals(first.informer.status().handlers, [], "the reader before has ended");
  assertThrows(() => first.informer.addEventHandler({}, { checkpoint }), CheckpointError, "another reader");
});

Deno.test("Checkpoint.open() rejects where another reader opens it at the same time", async () => {
  await using fixture = new Fixture();
  const opened = await Promise.allSettled([fixture.open(), fixture.open()]);
  assertEquals(opened.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  await assertRejects(() => Checkpoint.open(fixture.store, { name: "x", intervalMs: -1 }), RangeError, "intervalMs");
});

Deno.test("Checkpoint reports a write that fails, delivers nothing until it succeeds, and then goes on", async () => {
  await using fixture = new Fixture();
  const handled = await fixture.start();
  fixture.write("a", "1");
  await fixture.time.tickAsync(0);
  fixture.failures.push(new Error("disk is full"), new Error("disk is full"));
  fixture.write("a", "2");
  fixture.write("a", "3");
  await fixture.time.tickAsync(0);
  assertEquals([handled.take().length, fixture.errors.length], [2, 1]);
  assertEquals(errorLine(fixture.errors[0]), 'Cannot write checkpoint "test": disk is full');
  await fixture.time.tickAsync(10_000);
  assertEquals([handled.take().length, fixture.errors.length], [1, 2]);
  assertEquals(fixture.stored, [`shop/a@${fixture.server.resourceVersion}`]);
});

Deno.test("Checkpoint ends with its informer while its store fails", async () => {
  await using fixture = new Fixture();
  const handled = await fixture.start();
  fixture.failures.push(...Array.from({ length: 100 }, () => new Error("disk is full")));
  fixture.write("a", "1");
  await fixture.time.tickAsync(5_000);
  await handled.informer[Symbol.asyncDispose]();
  fixture.failures.length = 0;
  assertEquals(handled.lines, [], "an addition is announced first");
});

Deno.test("Checkpoint with intervalMs is written with an addition, once in that time, and when the informer stops", async () => {
  await using fixture = new Fixture();
  const handled = await fixture.start({ checkpoint: await fixture.open(5_000) });
  await fixture.time.tickAsync(5_000);
  const before = fixture.writes.length;
  for (const value of ["1", "2", "3"]) fixture.write("a", value);
  await fixture.time.tickAsync(4_999);
  assertEquals([handled.lines.length, fixture.writes.length - before], [3, 1]);
  await fixture.time.tickAsync(1_001); // the addition waited for a second after the write before
  assertEquals(fixture.writes.length - before, 2);
  fixture.write("a", "4");
  await fixture.time.tickAsync(0);
  await handled.informer[Symbol.asyncDispose]();
  assertEquals(fixture.writes.length - before, 3);
  assertEquals(fixture.stored, [`shop/a@${fixture.server.resourceVersion}`]);
});

Deno.test("Checkpoint holds deliveries of a restored informer until that has what the server had", async () => {
  await using fixture = new Fixture();
  fixture.write("a", "1");
  const first = await fixture.start();
  const snapshot = await Array.fromAsync(first.informer.snapshot());
  fixture.write("a", "2");
  await fixture.time.tickAsync(0);
  await first.informer[Symbol.asyncDispose]();
  fixture.write("b", "1");

  const informer = fixture.informer();
  const second = new Handled(informer, { checkpoint: await fixture.open() });
  await informer.restore(ReadableStream.from(snapshot));
  await fixture.time.tickAsync(0);
  assertEquals([informer.entries.size, second.lines], [1, []], "the cache is older than what was delivered");
  void informer.run();
  await fixture.time.tickAsync(10_000);
  assertEquals(second.lines, [`+ shop/b@${fixture.server.resourceVersion}`]);
});

Deno.test("Checkpoint of a handler that is added later begins once the cache has what the server had", async () => {
  await using fixture = new Fixture();
  const informer = fixture.informer();
  void informer.run();
  await fixture.time.tickAsync(0);
  using stalled = fixture.server.stallWatches();
  fixture.write("a", "1");
  const checkpoint = await fixture.open();
  const handled = new Handled(informer, { checkpoint });
  await fixture.time.tickAsync(1_000);
  assertEquals(handled.lines, []);
  assertEquals(checkpoint.version, "");
  stalled[Symbol.dispose]();
  await fixture.time.tickAsync(10_000);
  assertEquals(handled.take(), [`+ shop/a@${fixture.server.resourceVersion} (initial)`]);
});

Deno.test("Checkpoint makes a first list one of the newest state", async () => {
  await using fixture = new Fixture();
  const versions = (): (string | null)[] =>
    fixture.server.requests.filter(({ verb }) => verb === "list").map(({ url }) =>
      new URL(url, "http://fake").searchParams.get("resourceVersion")
    );
  const plain = fixture.informer({ reflector: { streamingList: "off" } });
  void plain.run();
  await fixture.time.tickAsync(0);
  const newest = fixture.informer({ reflector: { streamingList: "off" } });
  newest.addEventHandler({}, { checkpoint: await fixture.open() });
  void newest.run();
  await fixture.time.tickAsync(0);
  assertEquals(versions(), ["0", null]);
});

Deno.test("Checkpoint does not deliver the object that it is kept in", async () => {
  await using fixture = new Fixture();
  fixture.write("checkpoint", "1");
  fixture.write("a", "1");
  fixture.ownUid = fixture.server.get(ConfigMap, "shop/checkpoint")!.metadata.uid;
  const handled = await fixture.start();
  const before = fixture.writes.length;
  fixture.write("checkpoint", "2");
  fixture.delete("checkpoint");
  await fixture.time.tickAsync(0);
  assertEquals([handled.lines.length, fixture.writes.length - before], [1, 0]);
});

Deno.test("Checkpoint with a filter names an object that does not pass any more as deleted", async () => {
  await using fixture = new Fixture();
  fixture.write("a", "1");
  fixture.write("b", "1");
  const filter = ({ data }: ConfigMap): boolean => data?.value === "1";
  const first = await fixture.start({ filter });
  assertEquals(first.lines.length, 2);
  await first.informer[Symbol.asyncDispose]();
  fixture.write("b", "2");
  const { lines } = await fixture.start({ filter });
  assertEquals(lines.map((line) => line.replace(/\d+/, "N")), ["- shop/b@N (unknown)"]);
});

Deno.test("Checkpoint whose informer has stopped cannot be read from", async () => {
  await using fixture = new Fixture();
  const informer = fixture.informer();
  await informer[Symbol.asyncDispose]();
  const checkpoint = await fixture.open();
  assertThrows(() => informer.addEventHandler({}, { checkpoint }), Error, "it has stopped already");
  const handled = await fixture.start({ checkpoint });
  assertEquals(handled.lines, []);
});

Deno.test("Checkpoint is disposed when a write has ended that the end of its reader began after a failed one", async () => {
  const kept = new MemoryCheckpoints();
  const gates: PromiseWithResolvers<void>[] = [];
  let isSlow = false;
  const store: CheckpointStore = {
    get: (name) => kept.get(name),
    set: async (name, record, change) => {
      if (isSlow) {
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        await gate.promise;
      }
      return await kept.set(name, record, change);
    },
  };
  const checkpoint = await Checkpoint.open(store, { name: "test" });
  isSlow = true;
  const reader = new AbortController();
  checkpoint[internals].begin({ signal: reader.signal, report: () => {}, onLost: () => {} });
  checkpoint[internals].delivered("shop/a", ["uid", "1"]);
  void checkpoint[internals].save();
  reader.abort();
  const ended = checkpoint[internals].end();
  let isDisposed = false;
  const disposed = checkpoint[Symbol.asyncDispose]().then(() => isDisposed = true);
  gates[0].reject(new Error("the disk is full"));
  while (gates.length < 2) await new Promise((resolve) => setTimeout(resolve));
  assertEquals(isDisposed, false);
  gates[1].resolve();
  await Promise.all([ended, disposed]);
  assertEquals((await kept.get("test"))?.record.objects.size, 1);
});

Deno.test("a handler with a checkpoint that throws is called again about the same event, with growing waits, until it succeeds", async () => {
  await using fixture = new Fixture();
  const { time } = fixture;
  fixture.write("a", "1");
  const handled = await fixture.start({ name: "mails" });
  const others: string[] = [];
  handled.informer.addEventHandler({ onUpdate: ({ key }) => void others.push(key) });
  assertEquals(handled.take(), ["+ shop/a@2 (initial)"]);
  let failures = 0;
  handled.call = () => {
    if (++failures <= 4) throw new Error("the webhook answers 500");
  };
  fixture.write("a", "2");
  fixture.write("a", "3");
  await time.tickAsync(0);
  assertEquals([handled.take(), others, fixture.stored], [["~ shop/a@2→3"], ["shop/a", "shop/a"], ["shop/a@2"]]);
  const { failing, errors } = handled.informer.status().handlers.find(({ name }) => name === "mails")!;
  assertEquals([failing?.key, failing?.since.getTime(), failing?.failures, errors], ["shop/a", time.now, 1, 1]);
  await time.tickAsync(799);
  assertEquals(handled.take(), []);
  await time.tickAsync(60_000);
  assertEquals(handled.take(), ["~ shop/a@2→3", "~ shop/a@2→3", "~ shop/a@2→3", "~ shop/a@2→3", "~ shop/a@3→4"]);
  assertEquals([fixture.stored, handled.informer.status().handlers[0].failing], [["shop/a@4"], undefined]);
  assertEquals(fixture.errors.length, 4);
});

Deno.test("a call of a handler with a checkpoint that never succeeds is skipped by its key, and counts as delivered", async () => {
  await using fixture = new Fixture();
  const { time } = fixture;
  const checkpoint = await fixture.open();
  const informer = fixture.informer();
  const lines: string[] = [];
  const registration = informer.addEventHandler({
    onAdd: (event) => {
      lines.push(lineOf(event));
      if (event.key === "shop/a") throw new Error("never");
    },
  }, { checkpoint });
  fixture.write("a", "1");
  fixture.write("b", "1");
  void informer.run();
  await time.tickAsync(100_000);
  assertEquals([lines.at(-1), registration.skip("shop/b")], ["+ shop/a@2 (initial)", false]);
  assertEquals(registration.skip("shop/a"), true);
  await time.tickAsync(0);
  assertEquals([lines.at(-1), fixture.stored.sort()], ["+ shop/b@3 (initial)", ["shop/a@2", "shop/b@3"]]);
});

Deno.test("an informer stops at once while a handler with a checkpoint waits to be called again, and the next start calls it", async () => {
  await using fixture = new Fixture();
  fixture.write("a", "1");
  const first = await fixture.start();
  first.call = () => Promise.reject(new Error("away"));
  fixture.write("a", "2");
  await fixture.time.tickAsync(100);
  await first.informer[Symbol.asyncDispose](); // no time passes
  assertEquals(first.take(), ["+ shop/a@2 (initial)", "~ shop/a@2→3"]);
  const second = await fixture.start();
  assertEquals(second.take(), ["~ shop/a@2→3"]);
});

Deno.test("a handler with a checkpoint is not called again about an object that cannot be read", async () => {
  await using fixture = new Fixture();
  fixture.write("a", "1");
  const first = await fixture.start();
  await first.informer[Symbol.asyncDispose]();
  fixture.delete("a");
  fixture.write("b", "1");
  const checkpoint = await fixture.open();
  const informer = fixture.informer();
  const keys: string[] = [];
  informer.addEventHandler({
    onAdd: ({ key }) => void keys.push(`+ ${key}`),
    onDelete: ({ key, object }) => void keys.push(`- ${key} ${object.data}`), // nobody has the object any more
  }, { checkpoint });
  void informer.run();
  await fixture.time.tickAsync(0);
  const { errors } = informer.status().handlers[0];
  await fixture.time.tickAsync(100_000);
  assertEquals([keys, errors, informer.status().handlers[0].errors], [["+ shop/b"], 1, 1]);
});

Deno.test("additions are announced before they are delivered, also with intervalMs, in at most one write a second", async () => {
  await using fixture = new Fixture();
  const { time, server } = fixture;
  const checkpoint = await fixture.open(60_000);
  const handled = await fixture.start({ checkpoint });
  await time.tickAsync(5_000);
  fixture.write("a", "1");
  await time.tickAsync(0);
  const before = fixture.writes.length;
  assertEquals([handled.take().length, fixture.stored], [1, ["shop/a@"]]); // a crash from here on names its deletion
  for (let i = 0; i < 20; i++) {
    for (let n = 0; n < 10; n++) server.create(ConfigMap, { metadata: { namespace: "shop", name: `x-${i}-${n}` } });
    await time.tickAsync(200);
  }
  await time.tickAsync(2_000);
  assertEquals(handled.take().length, 200);
  const writes = fixture.writes.length - before;
  assert(writes >= 4 && writes <= 6, `${writes} writes in 5 s`);
  assertEquals(fixture.writes.at(-1)!.objects.size, 201);
});
