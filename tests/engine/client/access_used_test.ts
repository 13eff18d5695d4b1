import { assertEquals, assertThrows } from "@std/assert";
import { rolesYaml } from "../../../src/engine/api/roles.ts";
import { accessUsed } from "../../../src/engine/client/access_used.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";

/** The rules of a client, a line each: namespace, verb, resource, group and names. */
function lines(client: Client): string[] {
  return accessUsed(client).map(({ namespace, verbs, resources, groups, names }) =>
    [namespace || "*", verbs, resources, groups[0] || "core", ...(names === undefined ? [] : [names])].join(" ")
  );
}

Deno.test("accessUsed lists verb, resource, namespace and names of each kind of request, also of those that fail", async () => {
  using client = new Client({ server: "http://fake/base", transport: new FakeApiServer(), namespace: "shop" });
  const maps = client.resource(ConfigMap, { namespace: "shop" });
  const body = { metadata: { labels: { a: "b" } } };
  const missing = (request: Promise<unknown>): Promise<unknown> => request.catch(() => undefined);
  await missing(maps.list());
  await missing(maps.list({ fieldSelector: "metadata.name=one" })); // the rule about all objects covers it
  await missing(maps.create({ metadata: { name: "a" } }));
  await missing(maps.get("a"));
  await missing(maps.get("b"));
  await missing(maps.patch("a", { type: "merge", body }));
  await missing(maps.delete("a"));
  await missing(maps.deleteCollection());
  await missing(client.resource(Deployment).apply({ metadata: { name: "web" } }, { fieldManager: "x" }));
  await missing(client.resource(Deployment).get("web", { subresource: "scale" }));
  await missing(client.resource(Node).list());
  await missing(client.resource(Pod).list({ fieldSelector: "spec.nodeName=n,metadata.name=p" }));
  await missing(client.fetch("/api/v1/namespaces/shop"));
  await missing(client.fetch("/api/v1/namespaces/shop/status", { method: "put" }));
  await missing(client.fetch("/api/v1/pods?watch=true"));
  await missing(client.fetch("/api/v1/namespaces/shop/pods/p/eviction", { method: "POST" }));
  await missing(client.fetch("/api/v1/namespaces/shop/services/web/proxy/a/b"));
  await missing(client.fetch("/version"));
  await missing(client.discover());
  await missing(client.missingRights([{ verb: "get", resource: Pod }])); // everybody may ask for the own rights
  assertEquals(lines(client), [
    "shop list configmaps core",
    "shop create configmaps core",
    "shop get configmaps core a,b",
    "shop patch configmaps core a",
    "shop delete configmaps core a",
    "shop deletecollection configmaps core",
    "shop patch deployments apps web",
    "shop create deployments apps web",
    "shop get deployments/scale apps web",
    "* list nodes core",
    "* list pods core p",
    "* get namespaces core shop",
    "* update namespaces/status core shop",
    "* watch pods core",
    "shop create pods/eviction core p",
    "shop get services/proxy core web",
  ]);
});

Deno.test("accessUsed forgets the names when there are more than 16", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const maps = client.resource(ConfigMap, { namespace: "shop" });
  const get = (index: number): Promise<unknown> => maps.get(`map-${index}`).catch(() => undefined);
  for (let index = 0; index < 16; index++) await get(index);
  assertEquals(accessUsed(client)[0].names?.length, 16);
  await get(16);
  await get(0);
  assertEquals(lines(client), ["shop get configmaps core"]);
});

Deno.test("rolesYaml prints a role for each namespace of the access that informers used", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  {
    await using informers = new SharedInformerFactory(client, { namespaces: ["shop", "bank"] });
    informers.forResource(ConfigMap);
    informers.forResource(Node);
    informers.start();
    await informers.waitForCacheSync();
    await informers.forResource(Node).waitForVersion("0");
  }
  const yaml = rolesYaml(accessUsed(client).filter(({ verbs }) => verbs.includes("watch")), { name: "reader" });
  assertEquals(yaml.split("---\n").map((role) => /kind: .*|namespace: .*|resources: .*/g[Symbol.match](role)), [
    ["kind: ClusterRole", `resources: ["nodes"]`],
    ["kind: Role", `namespace: "bank"`, `resources: ["configmaps"]`],
    ["kind: Role", `namespace: "shop"`, `resources: ["configmaps"]`],
  ]);
  assertEquals(rolesYaml([], { name: "none" }), "");
});

Deno.test("accessUsed refuses what is no Client", () => {
  assertThrows(() => accessUsed({ namespace: "", resource: () => null! }), TypeError, "the argument is not a Client");
});
