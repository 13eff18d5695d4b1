/**
 * A view of 50 rows over 100,000 objects, each change of which moves a row to the top, at 1,000 changes a second, in a
 * process of its own: MODE SECONDS; `view`, or `none` for the same without one.
 */
import {
  applyViewUpdate,
  entryOf,
  type KubernetesObject,
  type ListerWatcher,
  type ListPart,
  SharedIndexInformer,
  type ViewRow,
  type WatchChange,
} from "../../mod.ts";
import { median } from "../statistics.ts";
import { Delays } from "./_delays.ts";
import { small } from "./_scripted.ts";
import { measureCase, type Measurement, ms, type Numbers, TURN_MS } from "./measurement.ts";

const COUNT = 100_000;
const ROWS = 50;
/** Changes a second, in batches of ten. */
const RATE = 1_000;
const SECONDS = 5;

/** E2: the delay of the event loop while a view follows changes, and the cost of a change. */
export const VIEW: Measurement = {
  ids: ["E2a", "E2b", "E2c"],
  name: "view",
  measure: async ({ repetitions }) => {
    const runs: Record<string, Numbers[]> = { view: [], none: [] };
    for (let repetition = 0; repetition < repetitions; repetition++) {
      for (const mode of Object.keys(runs)) {
        runs[mode].push(await measureCase(import.meta.url, { args: [mode, SECONDS] }));
      }
    }
    const of = (mode: string, name: string): number => median(runs[mode].map((numbers) => numbers[name]));
    const what = `delay of the event loop, p99, ${RATE} changes/s of ${COUNT} objects`;
    return [
      ms("E2a", `${what}, a view of ${ROWS}`, of("view", "DelayP99Ms"), TURN_MS),
      { id: "E2b", what: `${what}, no view`, value: of("none", "DelayP99Ms"), unit: "ms" },
      {
        id: "E2c",
        what: `rows of ${COUNT} that a view takes in order, each`,
        value: of("view", "firstUs"),
        unit: "µs",
      },
    ];
  },
};

async function main(): Promise<void> {
  const [mode, seconds] = [Deno.args[0], Number(Deno.args[1])];
  let version = COUNT;
  const stop = new AbortController();
  const source: ListerWatcher<KubernetesObject> = {
    async *listEntries(): AsyncGenerator<ListPart<KubernetesObject>, void, undefined> {
      await Promise.resolve();
      yield {
        entries: Array.from({ length: COUNT }, (_, i) => entryOf(small(i, (i * 7919) % COUNT + 1))),
        resourceVersion: String(COUNT),
      };
    },
    async *watchChanges(): AsyncGenerator<readonly WatchChange<KubernetesObject>[], void, undefined> {
      yield [];
      for (let began = performance.now(), sent = 0; !stop.signal.aborted;) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        const due = Math.floor(((performance.now() - began) / 1_000) * RATE / 10) * 10;
        const changes: WatchChange<KubernetesObject>[] = [];
        for (; sent < due; sent++) {
          changes.push({ type: "MODIFIED", entry: entryOf(small((sent * 104_729) % COUNT, ++version)) });
        }
        yield changes;
      }
    },
  };
  await using informer = new SharedIndexInformer(source, { reflector: { streamingList: "off" } });
  void informer.run();
  await informer.waitForCacheSync();
  let rows: ViewRow<KubernetesObject>[] = [];
  let applied = 0;
  const first = Promise.withResolvers<void>();
  const began = performance.now();
  using view = mode === "view"
    ? informer.view({
      sortBy: { by: ({ metadata }) => Number(metadata.resourceVersion), descending: true },
      limit: ROWS,
    })
    : undefined;
  void (async () => {
    for await (const update of view?.changes() ?? []) {
      rows = applyViewUpdate(rows, update);
      applied++;
      first.resolve();
    }
  })();
  if (view !== undefined) await first.promise;
  const firstUs = (performance.now() - began) / COUNT * 1_000;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  using delays = new Delays();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const numbers = delays.take("");
  stop.abort();
  if (view !== undefined && (rows.length !== ROWS || Number(rows[0].object.metadata.resourceVersion) < version - 10)) {
    throw new Error(`Cannot measure: the view shows ${rows.length} rows, not those of version ${version}`);
  }
  console.log(JSON.stringify({ ...numbers, firstUs, applied }));
}

if (import.meta.main) await main();
