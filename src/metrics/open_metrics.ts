import type { MetricFamily } from "./metric_family.ts";

/** The media type of {@linkcode openMetricsText}. */
export const OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/**
 * Returns metric families as text in the OpenMetrics format, version 1.0.0. Families without samples have their description.
 *
 * @throws {TypeError} when a name or label is not allowed, a family has a unit that is not the end of its name, a name is used
 * twice, or a counter is no number of at least 0.
 */
export function openMetricsText(families: readonly MetricFamily[]): string {
  const names = new Set<string>();
  const lines: string[] = [];
  for (const { name, type, unit, help, samples } of families) {
    checkName(name);
    if (names.has(name)) throw new TypeError(`Cannot write metrics: two families have the name "${name}"`);
    names.add(name);
    lines.push(`# TYPE ${name} ${type}`);
    if (unit !== undefined) {
      if (!name.endsWith(`_${unit}`)) throw new TypeError(`Cannot write metrics: "${name}" must end with "_${unit}"`);
      lines.push(`# UNIT ${name} ${unit}`);
    }
    lines.push(`# HELP ${name} ${escaped(help)}`);
    for (const { labels = {}, value, count = 0 } of samples) {
      if (type !== "gauge" && !(value >= 0)) {
        throw new TypeError(`Cannot write metrics: "${name}" must be a number of at least 0, found ${value}`);
      }
      const set = labelText(labels);
      if (type === "gauge") lines.push(`${name}${set} ${numberText(value)}`);
      else if (type === "counter") lines.push(`${name}_total${set} ${numberText(value)}`);
      else lines.push(`${name}_count${set} ${count}`, `${name}_sum${set} ${numberText(value)}`);
    }
  }
  return [...lines, "# EOF", ""].join("\n");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    checkName(name, /^[a-zA-Z_][a-zA-Z0-9_]*$/);
    return `${name}="${escaped(value)}"`;
  });
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.toWellFormed().replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

function checkName(name: string, pattern: RegExp = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/): void {
  if (!pattern.test(name)) throw new TypeError(`Cannot write metrics: "${name}" is not allowed as a name`);
}
