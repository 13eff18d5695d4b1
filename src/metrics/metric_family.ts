/** One value of a metric family. */
export interface MetricSample {
  /** The labels, in any order. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The value. A counter starts at 0 and never decreases. */
  readonly value: number;
  /** The number of observations, of a `"summary"`, whose `value` is their sum. */
  readonly count?: number;
}

/** A metric family: samples of one name that differ in their labels. */
export interface MetricFamily {
  /** The name, with the unit as its end and without `_total`: `"workqueue_wait_seconds"`. */
  readonly name: string;
  /** The type. Samples of a `"summary"` have a sum and a count, and no quantiles. */
  readonly type: "counter" | "gauge" | "summary";
  /** The base unit, `"seconds"`, where the family has one. */
  readonly unit?: string;
  /** A sentence that describes the values. */
  readonly help: string;
  /** The samples, no two of them with the same labels. */
  readonly samples: readonly MetricSample[];
}

type Labels = Readonly<Record<string, string>>;

/** Returns a family of counters. */
export function counter(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "counter", help, samples };
}

/** Returns a family of gauges. */
export function gauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "gauge", help, samples };
}

/** Returns a family of gauges in seconds; `name` ends with `_seconds`. */
export function secondsGauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "gauge", unit: "seconds", help, samples };
}

/** Returns a family of sums and counts of seconds; `name` ends with `_seconds`. */
export function summary(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "summary", unit: "seconds", help, samples };
}

/** Returns the labels of each item; items that would have the same labels are numbered from the second one on. */
export function labelsOf<I>(items: readonly I[], labels: (item: I) => Labels): Labels[] {
  const counts = new Map<string, number>();
  return items.map((item) => {
    const own = labels(item);
    const key = JSON.stringify(own);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count === 1 ? own : { ...own, instance_number: String(count) };
  });
}
