import { assert, assertEquals, assertMatch } from "@std/assert";
import { defineResource } from "../../../../src/engine/api/resource.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { CertificateSigningRequest } from "../../../../src/engine/kinds/certificates/v1.ts";
import { Pod, ServiceAccount } from "../../../../src/engine/kinds/core/v1.ts";
import { PodDisruptionBudget } from "../../../../src/engine/kinds/policy/v1.ts";
import { deployment, FakeApiServer, pod } from "../../../../src/testing/mod.ts";
import { ask, Widget } from "../../../support/servers/fake_server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const NOW = Date.parse("2026-01-02T03:04:05Z");

// deno-lint-ignore no-explicit-any -- answers in JSON
type Document = any;

function withPod(status: object = { phase: "Running" }): FakeApiServer {
  const server = new FakeApiServer({ now: () => NOW });
  const containers = [{ name: "c", image: "i:1" }];
  server.create(Pod, { metadata: { name: "p", labels: { app: "web" } }, spec: { containers }, status });
  return server;
}

function budget(server: FakeApiServer, name: string, disruptionsAllowed: number): void {
  server.create(PodDisruptionBudget, {
    metadata: { name },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
    status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
  });
}

async function post(server: FakeApiServer, path: string, body: object): Promise<{ status: number; json: Document }> {
  return await ask(server, path, { method: "POST", body });
}

const EVICTION = { metadata: { name: "p" } };

Deno.test("an eviction deletes the pod, and its budget counts it", async () => {
  const server = withPod();
  budget(server, "b", 1);
  const dry = await post(server, `${PODS}/p/eviction?dryRun=All`, EVICTION);
  assertEquals([dry.status, server.get(Pod, "default/p")?.metadata.name], [201, "p"]);
  const { status, json } = await post(server, `${PODS}/p/eviction`, EVICTION);
  assertEquals([status, json.kind, json.status], [201, "Status", "Success"]);
  assertEquals(server.get(Pod, "default/p"), undefined);
  const counted = server.get(PodDisruptionBudget, "default/b")!.status!;
  assertEquals([counted.disruptionsAllowed, Object.keys(counted.disruptedPods!)], [0, ["p"]]);
});

Deno.test("an eviction that a budget does not allow is answered with 429", async () => {
  const server = withPod();
  budget(server, "b", 0);
  const { status, json } = await post(server, `${PODS}/p/eviction`, EVICTION);
  assertEquals([status, json.reason], [429, "TooManyRequests"]);
  assertEquals(json.message, "Cannot evict pod as it would violate the pod's disruption budget.");
  assertEquals(json.details.causes, [
    { reason: "DisruptionBudget", message: "The disruption budget b needs 1 healthy pods and has 1 currently" },
  ]);
  assert(server.get(Pod, "default/p") !== undefined);
  server.patch(PodDisruptionBudget, "default/b", { status: { currentHealthy: 2 } });
  const surplus = await post(server, `${PODS}/p/eviction`, EVICTION);
  assertEquals(
    surplus.json.details.causes[0].message,
    "The disruption budget b does not allow evicting pods currently",
  );
});

Deno.test("an eviction of a pod with two budgets is answered with 500, without a reason", async () => {
  const server = withPod();
  budget(server, "b", 0);
  budget(server, "c", 1);
  const { status, json } = await post(server, `${PODS}/p/eviction`, EVICTION);
  assertEquals(status, 500);
  assertEquals<unknown>(json, {
    ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 500 },
    message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
  });
});

Deno.test("a budget does not hold a pod that has not started, nor one that it does not select", async () => {
  const server = withPod({ phase: "Pending" });
  budget(server, "b", 0);
  assertEquals((await post(server, `${PODS}/p/eviction`, EVICTION)).status, 201);
  server.create(Pod, pod({ name: "q", labels: { app: "other" } }));
  assertEquals((await post(server, `${PODS}/q/eviction`, EVICTION)).status, 400);
  assertEquals((await post(server, `${PODS}/q/eviction`, { metadata: { name: "q" } })).status, 201);
  assertEquals((await post(server, `${PODS}/q/eviction`, { metadata: { name: "q" } })).status, 404);
});

for (const path of ["pods/p/binding", "bindings"]) {
  Deno.test(`a binding assigns a pod to a node, once: ${path}`, async () => {
    const server = withPod({ phase: "Pending" });
    const owners = server.get(Pod, "default/p")!.metadata.managedFields;
    const body = { metadata: { name: "p" }, target: { kind: "Node", name: "n" } };
    assertEquals((await post(server, `/api/v1/namespaces/default/${path}`, body)).status, 201);
    const { metadata, spec, status } = server.get(Pod, "default/p")!;
    assertEquals([metadata.generation, metadata.managedFields], [1, owners]);
    assertEquals([spec.nodeName, status?.phase], ["n", "Pending"]);
    assertEquals(status?.conditions?.map(({ type, status }) => `${type} ${status}`), ["PodScheduled True"]);
    const again = await post(server, `/api/v1/namespaces/default/${path}`, body);
    assertEquals(again.status, 409);
    assertMatch(again.json.message, /pods\/binding "p": pod p is already assigned to node "n"$/);
  });
}

Deno.test("a service account gets a token with an end", async () => {
  const server = new FakeApiServer({ now: () => NOW });
  server.create(ServiceAccount, { metadata: { name: "a" } });
  const path = "/api/v1/namespaces/default/serviceaccounts/a/token";
  const { status, json } = await post(server, path, { spec: { expirationSeconds: 600, audiences: ["x"] } });
  assertEquals([status, json.kind, json.status.expirationTimestamp], [201, "TokenRequest", "2026-01-02T03:14:05Z"]);
  const claims = JSON.parse(atob(json.status.token.split(".")[1]));
  assertEquals([claims.sub, claims.aud], ["system:serviceaccount:default:a", ["x"]]);
  assertEquals((await post(server, path.replace("/a/", "/b/"), { spec: {} })).status, 404);
});

Deno.test("an approval changes the status of a signing request alone", async () => {
  const server = new FakeApiServer();
  const spec = { request: "eA==", signerName: "example.com/s", usages: ["client auth"] } as const;
  const request = server.create(CertificateSigningRequest, { metadata: { name: "r" }, spec });
  const conditions = [{ type: "Approved", status: "True" }];
  const { json } = await ask(server, "/apis/certificates.k8s.io/v1/certificatesigningrequests/r/approval", {
    method: "PUT",
    body: { ...request, spec: { ...spec, signerName: "example.com/t" }, status: { conditions } },
  });
  assertEquals([json.status.conditions[0].type, json.spec.signerName], ["Approved", "example.com/s"]);
});

Deno.test("streams of a pod that is on no node are refused", async () => {
  const server = withPod();
  server.patch(Pod, "default/p", { spec: { nodeName: null } });
  for (const part of ["exec", "attach", "portforward"]) {
    const { status, json } = await ask(server, `${PODS}/p/${part}`);
    assertEquals([status, json.message], [400, "pod p does not have a host assigned"], part);
    assertEquals((await ask(server, `${PODS}/q/${part}`)).status, 404);
  }
});

Deno.test("endpoints are served with the server's warning", async () => {
  const { headers } = await ask(new FakeApiServer(), "/api/v1/endpoints");
  const text = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  assertEquals(headers.get("warning"), `299 - "${text}"`);
});

Deno.test("subresources of kubelets are answered with 501", async () => {
  const server = withPod();
  server.patch(Pod, "default/p", { spec: { nodeName: "n" } });
  const ofPods = ["exec", "attach", "portforward", "proxy", "resize", "ephemeralcontainers"].map((part) =>
    `pods/p/${part}`
  );
  for (const path of [...ofPods, "services/s/proxy"]) {
    const { status, json } = await ask(server, `/api/v1/namespaces/default/${path}`);
    assertEquals(status, 501, path);
    assertMatch(json.message, /the fake server has no kubelets, which (pods|services)\/\w+ needs/);
  }
  assertEquals((await ask(server, `${PODS}/p/eviction`)).status, 405);
  assertEquals((await ask(server, `${PODS}/p/nothing`)).status, 404);
});

Deno.test("a scale is applied, and a custom kind says where its replicas are", async () => {
  const scale = {
    specReplicasPath: ".spec.size",
    statusReplicasPath: ".status.size",
    labelSelectorPath: ".status.pods",
  };
  const server = new FakeApiServer({ resources: [{ ...Widget, subresources: ["status", "scale"], scale }] });
  const custom = { metadata: { name: "w" }, spec: { size: 2 }, status: { size: 1, pods: "app=w" } };
  server.create(defineResource(Widget), custom as never);
  const path = "/apis/example.com/v1/namespaces/default/widgets/w";
  const { spec, status } = (await ask(server, `${path}/scale`)).json;
  assertEquals([spec, status], [{ replicas: 2 }, { replicas: 1, selector: "app=w" }]);
  await ask(server, `${path}/scale`, { method: "PUT", body: { metadata: { name: "w" }, spec: { replicas: 5 } } });
  assertEquals((await ask(server, path)).json.spec, { size: 5 });

  server.create(Deployment, deployment({ name: "web" }));
  const applied = await ask(
    server,
    "/apis/apps/v1/namespaces/default/deployments/web/scale?fieldManager=me&force=true",
    {
      method: "PATCH",
      headers: { "content-type": "application/apply-patch+yaml" },
      body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "web" }, spec: { replicas: 4 } },
    },
  );
  assertEquals([applied.status, applied.json.spec.replicas], [200, 4]);
  const { managedFields } = server.get(Deployment, "default/web")!.metadata;
  const mine = managedFields!.find(({ manager }) => manager === "me")!;
  assertEquals([mine.operation, mine.subresource, mine.fieldsV1], ["Apply", "scale", {
    "f:spec": { "f:replicas": {} },
  }]);
});
