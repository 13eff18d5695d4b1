// The command line and the examples, as people run them, against a real server.
import {
  defineResource,
  InformerError,
  isNotFound,
  type KubernetesObject,
  type ObjectDraft,
  type Resource,
} from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { writeStatus } from "@kube/informer/reconcile";
import { installCrds } from "@kube/informer/schema";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { delay } from "@std/async";
import { differences } from "../support/cluster/compare.ts";
import { define, Definition, definitionName } from "../support/cluster/definitions.ts";
import { forEach, mapDraft, names, podDraft } from "../support/cluster/writers.ts";
import { type Ended, Program } from "../support/processes/program.ts";
import { Folder } from "../support/servers/serve.ts";
import { clusterTests, type PlaneSetting, report, seconds } from "./_cluster.ts";

const cluster = clusterTests();

const INFORMER = "src/cli/main.ts";

/** A line of `watch -o json`. */
interface Line {
  readonly type: "added" | "updated" | "deleted" | "synced";
  readonly key?: string;
  readonly resourceVersion: string;
  readonly object?: KubernetesObject;
}

/** The objects that `get RESOURCE -A -o json` prints. */
async function got(resource: string, kubeconfig: string): Promise<KubernetesObject[]> {
  await using program = new Program(INFORMER, ["get", resource, "-A", "-o", "json", "--kubeconfig", kubeconfig]);
  const { code, lines, errors } = await program.ended();
  assertEquals([code, errors], [0, ""]);
  return (JSON.parse(lines.join("\n")) as { readonly items: KubernetesObject[] }).items;
}

/** The objects that the lines leave behind; fails where a line cannot follow those before it. */
function replayed(lines: readonly Line[]): KubernetesObject[] {
  const objects = new Map<string, KubernetesObject>();
  for (const { type, key, object } of lines) {
    if (type === "synced") continue;
    assert(key !== undefined && object !== undefined, `a line of type "${type}" without a key or object`);
    assertEquals(objects.has(key), type !== "added", `"${key}" was ${type}`);
    if (type === "deleted") objects.delete(key);
    else objects.set(key, object);
  }
  return [...objects.values()];
}

cluster.withPlane(
  "informer watch prints every change across a restart and writes the objects that get lists",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const pods = client.resource(Pod, { namespace });
    await forEach(names("pod", 200), (name) => pods.create(podDraft(name, { tier: "web" })));
    const cache = `${plane.folder}/pods.json`;
    await using program = new Program(INFORMER, [
      ...["watch", "pods", "-A", "-o", "json", "--timeout", "5m", "--cache", cache, "--kubeconfig", plane.kubeconfig],
    ]);
    await program.until("the sync", (line) => line.includes(`"synced"`));
    const change = async (round: string, from: number): Promise<void> => {
      const some = names("pod", from + 60).slice(from);
      await forEach(some, (name) => pods.patch(name, { type: "merge", body: { metadata: { labels: { round } } } }));
      await forEach(some.slice(30), (name) => pods.delete(name, { gracePeriodSeconds: 0 }));
      await forEach(names(round, 30), (name) => pods.create(podDraft(name)));
    };
    await change("before", 0);
    const startedAt = performance.now();
    await plane.kill9("apiserver");
    await plane.ensureRunning();
    await change("after", 100);
    await pods.create(podDraft("zz-last"));
    await program.until("the last write", (line) => (JSON.parse(line) as Line).key === `${namespace}/zz-last`);
    const recovered = seconds(startedAt);
    program.kill("SIGTERM");
    const { code, lines, errors } = await program.ended();
    assertEquals(code, 0, errors);

    const parsed = lines.map((line) => JSON.parse(line) as Line);
    const expected = await got("pods", plane.kubeconfig);
    const cached = JSON.parse(await Deno.readTextFile(cache)) as KubernetesObject[];
    assertEquals(differences(cached, expected), []);
    assertEquals(differences(replayed(parsed), expected), []);
    assertEquals(cached.length, expected.length);
    const counts = Map.groupBy(parsed, ({ type }) => type);
    assertEquals(counts.get("synced")?.length, 1);
    const summary = [...counts].map(([type, { length }]) => `${length} ${type}`).join(", ");
    report(`lines: ${summary}; all printed ${recovered} after a kill; ${cached.length} pods in the cache file`);
    report(`on standard error: ${errors.trim().split("\n").join(" | ")}`);
  },
);

cluster.anywhere(
  "informer watch ends after --timeout with a cache that equals the list of get",
  async ({ client, kubeconfig, namespace }) => {
    await forEach(names("map", 20), (name) => client.resource(ConfigMap, { namespace }).create(mapDraft(name)));
    const cache = await Deno.makeTempFile({ prefix: "informer-cache-" });
    try {
      await using program = new Program(INFORMER, [
        ...[
          "watch",
          "cm",
          "-n",
          namespace,
          "-o",
          "json",
          "--timeout",
          "5s",
          "--cache",
          cache,
          "--kubeconfig",
          kubeconfig,
        ],
      ]);
      await program.until("the sync", (line) => line.includes(`"synced"`));
      await client.resource(ConfigMap, { namespace }).create(mapDraft("zz-last"));
      await program.until("the last write", (line) => (JSON.parse(line) as Line).key === `${namespace}/zz-last`);
      const { code, lines, errors } = await program.ended();
      assertEquals([code, errors], [0, ""]);
      const expected = (await got("configmaps", kubeconfig)).filter(({ metadata }) => metadata.namespace === namespace);
      assertEquals(differences(JSON.parse(await Deno.readTextFile(cache)), expected), []);
      assertEquals(differences(replayed(lines.map((line) => JSON.parse(line))), expected), []);
      report(`${lines.length} lines and ${expected.length} cached objects, ended by --timeout`);
    } finally {
      await Deno.remove(cache);
    }
  },
);

cluster.withPlane("informer names the user and verb that are forbidden, and exits with 3", async ({ plane }) => {
  await using program = new Program(INFORMER, [
    ...["watch", "pods", "-A", "--kubeconfig", plane.limitedKubeconfig],
  ]);
  const { code, lines, errors } = await program.ended();
  assertEquals([code, lines.length], [3, 0]);
  report(`on standard error: ${errors.trim()}`);
  assertMatch(errors, /403 Forbidden: .*User "limited" cannot list resource "pods"/);
});

interface CronTab extends KubernetesObject {
  readonly spec: { readonly cronSpec: string };
}
const CronTab: Resource<CronTab> = defineResource<CronTab>({
  group: "stable.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

/** The arguments of an example, the changes that it sees, and its expected output. */
interface Example {
  readonly args?: readonly string[];
  /** Lines that must come, in this order; then `change` is called. */
  readonly first: readonly RegExp[];
  readonly change?: (setting: PlaneSetting) => Promise<unknown>;
  /** Lines that must come after that, in this order. */
  readonly then?: readonly RegExp[];
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  "config_roller.ts": {
    first: [],
    change: ({ client }) =>
      client.resource(ConfigMap, { namespace: "shop" }).create({
        metadata: { name: "roll", labels: { "example.com/pods": "2" } },
        data: { image: "registry.example/web:1" },
      }),
    then: [/^created shop\/roll-0$/, /^created shop\/roll-1$/],
  },
  "sharded_controller.ts": {
    first: [],
    change: ({ client }) =>
      client.resource(ConfigMap, { namespace: "shop" }).create({
        metadata: { name: "sharded", labels: { sharded: "yes" } },
      }),
    then: [/^reconciled shop\/sharded$/],
  },
  "namespace_labels.ts": {
    first: [],
    change: ({ client }) =>
      client.resource(Namespace).patch("shop", {
        type: "merge",
        body: { metadata: { labels: { "example.com/team": "red" } } },
      }),
    then: [/^shop\/\S+: team red$/],
  },
  "controller.ts": {
    first: [/^synced: \d+ pods$/, /^labelled shop\/cart-\d+ with worker-\d$/],
    change: ({ client }) => client.resource(Pod, { namespace: "shop" }).create(podDraft("new-0", {}, "worker-9")),
    then: [/^labelled shop\/new-0 with worker-9$/],
  },
  "crontab_controller.ts": {
    first: [],
    change: ({ client }) =>
      client.resource(defineResource({ ...CronTab }), { namespace: "shop" }).create(
        { metadata: { name: "report" }, spec: { schedule: "@hourly", image: "registry.example/web:1", replicas: 1 } } as
          & ObjectDraft<KubernetesObject>
          & { readonly spec: unknown },
      ),
    then: [/^shop\/report: "@hourly", 0 of 1 replicas are ready$/],
  },
  "custom_resource.ts": {
    first: [/^synced: \d+ crontabs$/],
    change: async ({ client }) => {
      const tabs = client.resource(CronTab, { namespace: "shop" });
      await tabs.create({ metadata: { name: "hourly" }, spec: { cronSpec: "0 * * * *" } });
      await tabs.delete("hourly");
    },
    then: [/^shop\/hourly runs at "0 \* \* \* \*"$/, /^shop\/hourly runs no more$/],
  },
  "deployments.ts": {
    first: [/^synced: \d+ deployments, 1 of them with app=web$/],
    change: async ({ client }) => {
      const deployments = client.resource(Deployment, { namespace: "shop" });
      await deployments.patch("web", { type: "merge", body: { spec: { replicas: 5 } } });
    },
    then: [/^scaled shop\/web from 2 to 5$/],
  },
  "events.ts": {
    first: [/^found shop\/cart-\d+$/, /^synced: \d+ pods$/],
    change: ({ client }) => {
      const pods = client.resource(Pod, { namespace: "shop" });
      return forEach(names("event", 10), (name) => pods.create(podDraft(name)));
    },
    then: [/^added shop\/event-\d+$/],
  },
  "index_by_node.ts": { first: [/^worker-\d: \d+ pods, 0 running$/, /^synced: \d+ pods on \d+ nodes$/] },
  "late_handler.ts": { first: [/^cached: \d+ pods$/, /^synced: the late handler received \d+ pods$/] },
  "notifier.ts": {
    first: [],
    change: ({ client }) =>
      client.resource(Pod, { namespace: "shop" }).patch("cart-0003", {
        type: "merge",
        body: { status: { phase: "Failed", reason: "Evicted" } },
      }, { subresource: "status" }),
    then: [/^shop\/cart-0003 has failed: Evicted$/],
  },
  "plain_watch.ts": {
    first: [/^listed: \d+ pods at version \d+$/],
    change: ({ client }) => client.resource(Pod, { namespace: "shop" }).create(podDraft("plain-0")),
    then: [/^ADDED plain-0$/],
  },
  "pods.ts": {
    args: ["shop"],
    first: [/^found cart-\d+$/, /^synced: \d+ pods in shop$/],
    change: ({ client }) => client.resource(Pod, { namespace: "shop" }).create(podDraft("pods-0")),
    then: [/^added pods-0$/],
  },
};

/** Creates the objects that the examples read: pods on nodes, a deployment, a custom resource. */
async function furnish({ client }: PlaneSetting): Promise<void> {
  await client.resource(Namespace).create({ metadata: { name: "shop" } });
  const pods = client.resource(Pod, { namespace: "shop" });
  await forEach(names("cart", 12), (name) => pods.create(podDraft(name, {}, `worker-${Number(name.slice(-4)) % 3}`)));
  const labels = { app: "web" };
  await client.resource(Deployment, { namespace: "shop" }).create({
    metadata: { name: "web", labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "registry.example/web:1" }] } },
    },
  });
  await define(client, CronTab);
  await client.resource(Definition).patch(definitionName(CronTab), {
    type: "json",
    body: [{ op: "add", path: "/spec/versions/0/subresources", value: { status: {} } }],
  });
  // The server serves a definition a moment later; until then an informer warns.
  const served = async (): Promise<boolean> => await client.resource(CronTab).list().then(() => true, () => false);
  while (!await served()) await delay(50);
}

let furnished = false;

const examples = [...Deno.readDirSync(new URL("../../examples", import.meta.url))].map(({ name }) => name)
  .filter((name) => name.endsWith(".ts")).sort();
for (const name of examples) {
  cluster.withPlane(`examples/${name} prints the expected lines and exits with 0`, async (setting) => {
    const example = EXAMPLES[name];
    assert(example !== undefined, `no expected lines of examples/${name} are listed here`);
    if (!furnished) await furnish(setting);
    furnished = true;
    await using folder = new Folder();
    const startedAt = performance.now();
    await using program = new Program(`examples/${name}`, example.args, {
      ...{ KUBECONFIG: setting.plane.kubeconfig, STATE_DIRECTORY: folder.path },
    });
    for (const pattern of example.first) await program.until(`a line like ${pattern}`, (line) => pattern.test(line));
    await example.change?.(setting);
    for (const pattern of example.then ?? []) {
      await program.until(`a line like ${pattern}`, (line) => pattern.test(line));
    }
    program.kill("SIGINT");
    const { code, lines, errors } = await program.ended();
    assertEquals([code, errors], [0, ""]);
    report(`${lines.length} lines, ended with 0 after ${seconds(startedAt)}`);
  });
}

cluster.withPlane("informer acts as the user of --as, and prints its requests with -v", async (setting) => {
  const { client, namespace, plane } = setting;
  await client.resource(ConfigMap, { namespace }).create(mapDraft("there"));
  const get = async (...args: string[]): Promise<Ended> => {
    const words = ["get", "cm/there", "-n", namespace, "-o", "name", "--kubeconfig", plane.kubeconfig, ...args];
    await using program = new Program(INFORMER, words);
    return await program.ended();
  };
  const refused = await get("--as", "ada", "--as-group", "analysts");
  assertEquals(refused.code, 3);
  assertMatch(refused.errors, /configmaps "there" is forbidden: User "ada" cannot get resource "configmaps"/);
  const { code, lines, errors } = await get("--as", "ada", "--as-group", "x", "--as-group", "system:masters", "-v");
  assertEquals([code, lines], [0, ["configmap/there"]]);
  assertMatch(
    errors,
    new RegExp(`GET https://\\S+/namespaces/${namespace}/configmaps/there\\S* 200 in \\d+ ms, \\d+ bytes`),
  );
  report(`--as without rights: ${refused.errors.trim()}; -v: ${errors.trim().split("\n").length} lines`);
});

/** The checks of `informer doctor` that failed. */
function failed({ lines }: Ended): string[] {
  return lines.filter((line) => line.startsWith("fail ")).map((line) => line.slice(5).trim().split(/ {2,}/)[0]);
}

cluster.withPlane(
  "informer doctor reports the failing checks of a real server, and exits with 0 or 3",
  async ({ plane }) => {
    const unknownUser = await plane.kubeconfigOf({ token: "nobody-knows-this" });
    const cases: [title: string, kubeconfig: string, failing: string[], before?: () => Promise<void>][] = [
      ["an administrator", plane.kubeconfig, []],
      ["a user without rights", plane.limitedKubeconfig, ["list pods", "watch pods"]],
      ["an unknown token", unknownUser, ["login"]],
      ["a silent server", plane.kubeconfig, ["certificate"], () => plane.pause("apiserver")],
      ["no server", plane.kubeconfig, ["address"], () => plane.kill9("apiserver")],
    ];
    for (const [title, kubeconfig, failing, before] of cases) {
      await before?.();
      const startedAt = performance.now();
      await using program = new Program(INFORMER, ["doctor", "pods", "--kubeconfig", kubeconfig]);
      const ended = await program.ended();
      const took = seconds(startedAt);
      assertEquals([ended.code, failed(ended)], [failing.length === 0 ? 0 : 3, failing], ended.lines.join("\n"));
      assert(![...ended.lines, ended.errors].join().includes("nobody-knows-this"), "the token is printed");
      report(`doctor on ${title}: ended with ${ended.code} after ${took}`);
    }
  },
);

cluster.anywhere(
  "informer get finds members of a category that their group serves in an older version only, and writeStatus a kind without a status",
  async ({ client, namespace, kubeconfig }) => {
    const group = "best.example.com";
    const kinds = [["Alpha", "alphas", "v1"], ["Beta", "betas", "v1beta1"]].map(([kind, plural, version]) =>
      defineResource<KubernetesObject & { status?: { phase: string } }>({ group, version, plural, kind })
    );
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } } as const;
    const crds = kinds.map(({ plural, kind, version }) => ({
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: "Namespaced" as const,
        names: { plural, kind, categories: ["mine", `cat-${plural}`] },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    }));
    try {
      await installCrds(client, crds, { signal: AbortSignal.timeout(60_000) });
      for (const kind of kinds) await client.resource(kind, { namespace }).create({ metadata: { name: "one" } });
      const named = async (category: string): Promise<readonly string[]> => {
        const args = ["get", category, "-n", namespace, "-o", "name", "--kubeconfig", kubeconfig];
        await using program = new Program(INFORMER, args);
        const { lines, errors } = await program.ended();
        assertEquals(errors, "");
        return [...lines].sort();
      };
      assertEquals(await named("mine"), [`alpha.${group}/one`, `beta.${group}/one`]);
      assertEquals(await named("cat-betas"), [`beta.${group}/one`]);

      const alphas = client.resource(kinds[0], { namespace });
      const maps = client.resource(ConfigMap, { namespace }) as unknown as typeof alphas;
      await maps.create({ metadata: { name: "one" } });
      for (const objects of [alphas, maps]) {
        const one = await objects.get("one");
        await assertRejects(
          () => writeStatus(objects, one, { phase: "Ready" }),
          InformerError,
          "its kind has no subresource status",
        );
        await objects.delete("one");
        assert(isNotFound(await assertRejects(() => writeStatus(objects, one, { phase: "Ready" }))));
      }
    } finally {
      for (const { metadata } of crds) await client.resource(Definition).delete(metadata.name).catch(() => {});
    }
  },
);
