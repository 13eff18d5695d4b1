/**
 * A metric family about the cached objects themselves, such as pods by phase.
 *
 * {@linkcode objectMetrics} is the entry point. It reads single fields, and parses no object. The families
 * about informers, and the text of families, are in `metrics.ts`.
 *
 * @module
 */
import { parseQuantity } from "../api/quantity.ts";
import { plainRows, readOptions } from "../errors/option_table.ts";
import { ofEntries } from "../entry/path.ts";
import type { IndexFunction } from "../store/value_index.ts";
import { gauge, type MetricFamily } from "./metrics.ts";
import type { IndexedCollection } from "./readable_collection.ts";

/** Options for {@linkcode objectMetrics}. */
export interface ObjectMetricsOptions<T> {
  /** The family's name: `"pods"`. If it ends with `_seconds`, the unit is seconds. */
  readonly name: string;
  /** A sentence that describes the values. @default {"From cached objects."} */
  readonly help?: string;
  /**
   * The fields whose values are labels: `{ phase: field("status.phase") }`. An object without the field has an empty
   * label. Several values are joined by commas. Any function of objects works, but it parses every object.
   */
  readonly labels: Readonly<Record<string, IndexFunction<T>>>;
  /**
   * The field whose values are added up for each series: `field("spec.replicas")`. Quantities such as `500m` are
   * numbers. An object without the field adds 0. `"count"` counts objects. @default {"count"}
   */
  readonly value?: IndexFunction<T> | "count";
  /**
   * The largest number of series. The objects of all further series share one, whose only label is `overflow="true"`.
   * So sums over all series stay right. @default {1_000}
   */
  readonly maxSeries?: number;
}

const OPTIONS = { ...plainRows("name help labels value"), maxSeries: { default: 1_000, count: { min: 1 } } } as const;

/**
 * Returns a family of gauges about cached objects: how many have the same labels, or the sum of a field. Use it for
 * metrics such as pods by phase and node, and write it with `openMetricsText([family])`.
 *
 * Labels and values are read by {@linkcode field}, so objects stay unparsed. A call reads every object: about 2 µs for
 * each label and pod. Objects that cannot be read are left out.
 *
 * @param source An informer or derived collection.
 * @throws {RangeError} if `maxSeries` is not a whole number of at least 1.
 * @throws {SyntaxError} if a value is not a number or quantity. Also the error of a function that you pass.
 *
 * @example
 * ```ts
 * import { Client, field, SharedInformerFactory } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { objectMetrics, openMetricsText } from "@kube/informer/reconcile";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * const pods = informers.forResource(Pod);
 * informers.start();
 * await informers.waitForCacheSync();
 * const text = openMetricsText([objectMetrics(pods, { name: "pods", labels: { node: field("spec.nodeName") } })]);
 * assertStringIncludes(text, 'pods{node="worker-1"} 1');
 * ```
 */
export function objectMetrics<T>(source: IndexedCollection<T, string>, options: ObjectMetricsOptions<T>): MetricFamily {
  const { name, help = "From cached objects.", maxSeries, ...of } = readOptions("count objects", options, OPTIONS);
  const readers = Object.entries(of.labels).map(([label, read]) => [label, ofEntries(read)] as const);
  const numbers = of.value === "count" || of.value === undefined ? () => ["1"] : ofEntries(of.value);
  const series = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>();
  for (const entry of source.entries) {
    try {
      let own: Record<string, string> = Object.fromEntries(readers.map(([label, read]) => [label, read(entry).join()]));
      if (series.size >= maxSeries && !series.has(JSON.stringify(own))) own = { overflow: "true" };
      const key = JSON.stringify(own);
      const sample = series.get(key) ?? { labels: own, value: 0 };
      series.set(key, sample);
      for (const text of numbers(entry)) sample.value += Number(parseQuantity(text));
    } catch (error) {
      if (error !== entry.error) throw error; // the quarantine reports an object that cannot be read
    }
  }
  return gauge(name, help, [...series.values()]);
}
