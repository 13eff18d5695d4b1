import { assertEquals } from "@std/assert";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { applyViewUpdate, type ViewRow } from "../../../src/engine/informer/cache_view.ts";
import { ConfigMap } from "../../../src/engine/kinds/core/v1.ts";
import type { ObjectPredicate, ObjectRight } from "../../../src/relay/server/options.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { configMap, FakeApiServer, FakeTime } from "../../../src/testing/mod.ts";
import { Events, LOCAL, Relayed } from "../servers/relayed.ts";

const USERS = 25;
const ROUNDS = 12;
const NAMESPACES = ["a", "b", "c", "d"];
const NAMES = ["n0", "n1", "n2", "n3", "n4", "n5"];
const TEAMS = ["red", "blue", "green"];
const QUERIES = ["", "?namespace=a", "?labelSelector=team%3Dred", "?fieldSelector=data.n%3D1", "?fields=data.n"];
const BAD = [
  "/api/maps?x=1",
  "/api/maps?labelSelector=(",
  "/api/none",
  "/events/maps?fields=a[",
  "/views/none",
  "/metrics",
];

/** Requests of the Kubernetes API: discovery, lists, pages, gets, and what is refused. */
const KUBERNETES = [
  ...["/version", "/api", "/apis", "/api/v1", "/api/v1/pods", "/api/v1/configmaps/n1", "/openapi/v3"],
  ...["/api/v1/configmaps?limit=2", "/api/v1/namespaces/a/configmaps?limit=1", "/api/v1/configmaps?resourceVersion=0"],
  ...["/api/v1/configmaps?labelSelector=team%3Dred", "/api/v1/configmaps?fieldSelector=metadata.name%3Dn1"],
  ...["/api/v1/namespaces/b/configmaps", "/api/v1/namespaces/a/configmaps/n1", "/api/v1/namespaces/b/configmaps/n2"],
  "/api/v1/configmaps?labelSelector=(",
];
const WATCHES = [
  "/api/v1/configmaps",
  "/api/v1/namespaces/a/configmaps",
  "/api/v1/configmaps?labelSelector=team%3Dred",
];

const PREDICATES: Readonly<Record<string, ObjectPredicate>> = {
  team: ({ metadata: { labels } }, team) => labels?.team === team,
  everything: () => true,
};

/** All that a right may have, so that answers have the form of one that has less. */
const EVERYTHING: ObjectRight = { where: { everything: "" } };

/** Returns text of JSON without what two servers give differently. */
function withoutIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member) => {
    const isOwn = ["uid", "resourceVersion", "creationTimestamp", "managedFields"].includes(name);
    if (name === "continue") return "more";
    return isOwn || (name === "id" && typeof member === "string") ? undefined : member;
  }));
}

/** One client of one relay, and the objects that it has received. */
class Client {
  readonly #relayed: Relayed;
  readonly #user: string;
  readonly #query: string;
  readonly #view: object;
  readonly #watched: string;
  #watch: Watch | undefined;
  #events: Events | undefined;
  #views: Events | undefined;
  #lastEventId = "";
  #etag = "";
  /** The objects, by their keys. */
  copy = new Map<string, unknown>();
  rows: ViewRow<unknown>[] = [];
  total = -1;
  /** The numbers of the collection. */
  collection: unknown;
  /** The events since the last look, of the event stream and of the views. */
  readonly log = { events: [] as unknown[][], views: [] as unknown[], watch: [] as unknown[] };

  constructor(relayed: Relayed, user: string, query: string, view: object, watched: string) {
    this.#watched = watched;
    this.#relayed = relayed;
    this.#user = user;
    this.#query = query;
    this.#view = view;
  }

  get isConnected(): boolean {
    return this.#events !== undefined;
  }

  /** `true` if a snapshot has come to its end since the last look. */
  get hasSnapshot(): boolean {
    return this.log.events.some(([event]) => event === "synced");
  }

  /** `true` once the first snapshot, and the first rows, have come. */
  get hasBegun(): boolean {
    return this.#lastEventId + this.#events!.lastEventId !== "" && this.total >= 0;
  }

  async connect(): Promise<void> {
    const headers: Record<string, string> = this.#lastEventId === "" ? {} : { "last-event-id": this.#lastEventId };
    this.#events = new Events(await this.get(`/events/maps${this.#query}`, headers));
    void this.#follow(this.#events, (text, data) => {
      if (text.startsWith("state")) return; // of the informer
      this.log.events.push([text.split(" ")[0], withoutIds(data ?? null)]);
      if (text.startsWith("snapshot")) this.copy = new Map();
      const { namespace, name } = data?.metadata ?? {};
      if (text.startsWith("added") || text.startsWith("updated")) {
        this.copy.set(`${namespace}/${name}`, withoutIds(data));
      }
      if (text.startsWith("deleted")) this.copy.delete(data.key);
    });
    this.#views ??= new Events(await this.get(`/views?views=${encodeURIComponent(JSON.stringify({ v: this.#view }))}`));
    if (this.total >= 0) return;
    void this.#follow(this.#views, (text, data) => {
      if (text.startsWith("collection")) {
        const { state: _state, notLiveSince: _time, ...rest } = data;
        this.collection = rest;
      }
      if (!text.startsWith("view")) return;
      this.log.views.push(withoutIds(data));
      this.total = data.total;
      this.rows = applyViewUpdate(this.rows, data);
    });
  }

  /** `true` if the watch has ended. */
  get hasNoWatch(): boolean {
    return this.#watch?.hasEnded ?? true;
  }

  /** Begins a watch of the Kubernetes API with its present objects, whose events are in the log. */
  async watch(): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
    const initial = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const response = await this.get(`/kubernetes${this.#watched}${this.#watched.includes("?") ? "&" : "?"}${initial}`);
    this.log.watch.length = 0;
    this.#watch = new Watch(response, (event) => void this.log.watch.push(withoutIds(event)));
  }

  /** The status codes and objects of a request of the Kubernetes API, of all pages. */
  async kubernetes(path: string): Promise<unknown[]> {
    const pages: unknown[] = [];
    for (let token = ""; pages.length < 50;) {
      const response = await this.get(`/kubernetes${path}${token}`);
      const text = await response.text();
      pages.push(response.status, text.startsWith("{") ? withoutIds(JSON.parse(text)) : text);
      const next = text.startsWith("{") ? JSON.parse(text).metadata?.continue : undefined;
      if (next === undefined) break;
      token = `&continue=${encodeURIComponent(next)}`;
    }
    return pages;
  }

  async disconnect(): Promise<void> {
    this.#lastEventId = this.#events!.lastEventId || this.#lastEventId;
    await this.#events![Symbol.asyncDispose]();
    this.#events = undefined;
  }

  /** Forgets what was received since the last look. */
  forget({ etag }: { etag: boolean }): void {
    this.log.events.length = this.log.views.length = this.log.watch.length = 0;
    if (etag) this.#etag = "";
  }

  /** The status code and the objects of a list, by the entity tag of the last one. */
  async list(): Promise<unknown> {
    const response = await this.get(
      `/api/maps${this.#query}`,
      this.#etag === "" ? {} : { "if-none-match": this.#etag },
    );
    this.#etag = response.headers.get("etag")!;
    return [response.status, withoutIds(response.status === 200 ? await response.json() : await response.text())];
  }

  async answer(path: string): Promise<unknown> {
    const response = await this.get(path);
    return [response.status, await response.text()];
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    const request = new Request(`http://localhost${path}`, { headers: { ...headers, "x-user": this.#user } });
    return this.#relayed.relay.fetch(request, LOCAL);
  }

  async close(): Promise<void> {
    await this.#events?.[Symbol.asyncDispose]();
    await this.#views?.[Symbol.asyncDispose]();
    await this.#watch?.[Symbol.asyncDispose]();
  }

  // deno-lint-ignore no-explicit-any
  async #follow(events: Events, take: (text: string, data: any) => void): Promise<void> {
    for (let next = await events.next(); next.text !== "closed"; next = await events.next()) take(next.text, next.data);
  }
}

/** A watch of the Kubernetes API. */
class Watch implements AsyncDisposable {
  hasEnded = false;
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #reading: Promise<void>;

  constructor(response: Response, take: (event: unknown) => void) {
    assertEquals(response.status, 200);
    this.#reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    this.#reading = this.#read(take);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
    await this.#reading;
  }

  async #read(take: (event: unknown) => void): Promise<void> {
    let rest = "";
    for (let next = await this.#reader.read(); !next.done; next = await this.#reader.read()) {
      const lines = (rest + next.value).split("\n");
      rest = lines.pop()!;
      for (const line of lines) take(JSON.parse(line));
    }
    this.hasEnded = true;
  }
}

/** A user of the shared relay, and a relay of a server that has his objects alone. */
class User {
  right: ObjectRight;
  readonly own: Relayed;
  /** The clients of the shared relay and of his own. */
  readonly clients: readonly [Client, Client];
  hasOtherRight = false;

  constructor(shared: Relayed, name: string, random: Random) {
    this.right = randomRight(random);
    this.own = relayOf(() => EVERYTHING, true);
    const query = random.pick(QUERIES);
    const view = {
      ...{ of: "maps", sortBy: ["data.n", "-metadata.name"], limit: 1 + random.below(6), offset: random.below(3) },
      ...random.pick([{}, { search: "n1" }, { labelSelector: "team=red" }, { namespace: "b", fields: ["data"] }]),
    };
    const watched = random.pick(WATCHES);
    this.clients = [new Client(shared, name, query, view, watched), new Client(this.own, name, query, view, watched)];
  }

  /** Makes the own server as the shared one, of what the user may see. */
  mirror(all: ReadonlyMap<string, ConfigMap>): void {
    const { server } = this.own;
    const seen = new Map([...all].filter(([, object]) => isSeen(this.right, object)));
    for (const key of server.keys(ConfigMap)) if (!seen.has(key)) server.delete(ConfigMap, key);
    for (const [key, { metadata: { namespace, name, labels }, data }] of seen) {
      const had = server.get(ConfigMap, key);
      if (had === undefined) server.create(ConfigMap, { metadata: { namespace, name, labels }, data });
      else server.patch(ConfigMap, key, { metadata: { labels }, data });
    }
  }
}

function randomRight(random: Random): ObjectRight {
  const some = (values: readonly string[]): string[] => values.filter(() => random.next() < 0.5);
  const where = { team: random.pick(TEAMS) };
  return random.pick<() => ObjectRight>([
    () => ({ namespaces: some(NAMESPACES) }),
    () => ({ names: some(NAMES) }),
    () => ({ where }),
    () => ({ namespaces: some(NAMESPACES), where }),
  ])();
}

function isSeen({ namespaces, names, where }: ObjectRight, object: ConfigMap): boolean {
  const { namespace = "", name } = object.metadata;
  return namespaces?.includes(namespace) !== false && names?.includes(name) !== false &&
    (where === undefined || object.metadata.labels?.team === where.team);
}

function relayOf(rightOf: (user: string) => ObjectRight, compact: boolean): Relayed {
  return new Relayed({
    collections: { maps: ConfigMap },
    predicates: PREDICATES,
    heartbeatMs: 30_000, // a history is shorter
    authorize: ({ headers }) => {
      return { rights: { maps: rightOf(headers.get("x-user")!) }, askAgainAt: new Date(Date.now() + 1_000) };
    },
  }, { server: new FakeApiServer(), compact });
}

/**
 * Changes objects and rights at random, and compares what users see with what a relay of their objects shows.
 *
 * @returns The number of changes of objects.
 */
export async function playUsers(seed: number): Promise<number> {
  using time = new FakeTime();
  const random = new Random(seed);
  let changes = 0;
  const users = new Map<string, User>();
  await using shared = relayOf((name) => users.get(name)!.right, seed % 2 === 0);
  for (let i = 0; i < USERS; i++) users.set(`user-${i}`, new User(shared, `user-${i}`, random));
  const all = new Map<string, ConfigMap>();
  const mirror = (): void => users.forEach((user) => user.mirror(all));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (let step = random.below(6); step >= 0; step--) {
        changeOne(random, shared.server, all);
        changes++;
        mirror();
      }
      for (const user of users.values()) {
        const before = JSON.stringify(user.right);
        if (random.next() < 0.2) user.right = randomRight(random);
        user.hasOtherRight = JSON.stringify(user.right) !== before;
      }
      mirror();
      await time.tickAsync(1_000);
      for (const [name, user] of users) {
        if (!user.clients[0].isConnected) { for (const client of user.clients) await client.connect(); }
        if (user.clients[0].hasNoWatch || user.hasOtherRight) {
          for (const client of user.clients) await client.watch();
        }
        await settled(time, user, shared);
        await compare(`seed ${seed}, round ${round}, ${name} ${JSON.stringify(user.right)}`, user, random);
      }
    }
    assertEquals(shared.errors, []);
    return changes;
  } finally {
    for (const { clients, own } of users.values()) {
      for (const client of clients) await client.close();
      await own[Symbol.asyncDispose]();
    }
  }
}

function changeOne(random: Random, server: FakeApiServer, all: Map<string, ConfigMap>): void {
  const namespace = random.pick(NAMESPACES);
  const name = random.pick(NAMES);
  const key = `${namespace}/${name}`;
  const labels = { team: random.pick(TEAMS) };
  const data = { n: `${random.below(4)}` };
  if (!all.has(key)) {
    all.set(
      key,
      server.create(ConfigMap, { ...configMap({ namespace, name }), metadata: { namespace, name, labels }, data }),
    );
  } else if (random.next() < 0.4) {
    server.delete(ConfigMap, key);
    all.delete(key);
  } else all.set(key, server.patch(ConfigMap, key, random.next() < 0.5 ? { data } : { metadata: { labels } }));
}

/** Returns the state of a client. */
const present = ({ copy, rows, total, collection }: Client): unknown[] => [
  [...copy].sort(),
  withoutIds(rows),
  ...[total, collection],
];

/** Waits until both relays have everything, and their clients have received it. */
async function settled(time: FakeTime, { clients, own, hasOtherRight }: User, shared: Relayed): Promise<void> {
  for (const { informers, server } of [shared, own]) {
    using maps = informers.acquire(ConfigMap);
    await maps.informer.waitForVersion(server.resourceVersion);
  }
  const text = (client: Client): string =>
    JSON.stringify([present(client), hasOtherRight || client.log.events, client.log.watch]);
  const isSame = (): boolean => {
    const [ours, theirs] = clients;
    if (!ours.hasBegun || !theirs.hasBegun || (hasOtherRight && !ours.hasSnapshot)) return false;
    return text(ours) === text(theirs);
  };
  for (let turn = 0, same = 0; turn < 5_000 && same < 20; turn++) {
    await nextTurn();
    same = isSame() ? same + 1 : 0;
    if (turn % 100 === 99) await time.tickAsync(50); // the time between two updates of a view
  }
}

async function compare(what: string, { clients, hasOtherRight }: User, random: Random): Promise<void> {
  const [ours, theirs] = clients;
  assertEquals(present(ours), present(theirs), what);
  if (!hasOtherRight) {
    assertEquals(ours.log.events, theirs.log.events, `${what}: events`);
    assertEquals(ours.log.views.length > 0, theirs.log.views.length > 0, `${what}: updates of a view`);
  }
  assertEquals(ours.log.watch, theirs.log.watch, `${what}: watch`);
  const asked = random.pick(KUBERNETES);
  assertEquals(await ours.kubernetes(asked), await theirs.kubernetes(asked), `${what}: ${asked}`);
  for (const client of clients) client.forget({ etag: hasOtherRight });
  assertEquals(await ours.list(), await theirs.list(), `${what}: list`);
  const path = random.pick(BAD);
  assertEquals(await ours.answer(path), await theirs.answer(path), `${what}: ${path}`);
  if (hasOtherRight || random.next() < 0.7) return;
  for (const client of clients) await client.disconnect();
}
