import { Client, SharedInformerFactory } from "@kube/informer";
import { ConfigMap, Namespace, Node } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, namespace } from "@kube/informer/testing";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { FakeTime } from "../../../support/times/fake_time.ts";

/** A server with three namespaces, of which "a" and "b" have the label, and a config map in each. */
function serverOfTeams(): FakeApiServer {
  const server = new FakeApiServer();
  for (const [name, team] of [["a", "x"], ["b", "x"], ["c", "y"]]) {
    server.create(Namespace, namespace({ name, labels: { team } }));
    server.create(ConfigMap, { metadata: { namespace: name, name: "settings" } });
  }
  return server;
}

/** The lists of config maps: `"all"`, or the namespace. */
function listsOf(server: FakeApiServer): string[] {
  return server.requests.filter(({ verb, resource }) => verb === "list" && resource === "configmaps").map(
    ({ namespace }) => namespace === "" ? "all" : namespace,
  );
}

Deno.test("namespaces by label come and go without another list of the rest", async () => {
  using time = new FakeTime();
  using server = serverOfTeams();
  using client = new Client({ server: server.url, transport: server });
  const reflector = { streamingList: "off", reconnectMs: 0 } as const;
  await using informers = new SharedInformerFactory(client, { namespaces: { labels: "team=x" }, reflector });
  const maps = informers.forResource(ConfigMap);
  const seen: string[] = [];
  maps.addEventHandler({
    onAdd: ({ key, initial }) => void seen.push(`${initial ? "=" : "+"}${key}`),
    onUpdate: ({ key }) => void seen.push(`~${key}`),
    onDelete: ({ key, reason }) => void seen.push(`-${key} ${reason}`),
  });
  informers.start();
  await time.tickAsync(1_000);
  assertEquals([seen.splice(0), listsOf(server)], [["=a/settings", "=b/settings"], ["all"]]);

  server.patch(Namespace, "c", { metadata: { labels: { team: "x" } } });
  server.create(Namespace, namespace({ name: "d", labels: { team: "x" } }));
  await time.tickAsync(2_000);
  server.create(ConfigMap, { metadata: { namespace: "d", name: "late" } });
  server.annotate(ConfigMap, "a/settings", { n: "1" });
  await time.tickAsync(1_000);
  assertEquals(seen.splice(0), ["+c/settings", "+d/late", "~a/settings"]);
  assertEquals(listsOf(server).slice(1).sort(), ["c", "d"]);

  server.patch(Namespace, "a", { metadata: { labels: { team: "y" } } });
  await time.tickAsync(1_000);
  server.annotate(ConfigMap, "a/settings", { n: "2" });
  await time.tickAsync(1_000);
  assertEquals(seen.splice(0), ["-a/settings moved"]);
  assertEquals(maps.indexer.size, 3);
  assertEquals(listsOf(server).length, 3);

  server.patch(Namespace, "a", { metadata: { labels: { team: "x" } } });
  await time.tickAsync(1_000);
  assertEquals([seen, listsOf(server).at(-1)], [["+a/settings"], "a"]);
  await informers.shutdown();
});

Deno.test("informers of one label share its namespaces; others name theirs, or are of the cluster", async () => {
  using time = new FakeTime();
  using server = serverOfTeams();
  using client = new Client({ server: server.url, transport: server });
  await using informers = new SharedInformerFactory(client, { onError: () => {} }); // they overlap
  const labelled = { namespaces: { labels: "team=x" } };
  const maps = informers.forResource(ConfigMap, labelled);
  assert(informers.forResource(ConfigMap, { namespaces: { labels: "team=x" } }) === maps);
  assert(informers.forResource(ConfigMap, { namespaces: { labels: "team=y" } }) !== maps);
  const named = informers.forResource(ConfigMap, { namespaces: ["c"] });
  const nodes = informers.forResource(Node, labelled);
  informers.start();
  await time.tickAsync(1_000);
  assertEquals([[...maps.indexer.keys()].sort(), [...named.indexer.keys()]], [["a/settings", "b/settings"], [
    "c/settings",
  ]]);
  assert(nodes.hasSynced);
  assertThrows(() => informers.forResource(ConfigMap, { ...labelled, shard: "0/2" }), TypeError, "Remove one of them");
  assertThrows(
    () => informers.forResource(ConfigMap, { ...labelled, namespace: "a" }),
    TypeError,
    "Remove one of them",
  );
  assertThrows(() => informers.forResource(ConfigMap, { namespaces: { labels: "=" } }), SyntaxError);
  await informers.shutdown();
});

Deno.test("nothing is listed until the namespaces are known", async () => {
  using time = new FakeTime();
  using server = serverOfTeams();
  using _held = server.stallNext(10, ({ resource }) => resource === "namespaces");
  using client = new Client({ server: server.url, transport: server });
  await using informers = new SharedInformerFactory(client, { namespaces: { labels: "team=x" } });
  const maps = informers.forResource(ConfigMap);
  informers.start();
  await time.tickAsync(1_000);
  assertEquals([listsOf(server), maps.hasSynced], [[], false]);
  await informers.shutdown();
});
