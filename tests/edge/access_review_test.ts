import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { accessReview } from "../../src/edge/access_review.ts";
import type { Authorization, Grant, RequestedData } from "../../src/edge/options.ts";
import { ConfigMap, Node, Pod } from "../../src/kinds/core/v1.ts";
import { FakeApiServer, FakeTime, pod } from "../../src/testing/mod.ts";
import { names, Relayed, threePods } from "../support/relayed.ts";

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
  return { collections: parts.map(({ collection }) => collection), namespaces: "all", parts };
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
  assertStringIncludes(String(relayed.errors[0]), "Cannot ask again whether a stream may go on");
  assertEquals((await relayed.get("/api/pods", ada)).status, 500);
  await reader.cancel();
});
