// informer plan against a real kube-apiserver, whose audit log says what was sent.
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import type { PlanReport } from "@kube/informer/testing";
import { startControlPlane } from "@kube/informer/testing/control-plane";
import { assertEquals } from "@std/assert";
import { pooledMap } from "@std/async";
import { Session } from "../support/processes/session.ts";
import { Folder } from "../support/servers/serve.ts";
import { report, seconds, testOfAssets } from "./_cluster.ts";

const OBJECTS = 5_000;

const POLICY = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}`;

/** What the audit log has of a request. */
interface Audited {
  readonly verb: string;
  readonly requestURI: string;
  readonly stage: string;
  readonly user: { readonly username: string; readonly groups: readonly string[] };
}

const source = (path: string): string => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);

/** A module that labels each ConfigMap, creates a Deployment for the first one, and elects a leader. */
const MODULE = `
import { Deployment } from ${source("engine/kinds/apps/v1.ts")};
import { ConfigMap } from ${source("engine/kinds/core/v1.ts")};
import { LeaderElector, Manager, Reconciler } from ${source("operator/controllers/reconcile/mod.ts")};
export function manager(client) {
  const maps = new Reconciler(client, ConfigMap, async ({ object, client }) => {
    const { namespace, name, labels } = object?.metadata ?? {};
    if (!name?.startsWith("map-") || labels?.seen !== undefined) return;
    await client.resource(ConfigMap, { namespace }).patch(name, { type: "merge", body: { metadata: { labels: { seen: "yes" } } } });
    if (!name.endsWith("-0")) return;
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "nginx" }] } };
    const spec = { selector: { matchLabels: { app: namespace === "few" ? "wrong" : name } }, template };
    await client.resource(Deployment, { namespace }).create({ metadata: { name }, spec }).catch(() => {});
  }, { concurrency: 8, onError: () => {} }).watches(Deployment, () => []);
  return new Manager({ reconcilers: [maps], elector: new LeaderElector(client, { name: "plan-test" }) });
}
`;

testOfAssets(
  "informer plan over 5,000 objects sends a kube-apiserver no write, and only dry runs when asked",
  async (assets) => {
    await using folder = new Folder();
    const [policy, log, module, kubeconfig] = ["policy.json", "audit.log", "main.ts", "config"].map((it) =>
      folder.file(it)
    );
    await Deno.writeTextFile(policy, POLICY);
    await Deno.writeTextFile(module, MODULE);
    const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`];
    await using server = await startControlPlane({ assets, flags });
    await Deno.writeTextFile(kubeconfig, server.kubeconfig);
    using client = server.client();
    await client.fetch("/api/v1/namespaces", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"metadata":{"name":"few"}}',
    }).then((response) => response.body?.cancel());
    const names = Array.from(
      { length: OBJECTS },
      (_, at) => ({ name: `map-${at}`, namespace: at < 3 ? "few" : "default" }),
    );
    for await (const _ of pooledMap(32, names, (metadata) => client.resource(ConfigMap).create({ metadata }))) void _;

    /** Runs a plan, and returns its report and what the log has of this administrator meanwhile. */
    const plan = async (...more: string[]): Promise<{ report: PlanReport; sent: Audited[] }> => {
      const before = (await Deno.readTextFile(log)).length;
      const startedAt = performance.now();
      const session = new Session(["plan", module, "--kubeconfig", kubeconfig, "-o", "json", ...more]);
      await session.code;
      report(`plan ${more.join(" ")}: ${seconds(startedAt)}`);
      const lines = (await Deno.readTextFile(log)).slice(before).trimEnd().split("\n");
      const sent = lines.map((line): Audited => JSON.parse(line))
        .filter(({ stage, user }) => stage === "ResponseComplete" && !user.username.startsWith("system:apiserver"));
      return { report: JSON.parse(session.out.text || `"${session.err.text}"`), sent };
    };
    const isRead = ({ verb }: Audited): boolean => ["get", "list", "watch"].includes(verb);

    const whole = await plan();
    assertEquals([whole.report.result, whole.report.facts], ["changes", []]);
    const count = (verb: string): number => whole.report.changes.filter(({ does }) => does === verb).length;
    assertEquals([count("change"), count("create"), count("delete")], [OBJECTS, 0, 0]); // the Deployment's selector is wrong
    assertEquals(whole.sent.filter((it) => !isRead(it)), []);
    const lists = whole.sent.filter(({ requestURI }) => /^\/api\/v1\/configmaps\?.*limit=500/.test(requestURI));
    assertEquals(lists.length, Math.ceil((OBJECTS + 10) / 500));

    const { report: few, sent } = await plan("-n", "few", "--server-dry-run");
    assertEquals(few.changes.length, 3);
    assertEquals(few.facts.map(({ is, message }) => `${is} ${message.split(":")[0]}`), [
      "refused POST deployments.apps few/map-0",
    ]);
    const writes = sent.filter((it) => !isRead(it));
    assertEquals(writes.map(({ verb }) => verb).sort(), ["create", "patch", "patch", "patch"]);
    assertEquals(writes.filter(({ requestURI }) => !requestURI.includes("dryRun=All")), []);

    const { items } = await client.resource(ConfigMap).list({ labelSelector: "seen" } as never);
    assertEquals(items, []);
  },
);
