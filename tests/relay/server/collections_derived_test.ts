import { applyViewUpdate, Client, derive, SharedInformerFactory, type ViewRow } from "@kube/informer";
import { Node, Pod } from "@kube/informer/kinds/core/v1";
import { subscribe } from "@kube/informer/relay/client";
import { FakeApiServer, node, pod } from "@kube/informer/testing";
import { assertEquals, assertNotEquals } from "@std/assert";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import type { RelayOptions } from "../../../src/relay/server/options.ts";
import { LOCAL, Relayed } from "../../support/servers/relayed.ts";

interface Placed extends AsyncDisposable {
  readonly server: FakeApiServer;
  readonly relayed: Relayed;
  /** Resolves once a pod is in a zone. */
  untilZone(key: string, zone: string): Promise<unknown>;
}

/** A relay of pods with the zones of their nodes. */
async function placed(options: Partial<RelayOptions> = {}): Promise<Placed> {
  const server = new FakeApiServer();
  for (const [i, zone] of ["a", "b"].entries()) server.create(Node, node({ name: `worker-${i}`, labels: { zone } }));
  for (let i = 0; i < 3; i++) {
    server.create(Pod, pod({ name: `cart-${i}`, namespace: "shop", node: `worker-${i % 2}`, labels: { n: `${i}` } }));
  }
  await using stack = new AsyncDisposableStack();
  const client = stack.use(new Client({ server: "http://fake", transport: server }));
  const informers = stack.use(new SharedInformerFactory(client));
  const nodes = informers.forResource(Node);
  const zones = stack.use(
    derive(informers.forResource(Pod), ({ metadata: { name, namespace, labels }, spec }, { read: fetch }) => ({
      metadata: { name, namespace, labels },
      zone: fetch(nodes, { key: spec.nodeName })?.metadata.labels?.zone ?? "",
    })),
  );
  informers.start();
  const relayed = stack.use(new Relayed({ ...options, collections: { zones } }, { server }));
  const held = stack.move();
  return {
    server,
    relayed,
    untilZone: (key, zone) => zones.until((object) => object.zone === zone, { key }),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

Deno.test("a relay lists a derived collection, whose tag changes with its objects", async () => {
  await using all = await placed();
  const { server, relayed } = all;
  const list = await relayed.get("/api/zones?labelSelector=n%21%3D1&fields=zone");
  const { state, resourceVersion, items } = await list.json();
  assertEquals([state, resourceVersion, items.length], ["live", "", 2]);
  assertEquals(items.map(({ zone }: { zone: string }) => zone), ["a", "a"]);
  const etag = list.headers.get("etag")!;
  const again = (): Promise<Response> => {
    return relayed.get("/api/zones?labelSelector=n%21%3D1&fields=zone", { "if-none-match": etag });
  };
  assertEquals((await again()).status, 304);
  server.patch(Node, "worker-0", { metadata: { labels: { zone: "c" } } });
  let changed = await again();
  while (changed.status === 304) {
    await nextTurn();
    changed = await again();
  }
  assertEquals((await changed.json()).items.map(({ zone }: { zone: string }) => zone), ["c", "c"]);
  const { collections } = await (await relayed.get("/api")).json();
  assertEquals(collections, [{ name: "zones", kind: "zones", scope: "Namespaced", isTable: false }]);
  await using other = await placed();
  const otherTag = (await other.relayed.get("/api/zones?labelSelector=n%21%3D1&fields=zone")).headers.get("etag");
  assertNotEquals(otherTag, etag);
});

Deno.test("a derived collection shows a client what its rights have alone, and the tag is that of these objects", async () => {
  const authorize = (): { rights: Record<string, { names: string[] }> } => ({
    rights: { zones: { names: ["cart-1"] } },
  });
  await using all = await placed({ authorize });
  const { server, relayed } = all;
  const first = await relayed.get("/api/zones");
  const etag = first.headers.get("etag")!;
  assertEquals((await first.json()).items.map(({ zone }: { zone: string }) => zone), ["b"]);
  const again = (): Promise<Response> => relayed.get("/api/zones", { "if-none-match": etag });
  server.patch(Node, "worker-0", { metadata: { labels: { zone: "c" } } });
  await all.untilZone("shop/cart-0", "c");
  assertEquals((await again()).status, 304, "of another object");
  server.patch(Node, "worker-1", { metadata: { labels: { zone: "c" } } });
  await all.untilZone("shop/cart-1", "c");
  assertEquals((await (await again()).json()).items.map(({ zone }: { zone: string }) => zone), ["c"]);
});

Deno.test("the Kubernetes API of a relay has no derived collections", async () => {
  await using all = await placed();
  const { groups } = await (await all.relayed.get("/kubernetes/apis")).json();
  assertEquals(groups, []);
  assertEquals((await all.relayed.get("/kubernetes/apis/derived/v1/zones")).status, 404);
});

Deno.test("a stream of a derived collection has its changes, and is resumed by the relay that it is from", async () => {
  await using all = await placed();
  const { server, relayed } = all;
  let id: string;
  {
    await using events = await relayed.events("/events/zones");
    const first = await events.through("synced");
    assertEquals(first.at(-1), "synced 3");
    server.patch(Node, "worker-1", { metadata: { labels: { zone: "c" } } });
    assertEquals(await events.through("updated"), ["updated cart-1"]);
    id = events.lastEventId;
  }
  server.delete(Pod, "shop/cart-2");
  await using resumed = await relayed.events("/events/zones", id);
  assertEquals(await resumed.through("deleted"), ["deleted shop/cart-2"]);
});

Deno.test("a view of a derived collection is in order, and a subscription has its objects", async () => {
  await using all = await placed();
  const { server, relayed } = all;
  const views = { last: { of: "zones", sortBy: ["-zone", "metadata.name"], limit: 2 } };
  await using events = await relayed.events(`/views?views=${encodeURIComponent(JSON.stringify(views))}`);
  let rows: ViewRow<unknown>[] = [];
  const until = async (expected: string): Promise<void> => {
    while (rows.map(({ key }) => key.slice(-1)).join("") !== expected) {
      const { text, data } = await events.next();
      if (text.startsWith("view")) rows = applyViewUpdate(rows, data);
    }
  };
  await until("10");
  server.patch(Node, "worker-0", { metadata: { labels: { zone: "z" } } });
  await until("02");
  const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    return relayed.relay.fetch(new Request(input, init), LOCAL);
  };
  using zones = subscribe("http://localhost", "zones", { fetch });
  while (!zones.hasSynced) await nextTurn();
  assertEquals(zones.lister.list().map(({ metadata: { name } }) => name).sort(), ["cart-0", "cart-1", "cart-2"]);
});
