import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { asTable } from "../../../src/engine/api/resource.ts";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { ConfigMap, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import type {
  Authorization,
  Grant,
  ObjectPredicate,
  ObjectRight,
  RequestedData,
} from "../../../src/relay/server/options.ts";
import { accessReview } from "../../../src/relay/server/rights.ts";
import { configMap, FakeApiServer, FakeTime, pod } from "../../../src/testing/mod.ts";
import { Events, LOCAL, names, refusal, Relayed, threePods } from "../../support/servers/relayed.ts";

/** A predicate on the label `app`, and one on the kind. */
const PREDICATES: Readonly<Record<string, ObjectPredicate>> = {
  app: ({ metadata: { labels } }, app) => labels?.app === app,
  kind: ({ kind }, name) => kind === name,
};

/** A relay of three pods, of which each answer to a request grants `right()`. */
function limited(right: () => ObjectRight, predicates = PREDICATES): Relayed {
  return new Relayed({ predicates, authorize: () => ({ rights: { pods: right() } }) }, { server: threePods() });
}

/** The rows of the next update that has all of a window. */
async function rowsOf(views: Events): Promise<{ key: string }[]> {
  for (;;) {
    const { text, data } = await views.next();
    if (text === "closed" || data?.rows !== undefined) return data.rows;
  }
}

const path = (views: object): string => `/views?views=${encodeURIComponent(JSON.stringify(views))}`;

Deno.test("a client sees the namespaces, names and objects of its right in lists, event streams and views", async () => {
  for (
    const [right, seen] of [
      [{ namespaces: ["shop"] }, ["cart-0", "cart-1"]],
      [{ namespaces: ["shop", "mail"], names: ["cart-1", "mail-0"] }, ["cart-1", "mail-0"]],
      [{ where: { app: "mail" } }, ["mail-0"]],
      [{ where: { app: "mail", kind: "Pod" } }, ["mail-0"]],
      [{ where: { app: "mail", kind: "Node" } }, []],
      [{ namespaces: ["shop"], where: { app: "mail" } }, []],
      [{ namespaces: [] }, []],
      [{}, ["cart-0", "cart-1", "mail-0"]],
    ] as [ObjectRight, string[]][]
  ) {
    await using relayed = limited(() => right);
    assertEquals(await names(await relayed.get("/api/pods")), seen);
    await using events = await relayed.events("/events/pods");
    const texts = await events.through("synced");
    const count = Object.keys(right).length === 0 ? "3" : "undefined";
    const added = seen.map((name) => `added ${name}`);
    assertEquals([texts[0], texts.slice(1, -1).sort(), texts.at(-1)], [
      `snapshot ${count}`,
      added,
      `synced ${seen.length}`,
    ]);
    await using views = await relayed.events(path({ a: { of: "pods" } }));
    await views.through(count === "undefined" ? "collection" : "namespaces");
    const { data } = await views.next();
    // deno-lint-ignore no-explicit-any
    assertEquals([data.total, data.rows.map(({ key }: any) => key.split("/")[1]).sort()], [seen.length, seen]);
  }
});

Deno.test("a collection without a right is refused, and so are metrics for those who may not see everything", async () => {
  await using relayed = limited(() => ({}));
  assertEquals((await relayed.get("/api/pods")).status, 200);
  for (const url of ["/api/maps", "/events/maps", path({ a: { of: "pods" }, b: { of: "maps" } })]) {
    assertEquals(await refusal(await relayed.get(url)), [403, "Cannot answer GET: not allowed"]);
  }
  assertEquals((await relayed.get("/metrics")).status, 403);
  assertEquals(await Promise.all(["/healthz", "/api"].map(async (url) => (await relayed.get(url)).status)), [200, 200]);
});

Deno.test("what is mistyped shows nothing, and is reported", async () => {
  for (
    const [answer, message] of [
      [{ namespaces: ["shop"] }, "Cannot use the grant that authorize returned: it has an unknown member namespaces"],
      [{ rights: undefined }, "Cannot use the grant that authorize returned: its member rights is undefined"],
      [{ rights: { pods: undefined } }, "the member rights that authorize returned: its member pods is undefined"],
      [{ rights: { pods: null } }, "the right to pods that authorize returned: it is null and not an object"],
      [
        { rights: { pods: {}, pod: { namespaces: ["shop"] } } },
        "the member rights that authorize returned: it has an unknown member pod. The members may be pods",
      ],
      [
        { rights: { pods: { namespace: "shop" } } },
        "the right to pods that authorize returned: it has an unknown member namespace. The members may be namespaces",
      ],
      [{ rights: { pods: { names: undefined } } }, "authorize returned: its member names is undefined"],
      [
        { rights: { pods: { namespaces: "shop" } } },
        'the namespaces of the right to pods that authorize returned: it is "shop"',
      ],
      [
        { rights: { pods: { where: () => true } } },
        "Cannot use where of the right to pods that authorize returned: it is ()",
      ],
      [{ rights: { pods: { where: undefined } } }, "authorize returned: its member where is undefined"],
      [
        { rights: { pods: { where: ["app"] } } },
        "where of the right to pods that authorize returned: it is app and not an object",
      ],
      [{ rights: { pods: { where: { team: "a" } } } }, "it has an unknown member team. The members may be app, kind"],
      [{ rights: { pods: { where: { app: undefined } } } }, "authorize returned: its member app is undefined"],
      [
        { rights: { pods: { where: { app: 1 } } } },
        "app in where of the right to pods that authorize returned: it is 1",
      ],
      [{ askAgainAt: new Date(NaN) }, "Cannot use askAgainAt that authorize returned: it is not a valid time"],
      [undefined, "Cannot use the grant that authorize returned: it is undefined"],
    ] as const
  ) {
    const authorize = (): Authorization => answer as unknown as Authorization;
    await using relayed = new Relayed({ predicates: PREDICATES, authorize }, { server: threePods() });
    assertEquals((await relayed.get("/api/pods")).status, 500);
    assertStringIncludes(String((relayed.errors[0] as Error).cause), message);
  }
});

Deno.test("an object for which a predicate throws is not seen, and the error is reported", async () => {
  const matches = (): boolean => {
    throw new Error("no label");
  };
  await using relayed = limited(() => ({ where: { broken: "a" } }), { broken: matches });
  assertEquals(await names(await relayed.get("/api/pods")), []);
  assertStringIncludes(String(relayed.errors[0]), 'Cannot decide with "broken" of "a" who may see an object of "pods"');
});

Deno.test("clients with the same right share what is made for them, by the names and texts of predicates", async () => {
  const calls: string[] = [];
  let client = 0;
  const team = (_object: KubernetesObject, text: string): boolean => (calls.push(text), text !== "none");
  await using relayed = limited(() => ({ where: { team: ["all", "all", "none"][client++] } }), { team });
  await using first = await relayed.events("/events/pods");
  await using second = await relayed.events("/events/pods");
  await first.through("synced");
  await second.through("synced");
  await using other = await relayed.events("/events/pods");
  await other.through("synced 0");
  calls.length = 0;
  relayed.server.patch(Pod, "shop/cart-0", { metadata: { labels: { app: "x" } } });
  assertEquals(await second.through("updated"), ["updated cart-0"]);
  const texts = calls.toSorted();
  assertEquals([new Set(texts), texts.length <= 4], [new Set(["all", "none"]), true], "once for each right and state");
});

Deno.test("the rights of open streams change in place: what may no longer be seen leaves, what now may comes", async () => {
  using time = new FakeTime();
  let right: ObjectRight = { namespaces: ["shop"] };
  await using relayed = new Relayed({
    authorize: () => ({ rights: { pods: right }, askAgainAt: new Date(Date.now() + 10_000) }),
  }, { server: threePods() });
  await using events = await relayed.events("/events/pods");
  await events.through("synced 2");
  await using views = await relayed.events(path({ a: { of: "pods", fields: ["metadata.name"] } }));
  await views.through("view");
  await time.tickAsync(10_000); // the same right: nothing is sent
  right = { namespaces: ["mail"] };
  await time.tickAsync(10_000);
  assertEquals((await events.through("synced")).filter((text) => text !== "heartbeat"), [
    "reset Last-Event-ID belongs to a different selection, a user with other rights, or an unrelated relay",
    "snapshot undefined",
    "added mail-0",
    "synced 1",
  ]);
  assertEquals((await rowsOf(views)).map(({ key }) => key), ["mail/mail-0"]);
  await using resumed = await relayed.events("/events/pods", events.lastEventId);
  relayed.server.delete(Pod, "shop/cart-0");
  relayed.server.delete(Pod, "mail/mail-0");
  assertEquals(await resumed.through("deleted"), ["deleted mail/mail-0"]);
});

Deno.test("an open stream ends where its rights are withdrawn, or authorize fails when it is asked again", async () => {
  using time = new FakeTime();
  for (const again of [() => false, () => Promise.reject(new Error("no answer")), () => ({ rights: {} })]) {
    let asked = 0;
    await using relayed = new Relayed({
      authorize: () => asked++ < 2 ? { rights: { pods: {} }, askAgainAt: new Date(0) } : again(),
    }, { server: threePods() });
    await using events = await relayed.events("/events/pods");
    await using views = await relayed.events(path({ a: { of: "pods" } }));
    await events.through("synced");
    await views.through("view");
    await time.tickAsync(999); // not before a second has passed
    assertEquals(asked, 2);
    await time.tickAsync(1);
    assertEquals(await events.through("end"), ["end expired"]);
    assertEquals((await views.through("end")).at(-1), "end expired");
    assertEquals(relayed.errors.length, asked > 2 && relayed.errors.length > 0 ? 2 : 0);
  }
});

Deno.test("authorize is asked again with the address and headers of the request, and its connection", async () => {
  using time = new FakeTime();
  const asked: unknown[] = [];
  await using relayed = new Relayed({
    authorize: ({ url, headers }, { collections }, connection) => {
      asked.push([url, headers.get("authorization"), collections, connection]);
      return { rights: { pods: {} }, askAgainAt: new Date(Date.now() + 10_000) };
    },
  }, { server: threePods() });
  const response = await relayed.get("/events/pods?namespace=shop", { authorization: "Bearer a" });
  await time.tickAsync(10_000);
  const question = ["http://localhost/events/pods?namespace=shop", "Bearer a", ["pods"], LOCAL];
  assertEquals(asked, [question, question]);
  await response.body!.cancel();
  await time.tickAsync(10_000);
  assertEquals(asked.length, 2);
});

Deno.test("a request that replaces views shows them by its own rights", async () => {
  await using relayed = new Relayed({
    authorize: ({ method }) => ({ rights: { pods: { namespaces: [method === "POST" ? "mail" : "shop"] } } }),
  }, { server: threePods() });
  await using views = await relayed.events(path({ a: { of: "pods" } }));
  const { data: { id } } = await views.next();
  assert((await views.through("view")).length > 0);
  const body = JSON.stringify({ a: { of: "pods" } });
  const request = new Request(`http://localhost/views/${id}`, { method: "POST", body });
  assertEquals((await relayed.relay.fetch(request, LOCAL)).status, 204);
  assertEquals((await rowsOf(views)).map(({ key }) => key), ["mail/mail-0"]);
});

Deno.test("a list that is limited has an entity tag of what its client may see, and no order of what it may not", async () => {
  await using relayed = limited(() => ({ namespaces: ["shop"] }));
  const get = (etag = ""): Promise<Response> => relayed.get("/api/pods", { "if-none-match": etag });
  const etag = (await get()).headers.get("etag")!;
  const settled = async (): Promise<void> => {
    using pods = relayed.informers.acquire(Pod);
    await pods.informer.waitForVersion(relayed.server.resourceVersion);
  };
  relayed.server.delete(Pod, "mail/mail-0");
  await settled();
  assertEquals((await get(etag)).status, 304);
  relayed.server.create(Pod, pod({ name: "a", namespace: "shop" }));
  await settled();
  const { items } = await (await get(etag)).json();
  // deno-lint-ignore no-explicit-any
  assertEquals(items.map(({ metadata }: any) => metadata.name), ["a", "cart-0", "cart-1"]);
});

Deno.test("a predicate sees the objects in the rows of a table", async () => {
  const server = new FakeApiServer();
  for (const name of ["a", "b"]) {
    server.create(ConfigMap, { ...configMap({ name, namespace: "shop" }), data: { name } });
  }
  const seen: unknown[] = [];
  const matches = (object: ConfigMap, name: string): boolean => {
    seen.push(object.kind);
    return object.data?.name === name;
  };
  await using relayed = new Relayed({
    collections: { maps: { resource: asTable(ConfigMap) } },
    predicates: { matches },
    authorize: () => ({ rights: { maps: { where: { matches: "a" } } } }),
  }, { server });
  await using views = await relayed.events(path({ a: { of: "maps" } }));
  await views.through("collection");
  assertEquals((await views.next()).data.total, 1);
  assertEquals(await names(await relayed.get("/api/maps")), ["a"]);
  assertEquals(new Set(seen), new Set(["ConfigMap"]));
});

Deno.test("changes, snapshots and views of all rights share one bound of bytes", async () => {
  const server = new FakeApiServer();
  const data = { pad: "x".repeat(1_000) };
  for (let i = 0; i < 200; i++) {
    server.create(ConfigMap, { ...configMap({ name: `map-${i}`, namespace: "shop" }), data });
  }
  const maxBytes = 400_000;
  await using relayed = new Relayed({
    maxBytes,
    predicates: { part: ({ metadata: { name } }: ConfigMap, part) => Number(name.slice(4)) % 50 !== Number(part) },
    authorize: ({ headers }) => ({ rights: { maps: { where: { part: headers.get("x-part")! } } } }),
  }, { server });
  let most = 0;
  const look = (): number => most = Math.max(most, relayed.relay.status().bytes);
  const views = path({ a: { of: "maps" } });
  const open: Events[] = [];
  const statuses = new Set<number>();
  for (let part = 0; part < 50; part++) {
    const events = new Events(await relayed.get("/events/maps", { "x-part": `${part}` }));
    while ((await events.next()).text !== "synced 196") look();
    open.push(events);
    const response = await relayed.get(views, { "x-part": `${part}` });
    statuses.add(response.status);
    if (response.status === 200) open.push(new Events(response));
    else await response.body?.cancel();
    look();
  }
  for (let i = 0; i < 200; i++) {
    server.patch(ConfigMap, `shop/map-${i}`, { metadata: { labels: { n: "1" } } });
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    look();
  }
  assert(most <= maxBytes && most > maxBytes / 2, `${most} bytes`);
  assertEquals(statuses, new Set([200, 503]));
  for (const events of open) await events[Symbol.asyncDispose]();
});

/** The reviews that a server was asked for, `list pods in shop by ada`, and their answers. */
class Cluster implements Disposable {
  readonly asked: string[] = [];
  readonly server: FakeApiServer;
  readonly client: Client;
  /** The most reviews that were under way at one time. */
  most = 0;
  #running = 0;

  constructor(isAllowed: (asked: string) => boolean, { isHeld = false }: { isHeld?: boolean } = {}) {
    this.server = new FakeApiServer({
      authorize: async ({ user, verb, resource, namespace }) => {
        if (user === "system:admin" || user === undefined) return true;
        this.most = Math.max(this.most, ++this.#running);
        if (isHeld) { for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve)); }
        this.#running--;
        const asked = `${verb} ${resource} in ${namespace || "all"} by ${user}`;
        this.asked.push(asked);
        return isAllowed(asked);
      },
    });
    this.client = new Client({ server: "http://fake", transport: this.server });
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
  }
}

/** A request for some collections. */
function requested(...parts: RequestedData["parts"]): RequestedData {
  return { collections: parts.map(({ collection }) => collection), namespaces: "all", parts, follows: false };
}

const pods = (namespaces: readonly string[] | "all"): RequestedData => {
  return requested({ collection: "pods", resource: Pod, namespaces });
};

const rightsOf = (answer: Authorization): unknown => (answer as Grant).rights;

Deno.test("a collection is reviewed once, and each namespace that was asked for where that is refused", async () => {
  using cluster = new Cluster((asked) => asked.includes("by root") || asked.includes("in shop"));
  const review = accessReview(cluster.client);
  assertEquals(rightsOf(await review({ username: "root" }, pods(["shop", "mail"]))), { pods: {} });
  assertEquals(cluster.asked.splice(0), ["list pods in all by root"]);
  assertEquals(rightsOf(await review({ username: "ada" }, pods(["shop", "mail"]))), {
    pods: { namespaces: ["shop"] },
  });
  assertEquals(cluster.asked.splice(0).sort(), ["all", "mail", "shop"].map((it) => `list pods in ${it} by ada`));
  assertEquals(rightsOf(await review({ username: "ada" }, pods("all"))), {});
  const views = requested(
    { collection: "pods", resource: Pod, namespaces: ["shop"] },
    { collection: "maps", resource: ConfigMap, namespaces: ["mail"] },
    { collection: "nodes", resource: Node, namespaces: "all" },
  );
  assertEquals(rightsOf(await review({ username: "ada" }, views)), { pods: { namespaces: ["shop"] } });
  assertEquals(await review({}, pods("all")), false);
});

Deno.test("the groups, the uid and further attributes of a user are asked for, and tell users apart", async () => {
  using cluster = new Cluster(() => true);
  const review = accessReview(cluster.client);
  const user = { username: "ada", groups: ["dev"], uid: "7", extra: { scopes: ["a"] } };
  await review(user, pods("all"));
  await review({ ...user, groups: ["ops"] }, pods("all"));
  await review({ ...user, extra: { scopes: ["b"] } }, pods("all"));
  assertEquals(cluster.asked.length, 3);
  const { body } = cluster.server.requests.find(({ resource }) => resource === "subjectaccessreviews")!;
  const { spec } = JSON.parse(String(body));
  assertEquals([spec.user, spec.groups, spec.uid, spec.extra], ["ada", ["dev"], "7", { scopes: ["a"] }]);
});

Deno.test("answers are kept for a minute, and asked for once at a time", async () => {
  using time = new FakeTime();
  using cluster = new Cluster(() => true);
  const review = accessReview(cluster.client);
  const both = await Promise.all([review({ username: "ada" }, pods("all")), review({ username: "ada" }, pods("all"))]);
  const until = new Date(Date.now() + 60_000);
  assertEquals(both.map((answer) => (answer as Grant).askAgainAt), [until, until]);
  await time.tickAsync(59_999);
  assertEquals((await review({ username: "ada" }, pods("all")) as Grant).askAgainAt, until);
  assertEquals(cluster.asked.length, 1);
  await time.tickAsync(1);
  await review({ username: "ada" }, pods("all"));
  assertEquals(cluster.asked.length, 2);
});

Deno.test("ten reviews are under way at one time, and no more than 200 namespaces are reviewed", async () => {
  using cluster = new Cluster((asked) => asked.includes("in n-"), { isHeld: true });
  const review = accessReview(cluster.client);
  const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `n-${index}`);
  const answer = await review({ username: "ada" }, pods(many(200)));
  assertEquals([rightsOf(answer), cluster.most, cluster.asked.length], [{ pods: { namespaces: many(200) } }, 10, 201]);
  const refused = await review({ username: "bob" }, pods(many(201)));
  assert(refused instanceof Response);
  assertEquals([refused.status, cluster.asked.length], [403, 202]);
});

Deno.test("a review without an answer is an error, which is not kept", async () => {
  using cluster = new Cluster(() => true);
  const review = accessReview(cluster.client);
  cluster.server.failNext(400);
  await assertRejects(
    () => review({ username: "ada" }, pods("all")),
    Error,
    'Cannot review the access of "ada" to "pods"',
  );
  assertEquals(rightsOf(await review({ username: "ada" }, pods("all"))), { pods: {} });
});

Deno.test("a relay shows what reviews allow, refuses without an answer, and follows withdrawn rights", async () => {
  using time = new FakeTime();
  let allowed = ["shop", "mail"];
  using cluster = new Cluster((asked) => allowed.some((namespace) => asked.includes(`in ${namespace} `)));
  const review = accessReview(cluster.client);
  await using relayed = new Relayed({
    authorize: ({ headers }, requested) => review({ username: headers.get("x-user")! }, requested),
    collections: { pods: { resource: Pod, namespaces: ["shop", "mail", "bank"] } },
    heartbeatMs: 25_000,
    stallMs: 120_000,
  }, { server: threePods() });
  relayed.server.create(Pod, pod({ name: "vault", namespace: "bank" }));
  const ada = { "x-user": "ada" };
  assertEquals(await names(await relayed.get("/api/pods", ada)), ["cart-0", "cart-1", "mail-0"]);
  assertEquals((await relayed.get("/api/pods?namespace=bank", ada)).status, 403);
  const response = await relayed.get("/events/pods", ada);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const through = async (part: string): Promise<void> => {
    while (!text.includes(part)) text += (await reader.read()).value ?? part;
  };
  await through('synced\ndata:{"objects":3}');
  allowed = ["mail"];
  await time.tickAsync(60_000);
  await through('synced\ndata:{"objects":1}');
  cluster.server.failNext(400, 10);
  await time.tickAsync(60_000);
  await through('end\ndata:{"reason":"expired"}');
  assertEquals(relayed.errors.map(String).length, 1);
  assertStringIncludes(String(relayed.errors[0]), "Cannot check again whether a stream may continue");
  assertEquals((await relayed.get("/api/pods", ada)).status, 500);
  await reader.cancel();
});

Deno.test("a request that follows objects is reviewed for list and watch", async () => {
  using cluster = new Cluster((asked) =>
    asked.includes("by ada") && !(asked.startsWith("watch") && asked.includes("all"))
  );
  const review = accessReview(cluster.client);
  const stream = { ...pods(["shop"]), follows: true };
  assertEquals(rightsOf(await review({ username: "ada" }, pods(["shop"]))), { pods: {} });
  assertEquals(rightsOf(await review({ username: "ada" }, stream)), { pods: { namespaces: ["shop"] } });
  await using relayed = new Relayed({ authorize: (_, { follows }) => !follows }, { server: threePods() });
  const statusOf = async (path: string): Promise<number> => {
    const response = await relayed.get(path);
    await response.body?.cancel();
    return response.status;
  };
  const views = `/views?views=${encodeURIComponent(JSON.stringify({ a: { of: "pods" } }))}`;
  const streams = ["/events/pods", views, "/kubernetes/api/v1/pods?watch=true"];
  assertEquals(await Promise.all(streams.map(statusOf)), [403, 403, 403]);
  assertEquals(await Promise.all(["/api/pods", "/kubernetes/api/v1/pods"].map(statusOf)), [200, 200]);
});

Deno.test("authorize is told the namespaces of a collection that is limited to some, however it is", async () => {
  const told: unknown[] = [];
  const authorize = (_: Request, { namespaces }: RequestedData): boolean => told.push(namespaces) > 0;
  const collections = {
    one: { resource: Pod, namespace: "shop" },
    some: { resource: Pod, namespaces: ["shop", "mail"] },
    all: { resource: Pod, namespace: "" },
    own: Pod,
  };
  for (const factory of [{}, { namespaces: ["mail"] }]) {
    await using relayed = new Relayed({ authorize, collections }, { server: threePods(), ...factory });
    for (const name of Object.keys(collections)) await (await relayed.get(`/api/${name}`)).body?.cancel();
  }
  assertEquals(told, [["shop"], ["shop", "mail"], "all", "all", ["shop"], ["shop", "mail"], "all", ["mail"]]);
});
