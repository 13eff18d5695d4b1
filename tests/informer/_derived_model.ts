// Random derivations over random changes, compared with the same functions over arrays, computed from nothing.
import { assertEquals } from "@std/assert";
import {
  type CollectionSource,
  derive,
  type DerivedCollection,
  deriveGroups,
  type FetchObjects,
  type FetchQuery,
  keyOf,
  LabelSelector,
} from "@kube/informer";
import type { Change } from "../../src/api/lister_watcher.ts";
import { Random } from "../../src/testing/random.ts";
import { FakeTime } from "../support/fake_time.ts";
import { added, deleted, entry, expired, modified, type ThingOptions } from "../support/fixtures.ts";
import { holding, Run } from "../support/informer.ts";

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
  /** The calls whose sum is a multiple of four throw. */
  readonly throws: boolean;
}

const INFORMERS = 2;
const TIERS = ["t0", "t1", "t2"];
const indexers = { tier: ({ metadata }: Item) => metadata.labels?.tier === undefined ? [] : [metadata.labels.tier] };

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
    throws: isLast && random.next() < 0.5,
  };
}

/** Reads collections by number. */
type FetchFrom = (from: number, query: FetchQuery<Item>) => Item | readonly Item[] | undefined;

/** The function of a derived collection: the objects of an input, by its id. */
function outputsOf(plan: Plan, id: string, objects: readonly Item[], fetch: FetchFrom): Item[] {
  const [{ metadata: { name, namespace = "default", labels = {} } }] = plan.groups
    ? [{ metadata: { name: id, namespace: undefined, labels: { tier: id, ref: "a" } } }]
    : objects;
  let sum = objects.reduce((sum, { spec }) => sum + spec.size, 0);
  for (const { from, by, own } of plan.reads) {
    const query: FetchQuery<Item> = by === "key"
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
  if (plan.throws && sum % 4 === 0) throw new Error("a multiple of four");
  const made = (name: string): Item => ({
    metadata: { name, namespace, labels: { ...labels, tier: TIERS[sum % 3] } },
    spec: { size: sum % plan.below },
  });
  if (plan.makes === "some" && sum % 2 === 0) return [];
  if (plan.makes === "several" && sum % 2 === 1) return [made(name), made(`${name}-more`)];
  return [made(plan.makes === "shared" ? `tier-${labels.tier}` : name)];
}

/** The objects of a collection by key, computed from nothing. */
type Contents = ReadonlyMap<string, Item>;

function selected(contents: Contents, query: FetchQuery<Item>): Item | readonly Item[] | undefined {
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

/** Returns the contents of a derived collection, and the inputs for which its function throws. */
function computed(plan: Plan, before: readonly Contents[]): { contents: Contents; failing: Set<string> } {
  const inputs = new Map<string, readonly Item[]>();
  for (const [key, item] of before[plan.input]) {
    for (const id of plan.groups ? indexers.tier(item) : [key]) inputs.set(id, [...inputs.get(id) ?? [], item]);
  }
  const contents = new Map<string, Item>();
  const failing = new Set<string>();
  for (const id of [...inputs.keys()].sort()) {
    try {
      for (const item of outputsOf(plan, id, inputs.get(id)!, (from, query) => selected(before[from], query))) {
        if (!contents.has(keyOf(item))) contents.set(keyOf(item), item);
      }
    } catch {
      failing.add(id);
    }
  }
  return { contents, failing };
}

/** Follows the events of a derived collection, each of which must fit to those before. */
class Mirror {
  readonly contents = new Map<string, Item>();
  readonly problems: string[] = [];
  events = 0;

  constructor(collection: DerivedCollection<Item, "tier">) {
    collection.addEventHandler({
      onAdd: ({ key, object }) => this.#put(key, undefined, object),
      onUpdate: ({ key, object, previous }) => this.#put(key, previous, object),
      onDelete: ({ key, object }) => this.#put(key, object, undefined),
    });
  }

  #put(key: string, previous: Item | undefined, item: Item | undefined): void {
    this.events++;
    const [known, before, after] = [this.contents.get(key), previous, item].map((it) => JSON.stringify(it));
    if (known !== before) this.problems.push(`${key}: ${before} became ${after}, but was ${known}`);
    if (before === after) this.problems.push(`${key}: an event without a change, ${after}`);
    if (item === undefined) this.contents.delete(key);
    else this.contents.set(key, item);
  }
}

function texts(contents: Iterable<Item>): string[] {
  return [...contents].map((item) => `${keyOf(item)} ${item.metadata.labels?.tier} ${item.spec.size}`).sort();
}

/**
 * Plays the history of a seed: two informers, and two to four collections that are derived from these and from each
 * other. Returns the number of events.
 */
export async function playDerivations(seed: number): Promise<number> {
  const random = new Random(seed);
  using time = new FakeTime();
  const options = (): ThingOptions => ({
    namespace: random.pick(["default", "other"]),
    labels: random.next() < 0.1 ? {} : { tier: random.pick(TIERS), ref: random.pick(["a", "b", "c"]) },
    size: random.below(6),
  });
  const names = ["a", "b", "c", "d"];
  /** By informer, the objects on the server, with their options. */
  const servers = Array.from({ length: INFORMERS }, () => new Map<string, { name: string; at: ThingOptions }>());
  for (const server of servers) {
    for (const name of names.slice(random.below(4))) {
      const at = options();
      server.set(`${at.namespace}/${name}`, { name, at });
    }
  }
  const entriesOf = (server: (typeof servers)[0], version: number): ReturnType<typeof entry>[] =>
    [...server.values()].map(({ name, at }) => entry(name, version, at));
  const runs = servers.map((server) => new Run(holding(...entriesOf(server, 5)), { indexers }, time));
  // Together, because each checks that no timer is left.
  await using _runs = {
    [Symbol.asyncDispose]: async () => void await Promise.all(runs.map((run) => run[Symbol.asyncDispose]())),
  };
  const startsFirst = random.next() < 0.5;
  if (startsFirst) await runs[random.below(2)].start();
  const plans: Plan[] = [];
  const sources: CollectionSource<Item, "tier">[] = runs.map(({ informer }) => informer);
  const derived: DerivedCollection<Item, "tier">[] = [];
  await using stack = new AsyncDisposableStack();
  for (let count = 2 + random.below(3), i = 0; i < count; i++) {
    const plan = planOf(random, INFORMERS + i, i === count - 1);
    const call = (id: string, objects: readonly Item[], fetch: FetchObjects): Item[] =>
      outputsOf(plan, id, objects, (from, query) => fetch(sources[from], query as { where: () => true }));
    const own = { indexers, name: `derived ${i}`, onError: () => {} };
    const collection = plan.groups
      ? deriveGroups(
        sources[plan.input],
        "tier",
        ({ value, objects }, { fetch }) => call(value, objects, fetch),
        own,
      )
      : derive(sources[plan.input], (item, { fetch }) => call(keyOf(item), [item], fetch), own);
    plans.push(plan);
    sources.push(stack.use(collection));
    derived.push(collection);
  }
  const mirrors = derived.map((collection) => new Mirror(collection));
  for (const run of runs) if (run.informer.status().state === "idle") await run.start();
  let version = 100;
  for (let step = 0; step < 14; step++) {
    const contents: Contents[] = servers.map((server) => {
      const items = [...server.values()].map(({ name, at }) => entry(name, 1, at).object as Item);
      return new Map(items.map((item) => [keyOf(item), item]));
    });
    for (const [i, plan] of plans.entries()) {
      const what = `seed ${seed}, step ${step}, derived ${i}: ${JSON.stringify(plan)}`;
      const { contents: expected, failing } = computed(plan, contents);
      contents.push(expected);
      assertEquals(derived[i].hasSynced, true, what);
      assertEquals(derived[i].status().failing, failing.size, what);
      assertEquals(mirrors[i].problems, [], what);
      assertEquals(texts(mirrors[i].contents.values()), texts(derived[i].lister.list()), what);
      if (failing.size > 0) continue; // what the functions returned before has stayed
      assertEquals(texts(derived[i].lister.list()), texts(expected.values()), what);
      for (const tier of TIERS) {
        const keys = [...expected].filter(([, item]) => indexers.tier(item).includes(tier)).map(([key]) => key);
        assertEquals(derived[i].indexer.indexKeys("tier", tier), keys.sort(), what);
      }
    }
    for (const i of random.next() < 0.3 ? [0, 1] : [random.below(2)]) {
      const server = servers[i];
      const changes = Array.from({ length: 1 + random.below(3) }, (): Change<never> => {
        const name = random.pick(names);
        const at = options();
        const key = `${at.namespace}/${name}`;
        const known = server.get(key);
        if (known !== undefined && random.next() < 0.3) {
          server.delete(key);
          // The last state of a deleted object may be one that was never cached.
          return deleted(name, ++version, random.next() < 0.5 ? known.at : at) as Change<never>;
        }
        const isAnew = known !== undefined && random.next() < 0.1;
        const uid = known === undefined || isAnew ? `uid-${++version}` : known.at.uid;
        const put = { name, at: { ...at, ...(uid === undefined ? {} : { uid }) } };
        server.set(key, put);
        return (known === undefined ? added : modified)(name, ++version, put.at) as Change<never>;
      });
      if (random.next() < 0.15) {
        await time.tickAsync(10_000); // a watch that ends earlier leads to a longer wait
        await runs[i].relist(expired(), ++version, entriesOf(server, version));
      } else await runs[i].send(...changes);
    }
    await time.tickAsync(0);
  }
  return mirrors.reduce((sum, { events }) => sum + events, 0);
}
