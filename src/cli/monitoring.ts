/**
 * The commands `informer dashboard` and `informer alerts`.
 *
 * {@linkcode dashboardJson} and {@linkcode alertsYaml} are the entry points. They print `dashboard.json` and
 * `alerts.json` of this folder, and read no metrics.
 *
 * @module
 */
import alerts from "./alerts.json" with { type: "json" };
import dashboard from "./dashboard.json" with { type: "json" };
import { yamlText } from "./terminal/yaml.ts";

/** Returns a dashboard for Grafana 10 and newer, as JSON: it shows every metric of a `Manager`. */
export function dashboardJson(): string {
  return JSON.stringify(dashboard, undefined, 2);
}

/** Returns alert rules for Prometheus, as YAML. */
export function alertsYaml(): string {
  return yamlText(alerts);
}
