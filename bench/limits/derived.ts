/**
 * The zones of 100,000 pods by those of their 5,000 nodes, at 1,000 changes a second, of which one in ten is that of a
 * node, in a process of its own: MODE SECONDS; `derived`, `manual` for handlers that keep an index of pods by node, and
 * the outputs, in maps, or `none` for the informers alone. Half of the changes of nodes are those of their zones.
 */
import process from "node:process";
import {
  derive,
  type DerivedCollection,
  entryOf,
  type KubernetesObject,
  type ListerWatcher,
  type ListPart,
  SharedIndexInformer,
  type WatchChange,
} from "../../mod.ts";
import { median } from "../statistics.ts";
import { collect, measureCase, type Measurement, type Numbers, ratio } from "./measurement.ts";

const PODS = 100_000;
/** The number of nodes. */
export const NODES = 5_000;
/** Changes a second, in batches of ten. */
const RATE = 1_000;
const SECONDS = 8;

/** A derived join, beside one that is written by hand. */
export const DERIVED: Measurement = {
  ids: ["deriveda", "derivedb", "derivedc", "derivedd"],
  name: "derived",
  onlyNamed: true,
  measure: async ({ repetitions }) => {
    const runs: Record<string, Numbers[]> = { derived: [], manual: [], none: [] };
    for (let repetition = 0; repetition < repetitions; repetition++) {
      for (const mode of Object.keys(runs)) {
        runs[mode].push(await measureCase(import.meta.url, { args: [mode, SECONDS] }));
      }
    }
    const of = (mode: string, name: string): number => median(runs[mode].map((numbers) => numbers[name]));
    const join = `join of ${PODS} pods with ${NODES} nodes`;
    const above = (mode: string, name: string): number => of(mode, name) - of("none", name);
    return [
      ratio(
        "deriveda",
        `CPU of ${RATE} changes/s, ${join}: derived / by hand`,
        of("derived", "cpuMs") / of("manual", "cpuMs"),
        2,
      ),
      {
        id: "derivedb",
        what: "the same, above that of the informers",
        value: above("derived", "cpuMs") / above("manual", "cpuMs"),
      },
      {
        id: "derivedc",
        what: `CPU to compute a ${join} at first: derived / by hand`,
        value: above("derived", "firstMs") / above("manual", "firstMs"),
      },
      { id: "derivedd", what: `heap of a ${join}, a pod`, value: above("derived", "heapMb") * 1e6 / PODS, unit: "B" },
    ];
  },
};

/** A node: a part of it is enough. */
export interface Node extends KubernetesObject {
  readonly zone: string;
}

/** A pod: a part of it is enough. */
export interface Pod extends KubernetesObject {
  readonly nodeName: string;
  readonly phase: string;
}

function onlyMetadata(name: string, version: number): KubernetesObject["metadata"] {
  return { name, uid: `uid-${name}`, resourceVersion: String(version) } as KubernetesObject["metadata"];
}

/** A node in one of three zones. */
export function node(index: number, version: number, zone: number): Node {
  return { metadata: onlyMetadata(`node-${index}`, version), zone: `zone-${zone % 3}` };
}

/** A pod on a node. */
export function pod(index: number, version: number, moved: number): Pod {
  const nodeName = `node-${(index + moved) % NODES}`;
  return { metadata: onlyMetadata(`pod-${index}`, version), nodeName, phase: `phase-${version % 4}` };
}

/** A list, and a watch that delivers the changes that are put. */
export class Fed<T extends KubernetesObject> implements ListerWatcher<T> {
  readonly #listed: readonly T[];
  #batch: WatchChange<T>[] = [];
  #wake: () => void = () => {};

  /** Lists these objects. */
  constructor(listed: readonly T[]) {
    this.#listed = listed;
  }

  /** Delivers changes of these objects, as one batch. */
  put(objects: readonly T[]): void {
    for (const object of objects) this.#batch.push({ type: "MODIFIED", entry: entryOf(object) });
    this.#wake();
  }

  /** As the interface says. */
  async *listEntries(): AsyncGenerator<ListPart<T>, void, undefined> {
    await Promise.resolve();
    yield { entries: this.#listed.map(entryOf), resourceVersion: "1" };
  }

  /** As the interface says. */
  async *watchChanges({ signal }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<readonly WatchChange<T>[]> {
    yield [];
    signal?.addEventListener("abort", () => this.#wake(), { once: true });
    while (!signal?.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#batch.length > 0) resolve();
      });
      const batch = this.#batch;
      this.#batch = [];
      if (batch.length > 0) yield batch;
    }
  }
}

/** A pod with the zone of its node. */
export interface Placed {
  readonly metadata: { readonly name: string };
  readonly zone: string | undefined;
  readonly phase: string;
}

/** Keeps pods by node, and the outputs, and calls `changed` for those that are others. */
export function joinByHand(
  pods: SharedIndexInformer<Pod>,
  nodes: SharedIndexInformer<Node>,
  changed: () => void,
): ReadonlyMap<string, Placed> {
  const byNode = new Map<string, Set<string>>();
  const placed = new Map<string, Placed>();
  const compute = ({ metadata: { name }, nodeName, phase }: Pod): void => {
    const before = placed.get(name);
    const zone = nodes.indexer.getByKey(nodeName)?.zone;
    if (before !== undefined && before.zone === zone && before.phase === phase) return;
    placed.set(name, { metadata: { name }, zone, phase });
    changed();
  };
  const file = (key: string, nodeName: string): void => {
    const keys = byNode.get(nodeName);
    if (keys === undefined) byNode.set(nodeName, new Set([key]));
    else keys.add(key);
  };
  const take = (key: string, nodeName: string): void => {
    const keys = byNode.get(nodeName);
    if (keys?.delete(key) && keys.size === 0) byNode.delete(nodeName);
  };
  const ofNode = (nodeName: string): void => {
    for (const key of byNode.get(nodeName) ?? []) compute(pods.indexer.getByKey(key)!);
  };
  pods.addEventHandler({
    onAdd: ({ key, object }) => {
      file(key, object.nodeName);
      compute(object);
    },
    onUpdate: ({ key, object, previous }) => {
      if (previous.nodeName !== object.nodeName) {
        take(key, previous.nodeName);
        file(key, object.nodeName);
      }
      compute(object);
    },
    onDelete: ({ key, object }) => {
      take(key, object.nodeName);
      placed.delete(key);
      changed();
    },
  });
  nodes.addEventHandler({
    onAdd: ({ key }) => ofNode(key),
    onUpdate: ({ key }) => ofNode(key),
    onDelete: ({ key }) => ofNode(key),
  });
  return placed;
}

/** The same, derived. */
export function joinDerived(
  pods: SharedIndexInformer<Pod>,
  nodes: SharedIndexInformer<Node>,
  changed: () => void,
): DerivedCollection<Placed> {
  const placed = derive(pods, ({ metadata: { name }, nodeName, phase }, { read: fetch }): Placed => ({
    metadata: { name },
    zone: fetch(nodes, { key: nodeName })?.zone,
    phase,
  }));
  placed.addEventHandler({ onAdd: changed, onUpdate: changed, onDelete: changed });
  return placed;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function main(): Promise<void> {
  const [mode, seconds] = [Deno.args[0], Number(Deno.args[1])];
  const podSource = new Fed(Array.from({ length: PODS }, (_, i) => pod(i, 1, 0)));
  const nodeSource = new Fed(Array.from({ length: NODES }, (_, i) => node(i, 1, i)));
  const options = { reflector: { streamingList: "off" } } as const;
  await using pods = new SharedIndexInformer(podSource, options);
  await using nodes = new SharedIndexInformer(nodeSource, options);
  for (const informer of [pods, nodes]) void informer.run();
  for (const informer of [pods, nodes]) await informer.waitForCacheSync();
  let changes = 0;
  const changed = (): void => void changes++;
  collect();
  const heap = Deno.memoryUsage().heapUsed;
  const first = cpuMs();
  const byHand = mode === "manual" ? joinByHand(pods, nodes, changed) : undefined;
  await using derived = mode === "derived" ? joinDerived(pods, nodes, changed) : undefined;
  while (mode !== "none" && changes < PODS) await new Promise((resolve) => setTimeout(resolve, 1));
  const firstMs = cpuMs() - first;
  collect();
  const heapMb = (Deno.memoryUsage().heapUsed - heap) / 1e6;
  await new Promise((resolve) => setTimeout(resolve, 500));
  const began = cpuMs();
  let version = 1;
  for (let sent = 0, start = performance.now(); sent < seconds * RATE;) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const due = Math.min(seconds * RATE, Math.floor((performance.now() - start) / 1_000 * RATE / 10) * 10);
    for (; sent < due; sent += 10) {
      version++;
      const batch = Array.from(
        { length: 9 },
        (_, i) => pod(((sent + i) * 104_729) % PODS, version, i === 0 ? version : 0),
      );
      podSource.put(batch);
      nodeSource.put([node((version * 7_919) % NODES, version, (version * 7_919) % NODES + version % 2)]);
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  const used = cpuMs() - began;
  const row = (name: string): Placed | undefined => byHand?.get(name) ?? derived?.lister.get(name);
  for (const { metadata: { name }, nodeName, phase } of mode === "none" ? [] : pods.indexer.list()) {
    const { zone, phase: seen } = row(name) ?? {};
    if (zone !== nodes.indexer.getByKey(nodeName)!.zone || seen !== phase) {
      throw new Error(`Cannot measure: ${name} is in "${zone}" and "${seen}", expected "${phase}" by its node`);
    }
  }
  console.log(JSON.stringify({ cpuMs: used, firstMs, heapMb, changes }));
}

if (import.meta.main) await main();
