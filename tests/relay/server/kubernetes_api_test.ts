import { asTable, defaultsFor, onlyFields, onlyMetadata, type SharedInformerFactoryOptions } from "@kube/informer";
import { ConfigMap, Node, Pod, Secret } from "@kube/informer/kinds/core/v1";
import type { RelayOptions } from "@kube/informer/relay";
import { FakeApiServer, FakeTime, pod } from "@kube/informer/testing";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { LOCAL, names, Relayed, threePods } from "../../support/servers/relayed.ts";

const PODS = "/kubernetes/api/v1/pods";
const SHOP = "/kubernetes/api/v1/namespaces/shop/pods";

/** The lines of a watch. */
class Watched implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(response: Response) {
    assertEquals([response.status, response.headers.get("content-type")], [200, "application/json"]);
    this.#reader = response.body!.getReader();
  }

  static async open(relayed: Relayed, path: string): Promise<Watched> {
    return new Watched(await relayed.get(`${path}${path.includes("?") ? "&" : "?"}watch=1`));
  }

  /** The next line; `undefined` at the end. */
  // deno-lint-ignore no-explicit-any
  async next(): Promise<any> {
    for (;;) {
      const end = this.#rest.indexOf("\n");
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 1);
      if (end >= 0) return JSON.parse(line);
      const { done, value } = await this.#reader.read();
      if (done) return assertEquals(this.#rest, "");
      this.#rest += this.#decoder.decode(value, { stream: true });
    }
  }

  /** The next lines as texts: `"ADDED cart-0"`. */
  async texts(count: number): Promise<string[]> {
    const texts: string[] = [];
    while (texts.length < count) {
      const { type, object } = await this.next();
      texts.push(`${type} ${object.metadata?.name ?? object.code ?? object.metadata.resourceVersion}`);
    }
    return texts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}

// deno-lint-ignore no-explicit-any
async function json(relayed: Relayed, path: string, headers?: Record<string, string>): Promise<any> {
  return await (await relayed.get(path, headers)).json();
}

/** The code, reason and message of a refused request. */
async function refused(relayed: Relayed, path: string): Promise<[number, string, string]> {
  const response = await relayed.get(path);
  const { kind, code, reason, message } = await response.json();
  assertEquals([kind, code], ["Status", response.status]);
  return [code, reason, message];
}

function write(server: FakeApiServer, name: string, labels: Record<string, string> = {}): void {
  const object = server.get(Pod, `shop/${name}`)!;
  server.update(Pod, { ...object, metadata: { ...object.metadata, labels } });
}

Deno.test("lists and gets have complete objects at the version of the cache", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const list = await json(relayed, PODS);
  const { kind, apiVersion, metadata, items } = list;
  const { server } = relayed;
  assertEquals({ kind, apiVersion, metadata }, {
    kind: "PodList",
    apiVersion: "v1",
    metadata: { resourceVersion: server.resourceVersion },
  });
  const { managedFields: _, ...rest } = server.get(Pod, "mail/mail-0")!.metadata;
  assertEquals(items[0], { ...server.get(Pod, "mail/mail-0")!, metadata: rest });
  assertEquals(await json(relayed, `${SHOP}/cart-1`), items[2]);
  assertEquals(await names(await relayed.get(SHOP)), ["cart-0", "cart-1"]);
  assertEquals(await names(await relayed.get(`${PODS}?labelSelector=app%3Dmail`)), ["mail-0"]);
  assertEquals(await names(await relayed.get(`${PODS}?fieldSelector=spec.nodeName%3Dworker-1`)), ["cart-0", "mail-0"]);
  assertEquals(server.requests.filter(({ verb }) => verb === "list" || verb === "watch").length, 1);
});

Deno.test("metadata alone is served to those who ask for it", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const accept = (as: string): Record<string, string> => ({ accept: `application/json;as=${as};g=meta.k8s.io;v=v1` });
  const { kind, items } = await json(relayed, SHOP, accept("PartialObjectMetadataList"));
  assertEquals([kind, Object.keys(items[0])], ["PartialObjectMetadataList", ["kind", "apiVersion", "metadata"]]);
  const one = await json(relayed, `${SHOP}/cart-0`, accept("PartialObjectMetadata"));
  assertEquals([one.kind, one.metadata.name], ["PartialObjectMetadata", "cart-0"]);
  assertEquals((await relayed.get(SHOP, { accept: "application/yaml" })).status, 406);
  // kubectl asks for tables, and takes objects too.
  assertEquals((await json(relayed, SHOP, { accept: `${accept("Table").accept},application/json` })).kind, "PodList");
});

Deno.test("the pages of a list are of one version, whatever changes between them", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const { server } = relayed;
  const first = await json(relayed, `${PODS}?limit=1`);
  server.delete(Pod, "shop/cart-0");
  server.create(Pod, pod({ name: "box-0", namespace: "shop" }));
  write(server, "cart-1", { app: "other" });
  await names(await relayed.get(`${PODS}?resourceVersion=${server.resourceVersion}`));
  const second = await json(relayed, `${PODS}?limit=2&continue=${first.metadata.continue}`);
  assertEquals(first.items.map(nameOf), ["mail-0"]);
  assertEquals(second.items.map(nameOf), ["cart-0", "cart-1"]);
  assertEquals(second.items[1].metadata.labels, { app: "cart" });
  assertEquals(second.metadata, { resourceVersion: first.metadata.resourceVersion });
  const exact = `${SHOP}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`;
  assertEquals(await names(await relayed.get(exact)), ["cart-0", "cart-1"]);
  assertEquals(await names(await relayed.get(SHOP)), ["box-0", "cart-1"]);
});

Deno.test("the token of a page names no object that is not selected", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  relayed.server.create(Pod, pod({ name: "cart-00", namespace: "shop" }));
  const { metadata, items } = await json(relayed, `${SHOP}?limit=1&labelSelector=app%3Dcart`);
  assertEquals(items.map(nameOf), ["cart-0"]);
  assertEquals(JSON.parse(atob(metadata.continue)).start, "/cart-0\0");
  const next = await json(relayed, `${SHOP}?limit=1&labelSelector=app%3Dcart&continue=${metadata.continue}`);
  assertEquals([next.items.map(nameOf), next.metadata.continue], [["cart-1"], undefined]);
});

// deno-lint-ignore no-explicit-any
function nameOf({ metadata }: any): string {
  return metadata.name;
}

Deno.test("a watch goes on behind the version of a list, with deletions", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const { server } = relayed;
  const { metadata: { resourceVersion } } = await json(relayed, PODS);
  server.create(Pod, pod({ name: "box-0", namespace: "shop" }));
  server.delete(Pod, "shop/cart-0");
  await using watched = await Watched.open(relayed, `${PODS}?resourceVersion=${resourceVersion}`);
  assertEquals(await watched.texts(1), ["ADDED box-0"]);
  const { type, object } = await watched.next();
  assertEquals([type, object.metadata.name, object.metadata.resourceVersion], [
    "DELETED",
    "cart-0",
    server.resourceVersion,
  ]);
  write(server, "cart-1");
  assertEquals(await watched.texts(1), ["MODIFIED cart-1"]);
  assertEquals(server.requests.filter(({ verb }) => verb === "watch").length, 1);
});

Deno.test("an object that is selected no longer is deleted, in its last selected state at the version of the change", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const { server } = relayed;
  const { metadata: { resourceVersion } } = await json(relayed, PODS);
  const query = `?labelSelector=app%3Dcart&resourceVersion=${resourceVersion}`;
  await using watched = await Watched.open(relayed, `${SHOP}${query}`);
  write(server, "cart-0", { app: "mail" });
  const { type, object } = await watched.next();
  assertEquals([type, object.metadata.labels, object.metadata.resourceVersion], [
    "DELETED",
    { app: "cart" },
    server.resourceVersion,
  ]);
  server.delete(Pod, "shop/cart-0"); // nothing of it
  server.create(Pod, pod({ name: "cart-0", namespace: "mail", labels: { app: "cart" } })); // of another namespace
  write(server, "cart-1", { app: "cart", tier: "web" });
  assertEquals(await watched.texts(1), ["MODIFIED cart-1"]);
});

Deno.test("a streaming list ends with a bookmark behind all objects", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const { server } = relayed;
  const query = "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  await using watched = await Watched.open(relayed, `${PODS}${query}`);
  const version = server.resourceVersion;
  assertEquals(await watched.texts(3), ["ADDED mail-0", "ADDED cart-0", "ADDED cart-1"]);
  assertEquals(await watched.next(), {
    type: "BOOKMARK",
    object: {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { resourceVersion: version, annotations: { "k8s.io/initial-events-end": "true" } },
    },
  });
  write(server, "cart-1");
  assertEquals(await watched.texts(1), ["MODIFIED cart-1"]);
  await using plain = await Watched.open(relayed, SHOP);
  assertEquals(await plain.texts(2), ["ADDED cart-0", "ADDED cart-1"]);
});

Deno.test("a bookmark comes behind the changes before it, and a last one at the end of a watch", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({ heartbeatMs: 1_500 }, { server: threePods() });
  const { server } = relayed;
  const query = "?resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=2&labelSelector=app%3Dmail";
  await using watched = await Watched.open(relayed, `${PODS}${query}`);
  assertEquals(await watched.texts(1), ["ADDED mail-0"]);
  write(server, "cart-1");
  const { resourceVersion } = server;
  await time.tickAsync(1_600);
  assertEquals(await watched.next(), {
    type: "BOOKMARK",
    object: { kind: "Pod", apiVersion: "v1", metadata: { resourceVersion } },
  });
  await time.tickAsync(500);
  assertEquals(await watched.texts(1), [`BOOKMARK ${resourceVersion}`]);
  assertEquals(await watched.next(), undefined);
});

Deno.test("a watch of a version before the ring gets 410, and so does one that is open when a list hides changes", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const { server } = relayed;
  const { metadata: { resourceVersion } } = await json(relayed, PODS);
  await using early = await Watched.open(relayed, `${PODS}?resourceVersion=${Number(resourceVersion) - 1}`);
  const { type, object } = await early.next();
  assertEquals([type, object.code, object.reason], ["ERROR", 410, "Expired"]);
  assertEquals(await early.next(), undefined);

  await using watched = await Watched.open(relayed, `${PODS}?resourceVersion=${resourceVersion}`);
  write(server, "cart-1");
  assertEquals(await watched.texts(1), ["MODIFIED cart-1"]);
  server.forceRelist();
  assertEquals(await watched.texts(1), ["ERROR 410"]);
  const exact = `${PODS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  assertEquals((await refused(relayed, exact)).slice(0, 2), [410, "Expired"]);
});

Deno.test("a version that the cache does not reach within 3 s is too large", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({}, { server: threePods() });
  const { server } = relayed;
  const version = Number(server.resourceVersion);
  await names(await relayed.get(PODS));
  const list = relayed.get(`${PODS}?resourceVersion=${version + 1}`);
  await time.tickAsync(2_000);
  write(server, "cart-1");
  assertEquals((await (await list).json()).metadata.resourceVersion, String(version + 1));
  for (const query of ["?", "?watch=1&"]) {
    const answer = refused(relayed, `${PODS}${query}resourceVersion=${version + 2}`);
    await time.tickAsync(3_000);
    const [code, reason, message] = await answer;
    assertEquals([code, reason, message], [
      504,
      "Timeout",
      `Timeout: Too large resource version: ${version + 2}, current: ${version + 1}`,
    ]);
  }
});

Deno.test("changes that are dropped for others end the watches that need them", async () => {
  await using relayed = new Relayed({ maxBytes: 20_000 }, { server: threePods() });
  const { server, relay } = relayed;
  const { metadata: { resourceVersion } } = await json(relayed, PODS);
  for (let i = 0; i < 200; i++) write(server, "cart-1", { i: String(i) });
  await names(await relayed.get(`${PODS}?resourceVersion=${server.resourceVersion}`));
  await using watched = await Watched.open(relayed, `${PODS}?resourceVersion=${resourceVersion}`);
  assertEquals(await watched.texts(1), ["ERROR 410"]);
  const near = Number(server.resourceVersion) - 1;
  await using other = await Watched.open(relayed, `${PODS}?resourceVersion=${near}`);
  assertEquals(await other.texts(1), ["MODIFIED cart-1"]);
  assert(relay.status().bytes <= 20_000, `${relay.status().bytes} bytes`);
});

Deno.test("discovery names the collections, and those without verbs that cannot be served", async () => {
  const collections = { pods: asTable(Pod), maps: onlyMetadata(ConfigMap), secrets: Secret };
  await using relayed = new Relayed({ collections });
  const { resources } = await json(relayed, "/kubernetes/api/v1");
  // deno-lint-ignore no-explicit-any
  assertEquals(resources.map(({ name, verbs }: any) => [name, verbs.join()]), [
    ["pods", "get,list,watch"],
    ["configmaps", ""],
    ["secrets", ""],
  ]);
  assertEquals((await json(relayed, "/kubernetes/api")).versions, ["v1"]);
  assertEquals((await json(relayed, "/kubernetes/apis")).groups, []);
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const { kind, items } = await json(relayed, "/kubernetes/api", { accept });
  assertEquals([kind, items[0].versions[0].resources[0].responseKind], [
    "APIGroupDiscoveryList",
    { group: "", version: "v1", kind: "Pod" },
  ]);
  assertEquals((await relayed.get("/kubernetes/apis/apps/v1")).status, 404);
  const { major, gitVersion, gitCommit } = await json(relayed, "/kubernetes/version");
  assertEquals([major, gitCommit], ["1", "informer-relay"]);
  assertMatch(gitVersion, /^v1\.\d+\.\d+\+informer-relay$/); // which clients parse
  assertEquals(await json(relayed, "/kubernetes/openapi/v3"), { paths: {} });
  for (const path of ["/openapi/v3/api/v1", "/openapi/v2", "/healthz"]) {
    assertEquals((await relayed.get(`/kubernetes${path}`)).status, 404);
  }
});

Deno.test("discovery has the short names and categories of kinds, also of their tables", async () => {
  await using relayed = new Relayed({ collections: { pods: asTable(Pod), nodes: Node } });
  const { resources } = await (await relayed.get("/kubernetes/api/v1")).json();
  // deno-lint-ignore no-explicit-any
  assertEquals(resources.map(({ name, shortNames, categories }: any) => [name, shortNames, categories]), [
    ["pods", ["po"], ["all"]],
    ["nodes", ["no"], undefined],
  ]);
});

Deno.test("the objects in rows of a table are served complete", async () => {
  await using relayed = new Relayed({ collections: { pods: asTable(Pod) } }, { server: threePods() });
  const { managedFields: _, ...metadata } = relayed.server.get(Pod, "shop/cart-0")!.metadata;
  assertEquals(await json(relayed, `${SHOP}/cart-0`), { ...relayed.server.get(Pod, "shop/cart-0")!, metadata });
});

const REFUSED: readonly (readonly [string, Partial<RelayOptions>, string])[] = [
  ["named fields", { collections: { pods: onlyFields(Pod, ["spec.nodeName"]) } }, "only the fields spec.nodeName"],
  ["metadata", { collections: { pods: onlyMetadata(Pod) } }, "only the metadata of objects"],
  ["a transform", { collections: { pods: { resource: Pod, transform: (it) => it } } }, "the results of a transform"],
  ["a shard", { collections: { pods: { resource: Pod, shard: "0/2" } } }, 'only the objects of shard "0/2"'],
  ["redact", { redact: (it) => it }, "option redact changes objects"],
  [
    "several namespaces",
    { collections: { pods: { resource: Pod, namespaces: ["shop", "mail"] } } },
    "several namespaces",
  ],
  ["another namespace", { collections: { pods: { resource: Pod, namespace: "mail" } } }, 'only the namespace "mail"'],
];

for (const [title, options, reason] of REFUSED) {
  Deno.test(`a cache of ${title} is refused by name`, async () => {
    await using relayed = new Relayed(options, { server: threePods() });
    const [code, , message] = await refused(relayed, SHOP);
    assertEquals(code, 403);
    assert(message.startsWith("pods ") && message.includes(reason), message);
    assertEquals((await refused(relayed, `${SHOP}?watch=1`))[0], 403);
  });
}

Deno.test("a factory's transform, and one for its kind, take the verbs from what discovery says", async () => {
  const verbs = async (options: SharedInformerFactoryOptions): Promise<unknown> => {
    await using relayed = new Relayed({ collections: { pods: Pod } }, { server: threePods(), ...options });
    // deno-lint-ignore no-explicit-any
    return (await json(relayed, "/kubernetes/api/v1")).resources.map(({ verbs }: any) => verbs);
  };
  assertEquals(await verbs({}), [["get", "list", "watch"]]);
  assertEquals(await verbs({ transform: (it) => it }), [[]]);
  assertEquals(await verbs({ defaults: [defaultsFor(Pod, { transform: (it) => it })] }), [[]]);
});

Deno.test("Secrets are served with their data, where they are cached with it, or not at all", async () => {
  const server = new FakeApiServer();
  server.create(Secret, { metadata: { name: "key", namespace: "shop" }, data: { a: "Yg==" } });
  await using relayed = new Relayed({}, { server });
  const path = "/kubernetes/api/v1/namespaces/shop/secrets";
  assertMatch((await refused(relayed, path))[2], /caches Secrets without their data/);
  await using open = new Relayed({ collections: { secrets: { resource: Secret, secretData: "keep" } } }, { server });
  assertEquals((await json(open, `${path}/key`)).data, { a: "Yg==" });
});

Deno.test("a cache of one namespace serves that namespace", async () => {
  const collections = { pods: { resource: Pod, namespace: "shop" } };
  await using relayed = new Relayed({ collections }, { server: threePods() });
  assertEquals(await names(await relayed.get(SHOP)), ["cart-0", "cart-1"]);
});

Deno.test("writes, unknown paths and wrong parameters are refused as by a server", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const code = async (path: string, method = "GET"): Promise<number> => {
    const request = new Request(`http://localhost${path}`, { method, body: method === "POST" ? "{}" : undefined });
    const response = await relayed.relay.fetch(request, LOCAL);
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await code(SHOP, "POST"), 405);
  assertEquals(await code(`${SHOP}/cart-0`, "DELETE"), 405);
  assertEquals(await code("/kubernetes/api/v1", "POST"), 405);
  assertEquals(await code(SHOP, "HEAD"), 200);
  assertEquals(await code(`${SHOP}?watch=1`, "HEAD"), 200);
  assertEquals(await code(`${SHOP}/none`), 404);
  assertEquals(await code(`${SHOP}/cart-0/log`), 404);
  assertEquals(await code("/kubernetes/apis/apps/v1/deployments"), 404);
  assertEquals(await code("/kubernetes"), 404);
  assertEquals(await code("/kubernetesx/api"), 404);
  assertEquals(await code(`${SHOP}?labelSelector=a%20b`), 400);
  assertEquals(await code(`${SHOP}?resourceVersion=x`), 400);
  assertEquals(await code(`${SHOP}?continue=x`), 400);
  assertEquals(await code(`${SHOP}?sendInitialEvents=true`), 422);
  assertEquals(relayed.errors, []);
});

Deno.test("authorize decides, and is asked for collections and namespaces", async () => {
  const asked: unknown[] = [];
  const options: Partial<RelayOptions> = {
    authorize: (_request, { collections, namespaces }) => {
      asked.push({ collections, namespaces });
      return namespaces !== "all";
    },
  };
  await using relayed = new Relayed(options, { server: threePods() });
  assertEquals(await refused(relayed, PODS), [403, "Forbidden", "Cannot answer GET: not allowed"]);
  assertEquals(await names(await relayed.get(SHOP)), ["cart-0", "cart-1"]);
  assertEquals((await relayed.get(`${SHOP}/cart-0`)).status, 200);
  assertEquals(asked, [
    { collections: ["pods"], namespaces: "all" },
    { collections: ["pods"], namespaces: ["shop"] },
    { collections: ["pods"], namespaces: ["shop"] },
  ]);
});

Deno.test("a cache that is not live says so, and cluster-scoped objects have no namespace", async () => {
  const server = new FakeApiServer();
  server.create(Node, { metadata: { name: "worker-1" } });
  await using relayed = new Relayed({ collections: { nodes: Node } }, { server });
  const path = "/kubernetes/api/v1/nodes";
  assertEquals((await json(relayed, `${path}/worker-1`)).metadata.name, "worker-1");
  const response = await relayed.get(path);
  assertEquals([await names(response), response.headers.get("warning")], [["worker-1"], null]);
  server.failNext(500, 100);
  server.dropWatches();
  for await (const { resource, status } of states(relayed)) if (resource !== "" && status !== "live") break;
  const stale = await relayed.get(`${path}?resourceVersion=0`);
  assertMatch(stale.headers.get("warning") ?? "", /^299 - "the cache of this relay is \w+, so it may lag behind/);
  assertEquals(await names(stale), ["worker-1"]);
});

Deno.test("a list of the newest state waits until a cache that was paused follows the server again", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({}, { server: threePods() });
  const { server } = relayed;
  await names(await relayed.get(PODS));
  using pods = relayed.informers.acquire(Pod);
  pods.informer.pause();
  write(server, "cart-1");
  server.latency(1_000);
  await time.tickAsync(0);
  pods.informer.resume();
  const list = relayed.get(PODS);
  await time.tickAsync(1_000);
  const response = await list;
  assertEquals(response.headers.get("warning"), null);
  assertEquals((await response.json()).metadata.resourceVersion, server.resourceVersion);
});

async function* states(relayed: Relayed): AsyncGenerator<{ resource: string; status: string }> {
  for (;;) {
    for (const { resource, status } of relayed.informers.status()) {
      yield { resource: resource.plural, status: status.state };
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
}

Deno.test("the end of a relay ends watches, and then its cache is given back", async () => {
  await using relayed = new Relayed({ lingerMs: 0 }, { server: threePods() });
  const watched = await Watched.open(relayed, `${PODS}?resourceVersion=0`);
  assertEquals(await watched.texts(1), ["ADDED mail-0"]);
  assertEquals(relayed.present, { connections: 1, streams: { pods: 1 } });
  await watched[Symbol.asyncDispose]();
  await relayed.untilConnections(0);
  await new Promise((resolve) => setTimeout(resolve, 2));
  assertEquals(relayed.present.streams, {});
  await using last = await Watched.open(relayed, `${PODS}?resourceVersion=0`);
  assertEquals(await last.texts(3), ["ADDED mail-0", "ADDED cart-0", "ADDED cart-1"]);
  await relayed.relay[Symbol.asyncDispose]();
  assertEquals(await last.next(), undefined);
  assertEquals((await refused(relayed, PODS))[0], 503);
});

Deno.test("a user reads the objects to which he has a right, and his watch ends when his right changes", async () => {
  using time = new FakeTime();
  let app = "cart";
  const options: Partial<RelayOptions> = {
    predicates: { app: ({ metadata }, text) => metadata.labels?.app === text },
    authorize: () => {
      const where = { app };
      return { rights: { pods: { namespaces: ["shop"], where } }, askAgainAt: new Date(Date.now() + 5_000) };
    },
  };
  await using relayed = new Relayed(options, { server: threePods() });
  const { server } = relayed;
  server.create(Pod, pod({ name: "a-hidden", namespace: "shop" }));
  server.create(Pod, pod({ name: "z-hidden", namespace: "shop" }));
  assertEquals(await names(await relayed.get(PODS)), ["cart-0", "cart-1"]);
  assertEquals((await refused(relayed, `${SHOP}/a-hidden`))[0], 404);
  assertEquals((await refused(relayed, "/kubernetes/api/v1/namespaces/shop/configmaps"))[0], 403);
  const page = await json(relayed, `${PODS}?limit=2`);
  assertEquals([page.items.map(nameOf), page.metadata.continue], [["cart-0", "cart-1"], undefined]);
  await using watched = await Watched.open(relayed, `${PODS}?resourceVersion=${page.metadata.resourceVersion}`);
  write(server, "z-hidden", { app: "other" });
  write(server, "cart-0", { app: "other" });
  write(server, "z-hidden", { app: "cart" });
  assertEquals(await watched.texts(2), ["DELETED cart-0", "ADDED z-hidden"]);
  app = "other";
  await time.tickAsync(5_000);
  assertEquals(await watched.texts(1), ["ERROR 410"]);
  assertEquals(await names(await relayed.get(PODS)), ["cart-0"]);
});
