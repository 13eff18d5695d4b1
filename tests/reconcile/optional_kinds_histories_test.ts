// Random histories of kinds that come and go, under fake time.
import { assertEquals } from "@std/assert";
import type { KubernetesObject, ObjectKey } from "../../src/api/object.ts";
import type { Resource } from "../../src/api/resource.ts";
import { Reconciler } from "../../src/reconcile/reconciler.ts";
import { Random, seedGlobals } from "../../src/testing/random.ts";
import { createWidget, define, Gadget, undefine, Widget } from "../support/widgets.ts";
import { Session } from "./_session.ts";

const SEEDS = 150;
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
  readonly widgets: Reconciler<Widget> = new Reconciler(this.client, Widget, (key) => this.#note(key), {
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
