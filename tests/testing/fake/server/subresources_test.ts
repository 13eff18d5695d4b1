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

Deno.test("ephemeral containers and resources of a pod are changed by their subresources alone", async () => {
  const server = withPod();
  const patch = async (part: string, spec: object): Promise<Document> =>
    (await ask(server, `${PODS}/p/${part}`, {
      method: "PATCH",
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: { metadata: { labels: { lost: "x" } }, spec: { priority: 7, ...spec } },
    })).json;
  const debugged = await patch("ephemeralcontainers", { ephemeralContainers: [{ name: "d", image: "d:1" }] });
  assertEquals([debugged.spec.ephemeralContainers[0].name, debugged.spec.priority], ["d", undefined]);
  const limited = (cpu: string): object => ({
    containers: [{ name: "c", image: "i:1", resources: { limits: { cpu } } }],
  });
  server.patch(Pod, "default/p", { spec: limited("1") });
  const { spec, metadata } = await patch("resize", {
    containers: [{ name: "c", image: "z", resources: { limits: { cpu: "2" } } }],
  });
  const [{ image, resources }] = spec.containers;
  const both = { limits: { cpu: "2" }, requests: { cpu: "2" } };
  assertEquals([image, resources, metadata.labels], ["i:1", both, { app: "web" }]);
});

Deno.test("an approval changes the conditions of a signing request alone", async () => {
  const server = new FakeApiServer();
  const spec = { request: "eA==", signerName: "example.com/s", usages: ["client auth"] } as const;
  const request = server.create(CertificateSigningRequest, { metadata: { name: "r" }, spec });
  const conditions = [{ type: "Approved", status: "True" }];
  const { json } = await ask(server, "/apis/certificates.k8s.io/v1/certificatesigningrequests/r/approval", {
    method: "PUT",
    body: { ...request, status: { conditions, certificate: "eA==" } },
  });
  assertEquals([json.status.conditions[0].type, json.status.certificate], ["Approved", undefined]);
});

Deno.test("a signing request names its user, and its conditions get their times", async () => {
  const server = new FakeApiServer({ tokens: { t: "bob" } });
  const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const headers = { authorization: "Bearer t", "content-type": "application/json" };
  const spec = { request: "eA==", signerName: "example.com/s", usages: ["client auth"] };
  const given = { ...spec, username: "ann", uid: "x", extra: { a: ["b"] }, groups: ["g"] };
  const body = { metadata: { name: "r" }, spec: given };
  const { json } = await ask(server, path, { method: "POST", headers, body });
  const { username, uid, extra, groups } = json.spec;
  assertEquals([username, uid, extra, groups], ["bob", undefined, undefined, ["system:authenticated"]]);
  const approve = async (conditions: readonly object[]): Promise<Document[]> => {
    const body = { ...json, metadata: { name: "r" }, status: { conditions } };
    return (await ask(server, `${path}/r/approval`, { method: "PUT", headers, body })).json.status.conditions;
  };
  const [approved] = await approve([{ type: "Approved", status: "True" }]);
  assertMatch(`${approved.lastUpdateTime} ${approved.lastTransitionTime}`, /^\d{4}-\S+Z \d{4}-\S+Z$/);
  const past = { lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z" };
  assertEquals((await approve([{ type: "Approved", status: "True", ...past }]))[0].lastUpdateTime, past.lastUpdateTime);
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
  for (const path of ["pods/p/exec", "pods/p/attach", "pods/p/portforward", "pods/p/proxy", "services/s/proxy"]) {
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
