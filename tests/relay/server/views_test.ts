import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { asTable } from "../../../src/engine/api/resource.ts";
import { applyViewUpdate, type ViewRow, type ViewUpdate } from "../../../src/engine/informer/cache_view.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { Pod, Secret } from "../../../src/engine/kinds/core/v1.ts";
import type { ViewRequest } from "../../../src/relay/server/format.ts";
import { OpenRequest } from "../../../src/relay/server/open_requests.ts";
import type { RelayOptions } from "../../../src/relay/server/options.ts";
import { type ViewHub, ViewSelection, ViewStream } from "../../../src/relay/server/views.ts";
import { deployment, FakeApiServer, FakeTime, pod } from "../../../src/testing/mod.ts";
import { FakeTime as ViewStreamFakeTime } from "../../support/times/fake_time.ts";
import { type Events, LOCAL, Relayed } from "../../support/servers/relayed.ts";

type Views = Readonly<Record<string, ViewRequest>>;

/** A server with the pods web-00 to web-19 in the namespace shop, and mail-0 in mail. */
function pods(): FakeApiServer {
  const server = new FakeApiServer();
  for (let i = 0; i < 20; i++) {
    const name = `web-${String(i).padStart(2, "0")}`;
    server.create(Pod, pod({ name, namespace: "shop", node: `worker-${i % 3}`, labels: { app: "web" } }));
  }
  server.create(Pod, pod({ name: "mail-0", namespace: "mail", node: "worker-9" }));
  return server;
}

/** A client of a stream of views. */
class Viewer implements AsyncDisposable {
  readonly #relayed: Relayed;
  readonly events: Events;
  readonly rows: Record<string, ViewRow<Pod>[]> = {};
  readonly totals: Record<string, number> = {};
  // deno-lint-ignore no-explicit-any
  readonly collections: Record<string, any> = {};
  readonly namespaces: Record<string, string[]> = {};
  id = "";

  private constructor(relayed: Relayed, events: Events) {
    this.#relayed = relayed;
    this.events = events;
  }

  static async open(relayed: Relayed, views: Views): Promise<Viewer> {
    return new Viewer(relayed, await relayed.events(`/views?views=${encodeURIComponent(JSON.stringify(views))}`));
  }

  /** Reads events until a condition holds. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      const { text, data } = await this.events.next();
      if (text === "closed") throw new Error("the stream was closed");
      if (text.startsWith("stream")) this.id = data.id;
      else if (text.startsWith("collection")) this.collections[data.name] = data;
      else if (text.startsWith("namespaces")) this.namespaces[data.name] = data.namespaces;
      else if (text.startsWith("view")) {
        this.totals[data.view] = data.total;
        this.rows[data.view] = applyViewUpdate(this.rows[data.view] ?? [], data);
      }
    }
  }

  names(view: string): string[] {
    return (this.rows[view] ?? []).map(({ key }) => key.split("/")[1]);
  }

  post(views: unknown, id = this.id): Promise<Response> {
    const body = typeof views === "string" ? views : JSON.stringify(views);
    return this.#relayed.relay.fetch(new Request(`http://localhost/views/${id}`, { method: "POST", body }), LOCAL);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.events[Symbol.asyncDispose]();
  }
}

Deno.test("a view has the rows of its window in order, the total, and then their changes", async () => {
  await using relayed = new Relayed({}, { server: pods() });
  await using viewer = await Viewer.open(relayed, {
    last: { of: "pods", namespace: "shop", sortBy: ["-metadata.name"], offset: 1, limit: 3, fields: ["spec.nodeName"] },
  });
  await viewer.until(() => viewer.rows.last !== undefined);
  assertEquals([viewer.totals, viewer.names("last")], [{ last: 20 }, ["web-18", "web-17", "web-16"]]);
  const { spec, metadata, status } = viewer.rows.last[0].object;
  assertEquals([spec, metadata.labels, status], [{ nodeName: "worker-0" }, undefined, undefined] as unknown);
  relayed.server.delete(Pod, "shop/web-17");
  relayed.server.create(Pod, pod({ name: "web-99", namespace: "shop" }));
  await viewer.until(() => viewer.totals.last === 20 && viewer.names("last")[0] === "web-19");
  assertEquals(viewer.names("last"), ["web-19", "web-18", "web-16"]);
});

Deno.test("one stream has many views, which are moved, replaced, added and removed by a POST", async () => {
  await using relayed = new Relayed({}, { server: pods() });
  const list: ViewRequest = { of: "pods", namespace: "shop", limit: 2 };
  await using viewer = await Viewer.open(relayed, { list, mail: { of: "pods", search: "MAIL worker" } });
  await viewer.until(() => viewer.rows.list !== undefined && viewer.rows.mail !== undefined);
  assertEquals([viewer.names("list"), viewer.names("mail")], [["web-00", "web-01"], []]);
  const moved = await viewer.post({
    list: { ...list, offset: 10 },
    mail: { of: "pods", search: "mail 0" },
    one: { of: "pods", fieldSelector: "metadata.name=web-07" },
  });
  assertEquals([moved.status, moved.body], [204, null]);
  await viewer.until(() =>
    viewer.names("list")[0] === "web-10" && viewer.names("mail").length === 1 && viewer.names("one").length === 1
  );
  assertEquals([viewer.names("list"), viewer.names("one")], [["web-10", "web-11"], ["web-07"]]);
  await viewer.post({ one: { of: "pods", fieldSelector: "metadata.name=web-07" } });
  relayed.server.delete(Pod, "shop/web-10");
  relayed.server.delete(Pod, "shop/web-07");
  await viewer.until(() => viewer.names("one").length === 0);
  assertEquals(viewer.names("list"), ["web-10", "web-11"]); // no longer a view
  assertEquals(relayed.server.requests.filter(({ resource }) => resource === "pods").length, 1);
});

Deno.test("a stream reports the state of the collections that its views are of", async () => {
  await using relayed = new Relayed({}, { server: pods() });
  await using viewer = await Viewer.open(relayed, { all: { of: "pods" } });
  await viewer.until(() => viewer.collections.pods?.state === "live");
  const { objects, events } = viewer.collections.pods;
  assertEquals([objects, viewer.collections.maps], [21, undefined]);
  relayed.server.delete(Pod, "mail/mail-0");
  await viewer.until(() => viewer.collections.pods.objects === 20 && viewer.namespaces.pods.join() === "shop");
  assertEquals(viewer.collections.pods.events, events + 1);
});

Deno.test("a stream has the namespaces of a collection where its client sees all of it", async () => {
  const predicates = { everything: () => true };
  const limited = { where: { everything: "" } };
  const cases: [RelayOptions["authorize"], RelayOptions["redact"], ViewRequest, string[] | undefined][] = [
    [undefined, undefined, { of: "pods" }, ["mail", "shop"]],
    [undefined, undefined, { of: "pods", namespace: "shop" }, undefined],
    [undefined, (object) => object, { of: "pods" }, undefined],
    [() => ({ rights: { pods: limited } }), undefined, { of: "pods" }, undefined],
    [() => ({ rights: { pods: {} } }), undefined, { of: "pods" }, ["mail", "shop"]],
  ];
  for (const [authorize, redact, view, expected] of cases) {
    await using relayed = new Relayed({ predicates, authorize, redact }, { server: pods() });
    await using viewer = await Viewer.open(relayed, { view });
    await viewer.until(() => viewer.rows.view !== undefined && viewer.collections.pods?.state === "live");
    const { events } = viewer.collections.pods;
    relayed.server.create(Pod, pod({ name: "web-99", namespace: "shop" })); // reported behind the namespaces
    await viewer.until(() =>
      events === undefined ? viewer.totals.view === 22 : viewer.collections.pods.events > events
    );
    assertEquals(viewer.namespaces.pods, expected);
  }
});

Deno.test("views see what redact leaves of an object alone: predicates, words, sort keys and fields", async () => {
  const server = pods();
  server.create(Secret, { metadata: { name: "key", namespace: "shop" }, data: { password: btoa("hidden") } });
  const redact: RelayOptions["redact"] = (object) => {
    if (object.metadata.namespace === "mail") return undefined;
    if (object.kind !== "Pod") return object;
    return { ...object, spec: {} } as typeof object;
  };
  await using relayed = new Relayed({ redact }, { server });
  await using viewer = await Viewer.open(relayed, {
    all: { of: "pods", limit: 100 },
    node: { of: "pods", fieldSelector: "spec.nodeName=worker-1" },
    none: { of: "pods", fieldSelector: "spec.nodeName=" },
    sorted: { of: "pods", sortBy: ["spec.nodeName"], fields: ["spec"], limit: 4 },
    secrets: { of: "secrets", fields: ["data"] },
    found: { of: "secrets", fieldSelector: `data.password=${btoa("hidden").replaceAll("=", "\\=")}` },
  });
  await viewer.until(() => Object.keys(viewer.rows).length === 6);
  assertEquals(viewer.totals, { all: 20, node: 0, none: 20, sorted: 20, secrets: 1, found: 0 });
  assertEquals(viewer.names("sorted"), ["web-00", "web-01", "web-02", "web-03"]); // by the key, as no node is known
  assertEquals(JSON.stringify(viewer.rows).includes("worker-"), false);
  assertEquals(JSON.stringify(viewer.rows).includes(btoa("hidden")), false);
});

Deno.test("rows of a table are searched by their cells, and sorted by one", async () => {
  await using relayed = new Relayed({ collections: { pods: asTable(Pod) } }, { server: pods() });
  await using viewer = await Viewer.open(relayed, {
    rows: { of: "pods", search: "running", sortBy: ["-cells.0"], fields: ["cells"], limit: 1 },
    columns: { of: "pods", fields: ["columns"], limit: 1 },
  });
  await viewer.until(() => viewer.rows.rows !== undefined && viewer.rows.columns !== undefined);
  // deno-lint-ignore no-explicit-any
  const [{ object }] = viewer.rows.rows as any;
  assertEquals(object.cells[0], "web-19");
  // deno-lint-ignore no-explicit-any
  assertEquals((viewer.rows.columns as any)[0].object.columns[0].name, "Name");
  const { collections } = await (await relayed.get("/api")).json();
  assertEquals(collections, [{ name: "pods", kind: "Pod", scope: "Namespaced", isTable: true }]);
  const { items } = await (await relayed.get("/api/pods?namespace=mail")).json();
  assertEquals([items[0].spec.nodeName, items[0].cells], ["worker-9", undefined]); // the object, not its row
});

Deno.test("cells such as 1/2 are sorted as fractions, so that rows come first that lack the most", async () => {
  const server = new FakeApiServer();
  const ready = { a: [1, 1], b: [1, 2], c: [0, 1], d: [2, 2], e: [0, 10], f: [0, 0], g: [9, 10] };
  for (const [name, [readyReplicas, replicas]] of Object.entries(ready)) {
    server.create(Deployment, deployment({ name, namespace: "shop", replicas }));
    server.patch(Deployment, `shop/${name}`, { status: { readyReplicas } });
  }
  await using relayed = new Relayed({ collections: { deployments: asTable(Deployment) } }, { server });
  await using viewer = await Viewer.open(relayed, { rows: { of: "deployments", sortBy: ["cells.1"], limit: 9 } });
  await viewer.until(() => viewer.rows.rows?.length === 7);
  assertEquals(viewer.names("rows"), ["c", "e", "b", "g", "a", "d", "f"]); // as texts, 9/10 would be the last
});

Deno.test("requests for views that are none are refused with the reason", async () => {
  await using relayed = new Relayed({}, { server: pods() });
  const cases: [unknown, string][] = [
    ["{", "JSON"],
    [[], "views must be an object with a view for each name"],
    [{ a: 1 }, "each view must be an object"],
    [{ a: {} }, '"of" of a view must be the name of a collection'],
    [{ a: { of: "nodes" } }, 'the relay has no collection "nodes"'],
    [{ a: { of: "pods", where: "x" } }, '"where" is not a member of a view'],
    [{ a: { of: "pods", __proto__: null, constructor: "x" } }, '"constructor" is not a member of a view'],
    [{ a: { of: "pods", labelSelector: "a=(" } }, "label selector"],
    [{ a: { of: "pods", sortBy: "x" } }, '"x" is not valid as sortBy of a view'],
    [{ a: { of: "pods", sortBy: ["a..b"] } }, "Cannot read the field path"],
    [{ a: { of: "pods", limit: 1_001 } }, "the limit is 1001, but it must be at most 1000"],
    [{ a: { of: "pods", offset: -1 } }, "it is -1"],
    [
      Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, { of: "pods" }])),
      "the request has 17 views, but 16 is the limit",
    ],
  ];
  await using viewer = await Viewer.open(relayed, {});
  await viewer.until(() => viewer.id !== "");
  for (const [views, reason] of cases) {
    const text = typeof views === "string" ? views : JSON.stringify(views);
    for (const response of [await relayed.get(`/views?views=${encodeURIComponent(text)}`), await viewer.post(text)]) {
      assertEquals(response.status, 400);
      assertStringIncludes((await response.json()).error, reason);
    }
  }
  const long = await viewer.post(JSON.stringify({ a: { of: "pods", search: "x".repeat(20_000) } }));
  assertEquals([long.status, (await long.json()).error.includes("longer than 16384 bytes")], [413, true]);
  for (const [id, status] of [["nothing", 404], ["../x", 404], ["", 404]] as const) {
    assertEquals((await viewer.post({}, id)).status, status, id);
  }
  const unknown = await viewer.post({}, "nothing");
  assertStringIncludes((await unknown.json()).error, "the relay has no stream with this name; open another one");
  assertEquals([(await relayed.get(`/views/${viewer.id}`)).status, relayed.relay.status().connections], [405, 1]);
  assertEquals(relayed.errors, []);
});

Deno.test("a page of another origin can neither open views nor change them", async () => {
  await using relayed = new Relayed({}, { server: pods() });
  await using viewer = await Viewer.open(relayed, {});
  await viewer.until(() => viewer.id !== "");
  for (const [method, path] of [["GET", "/views"], ["POST", `/views/${viewer.id}`]]) {
    const request = new Request(`http://localhost${path}`, { method, headers: { origin: "http://evil.example" } });
    assertEquals((await relayed.relay.fetch(request, LOCAL)).status, 403);
  }
});

Deno.test("the informer of views is released when the last stream has ended, and shared until then", async () => {
  await using relayed = new Relayed({ lingerMs: 1 }, { server: pods(), idleTimeoutMs: 1 });
  const viewers = await Promise.all(
    [0, 5].map((offset) => Viewer.open(relayed, { list: { of: "pods", offset, limit: 1 } })),
  );
  for (const viewer of viewers) await viewer.until(() => viewer.rows.list !== undefined);
  assertEquals([relayed.server.watches, viewers.map((viewer) => viewer.names("list"))], [1, [["mail-0"], ["web-04"]]]);
  using held = relayed.informers.acquire(Pod);
  assertEquals(held.informer.status().handlers.length, 1); // of the same order: one view
  held[Symbol.dispose]();
  for (const viewer of viewers) await viewer[Symbol.asyncDispose]();
  await relayed.untilConnections(0);
  while (relayed.server.watches > 0) await new Promise((resolve) => setTimeout(resolve, 1));
});

Deno.test("a stream of views ends with its authorization, and with its relay", async () => {
  const relayed = new Relayed({ authorize: () => ({ expiresAt: new Date(Date.now() + 50) }) }, { server: pods() });
  await using viewer = await Viewer.open(relayed, { list: { of: "pods" } });
  for (let text = ""; !text.startsWith("end");) {
    ({ text } = await viewer.events.next());
    assert(text !== "closed");
    if (text.startsWith("end")) assertMatch(text, /^end expired/);
  }
  await relayed[Symbol.asyncDispose]();
  assertEquals(relayed.relay.status().connections, 0);

  const other = new Relayed({}, { server: pods() });
  await using open = await Viewer.open(other, {});
  await other[Symbol.asyncDispose]();
  assertEquals((await open.events.next()).text.startsWith("stream"), true);
  assertEquals((await open.events.next()).text, "end closed");
});

Deno.test("a client of views that does not read is disconnected, and keeps one text per view", async () => {
  await using relayed = new Relayed({ stallMs: 100, heartbeatMs: 1_000 }, { server: pods() });
  const response = await relayed.get(`/views?views=${encodeURIComponent(JSON.stringify({ list: { of: "pods" } }))}`);
  const reader = response.body!.getReader();
  await reader.read();
  await relayed.untilConnections(0);
  await reader.cancel();
});

Deno.test("a body of views that does not end is refused after 5 s, and one for no stream at once", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({ maxConnections: 3 }, { server: pods() });
  await using viewer = await Viewer.open(relayed, {});
  await viewer.until(() => viewer.id !== "");
  let cancelled = 0;
  const post = (id: string): Promise<Response> => {
    const body = new ReadableStream({
      start: (controller): void => controller.enqueue(new TextEncoder().encode("{")),
      cancel: (): void => void cancelled++,
    });
    const init = { method: "POST", body, duplex: "half" }; // Node requires it of a stream
    return relayed.relay.fetch(new Request(`http://localhost/views/${id}`, init), LOCAL);
  };
  assertEquals((await post("x")).status, 404);
  const late = [post(viewer.id), post(viewer.id)];
  await time.tickAsync(4_999);
  assertEquals([(await post("x")).status, relayed.relay.status().connections], [503, 3]);
  await time.tickAsync(1);
  assertEquals((await Promise.all(late)).map(({ status }) => status), [408, 408]);
  assertEquals([relayed.relay.status().connections, cancelled], [1, 4]);
});

Deno.test("the rows of views have a bound: those without readers are closed first, then views are refused by 503", async () => {
  // Rows of 21 pods with one sort key have 4,200 bytes: there is room for three views.
  await using relayed = new Relayed({ maxBytes: 4_200 * 4, lingerMs: Infinity }, { server: pods() });
  await (await relayed.get("/api/pods")).body?.cancel(); // synced
  const views = (...keys: string[]): Views =>
    Object.fromEntries(keys.map((key) => [key, { of: "pods", sortBy: [`metadata.labels.${key}`] }]));
  await using viewer = await Viewer.open(relayed, views("a", "b", "c"));
  await viewer.until(() => Object.keys(viewer.rows).length === 3);
  assertEquals(relayed.relay.status().bytes, 3 * 4_200);
  await using other = await Viewer.open(relayed, views("a", "c"));
  await other.until(() => other.id !== "");
  assertEquals((await relayed.get(`/views?views=${encodeURIComponent(JSON.stringify(views("d")))}`)).status, 503);
  assertEquals((await viewer.post(views("a", "c"))).status, 204);
  for (let i = 0; i < 30; i++) assertEquals((await viewer.post(views("a", "c", `d${i}`))).status, 204); // in place of "b"
  assertEquals(relayed.relay.status().bytes, 3 * 4_200);
  assertEquals((await viewer.post(views("a", "c", "e", "f"))).status, 503);
  assertEquals((await viewer.events.through("end")).at(-1), "end closed");
  assertEquals((await other.post(views("a", "g"))).status, 204);
});

Deno.test("a view selects all objects unless something restricts it, and keeps its place when its window moves", () => {
  const of = (request: object): ViewSelection =>
    ViewSelection.parse(JSON.stringify({ a: { of: "pods", ...request } })).get("a")!;
  assertEquals(of({ sortBy: ["metadata.uid"], fields: ["spec"], offset: 7 }).selectsAll, true);
  for (const request of [{ namespace: "shop" }, { labelSelector: "a" }, { fieldSelector: "a=b" }, { search: "x" }]) {
    assertEquals(of(request).selectsAll, false, JSON.stringify(request));
    assertEquals(of(request).order === of({}).order, false);
  }
  assertEquals(of({ offset: 7, fields: ["spec"] }).order, of({ limit: 9 }).order);
  assertEquals([of({ offset: 7 }).id === of({}).id, of({ fields: ["spec"] }).id === of({}).id], [true, false]);
  assertEquals(of({}).window, { offset: 0, limit: 50 });
});

const VIEWS = ViewSelection.parse('{"a":{"of":"pods"}}');
const TIMES = { stallMs: 30_000, heartbeatMs: 15_000 };

/** A stream of one view, whose updates are given one by one. */
class Streamed {
  readonly stream: ViewStream;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  /** The number of updates that the stream has asked for. */
  asked = 0;
  ends = 0;
  leases = 0;
  #give: ((update: IteratorResult<ViewUpdate<KubernetesObject>, undefined>) => void) | undefined;

  constructor() {
    const lease = (): ReturnType<ViewHub["lease"]> => {
      this.leases++;
      const updates: AsyncIterableIterator<ViewUpdate<KubernetesObject>> = {
        next: () => {
          this.asked++;
          return new Promise((resolve) => this.#give = resolve);
        },
        return: () => Promise.resolve({ done: true, value: undefined }),
        [Symbol.asyncIterator]: () => updates,
      };
      return {
        updates: Object.assign(updates, { moveTo: () => {} }),
        show: ({ object }) => object,
        [Symbol.dispose]: () => void this.leases--,
      };
    };
    this.stream = new ViewStream(
      { lease, left: () => void this.ends++, regrant: () => {} },
      new OpenRequest(() => {}, () => {}),
    );
    this.reader = this.stream.body.getReader();
    this.stream.replace(VIEWS);
  }

  update(total: number): void {
    this.#give?.({ done: false, value: { total, offset: 0, rows: [], changes: [] } });
  }

  finish(): void {
    this.#give?.({ done: true, value: undefined });
  }

  /** The text of the next chunk; `undefined` at the end. */
  async read(): Promise<string | undefined> {
    const { value } = await this.reader.read();
    return value && this.#decoder.decode(value);
  }
}

Deno.test("a stream of views asks for the next update when the last one was taken, and not within 50 ms", async () => {
  using time = new ViewStreamFakeTime();
  const streamed = new Streamed();
  streamed.update(1);
  await time.tickAsync(1_000);
  assertEquals(streamed.asked, 1); // nobody has read
  assertStringIncludes((await streamed.read())!, '"total":1');
  await time.tickAsync(0);
  assertEquals(streamed.asked, 2);
  const next = streamed.read();
  streamed.update(2);
  assertStringIncludes((await next)!, '"total":2');
  await time.tickAsync(49);
  assertEquals(streamed.asked, 2);
  await time.tickAsync(1);
  assertEquals(streamed.asked, 3);
  streamed.stream.end("closed");
  await streamed.reader.cancel();
});

Deno.test("a view that is closed before its client reads is not written", async () => {
  using time = new ViewStreamFakeTime();
  const streamed = new Streamed();
  streamed.update(1);
  await time.tickAsync(0);
  streamed.stream.replace(new Map());
  assertEquals(streamed.leases, 0);
  assertEquals((await streamed.read())!.includes("event:view"), false);
  await streamed.reader.cancel();
  assertEquals([streamed.ends, time.timers], [1, 0]);
});

Deno.test("a stream of views that has nothing to write has heartbeats", async () => {
  using time = new ViewStreamFakeTime();
  const streamed = new Streamed();
  await streamed.read();
  const heartbeat = streamed.read();
  await time.tickAsync(14_999);
  streamed.stream.check(TIMES);
  await time.tickAsync(1);
  streamed.stream.offer("x", "text\n\n");
  assertEquals(await heartbeat, "text\n\n");
  const next = streamed.read();
  await time.tickAsync(15_000);
  streamed.stream.check(TIMES);
  assertEquals(await next, ":\n\n");
  await streamed.reader.cancel();
});

Deno.test("a client of views that does not read has the reason 5 s long", async () => {
  using time = new ViewStreamFakeTime();
  const slow = new Streamed();
  await slow.read();
  slow.stream.offer("x", "text\n\n");
  await time.tickAsync(0);
  const again = new Streamed(); // reads the reason in time
  for (const { stream } of [slow, again]) stream.offer("x", "text\n\n");
  await again.read();
  await time.tickAsync(30_001);
  for (const { stream } of [slow, again]) stream.check(TIMES);
  assertEquals([slow.ends, again.ends], [1, 1]);
  assertStringIncludes((await again.read())!, 'event:end\ndata:{"reason":"slow"}');
  assertEquals(await again.read(), undefined);
  await time.tickAsync(5_000);
  await assertRejects(() => slow.reader.closed, Error, "The client does not read");
  assertEquals(time.timers, 0);
});

Deno.test("a stream of views ends with the informer of one, and takes nothing afterwards", async () => {
  using time = new ViewStreamFakeTime();
  const streamed = new Streamed();
  await streamed.read();
  const last = streamed.read();
  streamed.finish();
  assertStringIncludes((await last)!, 'event:end\ndata:{"reason":"closed"}');
  streamed.stream.offer("x", "text");
  streamed.stream.end("slow");
  assertEquals([await streamed.read(), streamed.ends, streamed.leases, time.timers], [undefined, 1, 0, 0]);
});
