/**
 * The commands `informer dashboard` and `informer alerts`.
 *
 * {@linkcode dashboardJson} and {@linkcode alertsYaml} are the entry points. They know the names of metrics, and read
 * no metrics.
 *
 * @module
 */
import type { LeaderElectorStatus } from "../controllers/reconcile/leader_elector.ts";
import type { ManagerPhase } from "../controllers/reconcile/manager.ts";
import { yamlText } from "./terminal/terminal.ts";

/** The unit of a panel, as Grafana names it. */
type Unit = "short" | "ops" | "s" | "decbytes";

/** A panel: its title, its unit, and its queries by the names of their lines. */
type Panel = readonly [title: string, unit: Unit, queries: Readonly<Record<string, string>>];

/** An alert: it fires when its expression has results for some time. */
interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: "warning" | "critical";
  /** One line, in which `$` stands before the labels of the result: `$job`. */
  readonly summary: string;
  /** The meaning, and a hint where to look. */
  readonly description: string;
}

const LEADING: LeaderElectorStatus["state"] = "leading";
const SYNCING: ManagerPhase = "syncing";

/** The samples of the chosen jobs. */
const of = (metric: string): string => `${metric}{job=~"$job"}`;

/** The greatest value over all processes. */
const most = (metric: string, by: string): string => `max by (${by}) (${of(metric)})`;

/** The number of processes by a label, such as their state. */
const number = (metric: string, by: string): string => `count by (${by}) (${of(metric)})`;

/** The increase of a counter in a second, in all processes. */
const rate = (counter: string, by: string): string => `sum by (${by}) (rate(${of(counter)}[$__rate_interval]))`;

/** The median and the 99th percentile of a histogram in seconds, over all processes. */
function quantiles(histogram: string, by: string): Record<string, string> {
  const of = (share: number): string => `histogram_quantile(${share}, ${rate(`${histogram}_bucket`, `${by}, le`)})`;
  return { [`{{${by}}} p50`]: of(0.5), [`{{${by}}} p99`]: of(0.99) };
}

/** The panels of the dashboard, by the titles of its rows. */
const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  Processes: [
    ["Phases of managers", "short", { "{{phase}}": number("manager_phase", "phase") }],
    ["States of electors", "short", { "{{state}}": number("leader_state", "state") }],
    ["Changes of the leader", "short", { "in all": `max(${of("leader_transitions")})` }],
    ["Since the leader's last renewal", "s", { "{{instance}}": most("leader_since_renewal_seconds", "instance") }],
    ["Failed attempts at the lease", "ops", { "{{instance}}": rate("leader_errors_total", "instance") }],
    ["States in groups", "short", { "{{state}}": number("shards_state", "state") }],
    ["Processes of a group", "short", { "{{instance}}": most("shards_members", "instance") }],
    ["Ranges, of 64 in all", "short", {
      "{{instance}} holds": most("shards_held", "instance"),
      "{{instance}} gives away": most("shards_releasing", "instance"),
    }],
    ["Processes that hold a range: 1", "short", { "{{range}}": number("shards_range", "range") }],
    ["Since the last renewal in a group", "s", { "{{instance}}": most("shards_since_renewal_seconds", "instance") }],
  ],
  Caches: [
    ["Objects", "short", { "{{resource}}": most("informer_objects", "resource") }],
    ["Bytes, of factories with maxBytes", "decbytes", { "{{resource}}": most("informer_memory_bytes", "resource") }],
    ["States of informers", "short", { "{{resource}} {{state}}": number("informer_state", "resource, state") }],
    ["Time without the server", "s", { "{{resource}}": most("informer_stale_seconds", "resource") }],
    ["Changes received", "ops", { "{{resource}}": rate("informer_events_total", "resource") }],
    ["Lists and watches begun", "ops", {
      "{{resource}} lists": rate("informer_lists_total", "resource"),
      "{{resource}} watches": rate("informer_watches_total", "resource"),
    }],
    ["Watches with a missing bookmark, and replaced watches", "ops", {
      "{{resource}} suspect": rate("informer_watch_suspicions_total", "resource"),
      "{{resource}} replaced": rate("informer_watch_renewals_total", "resource"),
    }],
    ["Probes of the API server", "ops", {
      "{{resource}} all": rate("informer_probes_total", "resource"),
      "{{resource}} without response": rate("informer_failed_probes_total", "resource"),
    }],
    ["Errors", "ops", { "{{resource}}": rate("informer_errors_total", "resource") }],
    ["Duration of lists", "s", quantiles("informer_list_seconds", "resource")],
    ["Duration of commits", "s", quantiles("informer_commit_seconds", "resource")],
    ["From creation to handlers, up to 1 s too long", "s", quantiles("informer_delivery_seconds", "resource")],
    ["Events that handlers have not received", "short", {
      "{{resource}}": most("informer_pending_events", "resource"),
    }],
  ],
  Reconcilers: [
    ["Reconciles by outcome", "ops", {
      "{{reconciler}} {{outcome}}": rate("reconciler_reconciles_total", "reconciler, outcome"),
    }],
    ["Reconciles by cause", "ops", {
      "{{reconciler}} {{type}}": rate("reconciler_triggers_total", "reconciler, type"),
    }],
    ["Duration of reconciles", "s", quantiles("reconciler_reconcile_seconds", "reconciler")],
    ["States of reconcilers", "short", { "{{reconciler}} {{state}}": number("reconciler_state", "reconciler, state") }],
    ["Keys that wait for caches", "short", { "{{reconciler}}": most("reconciler_waiting_for_caches", "reconciler") }],
    ["Calls that do not return", "short", { "{{reconciler}}": most("reconciler_abandoned_keys", "reconciler") }],
    ["Reconciles by own writes or on stale caches, and failed predicates", "ops", {
      "{{reconciler}} own": rate("reconciler_own_calls_total", "reconciler"),
      "{{reconciler}} stale": rate("reconciler_stale_reconciles_total", "reconciler"),
      "{{reconciler}} failed": rate("reconciler_event_errors_total", "reconciler"),
    }],
  ],
  Queues: [
    ["Keys", "short", {
      "{{reconciler}} waiting": most("workqueue_waiting_keys", "reconciler"),
      "{{reconciler}} delayed": most("workqueue_delayed_keys", "reconciler"),
      "{{reconciler}} processing": most("workqueue_processing_keys", "reconciler"),
    }],
    ["Keys added", "ops", {
      "{{reconciler}} all": rate("workqueue_adds_total", "reconciler"),
      "{{reconciler}} with a delay": rate("workqueue_retries_total", "reconciler"),
      "{{reconciler}} too late": rate("workqueue_dropped_total", "reconciler"),
    }],
    ["Wait for a worker", "s", quantiles("workqueue_wait_seconds", "reconciler")],
    ["Time with a worker", "s", quantiles("workqueue_work_seconds", "reconciler")],
    ["Oldest key with a worker", "s", { "{{reconciler}}": most("workqueue_longest_running_seconds", "reconciler") }],
  ],
  Events: [
    ["Events that wait", "short", { "{{instance}}": most("recorder_queued_events", "instance") }],
    ["Events written and dropped", "ops", {
      "{{instance}} created": rate("recorder_created_events_total", "instance"),
      "{{instance}} series": rate("recorder_updated_events_total", "instance"),
      "{{instance}} dropped": rate("recorder_dropped_events_total", "instance"),
    }],
  ],
};

const slow = (histogram: string, by: string, seconds: number): string =>
  `histogram_quantile(0.99, sum by (job, ${by}, le) (rate(${histogram}_bucket[10m]))) > ${seconds}`;

const ALERTS: readonly Alert[] = [
  {
    alert: "ControllerNotSynced",
    expr: `manager_phase{phase="${SYNCING}"} == 1`,
    for: "5m",
    severity: "warning",
    summary: "$instance of $job has not listed what it follows",
    description:
      "The process reconciles nothing until its caches are complete; /readyz and its log name the informers.",
  },
  {
    alert: "ControllerCacheStale",
    expr: "informer_stale_seconds > 300",
    for: "5m",
    severity: "warning",
    summary: "The cache of $resource in $instance of $job does not follow the server",
    description: "It has been stale for more than 5 minutes. The process retries; its log has the reason.",
  },
  {
    alert: "ControllerHandlersBehind",
    expr: "informer_pending_events > 10000",
    for: "15m",
    severity: "warning",
    summary: "Handlers of $resource in $instance of $job are far behind",
    description: "More than 10,000 events wait, and take memory: a handler is slow, or hangs.",
  },
  {
    alert: "ControllerDeliverySlow",
    expr: slow("informer_delivery_seconds", "resource", 30),
    for: "10m",
    severity: "warning",
    summary: "New $resource reach $job late",
    description: "1 % of them take more than 30 s from their creation to a handler: the server, the network or a " +
      "handler is slow, or the clocks differ.",
  },
  {
    alert: "ControllerReconcilesFail",
    expr: 'sum by (job, reconciler) (rate(reconciler_reconciles_total{outcome=~"failed|terminal|timedOut"}[10m])) / ' +
      "sum by (job, reconciler) (rate(reconciler_reconciles_total[10m])) > 0.1",
    for: "15m",
    severity: "warning",
    summary: "Reconciles of $reconciler in $job fail",
    description: "More than 1 in 10 fail. They are called again with growing waits; the log has each new reason.",
  },
  {
    alert: "ControllerCausesItsOwnCalls",
    expr: "sum by (job, reconciler) (rate(reconciler_own_calls_total[10m])) / " +
      "sum by (job, reconciler) (rate(reconciler_reconciles_total[10m])) > 0.9",
    for: "15m",
    severity: "warning",
    summary: "$reconciler in $job reconciles because of its own writes",
    description: "They cause 9 of 10 calls: it writes something new each time, where nothing is missing.",
  },
  {
    alert: "ControllerReconcileHangs",
    expr: "reconciler_abandoned_keys > 0",
    for: "15m",
    severity: "warning",
    summary: "Calls of $reconciler in $instance of $job do not return",
    description: "Their time limit is over, and their keys are not reconciled until they return, or the process ends.",
  },
  {
    alert: "ControllerKeysWait",
    expr: slow("workqueue_wait_seconds", "reconciler", 60),
    for: "15m",
    severity: "warning",
    summary: "Keys of $reconciler in $job wait for workers",
    description: "1 % of them wait for more than a minute: more concurrency or faster reconciles are needed.",
  },
  {
    alert: "ControllerCacheLacksWrites",
    expr: "increase(reconciler_stale_reconciles_total[15m]) > 0",
    for: "0m",
    severity: "warning",
    summary: "$reconciler in $instance of $job has reconciled on a stale cache",
    description: "A cache had not seen what the last reconcile of a key wrote, within its limit.",
  },
  {
    alert: "ControllerHasNoLeader",
    expr: `count by (job) (leader_state) unless count by (job) (leader_state{state="${LEADING}"})`,
    for: "2m",
    severity: "critical",
    summary: "No process of $job leads",
    description: "Nothing is reconciled. The processes cannot renew or acquire their Lease: look at their logs.",
  },
  {
    alert: "ControllerRangesAreNotHeld",
    expr: "sum by (job) (shards_held) < 64",
    for: "2m",
    severity: "critical",
    summary: "No process of $job holds some of the ranges",
    description: "Their objects are not reconciled. A call does not return, or processes cannot renew their Leases.",
  },
  {
    alert: "ControllerLeaseFails",
    expr: "rate(leader_errors_total[10m]) > 0",
    for: "10m",
    severity: "warning",
    summary: "$instance of $job fails to acquire or renew its lease",
    description: "The server refuses the Lease, or cannot be reached; leadership may be lost.",
  },
  {
    alert: "ControllerEventsDropped",
    expr: "increase(recorder_dropped_events_total[15m]) > 0",
    for: "0m",
    severity: "warning",
    summary: "$instance of $job has dropped events",
    description: "They could not be written in time, or were more than the rate allows.",
  },
];

const WIDTH = 24;
const PANEL = { w: 8, h: 7 };
const DATASOURCE = { type: "prometheus", uid: "${datasource}" };

/** Returns a dashboard for Grafana 10 and newer, as JSON: it shows every metric of a `Manager`. */
export function dashboardJson(): string {
  const panels: object[] = [];
  let y = 0;
  for (const [title, row] of Object.entries(ROWS)) {
    panels.push({ id: panels.length + 1, type: "row", title, gridPos: { x: 0, y, w: WIDTH, h: 1 }, panels: [] });
    y++;
    const perLine = WIDTH / PANEL.w;
    for (const [index, panel] of row.entries()) {
      const place = { x: (index % perLine) * PANEL.w, y: y + Math.floor(index / perLine) * PANEL.h, ...PANEL };
      panels.push(panelOf(panels.length + 1, panel, place));
    }
    y += Math.ceil(row.length / perLine) * PANEL.h;
  }
  return JSON.stringify(
    {
      uid: "kube-informer",
      title: "Controllers of @kube/informer",
      tags: ["kubernetes"],
      schemaVersion: 39,
      editable: true,
      refresh: "30s",
      time: { from: "now-3h", to: "now" },
      templating: {
        list: [
          { name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" },
          {
            name: "job",
            label: "Job",
            type: "query",
            datasource: DATASOURCE,
            refresh: 2,
            sort: 1,
            query: "label_values(manager_phase, job)",
            multi: true,
            includeAll: true,
            allValue: ".+",
            current: { text: "All", value: "$__all" },
          },
        ],
      },
      panels,
    },
    undefined,
    2,
  );
}

function panelOf(id: number, [title, unit, queries]: Panel, gridPos: object): object {
  const targets = Object.entries(queries).map(([legendFormat, expr], index) => {
    return { refId: String.fromCharCode(65 + index), datasource: DATASOURCE, expr, legendFormat };
  });
  return {
    id,
    type: "timeseries",
    title,
    datasource: DATASOURCE,
    gridPos,
    targets,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
  };
}

/** Returns alert rules for Prometheus, as YAML. */
export function alertsYaml(): string {
  const rules = ALERTS.map(({ alert, expr, for: time, severity, summary, description }) => {
    const text = summary.replace(/\$(\w+)/g, "{{ $labels.$1 }}");
    return { alert, expr, for: time, labels: { severity }, annotations: { summary: text, description } };
  });
  return yamlText({ groups: [{ name: "kube-informer", rules }] });
}
