// Random derivations over random changes, compared with the same functions over arrays, computed from nothing. Their
// functions throw, block, and return what cannot be cached or compared; each of these concerns one input.
import { derive, type DerivedCollection, deriveGroups, keyOf, LabelSelector } from "@kube/informer";
import type { IndexedCollection, ReadObjects, ReadQuery } from "@kube/informer/types";
import { assert, assertEquals } from "@std/assert";
import type { WatchChange } from "../../../src/engine/api/lister_watcher.ts";
import { internals } from "../../../src/engine/errors/internals.ts";
import { DerivationError } from "../../../src/engine/informer/derivation.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { WorkTime } from "../times/fake_time.ts";
import { added, deleted, entry, expired, modified, type ThingOptions } from "../sources/fixtures.ts";
import { holding, Run } from "../sources/informer.ts";

/** An object of any of the collections. */
interface Item {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly size: number };
}

/** A read of another collection, which stands before it in the list of all. */
interface Read {
  readonly from: number;
  readonly by: "key" | "index" | "labels" | "fields" | "where" | "all";
  /** In the namespace of the input alone. */
  readonly own: boolean;
}

/** A derived collection. */
interface Plan {
  /** The collection whose objects, or groups of them by tier, are the inputs. */
  readonly input: number;
  readonly groups: boolean;
  readonly reads: readonly Read[];
  /** The outputs: one, or one for odd sums alone, two for odd sums, or one whose name other inputs have, too. */
  readonly makes: "one" | "some" | "several" | "shared";
  /** Sizes of outputs are below it: so different inputs lead to equal outputs. */
  readonly below: number;
  /** The fault of calls about inputs whose sizes have a sum that is `wrong` above a multiple of 3. */
  readonly fault: Fault | "none";
  /** From 0 to 2. */
  readonly wrong: number;
  /** The outputs lead back to themselves. */
  readonly isCyclic: boolean;
  /** The outputs of odd sizes have null labels. */
  readonly hasNullLabels: boolean;
  /** The longest time that a call blocks, in milliseconds. */
  readonly blocksMs: number;
}

/** Faults of calls by name: each returns a result, or throws, in place of the outputs. */
const FAULTS = {
  error: () => {
    throw new Error("a fault");
  },
  "an error without a text": () => {
    throw Object.create(null);
  },
  "a getter of metadata": () => ({
    get metadata() {
      throw new Error("a getter");
    },
  }),
  /** Objects that are cached if they are compared with none: nobody may read those of the last collection. */
  getters: (outputs: readonly Item[]) => outputs,
  promise: () => Promise.reject(new Error("nobody's")),
  "promises, and an object": ([output]: readonly Item[]) => {
    return [output, Promise.reject(new Error("nobody's")), Promise.reject(new Error("nobody's"))];
  },
  number: () => 7,
  mixed: ([output]: readonly Item[]) => [output, 7, "text", null, [output]],
  "one name twice": ([output]: readonly Item[]) => [output, output],
  "labels that are a number": ([output]: readonly Item[]) => {
    return { ...output, metadata: { ...output?.metadata, labels: 7 } };
  },
} as const satisfies Readonly<Record<string, (outputs: readonly Item[]) => unknown>>;

type Fault = keyof typeof FAULTS;
const PLAIN_FAULTS = (Object.keys(FAULTS) as Fault[]).filter((fault) => fault !== "getters");

/** Informers that derived collections read, and one of another user, whose collection has no fault. */
const INFORMERS = 2;
const OTHER = 2;
const TIERS = ["t0", "t1", "t2"];
const indexers = { tier: ({ metadata }: Item) => metadata.labels?.tier === undefined ? [] : [metadata.labels.tier] };

/** A plan for a collection that can read those before its place. */
function planOf(random: Random, place: number, isLast: boolean): Plan {
  const reads = Array.from({ length: random.below(4) }, (): Read => ({
    from: random.below(place),
    by: random.pick(["key", "key", "index", "index", "labels", "fields", "where", "all"]),
    own: random.next() < 0.5,
  }));
  return {
    input: random.below(place),
    groups: random.next() < 0.25,
    reads,
    makes: random.pick(["one", "one", "some", "several", "shared"]),
    below: random.pick([2, 5, 1_000]),
    fault: random.next() >= 0.6 ? "none" : isLast ? "getters" : random.pick(PLAIN_FAULTS),
    wrong: random.below(3),
    isCyclic: random.next() < 0.3,
    hasNullLabels: random.next() < 0.2,
    blocksMs: random.pick([0, 0, 1, 7]),
  };
}

/** Reads collections by number. */
type FetchFrom = (from: number, query: ReadQuery<Item>) => Item | readonly Item[] | undefined;

/** `true` if the calls about an input are wrong; what they read does not count. */
function isWrong({ fault, wrong }: Plan, objects: readonly Item[]): boolean {
  return fault !== "none" && objects.reduce((sum, { spec }) => sum + spec.size, 0) % 3 === wrong;
}

/** The pure part of the function of a derived collection: the objects of an input, by its id. */
function outputsOf(plan: Plan, id: string, objects: readonly Item[], fetch: FetchFrom): Item[] {
  const [{ metadata: { name, namespace = "default", labels: given } }] = plan.groups
    ? [{ metadata: { name: id, namespace: undefined, labels: { tier: id, ref: "a" } } }]
    : objects;
  const labels: Readonly<Record<string, string>> = given ?? {};
  let sum = objects.reduce((sum, { spec }) => sum + spec.size, 0);
  for (const { from, by, own } of plan.reads) {
    const query: ReadQuery<Item> = by === "key"
      ? { key: labels.ref && `${namespace}/${labels.ref}` }
      : by === "index"
      ? { index: "tier", value: labels.tier ?? "t0" }
      : by === "labels"
      ? { labelSelector: `tier=${labels.tier ?? "t0"}`, ...(own ? { namespace } : {}) }
      : by === "fields"
      ? { fieldSelector: `spec.size=${sum % 4}`, ...(own ? { namespace } : {}) }
      : by === "where"
      ? { where: ({ spec }) => spec.size > 1 }
      : own
      ? { namespace }
      : {};
    const found = fetch(from, query) ?? [];
    for (const { spec, metadata } of [found].flat() as Item[]) sum += spec.size + metadata.name.charCodeAt(0) % 3;
    if (sum % 5 === 4) break; // what is read depends on what was read
  }
  const made = (name: string): Item => {
    const size = sum % plan.below;
    const isNull = plan.hasNullLabels && size % 2 === 1;
    return {
      metadata: { name, namespace, labels: isNull ? null as never : { ...labels, tier: TIERS[sum % 3] } },
      spec: { size },
    };
  };
  if (plan.makes === "some" && sum % 2 === 0) return [];
  if (plan.makes === "several" && sum % 2 === 1) return [made(name), made(`${name}-more`)];
  return [made(plan.makes === "shared" ? `tier-${labels.tier}` : name)];
}

/** Returns what the function of a derived collection returns: its outputs, with what is wrong or unusual about them. */
function returned(plan: Plan, objects: readonly Item[], outputs: readonly Item[]): unknown {
  const wrong = isWrong(plan, objects);
  if (wrong && plan.fault !== "getters") return FAULTS[plan.fault as Fault](outputs);
  return outputs.map((output) => {
    const more: Record<string, unknown> = plan.isCyclic ? { parts: [{}] } : {};
    if (plan.fault === "getters") {
      Object.defineProperty(more, "at", {
        enumerable: true,
        get: () => {
          if (wrong) throw new Error("a getter");
          return 1;
        },
      });
    }
    const object = Object.assign(Object.defineProperties({}, Object.getOwnPropertyDescriptors(more)), output);
    if (plan.isCyclic) Object.assign((more.parts as object[])[0], { of: object });
    return object;
  });
}

/** The objects of a collection by key, computed from nothing. */
type Contents = ReadonlyMap<string, Item>;

function selected(contents: Contents, query: ReadQuery<Item>): Item | readonly Item[] | undefined {
  const all = [...contents.values()];
  if ("key" in query) return query.key === undefined ? undefined : contents.get(query.key);
  if ("index" in query) return all.filter((item) => indexers.tier(item).includes(query.value));
  if ("where" in query) return all.filter(query.where);
  const { namespace, labelSelector = "", fieldSelector } = query;
  return all.filter(({ metadata, spec }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    LabelSelector.parse(labelSelector).matches(metadata.labels) &&
    (fieldSelector === undefined || fieldSelector === `spec.size=${spec.size}`)
  );
}

/**
 * A derived collection, computed from nothing except for inputs whose calls are wrong: the outputs of their last right
 * call stay.
 */
class Expected {
  readonly #plan: Plan;
  /** By the id of an input. */
  readonly #outputs = new Map<string, readonly Item[]>();
  contents: Contents = new Map();
  failing: readonly string[] = [];

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** Computes all from the contents of the collections before. */
  compute(before: readonly Contents[]): Contents {
    const plan = this.#plan;
    const inputs = new Map<string, readonly Item[]>();
    for (const [key, item] of before[plan.input]) {
      for (const id of plan.groups ? indexers.tier(item) : [key]) inputs.set(id, [...inputs.get(id) ?? [], item]);
    }
    const contents = new Map<string, Item>();
    const failing: string[] = [];
    for (const id of this.#outputs.keys()) if (!inputs.has(id)) this.#outputs.delete(id);
    for (const [id, objects] of [...inputs].sort(([a], [b]) => a < b ? -1 : 1)) {
      const outputs = outputsOf(plan, id, objects, (from, query) => selected(before[from], query));
      if (isWrong(plan, objects)) failing.push(id);
      else this.#outputs.set(id, outputs);
      for (const item of this.#outputs.get(id) ?? []) if (!contents.has(keyOf(item))) contents.set(keyOf(item), item);
    }
    this.failing = failing;
    return this.contents = contents;
  }
}

/** Follows the events of a derived collection, each of which must fit to those before. */
class Mirror {
  readonly contents = new Map<string, Item>();
  readonly problems: string[] = [];
  events = 0;

  readonly #mayRepeat: boolean;

  /** Objects with getters cannot be compared, and so count as changed. */
  constructor(collection: DerivedCollection<Item, "tier">, { fault }: Plan) {
    this.#mayRepeat = fault === "getters";
    collection.addEventHandler({
      onAdd: ({ key, object }) => this.#put(key, undefined, object),
      onUpdate: ({ key, object, previous }) => this.#put(key, previous, object),
      onDelete: ({ key, object }) => this.#put(key, object, undefined),
    });
  }

  #put(key: string, previous: Item | undefined, item: Item | undefined): void {
    this.events++;
    const [known, before, after] = [this.contents.get(key), previous, item].map((it) => it && textOf(it));
    if (known !== before) this.problems.push(`${key}: ${before} became ${after}, but was ${known}`);
    if (before === after && !this.#mayRepeat) this.problems.push(`${key}: an event without a change, ${after}`);
    if (item === undefined) this.contents.delete(key);
    else this.contents.set(key, item);
  }
}

function textOf(item: Item): string {
  const { labels } = item.metadata;
  return `${keyOf(item)} ${labels?.tier} ${labels?.ref} ${item.spec.size}`;
}

function texts(contents: Iterable<Item>): string[] {
  return Array.from(contents, textOf).sort();
}

const NAMES = ["a", "b", "c", "d"];

/** The objects on the server of an informer by key, with their options. */
type ServerObjects = Map<string, { readonly name: string; readonly at: ThingOptions }>;

function optionsBy(random: Random): ThingOptions {
  return {
    namespace: random.pick(["default", "other"]),
    labels: random.next() < 0.1 ? {} : { tier: random.pick(TIERS), ref: random.pick(["a", "b", "c"]) },
    size: random.below(6),
  };
}

function firstObjects(random: Random): ServerObjects {
  const objects: ServerObjects = new Map();
  for (const name of NAMES.slice(random.below(4))) {
    const at = optionsBy(random);
    objects.set(`${at.namespace}/${name}`, { name, at });
  }
  return objects;
}

function entriesOf(objects: ServerObjects, version: number): ReturnType<typeof entry>[] {
  return [...objects.values()].map(({ name, at }) => entry(name, version, at));
}

/** A derived collection, what it should have, and the events and errors that it has sent. */
interface Derived {
  readonly plan: Plan;
  readonly derived: DerivedCollection<Item, "tier">;
  readonly errors: unknown[];
  readonly expected: Expected;
  readonly mirror: Mirror;
}

/** The servers, informers and derived collections of a history. */
class History {
  readonly #random: Random;
  readonly #time: WorkTime;
  readonly #servers: readonly ServerObjects[];
  readonly #runs: readonly Run[];
  /** The informers, and the collections that are derived from them. */
  readonly #sources: IndexedCollection<Item, "tier">[];
  readonly #all: Derived[] = [];
  #version = 100;

  constructor(random: Random, time: WorkTime, servers: readonly ServerObjects[], runs: readonly Run[]) {
    this.#random = random;
    this.#time = time;
    this.#servers = servers;
    this.#runs = runs;
    this.#sources = runs.map(({ informer }) => informer);
  }

  /** The number of events of all collections. */
  get events(): number {
    return this.#all.reduce((sum, { mirror }) => sum + mirror.events, 0);
  }

  /** Derives the collections of the history, which `stack` disposes. */
  deriveAll(stack: AsyncDisposableStack): void {
    const random = this.#random;
    const quiet = {
      ...planOf(random, 1, false),
      input: OTHER,
      groups: false,
      reads: [],
      fault: "none",
      blocksMs: 0,
    } as const;
    this.#derive(quiet, "another user's", stack);
    for (let count = 2 + random.below(3), i = 0; i < count; i++) {
      const plan = planOf(random, INFORMERS + i, i === count - 1);
      // The informer of the other user, and what is derived from it, stand between the informers and these.
      const place = (at: number): number => at < INFORMERS ? at : at + 2;
      const reads = plan.reads.map((read) => ({ ...read, from: place(read.from) }));
      this.#derive({ ...plan, input: place(plan.input), reads }, `derived ${i}`, stack);
    }
  }

  #derive(plan: Plan, name: string, stack: AsyncDisposableStack): void {
    const sources = this.#sources;
    const errors: unknown[] = [];
    const call = (id: string, objects: readonly Item[], fetch: ReadObjects): Item[] => {
      this.#time.work(this.#random.next() * plan.blocksMs);
      const outputs = outputsOf(
        plan,
        id,
        objects,
        (from, query) => fetch(sources[from], query as { where: () => true }),
      );
      return returned(plan, objects, outputs) as Item[];
    };
    const own = { indexers, name, onError: (error: unknown) => errors.push(error) };
    const collection = plan.groups
      ? deriveGroups(
        sources[plan.input],
        "tier",
        ({ value, objects }, { read: fetch }) => call(value, objects, fetch),
        own as never,
      )
      : derive(sources[plan.input], (item, { read: fetch }) => call(keyOf(item), [item], fetch), own as never);
    sources.push(stack.use(collection) as unknown as IndexedCollection<Item, "tier">);
    const derived = collection as unknown as DerivedCollection<Item, "tier">;
    this.#all.push({ plan, derived, errors, expected: new Expected(plan), mirror: new Mirror(derived, plan) });
  }

  /** Lets all that is due be computed. */
  async settle(what: string): Promise<void> {
    for (let turns = 0; this.#all.some(({ derived }) => !derived.hasSynced || derived.status().due > 0); turns++) {
      assert(turns < 1_000, `${what}: it does not catch up`);
      await this.#time.tickAsync(0);
    }
    await this.#time.tickAsync(0);
  }

  /** Compares each collection with its function over arrays. */
  check(step: number): void {
    const contents: Contents[] = this.#servers.map((server) => {
      const items = [...server.values()].map(({ name, at }) => entry(name, 1, at).object as Item);
      return new Map(items.map((item) => [keyOf(item), item]));
    });
    for (const each of this.#all) {
      contents.push(each.expected.compute(contents));
      const { derived } = each;
      checkDerived(
        each,
        `step ${step}, ${derived[internals].sync.collection.informer}: ${JSON.stringify(each.plan)}`,
      );
    }
  }

  /** Changes a server, and checks what follows. */
  async step(step: number): Promise<void> {
    const random = this.#random;
    const i = random.pick([0, 0, 1, 1, OTHER]);
    const server = this.#servers[i];
    const changes = Array.from({ length: 1 + random.below(3) }, () => this.#change(server));
    if (random.next() < 0.15) {
      await this.#time.tickAsync(10_000); // a watch that ends earlier leads to a longer wait
      await this.#runs[i].relist(expired(), ++this.#version, entriesOf(server, this.#version));
    } else await this.#runs[i].send(...changes);
    await this.settle(`step ${step}`);
    this.check(step);
  }

  #change(server: ServerObjects): WatchChange<never> {
    const random = this.#random;
    const name = random.pick(NAMES);
    const at = optionsBy(random);
    const key = `${at.namespace}/${name}`;
    const known = server.get(key);
    if (known !== undefined && random.next() < 0.3) {
      server.delete(key);
      // The last state of a deleted object may be one that was never cached.
      return deleted(name, ++this.#version, random.next() < 0.5 ? known.at : at) as WatchChange<never>;
    }
    const isAnew = known !== undefined && random.next() < 0.1;
    const uid = known === undefined || isAnew ? `uid-${++this.#version}` : known.at.uid;
    const put = { name, at: { ...at, ...(uid === undefined ? {} : { uid }) } };
    server.set(key, put);
    return (known === undefined ? added : modified)(name, ++this.#version, put.at) as WatchChange<never>;
  }
}

function checkDerived({ plan, derived, errors, expected, mirror }: Derived, what: string): void {
  const { state, failing, failures, due, behindMs } = derived.status();
  assertEquals([state, due, behindMs], ["live", 0, 0], what);
  for (const error of errors.splice(0)) {
    assert(error instanceof DerivationError, what);
    if (error.message.startsWith("Cannot compute")) assert(expected.failing.includes(error.input), what);
  }
  assertEquals(mirror.problems, [], what);
  assertEquals(texts(mirror.contents.values()), texts(derived.lister.list()), what);
  // It depends on the calls before whether an object has one that it has to be compared with.
  if (plan.fault === "getters" && expected.failing.length > 0) return;
  assertEquals([failing, failures.length], [expected.failing.length, Math.min(10, expected.failing.length)], what);
  for (const { input } of failures) assert(expected.failing.includes(input), what);
  assertEquals(texts(derived.lister.list()), texts(expected.contents.values()), what);
  for (const tier of TIERS) {
    const having = [...expected.contents].filter(([, item]) => indexers.tier(item).includes(tier));
    assertEquals(derived.indexer.indexKeys("tier", tier), having.map(([key]) => key).sort(), what);
  }
}

/**
 * Plays the history of a seed: two informers, and two to four collections that are derived from these and from each
 * other, with faults; and the collection of another user, without. Returns the number of events.
 *
 * @throws {Error} that names the collection and its plan.
 */
export async function playDerivations(seed: number): Promise<number> {
  const random = new Random(seed);
  using time = new WorkTime();
  const servers = Array.from({ length: INFORMERS + 1 }, () => firstObjects(random));
  const runs = servers.map((server) =>
    new Run(holding(...entriesOf(server, 5)), { indexers, compact: seed % 2 === 0 }, time)
  );
  // Together, because each checks that no timer is left.
  await using _runs = {
    [Symbol.asyncDispose]: async () => void await Promise.all(runs.map((run) => run[Symbol.asyncDispose]())),
  };
  if (random.next() < 0.5) await runs[random.below(2)].start();
  const history = new History(random, time, servers, runs);
  await using stack = new AsyncDisposableStack();
  history.deriveAll(stack);
  for (const run of runs) if (run.informer.status().state === "idle") await run.start();
  await history.settle("at first");
  history.check(0);
  for (let step = 1; step < 18; step++) await history.step(step);
  return history.events;
}
