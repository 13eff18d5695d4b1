import { assert, assertEquals, assertMatch } from "@std/assert";
import { load } from "js-yaml";
import { defined } from "../../src/engine/api/json.ts";
import { Client } from "../../src/engine/client/client.ts";
import { SharedInformerFactory } from "../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap } from "../../src/engine/kinds/core/v1.ts";
import { EventRecorder } from "../../src/operator/controllers/reconcile/event_recorder.ts";
import { LeaderElector } from "../../src/operator/controllers/reconcile/leader_elector.ts";
import { Manager } from "../../src/operator/controllers/reconcile/manager.ts";
import { Reconciler } from "../../src/operator/controllers/reconcile/reconciler.ts";
import { ShardGroup } from "../../src/operator/controllers/reconcile/shard_group.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { run } from "../support/processes/session.ts";
import { type ParsedFamily, parseOpenMetrics } from "../support/texts/parse_open_metrics.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

async function printed(command: string): Promise<string> {
  const { code, out, err } = await run(command);
  assertEquals([code, err], [0, []]);
  return out.join("\n");
}

async function rules(): Promise<Rule[]> {
  const { groups } = load(await printed("alerts")) as { readonly groups: { readonly rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

async function panels(): Promise<Panel[]> {
  return JSON.parse(await printed("dashboard")).panels;
}

/** The metrics of managers with all their parts, which have reconciled an object, and lead or hold all ranges. */
async function exposed(): Promise<ParsedFamily[]> {
  const [leading, sharing] = [await exposedBy("elector"), await exposedBy("shards")];
  return [...leading, ...sharing.filter(({ name }) => !leading.some((family) => family.name === name))];
}

async function exposedBy(divider: "elector" | "shards"): Promise<ParsedFamily[]> {
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { name: "a", namespace: "default" } });
  using client = new Client({ server: "http://fake", transport: server, namespace: "default" });
  const called = Promise.withResolvers<void>();
  const recorder = new EventRecorder(client, { controller: "maps" });
  await using limited = new SharedInformerFactory(client, { maxBytes: 1_000_000 });
  limited.forResource(ConfigMap);
  const shards = divider === "shards" ? new ShardGroup(client, { name: "maps" }) : undefined;
  await using manager = new Manager({
    reconcilers: [new Reconciler(client, ConfigMap, () => called.resolve(), defined({ shards }))],
    ...(shards === undefined ? { elector: new LeaderElector(client, { name: "maps" }) } : { shards }),
    recorders: [recorder],
    informers: [limited],
  });
  const running = manager.run();
  await Promise.race([called.promise, running]);
  const families = parseOpenMetrics(await manager.fetch(new Request("http://pod/metrics")).text());
  await manager[Symbol.asyncDispose]();
  await running;
  return families;
}

/** The names of samples, labels and matched values in an expression of PromQL, as these programs print it. */
function namesIn(expr: string): { readonly metrics: string[]; readonly labels: string[]; readonly values: string[] } {
  const labels: string[] = [];
  const values: string[] = [];
  const rest = expr
    .replace(/\{([^}]*)\}/g, (_all, matchers: string) => {
      for (const [, label, value] of matchers.matchAll(/(\w+)=~?"([^"]*)"/g)) {
        labels.push(label);
        if (label !== "job") values.push(...value.split("|"));
      }
      return "";
    })
    .replace(/\[[^\]]*\]/g, "")
    .replace(/\bby \(([^)]*)\)/g, (_all, names: string) => {
      labels.push(...names.split(", "));
      return "";
    });
  const words = [...rest.matchAll(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/g)].map(([word]) => word);
  return { metrics: words.filter((word) => word !== "unless"), labels, values };
}

/** The labels that a scraper adds. */
const OF_TARGETS = ["job", "instance"];

Deno.test("dashboard and alerts use the metrics and labels of /metrics alone, and the dashboard shows each of them", async () => {
  const families = await exposed();
  const samples = families.flatMap(({ samples }) => samples);
  const familyOf = (metric: string): ParsedFamily | undefined =>
    families.find(({ name, type }) =>
      ({ counter: [`${name}_total`], histogram: [`${name}_bucket`] }[type] ?? [name]).includes(metric)
    );
  const shown = (await panels()).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const used = new Set<string>();
  for (const expr of [...shown, ...(await rules()).map(({ expr }) => expr)]) {
    const { metrics, labels, values } = namesIn(expr);
    assert(metrics.length > 0, expr);
    for (const metric of metrics) {
      const family = familyOf(metric);
      assert(family !== undefined, `"${metric}" of ${expr} is no metric`);
      used.add(family.name);
      const known = new Set(samples.filter(({ name }) => name === metric).flatMap((it) => Object.keys(it.labels)));
      assert(known.size > 0 || family.samples.length > 0, `"${metric}" has no sample`);
      for (const label of labels) {
        assert(known.has(label) || OF_TARGETS.includes(label), `"${label}" of ${expr} is no label of "${metric}"`);
      }
    }
    for (const value of values.filter((it) => it !== "syncing")) { // the phase before
      assert(samples.some(({ labels }) => Object.values(labels).includes(value)), `"${value}" of ${expr} is no value`);
    }
  }
  assertEquals(families.map(({ name }) => name).filter((name) => !used.has(name)), []);
});

Deno.test("dashboard prints panels with ids of their own that do not overlap, and name the labels of their lines", async () => {
  const all = await panels();
  assertEquals(new Set(all.map(({ id }) => id)).size, all.length);
  const cells = new Set<string>();
  for (const { title, type, datasource, fieldConfig, targets = [], gridPos: { x, y, w, h } } of all) {
    assert(x + w <= 24, title);
    for (let i = x; i < x + w; i++) {
      for (let j = y; j < y + h; j++) assert(cells.size < cells.add(`${i} ${j}`).size, `"${title}" overlaps`);
    }
    if (type === "row") continue;
    assertEquals([type, datasource?.uid, targets[0].refId], ["timeseries", "${datasource}", "A"]);
    assertEquals(new Set(targets.map(({ refId }) => refId)).size, targets.length);
    for (const { expr, legendFormat } of targets) {
      assertEquals(fieldConfig?.defaults.unit === "s", expr.includes("_seconds"), `unit of "${title}"`);
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        assert(namesIn(expr).labels.includes(label), `"${label}" of "${title}"`);
      }
    }
  }
});

Deno.test("alerts prints rules that have a time, a severity, and the labels of their results in the summary", async () => {
  const all = await rules();
  const samples = (await exposed()).flatMap(({ samples }) => samples);
  assertEquals(new Set(all.map(({ alert }) => alert)).size, all.length);
  for (const { alert, expr, for: time, labels: { severity }, annotations: { summary, description } } of all) {
    assertMatch(time, /^\d+m$/, alert);
    assert(["warning", "critical"].includes(severity), alert);
    assertMatch(description, /^[A-Z0-9].*\.$/, alert);
    const results = expr.match(/\bby \(([^)]*)\)/)?.[1].split(", ");
    const [metric] = namesIn(expr).metrics;
    const sample = samples.find(({ name }) => name === metric);
    const labels = results ?? [...OF_TARGETS, ...Object.keys(sample?.labels ?? {})];
    const named = [...summary.matchAll(/\{\{ \$labels\.(\w+) \}\}/g)].map(([, label]) => label);
    assert(named.includes("job"), alert);
    assertEquals(named.filter((label) => !labels.includes(label)), [], alert);
  }
});

Deno.test("completions offer dashboard and alerts, which have no arguments", async () => {
  const words = async (...line: string[]): Promise<string[]> => {
    const { out } = await run("completions", "complete", "--", ...line);
    return out.map((it) => it.split("\t")[0]);
  };
  assertEquals([await words("dash"), await words("al")], [["dashboard"], ["alerts"]]);
  assertEquals(await words("alerts", ""), []);
});
