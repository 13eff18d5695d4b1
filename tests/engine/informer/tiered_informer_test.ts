import { Client, isNotFound, SharedInformerFactory, type SharedInformerFactoryOptions } from "@kube/informer";
import { Secret } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, FakeTime } from "@kube/informer/testing";
import type { TieredInformer } from "@kube/informer/types";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";

/** Tiers, their events since they had synced, and what they show of a key. */
interface Tiers {
  readonly tiers: TieredInformer<Secret>;
  readonly events: string[];
  readonly at: (key: string) => string;
}

const LABEL = { labels: { tier: "full" } };
const ORDERS = [["metadata", "whole"], ["whole", "metadata"]] as const;

/** Secrets in tiers, on a server whose two watches can be held back. */
class Session implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly server = new FakeApiServer();
  readonly errors: unknown[] = [];
  readonly requests: Request[] = [];
  readonly client = new Client({ server: "http://fake", transport: { fetch: (request) => this.#fetch(request) } });
  readonly informers: SharedInformerFactory;
  readonly #held: Record<string, PromiseWithResolvers<void> | undefined> = {};

  constructor(options: SharedInformerFactoryOptions = {}) {
    this.informers = new SharedInformerFactory(this.client, {
      onError: (error) => void this.errors.push(error),
      ...options,
    });
  }

  async #fetch(request: Request): Promise<Response> {
    this.requests.push(request);
    const response = await this.server.fetch(request);
    if (!request.url.includes("watch=")) return response;
    const name = request.headers.get("accept")!.includes("PartialObjectMetadata") ? "metadata" : "whole";
    const gate = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) => {
        await this.#held[name]?.promise;
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body!.pipeThrough(gate), response);
  }

  create(name: string, more: object = {}, value = "1"): void {
    this.server.create(Secret, { metadata: { name, namespace: "shop", ...more }, data: { value: btoa(value) } });
  }

  patch(name: string, patch: object): void {
    this.server.patch(Secret, `shop/${name}`, patch);
  }

  async pass(): Promise<void> {
    for (let i = 0; i < 30; i++) await this.time.tickAsync(0);
    await this.time.tickAsync(100);
    for (let i = 0; i < 30; i++) await this.time.tickAsync(0);
  }

  /** Holds a watch back, until the returned function is called. */
  hold(name: string): () => void {
    const held = this.#held[name] = Promise.withResolvers();
    return () => {
      this.#held[name] = undefined;
      held.resolve();
    };
  }

  /** Makes changes of which the watches hear in this order; `look` is called after each. */
  async change(order: readonly string[], make: () => void, look: () => void = () => {}): Promise<void> {
    const releases = order.map((name) => this.hold(name));
    make();
    await this.pass();
    for (const release of releases) {
      look();
      release();
      await this.pass();
    }
    look();
  }

  /** Tiers that have synced, and the events since then. */
  async tiers(): Promise<Tiers> {
    const tiers = this.informers.forResource(Secret, { full: { labelSelector: "tier=full" }, secretData: "keep" });
    const events: string[] = [];
    const shown = (secret: NonNullable<ReturnType<typeof tiers.lister.get>>): string =>
      secret.kind === "PartialObjectMetadata" ? "metadata" : `whole ${atob(secret.data?.value ?? "")}`;
    tiers.addEventHandler({
      onAdd: ({ key, object, initial }) => void (initial || events.push(`added ${key} ${shown(object)}`)),
      onUpdate: ({ key, object, previous }) => void events.push(`${key} ${shown(previous)} → ${shown(object)}`),
      onDelete: ({ key, object }) => void events.push(`deleted ${key} ${shown(object)}`),
    });
    this.informers.start();
    await this.pass();
    assert(tiers.hasSynced);
    const at = (key: string): string => {
      const secret = tiers.lister.get(key);
      return secret === undefined ? "none" : shown(secret);
    };
    return { tiers, events, at };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const down = this.informers.shutdown();
    await this.pass();
    await down;
    this.client[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}

Deno.test("forResource({ full }) has whole objects where the selector matches, metadata of all others, and reports no overlap", async () => {
  await using session = new Session();
  session.create("a", LABEL);
  session.create("b", { annotations: { note: "n" } });
  const { tiers, at } = await session.tiers();
  assertEquals([at("shop/a"), at("shop/b"), tiers.status().objects], ["whole 1", "metadata", 2]);
  const b = tiers.lister.get("shop/b")!;
  assertEquals([b.metadata.annotations?.note, "data" in b], ["n", false]);
  // @ts-expect-error: the compiler asks for the check
  assertEquals(b.data, undefined);
  assertEquals([session.errors, tiers.status().state], [[], "live"]);
  const accepted = session.requests.map(({ url, headers }) => [
    new URL(url).searchParams.get("labelSelector"),
    headers.get("accept")!.includes("PartialObjectMetadata"),
  ]);
  assertEquals(accepted, [["tier=full", false], [null, true]]);
});

Deno.test("tiers parse nothing that nobody reads, and have indexes of both forms", async () => {
  await using session = new Session();
  session.create("a", LABEL);
  session.create("b", { labels: { tier: "other" } });
  const tiers = session.informers.forResource(Secret, {
    full: { labelSelector: "tier=full" },
    indexers: { tier: ({ metadata }) => [metadata.labels?.tier ?? ""] },
  });
  const plain = session.informers.forResource(Secret, { full: { labelSelector: "tier=full" } });
  const _untyped = () =>
    session.informers.forResource(Secret, {
      full: { labelSelector: "tier=full" },
      // @ts-expect-error: index functions receive metadata, too
      indexers: { type: ({ type }) => [type ?? ""] },
    });
  session.informers.start();
  await session.pass();
  assertEquals([tiers.indexer.indexKeys("tier", "full"), tiers.indexer.indexKeys("tier", "other")], [["shop/a"], [
    "shop/b",
  ]]);
  assertEquals(plain.indexer.size, 2);
  await using other = new SharedInformerFactory(session.client);
  const unread = other.forResource(Secret, { full: { labelSelector: "tier=full" } });
  other.start();
  await session.pass();
  assertEquals(unread.entries.list().map(({ isParsed }) => isParsed), [false, false]);
});

for (const order of ORDERS) {
  Deno.test(`an object that changes sides causes one event, and is never missing or older: ${order[0]} first`, async () => {
    await using session = new Session();
    session.create("a");
    const { events, at } = await session.tiers();
    const seen: string[] = [];
    const look = () => void seen.push(at("shop/a"));
    await session.change(order, () => session.patch("a", { metadata: LABEL, data: { value: btoa("2") } }), look);
    assertEquals(events.splice(0), ["shop/a metadata → whole 2"]);
    assertEquals(seen.splice(0).filter((it) => it !== "metadata" && it !== "whole 2"), []);
    await session.change(order, () => session.patch("a", { data: { value: btoa("3") } }), look);
    assertEquals(events.splice(0), ["shop/a whole 2 → whole 3"]);
    await session.change(order, () => session.patch("a", { metadata: { labels: null } }), look);
    assertEquals(events.splice(0), ["shop/a whole 3 → metadata"]);
    assertEquals(seen.splice(0).filter((it) => !/^(whole [23]|metadata)$/.test(it)), []);
    assertEquals(at("shop/a"), "metadata");
  });

  Deno.test(`a deleted object causes one event, and a new one of its name is another object: ${order[0]} first`, async () => {
    await using session = new Session();
    session.create("a", LABEL);
    const { events, at } = await session.tiers();
    await session.change(order, () => session.server.delete(Secret, "shop/a"));
    assertEquals(events.splice(0), ["deleted shop/a whole 1"]);
    await session.change(order, () => session.create("a", LABEL, "2"));
    assertEquals(events.splice(0), ["added shop/a whole 2"]);
    const seen: string[] = [];
    await session.change(order, () => {
      session.server.delete(Secret, "shop/a");
      session.create("a", LABEL, "3");
    }, () => void seen.push(at("shop/a")));
    assertEquals(events.splice(0), ["deleted shop/a whole 2", "added shop/a whole 3"]);
    assertEquals(seen, ["whole 2", order[0] === "metadata" ? "none" : "whole 2", "whole 3"]); // no state of two objects
    await session.change(order, () => {
      session.server.delete(Secret, "shop/a");
      session.create("a", {}, "4");
    });
    assertEquals(events.splice(0), ["deleted shop/a whole 3", "added shop/a metadata"]);
  });
}

Deno.test("an object whose label went and came back is shown in no state that is older than the last one", async () => {
  await using session = new Session();
  session.create("a", LABEL);
  const { events, at } = await session.tiers();
  const seen: string[] = [];
  // The whole objects are late: the metadata shows that the label has gone, then that it is back.
  await session.change(["metadata", "whole"], () => {
    session.patch("a", { metadata: { labels: null }, data: { value: btoa("2") } });
    session.patch("a", { metadata: { labels: { tier: "none" } } });
  }, () => void seen.push(at("shop/a")));
  assertEquals(seen, ["whole 1", "metadata", "metadata"]);
  await session.change(["metadata", "whole"], () => session.patch("a", { metadata: LABEL }));
  assertEquals(events, ["shop/a whole 1 → metadata", "shop/a metadata → whole 2"]);
  assertEquals(at("shop/a"), "whole 2");
});

Deno.test("an object that was shown whole is not shown as the earlier metadata, while the metadata is late", async () => {
  await using session = new Session();
  session.create("a");
  const { events, at } = await session.tiers();
  const release = session.hold("metadata");
  session.patch("a", { metadata: LABEL });
  await session.pass();
  assertEquals(at("shop/a"), "whole 1");
  session.patch("a", { metadata: { labels: null } });
  await session.pass();
  assertEquals(at("shop/a"), "whole 1"); // the whole objects lack it now
  release();
  await session.pass();
  assertEquals(events, ["shop/a metadata → whole 1", "shop/a whole 1 → metadata"]);
});

Deno.test("read() returns the cached object, or gets it: callers share a request, and one that aborts fails no other", async () => {
  await using session = new Session();
  session.create("a", LABEL);
  session.create("b");
  const { tiers } = await session.tiers();
  session.requests.length = 0;
  assertEquals((await tiers.read("shop/a")).data?.value, btoa("1"));
  assertEquals(session.requests.length, 0);
  const stop = new AbortController();
  const reads = [tiers.read("shop/b", { signal: stop.signal }), tiers.read("shop/b"), tiers.read("shop/b")];
  const failed = assertRejects(() => reads[0], Error, "mine");
  stop.abort(new Error("mine"));
  await failed;
  assertEquals((await reads[1]).data?.value, btoa("1"));
  assertEquals(await reads[2], await reads[1]);
  assertEquals(session.requests.map(({ method, url }) => `${method} ${new URL(url).pathname}`), [
    "GET /api/v1/namespaces/shop/secrets/b",
  ]);
  session.patch("b", { data: { value: btoa("2") } });
  assertEquals((await tiers.read("shop/b")).data?.value, btoa("2")); // not the earlier response
  assertEquals(session.requests.length, 2);
  const error = await assertRejects(() => tiers.read("shop/none"));
  assert(isNotFound(error));
});

Deno.test("read() ends its request when all callers have aborted, and the next call sends another", async () => {
  await using session = new Session();
  session.create("b");
  const { tiers } = await session.tiers();
  using _stalled = session.server.stallNext(1, ({ path }) => path.endsWith("/secrets/b"));
  const [first, second] = [new AbortController(), new AbortController()];
  const reads = [first, second].map(({ signal }) =>
    assertRejects(() => tiers.read("shop/b", { signal }), Error, "mine")
  );
  await session.pass();
  first.abort(new Error("mine"));
  await session.pass();
  const { signal } = session.requests.at(-1)!;
  assertEquals(signal.aborted, false);
  second.abort(new Error("mine"));
  await Promise.all(reads);
  assertEquals(signal.aborted, true);
  assertEquals((await tiers.read("shop/b")).metadata.name, "b");
});

Deno.test("tiers without secretData hold no data of Secrets, in no form, and read() drops it too", async () => {
  await using session = new Session({ labelSelector: "team=a" });
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": `{"data":{"value":"${btoa("hidden")}"}}` };
  for (const name of ["a", "b"]) {
    session.create(name, { annotations, labels: { team: "a", tier: name === "a" ? "full" : "" } }, "hidden");
  }
  session.create("c", { labels: { team: "c", tier: "full" } });
  const tiers = session.informers.forResource(Secret, { full: { labelSelector: "tier=full" } });
  session.informers.start();
  await session.pass();
  assertEquals(tiers.lister.list().map(({ metadata }) => metadata.name).sort(), ["a", "b"]); // the factory's selector
  const selectors = session.requests.map(({ url }) => new URL(url).searchParams.get("labelSelector"));
  assertEquals(selectors, ["team=a,tier=full", "team=a"]);
  const read = await tiers.read("shop/b");
  for (const secret of [...tiers.lister.list(), read]) {
    assertEquals(Object.keys(secret.metadata.annotations ?? {}), []);
    assert(!JSON.stringify(secret).includes(btoa("hidden")));
  }
  assertThrows(() => (read as Secret).data, Error, "data");
  assertThrows(
    () => session.informers.forResource(Secret, { full: { labels: "a" } as unknown as { labelSelector: string } }),
    TypeError,
    '"labels"',
  );
});

Deno.test("tiers take a fraction of the memory of whole objects", async () => {
  await using session = new Session();
  const value = "x".repeat(4_000);
  for (let i = 0; i < 100; i++) session.create(`s-${i}`, i % 20 === 0 ? LABEL : {}, value);
  await session.tiers();
  const bytesOf = (informers: SharedInformerFactory) =>
    informers.memory().reduce((sum, { memory }) => sum + memory.unreadBytes, 0);
  await using all = new SharedInformerFactory(session.client);
  all.forResource(Secret, { secretData: "keep" });
  all.start();
  await session.pass();
  const [tiers, whole] = [bytesOf(session.informers), bytesOf(all)];
  assert(whole > 100 * 4_000 && tiers < whole / 5, `${tiers} of ${whole} bytes`);
});
