import { installCrds } from "@kube/informer/schema";
import {
  type Client,
  defineResource,
  errorLine,
  isExpired,
  isForbidden,
  type KubernetesObject,
  type Resource,
  SharedIndexInformer,
  SharedInformerFactory,
} from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { APIService } from "@kube/informer/kinds/apiregistration/v1";
import { ConfigMap, Service } from "@kube/informer/kinds/core/v1";
import { ClusterRole, ClusterRoleBinding } from "@kube/informer/kinds/rbac/v1";
import { Reconciler } from "@kube/informer/reconcile";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { makeCertificates } from "../support/servers/certificates.ts";
import { define, definitionName, onceServed, undefine } from "../support/cluster/definitions.ts";
import { untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { MetricsServer, PodMetrics } from "../support/servers/metrics_server.ts";
import { informer } from "../support/processes/program.ts";
import { definitionOf } from "../support/sources/widgets.ts";
import { clusterTests, report, seconds } from "./_cluster.ts";
import { newAccount } from "./_rights.ts";

// A reconciler of a kind whose definition comes and goes, on a real server.

const cluster = clusterTests();

const kindOf = (plural: string, kind: string): Resource<KubernetesObject> =>
  defineResource({ group: "optional.example.com", version: "v1", plural, kind });
const Gadget = kindOf("gadgets", "Gadget");
const Gizmo = kindOf("gizmos", "Gizmo");

/** Runs a reconciler of config maps that watches an optional kind too, and lets the test wait for causes of that. */
class Running implements AsyncDisposable {
  readonly reconciler: Reconciler<ConfigMap>;
  readonly informer: SharedIndexInformer<KubernetesObject, never>;
  readonly errors: string[] = [];
  readonly #ended: Promise<void>;
  #arrived: (cause: string) => void = () => {};

  constructor(client: Client, kind: Resource<KubernetesObject>, namespace: string) {
    const onError = (error: unknown): number => this.errors.push(errorLine(error));
    const informers = new SharedInformerFactory(client, { namespace, onError });
    this.reconciler = new Reconciler(client, ConfigMap, ({ triggers: causes }) => {
      for (const { source, event } of causes) if (source === definitionName(kind)) this.#arrived(event!);
    }, { informers, onError }).watches(kind, ({ name }) => [`${namespace}/${name}`], { optional: true });
    this.informer = informers.forResource(kind);
    this.#ended = this.reconciler.run();
  }

  /** Does something, and waits for a reconcile that an event of the kind has caused. */
  async causing(event: string, act: () => Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#arrived = (found) => found === event && resolve();
    await act();
    await withDeadline(`a reconcile by an event "${event}"`, async (signal) => {
      const ended = new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      await Promise.race([promise, ended]);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reconciler[Symbol.asyncDispose]();
    await this.#ended;
    await this.reconciler.informers.shutdown();
  }
}

cluster.anywhere(
  "a reconciler of an optional kind begins within a second of its being served, and again after its definition was deleted",
  async ({ client, namespace }) => {
    await using definitions = new SharedIndexInformer(client.resource(CustomResourceDefinition));
    definitions.run();
    await using running = new Running(client, Gadget, namespace);
    const { informer, reconciler } = running;
    await untilStatus(informer, "the kind to be missing", ({ unserved }) => unserved === true);
    await withDeadline("the reconciler to run", (signal) => reconciler.idle({ signal }));
    assertEquals([reconciler.status().state, reconciler.status().waitsFor], ["running", [definitionName(Gadget)]]);
    const took: number[] = [];
    for (let round = 0; round < 3; round++) {
      const live = untilStatus(informer, "a live watch", ({ state }) => state === "live").then(() => performance.now());
      await define(client, Gadget);
      await definitions.until(({ metadata, status }) =>
        metadata.name === definitionName(Gadget) &&
        (status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false)
      );
      const establishedAt = performance.now();
      took.push(await live - establishedAt);
      assertEquals(reconciler.status().waitsFor, []);
      const gadgets = client.resource(Gadget, { namespace });
      await running.causing("added", () => onceServed(() => gadgets.create({ metadata: { name: "a" } })));
      await running.causing("deleted", () => undefine(client, Gadget));
      await untilStatus(informer, "the kind to go", ({ unserved }) => unserved === true);
      assertEquals(informer.indexer.size, 0);
      await withDeadline(
        "the definition to go",
        (signal) => definitions.untilDeleted(definitionName(Gadget), { signal }),
      );
    }
    report(`live after the kind was established, in ms: ${took.map(Math.round).join(", ")}`);
    // The storage of a kind begins with the first request.
    assertEquals(running.errors.filter((line) => !line.includes("storage is (re)initializing")), []);
  },
);

cluster.anywhere(
  "a watch from a version before the definition of its kind has expired",
  async ({ client, namespace }) => {
    const kind = kindOf("nuts", "Nut");
    const nuts = client.resource(kind, { namespace });
    await installCrds(client, [definitionOf(kind)]);
    const { metadata: { resourceVersion } } = await onceServed(() => nuts.create({ metadata: { name: "a" } }));
    await undefine(client, kind);
    await using definitions = new SharedIndexInformer(client.resource(CustomResourceDefinition));
    definitions.run();
    await withDeadline("the definition to go", (signal) => definitions.untilDeleted(definitionName(kind), { signal }));
    await installCrds(client, [definitionOf(kind)]);
    await onceServed(() => nuts.list());
    const error = await assertRejects(async () => {
      for await (const { type } of nuts.watch({ resourceVersion })) throw new Error(`an event ${type}`);
    });
    assert(isExpired(error), errorLine(error)); // so that an informer lists, and does not miss a deletion
    await undefine(client, kind);
  },
);

cluster.anywhere(
  "installCrds resolves when the kinds are served, and changes nothing by a second call",
  async ({ client, namespace }) => {
    const kinds = [kindOf("parts", "Part"), kindOf("bolts", "Bolt")];
    await client.discover();
    const startedAt = performance.now();
    await installCrds(client, kinds.map((kind) => definitionOf(kind)));
    report(`two definitions are served after ${seconds(startedAt)}`);
    const found = (await client.discover()).filter(({ group }) => group === kinds[0].group).map(({ kind }) => kind);
    assertEquals(found.filter((kind) => kind === "Part" || kind === "Bolt").sort(), ["Bolt", "Part"]);
    for (const kind of kinds) await client.resource(kind, { namespace }).create({ metadata: { name: "a" } });
    const definitions = client.resource(CustomResourceDefinition);
    const before = await definitions.get(definitionName(kinds[0]));
    await installCrds(client, kinds.map((kind) => definitionOf(kind)));
    const after = await definitions.get(definitionName(kinds[0]));
    assertEquals(after.metadata.resourceVersion, before.metadata.resourceVersion);
    for (const kind of kinds) await undefine(client, kind);
  },
);

cluster.withPlane(
  "a reconciler that may not watch definitions finds an optional kind by itself",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const name = "no-definitions";
    const token = await newAccount(client, namespace, name);
    await client.resource(ClusterRole).create({
      metadata: { name },
      rules: [
        { apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] },
        { apiGroups: [Gizmo.group], resources: [Gizmo.plural], verbs: ["list", "watch"] },
      ],
    });
    await client.resource(ClusterRoleBinding).create({
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    });
    const limited = await setting.connect({ kubeconfig: await plane.kubeconfigOf({ token }) });
    await withDeadline("the rights", async (signal) => {
      for (;;) {
        const error = await limited.resource(ConfigMap, { namespace }).list({ signal }).then(
          () => undefined,
          (it) => it,
        );
        if (error === undefined) return;
        assert(isForbidden(error), errorLine(error));
      }
    });
    await using running = new Running(limited, Gizmo, namespace);
    await untilStatus(running.informer, "the kind to be missing", ({ unserved }) => unserved === true);
    await define(client, Gizmo);
    const definedAt = performance.now();
    await untilStatus(running.informer, "a live watch", ({ state }) => state === "live");
    const gizmos = client.resource(Gizmo, { namespace });
    await running.causing("added", () => onceServed(() => gizmos.create({ metadata: { name: "a" } })));
    report(`without definitions, live ${Math.round(performance.now() - definedAt)} ms after the definition`);
    const refusals = running.errors.filter((line) => line.startsWith("Cannot watch CustomResourceDefinitions"));
    assertEquals(refusals.length, 1, running.errors.join("\n"));
    await undefine(client, Gizmo);
  },
);

// A kind without a watch, of an API server of the test beside the real one, which passes requests on to it.

/** Serves measurements over TLS, as the API group metrics.k8s.io of the cluster. */
async function serveMetrics(metrics: MetricsServer): Promise<{ readonly port: number } & AsyncDisposable> {
  const certificates = await makeCertificates();
  const [cert, key] = [certificates.text("server.crt"), certificates.text("server.key")];
  const server = Deno.serve({ hostname: "localhost", port: 0, cert, key, onListen: () => {} }, metrics.fetch);
  return {
    port: server.addr.port,
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      await certificates[Symbol.asyncDispose]();
    },
  };
}

cluster.withPlane(
  "an aggregated kind without a watch is followed by lists, and shown by the commands",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const metrics = new MetricsServer();
    await using served = await serveMetrics(metrics);
    await client.resource(Service, { namespace }).create({
      metadata: { name: "metrics" },
      spec: { type: "ExternalName", externalName: "localhost" },
    });
    await client.resource(APIService).create({
      metadata: { name: "v1beta1.metrics.k8s.io" },
      spec: {
        ...{ group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
        ...{ service: { namespace, name: "metrics", port: served.port }, insecureSkipTLSVerify: true },
      },
    });
    try {
      await using informers = new SharedInformerFactory(client, { onError: () => {} });
      const services = informers.forResource(APIService);
      const usage = informers.forResource(PodMetrics, { pollMs: 1_000, reflector: { backoff: { maxMs: 500 } } });
      informers.start();
      await services.until(
        ({ status }) =>
          status?.conditions?.some(({ type, status }) => type === "Available" && status === "True") ?? false,
        { key: "v1beta1.metrics.k8s.io" },
      );
      const seen: string[] = [];
      usage.addEventHandler({
        onAdd: ({ key }) => void seen.push(`+${key}`),
        onUpdate: ({ key, object }) => void seen.push(`${key} ${object.containers[0].usage.cpu}`),
        onDelete: ({ key }) => void seen.push(`-${key}`),
      });
      await usage.waitForCacheSync({ patient: true });
      const first = usage.lastSyncResourceVersion;
      await usage.waitForVersion(String(Number(first) + 1)); // of another list, which has no event
      metrics.usage.set("a", "7m");
      metrics.usage.delete("b");
      await usage.untilDeleted("shop/b");
      assertEquals(seen, ["+shop/a", "+shop/b", "-shop/b", "shop/a 7m"]);

      const kubeconfig = ["--kubeconfig", plane.kubeconfig];
      await using watched = informer(
        "watch",
        "pods.metrics.k8s.io",
        "-A",
        "-o",
        "json",
        "--until-synced",
        ...kubeconfig,
      );
      const { code, lines, errors } = await watched.ended();
      assertEquals([code, lines.map((line) => JSON.parse(line).type)], [0, ["added", "synced"]], errors);
      assert(errors.includes(`"pods" cannot be watched, so it is listed every 15 s`), errors);
      await using doctor = informer("doctor", "pods.metrics.k8s.io", "-A", ...kubeconfig);
      const examined = await doctor.ended();
      assertEquals(examined.code, 0, examined.errors);
      assert(examined.lines.some((line) => /^warn +watch pods.metrics.k8s.io .*with pollMs/.test(line)));
      await using both = informer("serve", "pods.metrics.k8s.io", "pods", "-A", ...kubeconfig);
      const place = await both.until("the address", (line) => line.startsWith("http"));
      for (const name of ["pods.metrics.k8s.io", "pods"]) {
        assertEquals((await (await fetch(`${place}/api/${name}`)).json()).state, "live");
      }
      both.kill("SIGTERM");
      assertEquals((await both.ended()).code, 0);
      await using page = informer("serve", "pods.metrics.k8s.io", "-A", ...kubeconfig);
      const address = await page.until("the address", (line) => line.startsWith("http"));
      const { items } = await (await fetch(`${address}/api/pods`)).json();
      assertEquals(items.map(({ containers }: PodMetrics) => containers[0].usage.cpu), ["7m"]);
      page.kill("SIGTERM");
      assertEquals((await page.ended()).code, 0);
    } finally {
      await client.resource(APIService).delete("v1beta1.metrics.k8s.io");
    }
  },
);
