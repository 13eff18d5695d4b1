/**
 * Evaluates the queries of the dashboard on scraped samples, as Prometheus does: sums, counts and maxima by labels,
 * rates, and quantiles of histograms. It evaluates nothing else.
 *
 * @module
 */
import type { ParsedSample } from "../../tests/support/texts/parse_open_metrics.ts";

/** The samples that were scraped at one time, in seconds. */
export interface Scrape {
  readonly at: number;
  readonly samples: readonly ParsedSample[];
}

/** A line of a panel: its labels, and a value for each scrape; `null` where there is none. */
export interface Line {
  readonly labels: Readonly<Record<string, string>>;
  readonly values: (number | null)[];
}

type Labels = Readonly<Record<string, string>>;

/** The samples of a vector at one time, by their labels. */
type Vector = Map<string, { readonly labels: Labels; readonly value: number }>;

const QUANTILE = /^histogram_quantile\(([\d.]+), (.+)\)$/;
const AGGREGATE = /^(sum|count|max)(?: by \(([^)]*)\))? ?\((.+)\)$/;
const RATE = /^rate\((\w+)\{[^}]*\}\[\$__rate_interval\]\)$/;
const SELECTOR = /^(\w+)\{[^}]*\}$/;

/** The lines of a query over all scrapes; rates are over `windowSeconds`. */
export function evaluate(query: string, scrapes: readonly Scrape[], windowSeconds: number): Line[] {
  const lines = new Map<string, Line>();
  for (const i of scrapes.keys()) {
    for (const [key, { labels, value }] of vectorOf(query, scrapes, i, windowSeconds)) {
      if (!lines.has(key)) lines.set(key, { labels, values: scrapes.map(() => null) });
      lines.get(key)!.values[i] = Number.isFinite(value) ? value : null;
    }
  }
  return [...lines.values()];
}

function vectorOf(query: string, scrapes: readonly Scrape[], at: number, windowSeconds: number): Vector {
  const [, quantile, inner] = QUANTILE.exec(query) ?? [];
  if (quantile !== undefined) return quantiles(Number(quantile), vectorOf(inner, scrapes, at, windowSeconds));
  const [, how, by = "", of] = AGGREGATE.exec(query) ?? [];
  if (how !== undefined) {
    return aggregated(how, by.split(",").map((it) => it.trim()), vectorOf(of, scrapes, at, windowSeconds));
  }
  const [, counter] = RATE.exec(query) ?? [];
  if (counter !== undefined) return rates(counter, scrapes, at, windowSeconds);
  const [, name] = SELECTOR.exec(query) ?? [];
  if (name === undefined) throw new SyntaxError(`Cannot evaluate "${query}": it has a form that no panel had`);
  return samplesOf(name, scrapes[at]);
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort());
}

function samplesOf(name: string, { samples }: Scrape): Vector {
  return new Map(
    samples.filter((it) => it.name === name).map(({ labels, value }) => [keyOf(labels), { labels, value }]),
  );
}

function rates(name: string, scrapes: readonly Scrape[], at: number, windowSeconds: number): Vector {
  const first = scrapes.findIndex((scrape) => scrape.at >= scrapes[at].at - windowSeconds);
  const [from, to] = [scrapes[first], scrapes[at]];
  const found: Vector = new Map();
  if (from === to) return found;
  const before = samplesOf(name, from);
  for (const [key, { labels, value }] of samplesOf(name, to)) {
    const start = before.get(key)?.value ?? 0;
    found.set(key, { labels, value: (value - start) / (to.at - from.at) });
  }
  return found;
}

function aggregated(how: string, by: readonly string[], vector: Vector): Vector {
  const found: Vector = new Map();
  for (const { labels, value } of vector.values()) {
    const kept = Object.fromEntries(by.filter((name) => name in labels).map((name) => [name, labels[name]]));
    const key = keyOf(kept);
    const before = found.get(key)?.value;
    const one = how === "count" ? 1 : value;
    const sum = before === undefined ? one : how === "max" ? Math.max(before, one) : before + one;
    found.set(key, { labels: kept, value: sum });
  }
  return found;
}

function quantiles(quantile: number, buckets: Vector): Vector {
  const groups = new Map<string, { readonly labels: Labels; readonly bounds: [number, number][] }>();
  for (const { labels: { le, ...labels }, value } of buckets.values()) {
    const key = keyOf(labels);
    if (!groups.has(key)) groups.set(key, { labels, bounds: [] });
    groups.get(key)!.bounds.push([le === "+Inf" ? Infinity : Number(le), value]);
  }
  return new Map([...groups].map(([key, { labels, bounds }]) => [key, { labels, value: within(quantile, bounds) }]));
}

/** Interpolates within the bucket that has the quantile. */
function within(quantile: number, bounds: [number, number][]): number {
  bounds.sort(([a], [b]) => a - b);
  const rank = quantile * (bounds.at(-1)?.[1] ?? 0);
  if (rank === 0) return NaN;
  const index = bounds.findIndex(([, count]) => count >= rank);
  const [upper, count] = bounds[index];
  const [lower, below] = index === 0 ? [0, 0] : bounds[index - 1];
  return upper === Infinity ? lower : lower + ((upper - lower) * (rank - below)) / (count - below);
}
