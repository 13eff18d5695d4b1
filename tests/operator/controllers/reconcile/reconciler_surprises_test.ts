/** What a whole cluster does that a controller's first tests leave out: the list in docs/controllers/test.md. */
import { assert, assertEquals } from "@std/assert";
import { readiness } from "../../../../src/operator/controllers/readiness/mod.ts";
import type { ReconcilerOptions } from "../../../../src/operator/controllers/reconcile/options.ts";
import { withController } from "../../../../src/operator/controllers/reconcile/owners.ts";
import { labelsChanged } from "../../../../src/operator/controllers/reconcile/predicates.ts";
import { Reconciler } from "../../../../src/operator/controllers/reconcile/reconciler.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Namespace, Pod } from "../../../../src/engine/kinds/core/v1.ts";
import { pod } from "../../../../src/testing/fake/objects.ts";
import { Session } from "./_session.ts";

const labels = { app: "web" };
const spec = {
  replicas: 2,
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: "app", image: "web:1" }] } },
};

/** A controller that applies a Deployment for the ConfigMap `shop/web`, and counts its calls. */
async function started(session: Session): Promise<{ calls: number }> {
  session.server.create(ConfigMap, { metadata: { name: "web", namespace: "shop" } });
  const seen = { calls: 0 };
  const maps = session.reconciler(async ({ object, client }) => {
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    seen.calls++;
    const draft = withController({ metadata: { name: "web" }, spec }, object);
    await client.resource(Deployment, { namespace: "shop" }).applyIfChanged(draft, {
      fieldManager: "shop",
      force: true,
    });
  }).owns(Deployment, { informer: { managedFields: { manager: "shop" } } });
  await session.start(maps);
  await session.pass();
  return seen;
}

function patches({ server }: Session): number {
  return server.requests.filter(({ verb }) => verb === "patch").length;
}

Deno.test("each status write of an owned object is one more call, which writes nothing", async () => {
  await using session = new Session();
  const seen = await started(session);
  seen.calls = 0;
  for (let replicas = 1; replicas <= 5; replicas++) {
    session.server.patch(Deployment, "shop/web", { status: { replicas } });
    await session.pass();
  }
  assertEquals([seen.calls, patches(session)], [5, 1]);
});

Deno.test("an owned object under foreground deletion stays for a while, and is made again once it is gone", async () => {
  await using session = new Session();
  const { server } = session;
  await started(session);
  const { uid } = server.get(Deployment, "shop/web")!.metadata;
  const ownerReferences = [
    { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid, controller: true, blockOwnerDeletion: true },
  ];
  server.create(Pod, pod({ name: "web-0", namespace: "shop", ownerReferences }));
  const deleted = session.client.resource(Deployment, { namespace: "shop" })
    .delete("web", { propagationPolicy: "Foreground" });
  await session.pass();
  await deleted;
  assert(server.get(Deployment, "shop/web")?.metadata.deletionTimestamp !== undefined);
  for (const replicas of [1, 0]) server.patch(Deployment, "shop/web", { status: { replicas } });
  await session.pass();
  assertEquals(patches(session), 1);
  server.collectGarbage();
  await session.pass();
  assertEquals(patches(session), 2);
  assert(server.get(Deployment, "shop/web")?.metadata.uid !== uid);
});

Deno.test("a terminating namespace refuses new objects while the owner is still there", async () => {
  await using session = new Session((server) => server, { namespaces: "real" });
  const { server } = session;
  server.create(Namespace, { metadata: { name: "shop" }, spec: { finalizers: ["kubernetes"] } });
  const seen = await started(session);
  const deleted = session.client.resource(Namespace).delete("shop");
  await session.pass();
  await deleted;
  seen.calls = 0;
  server.delete(Deployment, "shop/web");
  await session.pass();
  assertEquals([seen.calls, server.get(Deployment, "shop/web")], [1, undefined]);
  assertEquals(server.get(ConfigMap, "shop/web")?.metadata.deletionTimestamp, undefined);
  server.delete(ConfigMap, "shop/web"); // as the namespace controller does next
  await session.pass(20_000);
  assertEquals([seen.calls, session.errors], [1, []]);
});

Deno.test("a reconciler of ConfigMaps is called for kube-root-ca.crt, unless it selects others", async () => {
  const called = async (options: ReconcilerOptions<ConfigMap>): Promise<string[]> => {
    await using session = new Session();
    const keys: string[] = [];
    await session.start(session.reconciler(({ key }) => void keys.push(key), options));
    for (const name of ["kube-root-ca.crt", "web"]) {
      session.server.create(ConfigMap, { metadata: { name, namespace: "shop" } });
    }
    await session.pass();
    return keys;
  };
  assertEquals(await called({}), ["shop/kube-root-ca.crt", "shop/web"]);
  assertEquals(await called({ informer: { fieldSelector: "metadata.name!=kube-root-ca.crt" } }), ["shop/web"]);
});

Deno.test("a pod's labels change at its binding", async () => {
  await using session = new Session();
  const zones: unknown[] = [];
  const pods = new Reconciler(session.client, Pod, ({ object }) => {
    zones.push(object?.metadata.labels?.["topology.kubernetes.io/zone"]);
  }, { when: labelsChanged });
  session.server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
  await session.start(pods);
  session.server.patch(Pod, "shop/web-0", {
    metadata: { labels: { "topology.kubernetes.io/zone": "a" } },
    spec: { nodeName: "worker-1" },
  });
  await session.pass();
  assertEquals(zones, [undefined, "a"]);
});

/** The status of a Deployment whose rollout is complete. */
const DONE: Deployment["status"] = {
  observedGeneration: 1,
  ...{ replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 },
  conditions: [
    { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
    { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
  ],
};

Deno.test("conditions of the generation before are no news about the present one", async () => {
  await using session = new Session();
  const { server } = session;
  server.create(Deployment, { metadata: { name: "web", namespace: "shop" }, spec, status: DONE });
  assertEquals(readiness(server.get(Deployment, "shop/web")).state, "ready");
  server.patch(Deployment, "shop/web", { spec: { minReadySeconds: 5 } });
  const { state, reason } = readiness(server.get(Deployment, "shop/web"));
  assertEquals([state, reason], ["progressing", "LatestGenerationNotObserved"]);
});

Deno.test("pods of the ReplicaSet before are still there when a Deployment is ready", async () => {
  await using session = new Session();
  const { server } = session;
  server.create(Deployment, { metadata: { name: "web", namespace: "shop" }, spec, status: DONE });
  for (const name of ["web-1", "web-2"]) {
    server.create(Pod, {
      ...pod({ name, namespace: "shop", labels, finalizers: ["example.com/held"] }),
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
  }
  server.delete(Pod, "shop/web-1");
  assertEquals(readiness(server.get(Deployment, "shop/web")).state, "ready");
  assertEquals(server.list(Pod).map((it) => readiness(it).state), ["terminating", "ready"]);
});
