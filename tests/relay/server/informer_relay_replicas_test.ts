import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { derive } from "../../../src/engine/informer/derived_collection.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { subscribe, subscribeViews } from "../../../src/relay/client/mod.ts";
import type { RelayOptions } from "../../../src/relay/server/options.ts";
import { configMap, FakeApiServer, FakeTime, pod } from "../../../src/testing/mod.ts";
import { Events } from "../../support/servers/relayed.ts";
import { Balancer, FakeReplica } from "../../support/replicas/fake_replicas.ts";

const PATH = "/events/maps";

/** A server with `count` config maps, `shop/map-0` and so on. */
function shop(count: number): FakeApiServer {
  const server = new FakeApiServer({ bookmarkMs: 60_000 });
  for (let i = 0; i < count; i++) create(server, `map-${i}`);
  return server;
}

function create(server: FakeApiServer, name: string, namespace = "shop"): void {
  server.create(ConfigMap, configMap({ name, namespace, labels: { tier: "web" } }));
}

function change(server: FakeApiServer, name: string, value: string, namespace = "shop"): void {
  server.patch(ConfigMap, `${namespace}/${name}`, { data: { value } });
}

/** Relays of one server, which are disposed with it. */
class Replicas implements AsyncDisposable {
  readonly server: FakeApiServer;
  readonly all: readonly FakeReplica[];
  readonly #time: FakeTime | undefined;

  constructor(server: FakeApiServer, count: number, options: Partial<RelayOptions> = {}, time?: FakeTime) {
    this.server = server;
    this.all = Array.from({ length: count }, () => new FakeReplica(server, options));
    this.#time = time;
  }

  /** Replicas that have synced, of a server with so many config maps; they settle by `time`, where it is given. */
  static async of(maps: number, count: number, time?: FakeTime, options?: Partial<RelayOptions>): Promise<Replicas> {
    const replicas = new Replicas(shop(maps), count, options, time);
    await replicas.ready();
    return replicas;
  }

  /** Waits until the replicas that are up have synced. */
  async ready(): Promise<void> {
    const isUnready = ({ isReady, isUp }: FakeReplica): boolean => isUp && !isReady;
    while (this.#time === undefined && this.all.some(isUnready)) await nextTurn();
    await this.settled();
  }

  /** Lets what the server has sent arrive. */
  async settled(): Promise<void> {
    if (this.#time !== undefined) return await this.#time.tickAsync(0);
    for (let i = 0; i < 50; i++) await nextTurn();
  }

  /** Opens a stream, reads its snapshot and `changes` more, and returns the last id. */
  async idAfter(replica: FakeReplica, act: (events: Events) => unknown, changes = 1, path = PATH): Promise<string> {
    await using events = await open(replica, "", path);
    await this.settled();
    await events.through("synced");
    await act(events);
    await this.settled();
    for (let i = 0; i < changes; i++) await events.through("");
    return events.lastEventId;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const replica of this.all) await replica[Symbol.asyncDispose]();
    this.server[Symbol.dispose]();
  }
}

async function open(replica: FakeReplica, id = "", path = PATH): Promise<Events> {
  return new Events(await replica.fetch(`http://localhost${path}`, { headers: { "last-event-id": id } }));
}

/** The values of the next so many changes. */
async function valuesOf(events: Events, count: number): Promise<string[]> {
  const values: string[] = [];
  while (values.length < count) {
    const { text, data } = await events.next();
    if (!text.startsWith("state")) values.push(data.data.value);
  }
  return values;
}

/** The id at the end of the snapshot of a replica alone. */
async function idOf(replica: FakeReplica): Promise<string> {
  await using events = await open(replica);
  await events.through("synced");
  return events.lastEventId;
}

Deno.test("a relay of a cluster with a name follows its collections before the first request, and lets none go", async () => {
  using time = new FakeTime();
  await using replicas = new Replicas(shop(1), 1, { lingerMs: 1_000 });
  const [replica] = replicas.all;
  const readiness = async (): Promise<number> => (await replica.fetch("http://localhost/readyz", {})).status;
  assertEquals(await readiness(), 503);
  await time.tickAsync(0);
  assertEquals(await readiness(), 200);
  assertEquals(replicas.server.watches, 1);
  const events = await open(replica);
  await time.tickAsync(0);
  await events.through("synced");
  await events[Symbol.asyncDispose]();
  await time.tickAsync(60_000);
  assertEquals(replicas.server.watches, 1);
});

Deno.test("a client continues at a relay that has had no client of its selection, without a snapshot", async () => {
  for (const path of [PATH, `${PATH}?labelSelector=tier%3Dweb&fields=data`]) {
    await using replicas = await Replicas.of(2, 2);
    const { server, all: [one, other] } = replicas;
    const id = await replicas.idAfter(one, () => change(server, "map-0", "1"), 1, path);
    change(server, "map-1", "2");
    server.delete(ConfigMap, "shop/map-0");
    create(server, "map-2");
    await replicas.settled();
    await using events = await open(other, id, path);
    assertEquals(await events.through("added"), ["updated map-1", "deleted shop/map-0", "added map-2"]);
    change(server, "map-2", "3");
    assertEquals(await events.through("updated"), ["updated map-2"]);
  }
});

Deno.test("a client of an older version comes to a stream that began later, and both have each change once", async () => {
  await using replicas = await Replicas.of(1, 2);
  const { server, all: [one, other] } = replicas;
  const early = await replicas.idAfter(one, () => change(server, "map-0", "1"));
  const late = await replicas.idAfter(one, () => change(server, "map-0", "2"));
  change(server, "map-0", "3");
  await replicas.settled();
  await using second = await open(other, late);
  await using first = await open(other, early);
  change(server, "map-0", "4");
  assertEquals(await valuesOf(first, 3), ["2", "3", "4"]);
  assertEquals(await valuesOf(second, 2), ["3", "4"]);
});

Deno.test("a client that was cut within changes that came together continues behind the last that it has", async () => {
  await using replicas = await Replicas.of(3, 2);
  const { server, all: [one, other] } = replicas;
  const id = await replicas.idAfter(one, () => {
    for (const name of ["map-0", "map-1", "map-2"]) change(server, name, "1");
  });
  for (const replica of [other, one]) {
    await using events = await open(replica, id);
    assertEquals(await events.through("updated"), ["updated map-1"]);
    assertEquals(await events.through("updated"), ["updated map-2"]);
  }
});

Deno.test("a relay that began behind what its client has seen answers by a snapshot", async () => {
  await using replicas = await Replicas.of(2, 2);
  const { server, all: [one, other] } = replicas;
  const id = await replicas.idAfter(one, () => change(server, "map-0", "1"));
  await other.kill();
  server.delete(ConfigMap, "shop/map-0");
  other.start();
  await replicas.ready();
  await using events = await open(other, id);
  assertEquals(await events.through("synced"), [
    "reset Another relay issued Last-Event-ID, and this relay does not know the changes since then",
    "snapshot 1",
    "added map-1",
    "synced 1",
  ]);
});

Deno.test("a relay that began where nothing has changed since then continues its client", async () => {
  await using replicas = await Replicas.of(2, 2);
  const { server, all: [one, other] } = replicas;
  const id = await replicas.idAfter(one, () => change(server, "map-0", "1"));
  await other.kill();
  other.start();
  await replicas.ready();
  await using events = await open(other, id);
  change(server, "map-1", "2");
  assertEquals(await events.through("updated"), ["updated map-1"]);
});

Deno.test("a bookmark that another relay does not have is no change to wait for", async () => {
  using time = new FakeTime();
  await using replicas = await Replicas.of(1, 2, time);
  const { server, all: [one, other] } = replicas;
  other.hold();
  const id = await replicas.idAfter(one, async (events) => {
    server.create(Pod, pod({ name: "cart-0", namespace: "shop" })); // another version
    for (let beat = 0; beat < 10; beat++) { // and a bookmark
      await time.tickAsync(7_000);
      await events.through("heartbeat");
    }
  }, 0);
  const [first, last] = id.split(".")[3].split("-");
  assert(Number(first) < Number(last), id);
  await using resumed = await open(other, id);
  other.release();
  change(server, "map-0", "1");
  await time.tickAsync(0);
  assertEquals(await resumed.through("updated"), ["updated map-0"]);
});

Deno.test("a relay that is behind its client writes nothing until its cache has caught up, and then continues", async () => {
  using time = new FakeTime();
  await using replicas = await Replicas.of(2, 2, time);
  const { server, all: [one, other] } = replicas;
  other.hold();
  const id = await replicas.idAfter(one, () => ["map-0", "map-1"].forEach((name) => change(server, name, "1")), 2);
  await using resumed = await open(other, id);
  const texts: string[] = [];
  const reading = (async () => {
    for (let text = ""; text !== "updated map-0"; texts.push(text)) ({ text } = await resumed.next());
  })();
  await time.tickAsync(2_000);
  assertEquals(texts, ["state live"]);
  other.release();
  await time.tickAsync(0);
  change(server, "map-0", "3");
  await time.tickAsync(0);
  await reading;
  assertEquals(texts, ["state live", "updated map-0"]);
});

Deno.test("a relay that stays behind its client ends the stream, and sends no older state", async () => {
  using time = new FakeTime();
  const errors: string[] = [];
  await using replicas = await Replicas.of(1, 2, time, { onError: (error) => errors.push(String(error)) });
  const { server, all: [one, other] } = replicas;
  other.hold();
  const id = await replicas.idAfter(one, () => change(server, "map-0", "1"));
  await using first = await open(other, id);
  const reading = first.through("closed");
  await time.tickAsync(5_000);
  await using second = await open(other, id);
  const later = second.through("closed");
  await time.tickAsync(3_000);
  assertEquals(await later, ["end behind", "closed"]); // no other comparison begins within 10 s
  assertEquals(errors, []);
  await time.tickAsync(5_000);
  assertEquals(await reading, ["end behind", "closed"]);
  assertEquals([first.lastEventId, second.lastEventId], ["", ""]);
  assertEquals(errors.length, 1);
  assertStringIncludes(errors[0], "Cannot compare the cache with the server");
});

Deno.test("a relay at an older version, whose cache a comparison shows to be equal, sends a snapshot", async () => {
  using time = new FakeTime();
  await using replicas = await Replicas.of(1, 2, time);
  const { server, all: [one, other] } = replicas;
  await one.kill();
  server.create(Pod, pod({ name: "cart-0", namespace: "shop" })); // another version
  one.start();
  await time.tickAsync(0);
  const ids: string[] = [];
  for (let i = 0; i < 2; i++) ids.push(await replicas.idAfter(one, () => {}, 0));
  const checks = (): number => server.requests.filter(({ verb }) => verb === "list").length;
  const before = checks();
  const resumed = await Promise.all(ids.map((id) => open(other, id)));
  const reading = resumed.map((events) => events.through("synced"));
  await time.tickAsync(2_999);
  assertEquals(checks(), before);
  await time.tickAsync(1);
  for (const texts of reading) assertEquals((await texts).slice(1), ["snapshot 1", "added map-0", "synced 1"]);
  assertEquals(checks(), before + 1);
  for (const events of resumed) await events[Symbol.asyncDispose]();
});

Deno.test("a client of several namespaces continues, and has each change of each namespace once", async () => {
  const server = shop(1);
  create(server, "map-0", "mail");
  const collections = { maps: { resource: ConfigMap, namespaces: ["shop", "mail"] } };
  await using replicas = new Replicas(server, 2, { collections });
  await replicas.ready();
  const { all: [one, other] } = replicas;
  other.hold("/namespaces/shop/");
  const id = await replicas.idAfter(one, () => change(server, "map-0", "shop 1"));
  change(server, "map-0", "mail 1", "mail");
  change(server, "map-0", "mail 2", "mail");
  await replicas.settled();
  other.release();
  await replicas.settled();
  change(server, "map-0", "mail 3", "mail");
  change(server, "map-0", "shop 2");
  await replicas.settled();
  // The other relay has mail 1, mail 2, shop 1, mail 3, shop 2.
  const changes = ["mail 1", "mail 2", "mail 3", "shop 2"];
  const ids = [id];
  await using events = await open(other, id);
  for (const value of changes) {
    assertEquals(await valuesOf(events, 1), [value]);
    ids.push(events.lastEventId);
  }
  assertEquals(new Set(ids).size, 5);
  for (const [index, from] of ids.slice(0, 4).entries()) {
    for (const replica of [one, other]) {
      await using again = await open(replica, from);
      assertEquals((await valuesOf(again, 4 - index)).toSorted(), changes.slice(index).toSorted());
    }
  }
});

Deno.test("a client that was cut in a snapshot receives none that is older than the state before", async () => {
  using time = new FakeTime();
  await using replicas = await Replicas.of(1, 3, time);
  const { server, all: [one, other, third] } = replicas;
  third.hold();
  await other.kill();
  const id = await replicas.idAfter(one, () => change(server, "map-0", "1"));
  change(server, "map-0", "2");
  other.start();
  await time.tickAsync(0);
  const cut = await open(other, id);
  await cut.through("reset");
  await cut[Symbol.asyncDispose]();
  const [, , , versions] = id.split(".");
  assertEquals(cut.lastEventId.split(".").slice(2), ["0", `${versions.split("-")[0]}-`]);
  await using resumed = await open(third, cut.lastEventId);
  const reading = resumed.through("snapshot");
  await time.tickAsync(2_000);
  third.release();
  await time.tickAsync(0);
  assertEquals(await reading, [
    "reset Another relay issued Last-Event-ID, and this relay does not know the changes since then",
    "snapshot 1",
  ]);
  assertEquals((await resumed.next()).data.data.value, "2");
});

Deno.test("a relay with other options continues no stream", async () => {
  const server = shop(1);
  const others: readonly Partial<RelayOptions>[] = [
    { cluster: "green" },
    { redact: (object) => object },
    { collections: { maps: { resource: ConfigMap, namespaces: ["shop"] } } },
    { collections: { maps: { resource: ConfigMap, labelSelector: "tier=web" } } },
  ];
  await using one = new FakeReplica(server, {});
  const id = await idOf(one);
  for (const options of others) {
    await using other = new FakeReplica(server, options);
    await using events = await open(other, id);
    const [first] = await events.through("synced");
    assertEquals(
      first,
      "reset Last-Event-ID belongs to a different selection, a user with other rights, or an unrelated relay",
    );
  }
  server[Symbol.dispose]();
});

Deno.test("streams without versions of the server are continued by their own relay alone", async () => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(shop(1));
  const derived = (): Partial<RelayOptions> => {
    const client = stack.use(new Client({ server: "http://fake", transport: server }));
    const informers = stack.use(new SharedInformerFactory(client));
    const names = derive(informers.forResource(ConfigMap), ({ metadata: { name, namespace } }) => ({
      metadata: { name, namespace },
    }));
    stack.use(names);
    informers.start();
    return { collections: { maps: names } };
  };
  const polled = (): Partial<RelayOptions> => {
    return { collections: { maps: { resource: ConfigMap, pollMs: 3_600_000 } } };
  };
  for (const options of [derived, polled]) {
    await using one = new FakeReplica(server, { ...options(), heartbeatMs: 20 });
    await using other = new FakeReplica(server, options());
    const id = await idOf(one);
    assertEquals(id.split(".")[3], "");
    await using elsewhere = await open(other, id);
    assertEquals((await elsewhere.through("synced"))[0].split(" ")[0], "reset");
    await using same = await open(one, id);
    assertEquals(await same.through("heartbeat"), ["heartbeat"]);
  }
});

Deno.test("a subscription and views follow a relay that changes between connections", async () => {
  await using replicas = await Replicas.of(3, 3);
  const { server, all } = replicas;
  const { fetch } = new Balancer(all);
  const options = { fetch, onError: () => {} };
  using maps = subscribe<ConfigMap>("http://localhost", "maps", options);
  using views = subscribeViews("http://localhost", options);
  const view = views.view<ConfigMap>({ of: "maps" });
  await maps.waitForCacheSync();
  const value = (): unknown => maps.lister.get("shop/map-0")?.data?.value;
  for (let round = 1; round <= 3; round++) {
    for (const replica of all) replica.drop();
    change(server, "map-0", `${round}`);
    for await (const _ of maps.events()) if (value() === `${round}`) break;
    for await (const _ of view.changes()) if (view.rows()[0]?.object?.data?.value === `${round}`) break;
  }
});

Deno.test("readers of the Kubernetes API continue at another replica, or list where it does not know their version", async () => {
  await using replicas = await Replicas.of(2, 3);
  const { server, all } = replicas;
  const ask = async (replica: FakeReplica, query: string): Promise<Response> =>
    await replica.fetch(`http://localhost/kubernetes/api/v1/configmaps?${query}`, {});
  const versions: string[] = [];
  for (const replica of all) versions.push((await (await ask(replica, "")).json()).metadata.resourceVersion);
  assertEquals(new Set(versions), new Set([server.resourceVersion]));
  change(server, "map-0", "1");
  const watch = await ask(all[1], `watch=true&resourceVersion=${versions[0]}`);
  const reader = watch.body!.pipeThrough(new TextDecoderStream()).getReader();
  const { type, object } = JSON.parse((await reader.read()).value!);
  assertEquals([type, object.data.value], ["MODIFIED", "1"]);
  await reader.cancel();

  await all[2].kill();
  all[2].start();
  await replicas.ready();
  const late = await ask(all[2], `watch=true&resourceVersion=${versions[0]}`);
  const { type: error, object: status } = JSON.parse((await late.text()).trim());
  assertEquals([error, status.code, status.reason], ["ERROR", 410, "Expired"]);
});

Deno.test("a replica waits for a version of the Kubernetes API that another one has reached, and then is 504", async () => {
  using time = new FakeTime();
  await using replicas = await Replicas.of(1, 3, time);
  const { server, all: [one, second, third] } = replicas;
  const ask = (replica: FakeReplica, version: string): Promise<Response> =>
    replica.fetch(`http://localhost/kubernetes/api/v1/namespaces/shop/configmaps/map-0?resourceVersion=${version}`, {});
  for (const replica of replicas.all) await ask(replica, "0");
  second.hold();
  third.hold();
  change(server, "map-0", "1");
  await time.tickAsync(0);
  const { metadata: { resourceVersion } } = await (await ask(one, "0")).json();
  const [soon, never] = [ask(second, resourceVersion), ask(third, resourceVersion)];
  await time.tickAsync(2_000);
  second.release();
  await time.tickAsync(1_000);
  assertEquals((await (await soon).json()).data.value, "1");
  const { code, details } = await (await never).json();
  assertEquals([code, details.causes[0].reason], [504, "ResourceVersionTooLarge"]);
});

Deno.test("an informer behind three replicas that change equals the server, and no version goes back", async () => {
  await using replicas = await Replicas.of(3, 3);
  const { server, all } = replicas;
  const balancer = new Balancer(all);
  const transport = { fetch: (request: Request): Promise<Response> => balancer.fetch(request.url, request) };
  using client = new Client({ server: "http://localhost/kubernetes", transport });
  await using informer = new SharedIndexInformer(client.resource(ConfigMap), { onError: () => {} });
  const versions: number[] = [];
  informer.addEventHandler({
    onUpdate: ({ key, resourceVersion }) => void (key === "shop/map-0" && versions.push(Number(resourceVersion))),
  });
  void informer.run();
  await informer.waitForCacheSync();
  for (let round = 1; round <= 3; round++) {
    for (const replica of all) replica.drop();
    change(server, "map-0", `${round}`);
    await informer.until(({ data }) => data?.value === `${round}`);
  }
  assertEquals(versions, versions.toSorted((a, b) => a - b));
  assertEquals(new Set(versions).size, 3);
});
