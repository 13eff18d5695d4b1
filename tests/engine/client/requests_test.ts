import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { defineResource, onlyMetadata } from "../../../src/engine/api/resource.ts";
import { StatusError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { json, pod, podList, refusal, ScriptedTransport } from "../../support/servers/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
const Deployment = defineResource({ group: "apps", version: "v1", plural: "deployments", kind: "Deployment" });
const Node = defineResource({ version: "v1", plural: "nodes", kind: "Node", scope: "Cluster" });

function clientOf(transport: ScriptedTransport, server = "https://kube.test:6443", namespace = ""): Client {
  return new Client({ server, transport, namespace });
}

Deno.test("ResourceClient builds paths of prefix, group, namespace, plural, name and subresource, each checked and encoded [C129]", async () => {
  const cases: [string, string, (client: Client) => Promise<unknown>][] = [
    ["https://kube.test", "/api/v1/pods", (client) => client.resource(Pod).list()],
    [
      "https://kube.test/",
      "/api/v1/namespaces/shop/pods",
      (client) => client.resource(Pod, { namespace: "shop" }).list(),
    ],
    [
      "https://kube.test/k8s/c-1",
      "/k8s/c-1/api/v1/nodes",
      (client) => client.resource(Node, { namespace: "shop" }).list(),
    ],
    ["https://kube.test/k8s/c-1/", "/k8s/c-1/apis/apps/v1/deployments", (client) => client.resource(Deployment).list()],
    [
      "https://kube.test",
      "/api/v1/namespaces/shop/pods/web-0/status",
      (client) => client.resource(Pod).namespace("shop").get("web-0", { subresource: "status" }),
    ],
    ["https://kube.test", "/api/v1/nodes/a:b", (client) => client.resource(Node).get("a:b")],
  ];
  for (const [server, path, ask] of cases) {
    const transport = new ScriptedTransport(json({ ...podList([]), metadata: { resourceVersion: "1" } }));
    await ask(clientOf(transport, server));
    assertEquals(decodeURIComponent(transport.last.path), path);
    assertEquals(transport.last.url.origin, "https://kube.test");
    assertEquals(transport.last.method, "GET");
  }
  for (const name of [".", "..", "a/b", "a%2fb", "", "a?b", "a#b"]) {
    const transport = new ScriptedTransport();
    const pods = clientOf(transport).resource(Pod, { namespace: "shop" });
    await assertRejects(() => pods.get(name), TypeError, "Cannot");
    await assertRejects(() => pods.namespace(name === "" ? "/" : name).list(), TypeError, "Cannot");
    assertEquals(transport.requests.length, 0);
  }
});

Deno.test("ResourceClient sends list options under the server's parameter names", async () => {
  const transport = new ScriptedTransport(json(podList([])));
  await clientOf(transport).resource(Pod).list({
    namespace: "shop",
    labelSelector: "app=web,tier in (a, b)",
    fieldSelector: "spec.nodeName=n1",
    resourceVersion: "7",
    resourceVersionMatch: "NotOlderThan",
    limit: 3,
    continue: "abc+/=",
  });
  assertEquals(transport.last.query, {
    pretty: "false",
    labelSelector: "app=web,tier in (a, b)",
    fieldSelector: "spec.nodeName=n1",
    resourceVersion: "7",
    resourceVersionMatch: "NotOlderThan",
    limit: "3",
    continue: "abc+/=",
  });
  assertEquals(transport.last.headers.get("accept"), "application/json");
});

Deno.test("ResourceClient omits a limit of 0 and an empty continue token", async () => {
  const transport = new ScriptedTransport(json(podList([])));
  await clientOf(transport).resource(Pod).list({ limit: 0, continue: "", labelSelector: "", fieldSelector: "" });
  assertEquals(transport.last.query, { pretty: "false" });
});

Deno.test("ResourceClient combines the selectors of the collection and of the call, and uses the call's namespace [F21]", async () => {
  const transport = new ScriptedTransport(json(podList([])), json(podList([])));
  const pods = clientOf(transport).resource(Pod, { namespace: "shop", labelSelector: "a=b", fieldSelector: "x=1" });
  await pods.list({ labelSelector: "!c", fieldSelector: "y!=2" });
  assertEquals(transport.last.query, { pretty: "false", labelSelector: "a=b,!c", fieldSelector: "x=1,y!=2" });
  await pods.list({ namespace: "bank" });
  assertEquals(transport.last.path, "/api/v1/namespaces/bank/pods");
  assertEquals(transport.last.query, { pretty: "false", labelSelector: "a=b", fieldSelector: "x=1" });
});

Deno.test("ResourceClient refuses a broken label selector before anything is sent", async () => {
  const transport = new ScriptedTransport();
  const pods = clientOf(transport).resource(Pod);
  await assertRejects(() => pods.list({ labelSelector: "app in (web" }), SyntaxError, "app in (web");
  assertThrows(() => pods.watch({ labelSelector: "=x" }), SyntaxError);
  assertThrows(() => pods.pages({ labelSelector: "=x" }), SyntaxError);
  assertThrows(() => pods.listEntries({ labelSelector: "=x" }), SyntaxError);
  assertThrows(() => pods.follow({ resourceVersion: "1", labelSelector: "=x" }), SyntaxError);
  // Each part is read alone: what only together would be a selector is none.
  assertThrows(() => clientOf(transport).resource(Pod, { labelSelector: "a in (b" }), SyntaxError);
  assertThrows(() => clientOf(transport).resource(Pod, { fieldSelector: "a" }), SyntaxError, "field selector");
  await assertRejects(() => pods.list({ fieldSelector: "spec.nodeName" }), SyntaxError, "at character 1");
  assertEquals(transport.requests.length, 0);
});

Deno.test("ResourceClient refuses negative and fractional numbers", async () => {
  const pods = clientOf(new ScriptedTransport()).resource(Pod, { namespace: "shop" });
  await assertRejects(() => pods.list({ limit: -1 }), RangeError, "limit");
  await assertRejects(() => pods.list({ limit: 1.5 }), RangeError, "limit");
  assertThrows(() => pods.watch({ timeoutSeconds: NaN }), RangeError, "timeoutSeconds");
  await assertRejects(() => pods.delete("web-0", { gracePeriodSeconds: -1 }), RangeError, "gracePeriodSeconds");
});

Deno.test("ResourceClient asks the server to leave out managedFields that it drops", async () => {
  const list = { kind: "PodList", apiVersion: "v1", metadata: {}, items: [pod("web-0", "1")] };
  const transport = new ScriptedTransport(json(list), json(list), json(list), json(list));
  const client = clientOf(transport);
  const accepted: (string | null)[] = [];
  const [whole, metadata] = [client.resource(Pod), client.resource(onlyMetadata(Pod))];
  await whole.list({ managedFields: "drop" });
  accepted.push(transport.last.headers.get("accept"));
  await whole.list({ managedFields: { manager: "me" } });
  accepted.push(transport.last.headers.get("accept"));
  await Array.fromAsync(whole.watch({ managedFields: "drop" }));
  accepted.push(transport.last.headers.get("accept"));
  await Array.fromAsync(metadata.watch({ managedFields: "drop" }));
  accepted.push(transport.last.headers.get("accept"));
  const dropped = "application/json;drop=metadata.managedFields,application/json";
  const form = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  assertEquals(accepted, [dropped, "application/json", dropped, dropped.replace("drop=", `${form};drop=`)]);
});

Deno.test("ResourceClient requests metadata only in the form that each call needs [F32]", async () => {
  const partial = { ...pod("web-0", "1"), kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" };
  const list = { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata: {}, items: [partial] };
  const transport = new ScriptedTransport(json(list), json(partial), json(partial));
  const pods = clientOf(transport).resource(onlyMetadata(Pod), { namespace: "shop" });
  await pods.list();
  assertEquals(
    transport.last.headers.get("accept"),
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
  );
  const one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  await pods.get("web-0");
  assertEquals(transport.last.headers.get("accept"), one);
  await pods.patch("web-0", { type: "merge", body: { metadata: { labels: { a: "b" } } } });
  assertEquals(transport.last.headers.get("accept"), one);
  await assertRejects(() => pods.create({ metadata: { name: "web-0" } } as never), TypeError, "reduced to metadata");
});

Deno.test("ResourceClient refuses to address or create an object without a namespace; Client.fetch sends a raw path as it is [C133]", async () => {
  const transport = new ScriptedTransport();
  const pods = clientOf(transport).resource(Pod);
  const whole = {
    ...pod("web-0", "1"),
    metadata: { name: "web-0", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
  };
  await assertRejects(() => pods.get("web-0"), TypeError, 'Cannot get "pods/web-0": no namespace is given');
  await assertRejects(() => pods.create({ metadata: { name: "web-0" } }), TypeError, "no namespace is given");
  await assertRejects(() => pods.update(whole), TypeError, "no namespace is given");
  await assertRejects(() => pods.patch("web-0", { type: "merge", body: {} }), TypeError, "no namespace is given");
  await assertRejects(() => pods.delete("web-0"), TypeError, "no namespace is given");
  await assertRejects(() => pods.deleteCollection(), TypeError, "does not delete across namespaces");
  assertEquals(transport.requests.length, 0);

  transport.add(json({}), json(podList([])));
  const client = clientOf(transport, "https://kube.test/prefix/");
  await (await client.fetch("/healthz/?verbose=1")).body?.cancel();
  assertEquals(transport.last.url.href, "https://kube.test/prefix/healthz/?verbose=1");
  // The time a list may take is nobody's business but the signal's: no `timeout` parameter.
  await client.resource(Pod).list();
  assertEquals("timeout" in transport.last.query, false);
});

Deno.test("ResourceClient refuses options that it does not know, and names the one that was meant", async () => {
  const transport = new ScriptedTransport();
  const pods = clientOf(transport).resource(Pod, { namespace: "shop" });
  const wrong = { labelSelctor: "a=b" } as Record<string, string>;
  await assertRejects(
    () => pods.list(wrong),
    TypeError,
    'Cannot list "pods" in namespace "shop": there is no option "labelSelctor". Did you mean "labelSelector"?',
  );
  assertThrows(() => pods.watch(wrong), TypeError, "labelSelctor");
  assertThrows(() => pods.pages(wrong), TypeError, "labelSelctor");
  await assertRejects(
    () => pods.get("a", { sub: "x" } as never),
    TypeError,
    "Put a parameter without an option into query",
  );
  await assertRejects(() => pods.create({ metadata: { name: "a" } }, { dryrun: true } as never), TypeError, '"dryRun"');
  await assertRejects(() => pods.delete("a", { graceperiodSeconds: 1 } as never), TypeError, '"gracePeriodSeconds"');
  await assertRejects(() => pods.deleteCollection({ limits: 1 } as never), TypeError, '"limit"');
  assertEquals(transport.requests.length, 0);
});

Deno.test("ResourceClient sends the parameters of query, but none that is an option or nearly so", async () => {
  const transport = new ScriptedTransport(json(podList([])), json(podList([])), json({}), json({}));
  const pods = clientOf(transport).resource(Pod, { namespace: "shop" });
  await pods.list({ limit: 5, query: { shardSelector: "a b", pretty: "true", container: "c" } });
  assertEquals(transport.last.query, { limit: "5", shardSelector: "a b", pretty: "true", container: "c" });
  for (
    const call of [
      () => pods.get("a", { query: { x: "1" } }),
      () => pods.create({ metadata: { name: "a" } }, { query: { x: "1" } }),
      () => pods.delete("a", { query: { x: "1" } }),
    ]
  ) {
    await call();
    assertEquals(transport.last.query.x, "1");
  }
  for (const name of ["labelSelector", "labelSelctor", "LabelSelector", "limits", "resourceVersoin", "watch"]) {
    await assertRejects(() => pods.list({ query: { [name]: "1" } }), TypeError, `query has "${name}"`);
  }
});

Deno.test("ResourceClient.getOrUndefined resolves with undefined for a missing object, and rejects for a missing kind", async () => {
  const missing = refusal(404, "NotFound", 'pods "a" not found', {}, { details: { name: "a", kind: "pods" } });
  const transport = new ScriptedTransport(
    missing,
    new Response("404 page not found\n", { status: 404 }),
    refusal(403, "Forbidden", "no", {}, { details: { name: "a" } }),
    json({ metadata: { name: "a" } }),
  );
  const pods = clientOf(transport).resource(Pod, { namespace: "shop" });
  assertEquals(await pods.getOrUndefined("a"), undefined);
  await assertRejects(() => pods.getOrUndefined("a"), StatusError, 'the server has no resource "pods"');
  await assertRejects(() => pods.getOrUndefined("a"), StatusError, "403");
  assertEquals((await pods.getOrUndefined("a"))?.metadata.name, "a");
});
