// Random histories: clusters come and go while their servers meet writes and faults. Every handler gets a gap-free
// sequence of events for each object of each cluster, and in the end knows what the servers have.
import { applyViewUpdate, type HandlerOptions, type ViewRow } from "@kube/informer";
import type { ClusterEventHandler, ClusterInformer, InCluster } from "@kube/informer/clusters";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { history, type HistoryStep, perform } from "@kube/informer/testing";
import { assertEquals } from "@std/assert";
import { sleep } from "../../../src/engine/async/time.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { Clusters } from "../servers/clusters.ts";

const NAMES = ["berlin", "paris", "rome"];

/** The objects that a handler knows, by cluster and key, with their versions. */
class Known {
  readonly versions = new Map<string, string>();
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  took(event: InCluster & { readonly type: string; readonly key?: string; readonly resourceVersion: string }): void {
    if (event.type === "synced") return;
    const place = `${event.cluster}/${event.key}`;
    const isKnown = this.versions.has(place);
    if (isKnown === (event.type === "added")) {
      throw new Error(
        `handler "${this.#name}" got ${event.type} of ${place}, which it ${isKnown ? "knew" : "did not know"}`,
      );
    }
    if (event.type === "deleted") this.versions.delete(place);
    else this.versions.set(place, event.resourceVersion);
  }

  /** A handler that takes `ms` for an event. */
  handler(failures: unknown[], ms: number): ClusterEventHandler<ConfigMap> {
    const take = (event: Parameters<Known["took"]>[0]): Promise<void> | void => {
      try {
        this.took(event);
      } catch (error) {
        failures.push(error);
      }
      return ms === 0 ? undefined : sleep(ms);
    };
    return { onAdd: take, onUpdate: take, onDelete: take, onSynced: take };
  }
}

/** Reads events until the end. */
async function read(maps: ClusterInformer<ConfigMap>, known: Known): Promise<void> {
  for await (const event of maps.events()) known.took(event);
}

/** Reads a view until the end. */
async function follow(maps: ClusterInformer<ConfigMap>, shown: { rows: ViewRow<ConfigMap>[] }): Promise<void> {
  using view = maps.view({ sortBy: "data.value" });
  for await (const update of view.changes()) shown.rows = applyViewUpdate(shown.rows, update);
}

/** Plays the history of a seed, and returns the number of its steps. */
export async function playClusters(seed: number): Promise<number> {
  const random = new Random(seed);
  await using clusters = new Clusters({
    compact: seed % 2 === 0,
    reflector: { streamingList: random.pick(["auto", "on", "off"] as const) },
  });
  const { set, time } = clusters;
  const maps = set.forResource(ConfigMap);
  const failures: unknown[] = [];
  const handlers: readonly (readonly [string, number, HandlerOptions<ConfigMap>])[] = [
    ["plain", 0, {}],
    ["slow", 1 + random.below(30), {}],
    ["latest", random.below(30), { backlog: "latestPerKey" }],
    ["filtered", 0, { filter: () => true }],
  ];
  const known = new Map(handlers.map(([name]) => [name, new Known(name)]));
  for (const [name, ms, options] of handlers) {
    maps.addEventHandler(known.get(name)!.handler(failures, ms), { ...options, name });
  }
  const streamed = new Known("events");
  const reading = read(maps, streamed).catch((error) => failures.push(error));
  const shown: { rows: ViewRow<ConfigMap>[] } = { rows: [] };
  const following = follow(maps, shown).catch((error) => failures.push(error));
  const steps: { readonly name: string; readonly step?: HistoryStep }[] = NAMES.flatMap((name, i) =>
    history(seed * NAMES.length + i, { steps: 16 }).map((step) => ({ name, step }))
  );
  const turns = NAMES.map((name) => steps.filter((it) => it.name === name));
  const lasting: (Disposable | undefined)[] = [];
  const removals: Promise<void>[] = [];
  set.start();
  while (turns.some((left) => left.length > 0)) {
    const name = random.pick(NAMES);
    if (random.next() < 0.15) {
      if (set.names.includes(name)) removals.push(set.remove(name));
      else {
        await clusters.during(Promise.all(removals.splice(0)));
        clusters.add(name);
      }
    }
    const next = turns[NAMES.indexOf(name)].shift();
    if (next?.step !== undefined) lasting.push(perform(clusters.server(name), ConfigMap, next.step));
    if (random.next() < 0.6) await time.tickAsync(random.pick([0, 1, 20, 900, 30_000]));
  }
  await clusters.during(Promise.all(removals));
  for (const name of NAMES) {
    const server = clusters.server(name);
    server.disarm();
    server.latency(0);
    server.sendBookmarks(true);
    server.supportStreamingList(true);
  }
  for (const fault of lasting) fault?.[Symbol.dispose]();
  await time.tickAsync(600_000);
  for (const name of NAMES) clusters.server(name).forceRelist(); // of events that were lost
  await time.tickAsync(600_000);
  const expected = new Map(set.names.flatMap((name) =>
    clusters.server(name).list(ConfigMap).map(({ metadata }) => {
      return [`${name}/${metadata.namespace}/${metadata.name}`, metadata.resourceVersion!] as const;
    })
  ));
  const sorted = (versions: Iterable<readonly [string, string]>): unknown => [...versions].sort();
  assertEquals(failures, []);
  const listed = maps.lister.list().map(({ cluster, object: { metadata: { namespace, name, resourceVersion } } }) => {
    return [`${cluster}/${namespace}/${name}`, resourceVersion] as const;
  });
  assertEquals(sorted(listed), sorted(expected), "lister");
  for (const [name, { versions }] of known) assertEquals(sorted(versions), sorted(expected), name);
  assertEquals(sorted(streamed.versions), sorted(expected), "events");
  assertEquals(shown.rows.map(({ key }) => key).sort(), [...expected.keys()].sort(), "view");
  await clusters.during(set[Symbol.asyncDispose]());
  await Promise.all([reading, following]);
  assertEquals(failures, []);
  return steps.length;
}
