import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { KubernetesObject, ObjectKey } from "../../../../src/engine/api/object.ts";
import type { Resource } from "../../../../src/engine/api/resource.ts";
import { Manager } from "../../../../src/operator/controllers/reconcile/manager.ts";
import { Reconciler } from "../../../../src/operator/controllers/reconcile/reconciler.ts";
import { errorLine } from "../../../../src/engine/errors/errors.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { WaitError } from "../../../../src/engine/informer/status.ts";
import { ConfigMap, Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { pod } from "../../../../src/testing/fake/objects.ts";
import { Random, seedGlobals } from "../../../../src/testing/fake/random.ts";
import { CONTAINERS } from "../../../support/servers/fake_server.ts";
import { createWidget, define, Gadget, undefine, Widget } from "../../../support/sources/widgets.ts";
import { Session } from "./_session.ts";

/** Longer than any wait of a back-off. */
const LONG_MS = 40_000;

/** The key of the config map that has the settings of a widget. */
const settingsOf = ({ name }: { readonly name: string }): ObjectKey[] => [`default/${name}`];

/** A session with a reconciler of config maps that notes its calls, and their triggers. */
class NotingSession extends Session {
  readonly calls: string[] = [];
  readonly maps: Reconciler<ConfigMap> = this.reconciler(({ key, triggers }) =>
    void this.calls.push(`${key}: ${triggers.map(({ source, event }) => `${source} ${event}`).join(", ")}`)
  );

  /** The paths of collections that are watched, without those of config maps. */
  get watched(): string[] {
    const plurals = this.maps.informers.status().filter(({ status }) => status.state === "live");
    return plurals.map(({ resource }) => resource.plural).filter((plural) => plural !== "configmaps");
  }
}

Deno.test("a reconciler runs without an optional kind, and reconciles when it comes, goes, and comes back", async () => {
  await using session = new NotingSession();
  const { calls, maps, server } = session;
  maps.watches(Widget, settingsOf, { optional: true });
  session.create("a");
  await session.start(maps);
  assertEquals([maps.status().state, maps.status().waitsFor], ["running", ["widgets.acme.dev"]]);
  assertEquals(calls.splice(0), ["default/a: configmaps added"]);

  for (let round = 0; round < 2; round++) {
    await session.pass(LONG_MS * 5);
    define(server, Widget);
    createWidget(server, "a");
    await session.pass(10);
    assertEquals([maps.status().waitsFor, calls.splice(0)], [[], ["default/a: widgets.acme.dev added"]]);
    undefine(server, Widget);
    await session.pass(LONG_MS);
    assertEquals(maps.status().waitsFor, ["widgets.acme.dev"]);
    assertEquals(calls.splice(0), ["default/a: widgets.acme.dev deleted"]);
  }
  assertEquals(session.errors, []);
});

Deno.test("a reconciler waits for its own kind where that is optional, and fails where another is not", async () => {
  using session = new Session();
  const keys: string[] = [];
  await using waiting = new Reconciler(session.client, Widget, ({ key }) => void keys.push(key), { optional: true });
  const running = waiting.run();
  await session.pass();
  assertEquals([waiting.status().state, waiting.status().waitsFor], ["running", ["widgets.acme.dev"]]);
  define(session.server, Widget);
  createWidget(session.server, "a");
  await session.pass(10);
  assertEquals(keys, ["shop/a"]);
  const stopping = waiting[Symbol.asyncDispose]();
  await session.pass();
  await Promise.all([running, stopping]);
  undefine(session.server, Widget);

  const failing = session.reconciler(() => {}).watches(Widget, settingsOf);
  const refused = assertRejects(() => failing.run(), WaitError, '"notFound"');
  await session.pass(10);
  await refused;
  await session.stop(failing);
});

Deno.test("a manager is ready without optional kinds, and names them in /readyz", async () => {
  using session = new NotingSession();
  const { maps, server } = session;
  maps.watches(Widget, settingsOf, { optional: true }).owns(Gadget, { optional: true });
  await using manager = new Manager({ reconcilers: [maps] });
  const running = manager.run();
  const readyz = async (): Promise<[number, string]> => {
    const response = manager.fetch(new Request("http://pod/readyz"));
    return [response.status, await response.text()];
  };
  await session.pass();
  assertEquals(await readyz(), [200, "ok\nwaits for widgets.acme.dev\nwaits for gadgets.acme.dev\n"]);
  define(server, Widget);
  await session.pass(10);
  assertEquals(await readyz(), [200, "ok\nwaits for gadgets.acme.dev\n"]);
  define(server, Gadget);
  await session.pass(10);
  assertEquals(await readyz(), [200, "ok\n"]);
  maps.watches(Pod, () => []);
  await session.pass(10);
  assertEquals(session.watched, ["widgets", "gadgets", "pods"]);
  maps.unwatch(Widget).unwatch(Pod);
  await session.pass(10);
  assertEquals([session.watched, server.watches], [["gadgets"], 2]);
  const stopped = manager[Symbol.asyncDispose]();
  await session.pass();
  await Promise.all([running, stopped]);
  assertEquals([session.time.timers, server.watches], [0, 0]);
});

Deno.test("watches() at run time reconciles for the objects that exist, and unwatch() ends that at once", async () => {
  await using session = new NotingSession();
  const { calls, maps, server } = session;
  await session.start(maps);
  server.create(Pod, pod({ name: "a" }));
  maps.watches(Pod, settingsOf);
  await session.pass();
  assertEquals([calls.splice(0), session.watched], [["default/a: pods added"], ["pods"]]);

  // Neither an event that is on its way nor one that follows leads to a reconcile.
  server.create(Pod, pod({ name: "b" }));
  maps.unwatch(Pod);
  await session.pass();
  server.create(Pod, pod({ name: "c" }));
  await session.pass(LONG_MS);
  assertEquals([calls, session.watched, server.watches], [[], [], 1]);
  assertEquals(maps.informers.status().map(({ resource }) => resource.plural), ["configmaps"]);

  maps.watches(Pod, settingsOf);
  await session.pass();
  assertEquals(calls.splice(0).sort(), ["a", "b", "c"].map((name) => `default/${name}: pods added`));
  maps.watches(ConfigMap, () => []).unwatch(ConfigMap).unwatch(Widget); // the reconciled kind stays, and what is not watched
  session.create("d");
  await session.pass();
  assertEquals(calls, ["default/d: configmaps added"]);
});

Deno.test("unwatch() takes keys out of the queue that wait for events of that kind alone", async () => {
  await using session = new Session();
  const { server } = session;
  const release = Promise.withResolvers<void>();
  const calls: string[] = [];
  const maps = session.reconciler(async ({ key, triggers }) => {
    calls.push(`${key}: ${triggers.map(({ source }) => source).join(", ")}`);
    if (key === "default/first") await release.promise;
  });
  maps.watches(Pod, settingsOf);
  session.create("first");
  await session.start(maps);
  for (const name of ["a", "b"]) server.create(Pod, pod({ name }));
  session.create("b");
  await session.pass();
  assertEquals(maps.status().queue.waiting, 2);
  maps.unwatch(Pod);
  release.resolve();
  await session.pass();
  assertEquals(calls, ["default/first: configmaps", "default/b: configmaps, pods"]);
  assertEquals(maps.status().queue.waiting, 0);
});

Deno.test("unwatch() ends waits for the writes that the cache has not shown", async () => {
  await using session = new Session();
  const { server } = session;
  let calls = 0;
  const maps = session.reconciler(async ({ client }) => {
    if (calls++ === 0) {
      await client.resource(Pod, { namespace: "default" }).create({
        metadata: { name: "a" },
        spec: { containers: CONTAINERS },
      });
    }
  });
  maps.watches(Pod, () => []);
  await session.start(maps);
  using _stalled = server.stallWatches(Pod);
  session.create("a");
  await session.pass();
  server.patch(ConfigMap, "default/a", { data: { colour: "red" } });
  await session.pass();
  assertEquals([calls, maps.status().waitingForCaches, session.errors], [1, 1, []]);
  maps.unwatch(Pod);
  await session.pass();
  assertEquals([calls, maps.status().waitingForCaches, maps.status().stale, session.errors], [2, 0, 0, []]);
  await session.pass(LONG_MS);
  assertEquals(calls, 2); // no write was superseded
});

Deno.test("unwatch() leaves an informer to others, and to the same reconciler", async () => {
  await using session = new Session();
  const { server } = session;
  const informers = new SharedInformerFactory(session.client);
  let events = 0;
  const counted = (): ObjectKey[] => (events++, []);
  const first = session.reconciler(() => {}, { informers, name: "first" }).watches(Pod, counted);
  const second = session.reconciler(() => {}, { informers, name: "second" }).watches(Pod, () => []).owns(Pod);
  await session.start(first);
  await session.start(second);
  assertEquals(server.watches, 2);
  first.unwatch(Pod);
  server.create(Pod, pod({ name: "a" }));
  await session.pass();
  assertEquals([server.watches, events], [2, 0]);
  second.unwatch(Pod);
  await session.pass();
  assertEquals(server.watches, 1);

  const held = informers.acquire(Pod);
  second.watches(Pod, () => []);
  await session.pass();
  second.unwatch(Pod);
  await session.pass();
  assertEquals(server.watches, 2);
  held[Symbol.dispose]();
  informers.forResource(Pod);
  second.watches(Pod, () => []).unwatch(Pod);
  await session.pass(LONG_MS * 10);
  assertEquals(server.watches, 2);
  const ended = informers.shutdown();
  await session.pass();
  await ended;
});

Deno.test("a kind may be added and removed while a reconciler syncs, and not after its end", async () => {
  await using session = new Session();
  const { server } = session;
  const maps = session.reconciler(() => {}).watches(Pod, () => []);
  using _stalled = server.stallNext(Infinity, ({ path }) => path.endsWith("/pods"));
  await session.start(maps, 100);
  assertEquals(maps.status().state, "syncing");
  maps.watches(Widget, settingsOf, { optional: true }).unwatch(Pod);
  await session.pass();
  assertEquals([maps.status().state, maps.status().waitsFor], ["running", ["widgets.acme.dev"]]);
  await session.stop(maps);

  const others = session.reconciler(() => {}).watches(Pod, () => []).watches(Widget, settingsOf, { optional: true });
  const manager = new Manager({ reconcilers: [others] });
  const running = manager.run();
  await session.pass(100);
  assertEquals([manager.status().phase, others.status().state], ["syncing", "created"]);
  const probed = manager.fetch(new Request("http://pod/readyz"));
  assertEquals(await probed.text(), "the manager is syncing\npods: listing\n");
  others.unwatch(Pod);
  await session.pass();
  assertEquals([manager.status().phase, others.status().state], ["running", "running"]);
  const stopped = manager[Symbol.asyncDispose]();
  await session.pass();
  await Promise.all([running, stopped]);
  assertThrows(() => maps.watches(Pod, () => []), Error, "it has stopped");
});

Deno.test("a kind that is added while a reconciler runs, and refused, does not end it", async () => {
  await using session = new Session();
  const { server } = session;
  const reported: string[] = [];
  const maps = session.reconciler(() => {});
  await session.start(maps);
  server.failNext(403, 2, ({ path }) => path.endsWith("/pods"));
  maps.watches(Pod, () => [], { informer: { onError: (error) => reported.push(errorLine(error)) } });
  await session.pass();
  assertEquals([maps.status().state, reported.length], ["running", 1]);
  await session.pass(LONG_MS);
  assertEquals(maps.informers.status().map(({ status }) => status.state), ["live", "live"]);
});

// Random histories of kinds that come and go, under fake time.

const SEEDS = 30;
const STEPS = 40;
/** Refusals are part of each history. */
const QUIET = { onError: (): void => {} };
const KINDS = [Widget, Gadget] as const;

/** A reconciler of widgets that follows gadgets too, and notes what its caches had of each key at its last call. */
class History extends Session {
  readonly #random: Random;
  readonly #noted = new Map<ObjectKey, string>();
  readonly #defined = new Set<Resource<Widget>>();
  #isWatched = false;
  /** True once no request fails any longer. */
  #isOver = false;
  readonly widgets: Reconciler<Widget> = new Reconciler(this.client, Widget, ({ key }) => this.#note(key), {
    optional: true,
    onError: (error) => void this.errors.push(String(error)),
    informer: QUIET,
  });

  constructor(seed: number) {
    super();
    this.#random = new Random(seed);
    this.#watch();
  }

  /** Does something, and lets some time pass. */
  async step(): Promise<void> {
    const random = this.#random;
    const kind = random.pick(KINDS);
    const name = `n${random.below(3)}`;
    const isDefined = this.#defined.has(kind);
    const ofKind = ({ path }: { readonly path: string }): boolean => !this.#isOver && path.endsWith(`/${kind.plural}`);
    const steps: (() => void)[] = [
      () => this.#toggle(kind),
      () => isDefined && (this.#exists(kind, name) ? this.#change(kind, name) : createWidget(this.server, name, kind)),
      () => isDefined && this.#exists(kind, name) && this.server.delete(kind, `shop/${name}`),
      () => this.server.failNext(random.pick([404, 429, 503]), 1 + random.below(3), ofKind),
      () => this.server.failNext(403, 1, ({ path }) => path.includes("customresourcedefinitions")),
      () => this.server.dropWatches(),
      () => this.server.endWatches(),
      () => this.server.forceRelist(),
      () => this.#isWatched ? this.#unwatch() : this.#watch(),
    ];
    random.pick([...steps.slice(0, 3), ...steps.slice(0, 3), ...steps])();
    if (random.next() < 0.6) await this.pass(random.pick([0, 1, 60, 700, 3_000, 40_000]));
  }

  /** Lets everything settle, and compares the last calls with the server. */
  async check(): Promise<void> {
    this.#isOver = true;
    if (!this.#isWatched) this.#watch();
    for (let round = 0; round < 3; round++) await this.pass(40_000);
    const missing = KINDS.filter((kind) => !this.#defined.has(kind)).map(({ plural, group }) => `${plural}.${group}`);
    assertEquals(this.widgets.status().waitsFor, missing);
    const states = KINDS.map((kind) => this.#defined.has(kind) ? this.server.list(kind) : []);
    const keys = states.flat().map(({ metadata }) => `shop/${metadata.name}`);
    const expected = new Map([...this.#noted.keys(), ...keys].map((key) => {
      const found = states.map((objects) => objects.find(({ metadata }) => `shop/${metadata.name}` === key));
      return [key, textOf(found)];
    }));
    assertEquals(this.#noted, expected);
    assertEquals(this.errors, []);
  }

  #exists(kind: Resource<Widget>, name: string): boolean {
    return this.server.get(kind, `shop/${name}`) !== undefined;
  }

  #change(kind: Resource<Widget>, name: string): void {
    this.server.patch(kind, `shop/${name}`, { spec: { size: this.#random.below(1_000) } });
  }

  #toggle(kind: Resource<Widget>): void {
    if (this.#defined.delete(kind)) return undefine(this.server, kind);
    this.#defined.add(kind);
    define(this.server, kind);
  }

  #watch(): void {
    const mapped = ({ key }: { readonly key: ObjectKey }): ObjectKey[] => [key];
    this.widgets.watches(Gadget, mapped, { optional: true, informer: QUIET });
    for (const key of this.#noted.keys()) this.widgets.enqueue(key); // gadgets may have gone unnoticed
    this.#isWatched = true;
  }

  #unwatch(): void {
    this.widgets.unwatch(Gadget);
    this.#isWatched = false;
  }

  #note(key: ObjectKey): void {
    const { informers, informer } = this.widgets;
    using gadgets = this.#isWatched ? informers.acquire(Gadget) : undefined;
    const entries = [informer.entries.getByKey(key), gadgets?.informer.entries.getByKey(key)];
    this.#noted.set(key, textOf(entries));
  }
}

function textOf(objects: readonly (Pick<KubernetesObject, "metadata"> | undefined)[]): string {
  return objects.map((object) => object?.metadata.resourceVersion ?? "none").join(" ");
}

Deno.test(`a reconciler has acted on the last state of each object, in ${SEEDS} histories of kinds that come and go`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    using _random = seedGlobals(seed);
    await using history = new History(seed);
    await history.start(history.widgets);
    try {
      for (let step = 0; step < STEPS; step++) await history.step();
      await history.check();
    } catch (cause) {
      throw new Error(`seed ${seed}`, { cause });
    }
  }
});
