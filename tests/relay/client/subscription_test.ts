import { assert, assertEquals, assertRejects, assertStrictEquals, assertStringIncludes } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { untilReady } from "../../../src/operator/controllers/readiness/readiness.ts";
import type { CollectionEvent } from "../../../src/engine/informer/readable_collection.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { RelayError, ServerEvents } from "../../../src/relay/client/server_events.ts";
import { subscribe, type SubscribeOptions, type Subscription } from "../../../src/relay/client/subscription.ts";
import { subscribeViews } from "../../../src/relay/client/view_subscription.ts";
import { pod } from "../../../src/testing/mod.ts";
import { CountedController } from "../../support/times/listeners.ts";
import { Relayed, threePods } from "../../support/servers/relayed.ts";
import { Network } from "./_subscribed.ts";

const ADDRESS = "http://localhost";

function subscribed(network: Network, options: SubscribeOptions = {}): Subscription<Pod> {
  return subscribe<Pod>(ADDRESS, "pods", { fetch: network.fetch, ...options });
}

function create(network: Network, ...names: string[]): void {
  for (const name of names) {
    network.server.create(Pod, pod({ name, namespace: "shop", labels: { app: name.slice(0, -2) } }));
  }
}

/** The events of a subscription as lines, `"+ shop/a"`. */
function noted(events: AsyncIterable<CollectionEvent<Pod>>): string[] {
  const lines: string[] = [];
  const marks = { added: "+", updated: "~", deleted: "-" };
  void (async () => {
    try {
      for await (const event of events) {
        lines.push(event.type === "synced" ? `= ${event.objects}` : `${marks[event.type]} ${event.key}`);
      }
      lines.push("end");
    } catch (error) {
      lines.push(`failed: ${(error as Error).message}`);
    }
  })();
  return lines;
}

Deno.test("a subscription has the objects of a relay, and events as those of an informer", async () => {
  await using network = new Network();
  create(network, "cart-0", "mail-0");
  using pods = subscribed(network);
  const lines = noted(pods);
  assertEquals([pods.status().state, pods.hasSynced], ["connecting", false]);
  await network.tick();
  await pods.waitForCacheSync();
  assertEquals([pods.status().state, lines.splice(0)], ["live", ["+ shop/cart-0", "+ shop/mail-0", "= 2"]]);
  create(network, "cart-1");
  network.server.patch(Pod, "shop/cart-0", { metadata: { labels: { tier: "1" } } });
  network.server.delete(Pod, "shop/mail-0");
  await network.tick();
  assertEquals(lines.splice(0), ["+ shop/cart-1", "~ shop/cart-0", "- shop/mail-0"]);
  assertEquals(noted(pods.events()).length, 0);
  assertEquals(pods.lister.list().map(({ metadata }) => metadata.name).sort(), ["cart-0", "cart-1"]);
  assertEquals(pods.lister.list("tier=1").length, 1);
  assertEquals(pods.lister.list({ fieldSelector: "metadata.name!=cart-0" }).length, 1);
  assertEquals(pods.lister.namespace("shop").get("cart-0")?.metadata.labels?.tier, "1");
  assertEquals([pods.lister.namespace("mail").list(), pods.lister.get("cart-0")], [[], undefined]);
});

Deno.test("until() of a subscription resolves with the first object that the predicate holds for, there or to come", async () => {
  await using network = new Network();
  create(network, "cart-0", "mail-0");
  using pods = subscribed(network);
  const found: string[] = [];
  const find = (label: string, options?: Parameters<typeof pods.until>[1]): Promise<unknown> =>
    pods.until(({ metadata }) => metadata.labels?.tier === label, options).then(
      ({ metadata }) => found.push(metadata.name),
      (error) => found.push(error.message),
    );
  const stop = new AbortController();
  const waits = [
    find("1"),
    find("1", { key: "shop/mail-0" }),
    find("2", { signal: stop.signal }),
    pods.until(({ metadata }) => metadata.name === "mail-0").then(() => found.push("there")),
  ];
  await network.tick();
  assertEquals(found.splice(0), ["there"]);
  network.server.patch(Pod, "shop/cart-0", { metadata: { labels: { tier: "1" } } });
  await network.tick();
  assertEquals(found.splice(0), ["cart-0"]);
  stop.abort(new Error("enough"));
  await network.tick();
  assertEquals(found.splice(0), ["enough"]);
  pods[Symbol.dispose]();
  await Promise.all(waits);
  assertEquals(found, ["Cannot wait: the subscription has ended"]);
});

Deno.test("untilReady() waits for an object of a subscription", async () => {
  await using network = new Network();
  create(network, "cart-0");
  using pods = subscribed(network);
  const waiting = untilReady(pods, "shop/cart-0");
  await network.tick();
  network.server.patch(Pod, "shop/cart-0", {
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  });
  await network.tick();
  assertEquals((await waiting).status?.phase, "Running");
});

Deno.test("a subscription asks for what its options select", async () => {
  await using network = new Network();
  create(network, "cart-0", "mail-0");
  using pods = subscribed(network, {
    namespace: "shop",
    labelSelector: "app=cart",
    fieldSelector: "metadata.name!=x",
    fields: ["spec.nodeName", "status.phase"],
    headers: () => ({ authorization: "Bearer x" }),
  });
  await network.tick();
  const [object] = pods.lister.list();
  assertEquals([object.metadata.name, object.metadata.labels, pods.lister.list().length], ["cart-0", undefined, 1]);
  assertEquals(network.requests[0].headers.get("authorization"), "Bearer x");
});

Deno.test("snapshots of a subscription keep what has not changed, over changes, cuts and restarts of the relay", async () => {
  await using network = new Network();
  create(network, "cart-0", "cart-1", "cart-2");
  using pods = subscribed(network, { onError: () => {} });
  const { subscribe, getSnapshot } = pods;
  let calls = 0;
  subscribe(() => calls++);
  const empty = getSnapshot();
  assertEquals(empty, { objects: [], state: "connecting", hasSynced: false });
  await network.tick();
  const first = getSnapshot();
  assertEquals([first.objects.map(({ metadata }) => metadata.name), first.state, first.hasSynced], [
    ["cart-0", "cart-1", "cart-2"],
    "live",
    true,
  ]);
  await network.tick();
  assertStrictEquals(getSnapshot(), first);

  calls = 0;
  network.server.patch(Pod, "shop/cart-1", { metadata: { labels: { tier: "1" } } });
  await network.tick();
  const second = getSnapshot();
  assertEquals([calls, second.objects[1].metadata.labels?.tier, first.objects.length], [1, "1", 3]);
  assertEquals(second.objects.map((it, i) => it === first.objects[i]), [true, false, true]);

  network.cut();
  await network.tick();
  assertEquals([getSnapshot().state, getSnapshot().objects === second.objects], ["disconnected", true]);
  const restarted = network.restart();
  await network.tick(2_000);
  await restarted;
  await network.tick(2_000);
  assertEquals([getSnapshot().state, getSnapshot().objects === second.objects], ["live", true]);
  network.server.delete(Pod, "shop/cart-0");
  await network.tick();
  assertEquals(getSnapshot().objects.map((it, i) => it === second.objects[i + 1]), [true, true]);
});

Deno.test("an object without a version is the same while its text is", async () => {
  await using network = new Network();
  const event = (name: string, zone: string): string => {
    return `event:added\ndata:${JSON.stringify({ metadata: { name, namespace: "shop" }, zone })}\n\n`;
  };
  const body = (zone: string): string => {
    return `event:snapshot\ndata:{}\n\n${event("a", "x")}${event("b", zone)}event:synced\ndata:{}\n\n`;
  };
  let zone = "x";
  network.answer = () => new Response(body(zone));
  using zones = subscribed(network, { onError: () => {} });
  const lines = noted(zones);
  await network.tick();
  const { objects } = zones.getSnapshot();
  zone = "y";
  await network.tick(2_000);
  assertEquals(zones.getSnapshot().objects.map((it, i) => it === objects[i]), [true, false]);
  assertEquals(lines, ["+ shop/a", "+ shop/b", "= 2", "~ shop/b"]);
});

Deno.test("a subscription that is cut resumes without a snapshot, and misses nothing", async () => {
  await using network = new Network();
  create(network, "cart-0", "cart-1");
  const errors: unknown[] = [];
  using pods = subscribed(network, { onError: (error) => errors.push(error) });
  const lines = noted(pods);
  await network.tick();
  lines.splice(0);
  network.cut();
  await network.tick();
  assertEquals([pods.status().state, pods.hasSynced], ["disconnected", true]);
  create(network, "cart-2");
  network.server.delete(Pod, "shop/cart-0");
  await network.tick(1_000);
  assertEquals([pods.status().state, lines], ["live", ["+ shop/cart-2", "- shop/cart-0"]]);
  assertEquals(network.requests.length, 2);
  assert(network.requests[1].headers.get("last-event-id") !== null);
  assertStringIncludes(String(errors), "the network was cut");
});

Deno.test("a subscription to a relay that has started again receives the differences as events", async () => {
  await using network = new Network();
  create(network, "cart-0", "cart-1", "cart-2");
  using pods = subscribed(network);
  const lines = noted(pods);
  await network.tick();
  const kept = pods.lister.get("shop/cart-1");
  lines.splice(0);
  const restarted = network.restart();
  create(network, "cart-3");
  network.server.delete(Pod, "shop/cart-0");
  network.server.patch(Pod, "shop/cart-2", { metadata: { labels: { tier: "1" } } });
  await network.tick(2_000);
  await restarted;
  await network.tick(2_000);
  assertEquals(lines.sort(), ["+ shop/cart-3", "- shop/cart-0", "~ shop/cart-2"]);
  assertStrictEquals(pods.lister.get("shop/cart-1"), kept); // the same version is the same object
});

Deno.test("an object that was replaced by another one of its name is deleted, then added", async () => {
  await using network = new Network();
  create(network, "cart-0");
  using pods = subscribed(network);
  const lines = noted(pods);
  await network.tick();
  lines.splice(0);
  network.cut();
  network.server.delete(Pod, "shop/cart-0");
  create(network, "cart-0");
  await network.tick(1_000);
  assertEquals(lines, ["- shop/cart-0", "+ shop/cart-0"]);
});

Deno.test("a slow reader of a subscription receives the last state of each object", async () => {
  await using network = new Network();
  create(network, "cart-0");
  using pods = subscribed(network);
  const events = pods.events();
  const first = events.next();
  await network.tick();
  assertEquals((await first).value?.type, "added");
  assertEquals((await events.next()).value, { type: "synced", objects: 1 });
  for (let i = 0; i < 5; i++) network.server.patch(Pod, "shop/cart-0", { metadata: { labels: { i: String(i) } } });
  create(network, "cart-1");
  await network.tick();
  network.server.delete(Pod, "shop/cart-1");
  await network.tick();
  const { value } = await events.next();
  assert(value?.type === "updated");
  assertEquals([value.object.metadata.labels?.i, value.previous.metadata.labels?.i], ["4", undefined]);
  await events.return!();
  assertEquals(await events.next(), { done: true, value: undefined });
});

Deno.test("a subscription waits longer after each failure, and 15 s at most", async () => {
  await using network = new Network();
  network.answer = () => new Response("down", { status: 503 });
  const errors: Error[] = [];
  using pods = subscribed(network, { onError: (error) => errors.push(error as Error) });
  await network.tick(1_000);
  const early = network.requests.length;
  await network.tick(300_000);
  const late = network.requests.length;
  assert(early >= 2 && early <= 3, `${early} requests in the first second`);
  assert(late >= 20 && late <= 60, `${late} requests in five minutes`);
  assertEquals(errors[0].message, "Cannot subscribe to http://localhost/events/pods: 503 down");
  network.answer = undefined;
  await network.tick(15_000);
  assertEquals(pods.hasSynced, true);
});

Deno.test("a subscription that the relay refuses fails with the reason", async () => {
  await using network = new Network();
  using pods = subscribe(ADDRESS, "nodes", { fetch: network.fetch });
  const lines = noted(pods as unknown as Subscription<Pod>);
  const wait = assertRejects(() => pods.waitForCacheSync(), RelayError, "the relay has no collection with this name");
  await network.tick();
  await wait;
  assertEquals(pods.status().state, "failed");
  const { state, error } = pods.getSnapshot();
  assert(state === "failed" && error instanceof RelayError);
  assertStringIncludes(lines[0], "failed: Cannot subscribe to http://localhost/events/nodes: 404");
  await network.tick(60_000);
  assertEquals(network.requests.length, 1);
});

Deno.test("a subscription gives up a connection that is silent for longer than the heartbeats of relays allow", async () => {
  await using network = new Network({ heartbeatMs: 30_000 });
  using pods = subscribed(network);
  await network.tick();
  await network.tick(120_000);
  assertEquals(network.requests.length, 1); // there are heartbeats
  network.answer = () => new Response(new ReadableStream({}));
  network.cut();
  await network.tick(1_000);
  assertEquals([network.requests.length, pods.status().state], [2, "disconnected"]);
  network.answer = undefined;
  await network.tick(75_000); // 70 s of silence, and the pause before the next request
  assertEquals([network.requests.length, pods.status().state], [3, "live"]);
});

/** Stands for a browser's `document`. */
class Page extends EventTarget implements Disposable {
  hidden = false;
  listeners = 0;

  constructor() {
    super();
    (globalThis as { document?: unknown }).document = this;
  }

  show(isVisible: boolean): void {
    this.hidden = !isVisible;
    this.dispatchEvent(new Event("visibilitychange"));
  }

  override addEventListener(...args: Parameters<EventTarget["addEventListener"]>): void {
    this.listeners++;
    (args[2] as { signal: AbortSignal }).signal.addEventListener("abort", () => this.listeners--);
    super.addEventListener(...args);
  }

  [Symbol.dispose](): void {
    delete (globalThis as { document?: unknown }).document;
  }
}

Deno.test("a subscription pauses while its page is hidden, and resumes without a snapshot", async () => {
  using page = new Page();
  await using network = new Network();
  create(network, "cart-0");
  const errors: unknown[] = [];
  const onError = (error: unknown): unknown => errors.push(error);
  using pods = subscribed(network, { onError });
  using watched = subscribed(network, { onError, hiddenMs: Infinity });
  const lines = noted(pods);
  await network.tick();
  page.show(false);
  await network.tick(29_000);
  page.show(true);
  await network.tick(29_000);
  assertEquals([pods.status().state, network.requests.length], ["live", 2]);
  page.show(false);
  await network.tick(31_000);
  assertEquals([pods.status().state, watched.status().state], ["disconnected", "live"]);
  create(network, "cart-1");
  await network.tick(600_000);
  assertEquals([lines.splice(0), watched.lister.list().length], [["+ shop/cart-0", "= 1"], 2]);
  page.show(true);
  await network.tick(1_000);
  assertEquals([pods.status().state, lines.splice(0)], ["live", ["+ shop/cart-1"]]);
  assertEquals(network.requests.length, 3);
  assert(network.requests[2].headers.get("last-event-id"));
  page.show(false);
  await network.tick(31_000);
  pods[Symbol.dispose]();
  watched[Symbol.dispose]();
  await network.tick();
  assertEquals([page.listeners, errors], [0, []]);
});

Deno.test("a subscription ends with its disposal and its signal, and leaves no connection and no timer", async () => {
  await using network = new Network({ lingerMs: 0 });
  create(network, "cart-0");
  const stop = new CountedController();
  const reason = new Error("enough");
  const pods = [subscribed(network), subscribed(network, { signal: stop.signal })];
  const lines = pods.map((it) => noted(it));
  await network.tick();
  pods[0][Symbol.dispose]();
  const short = subscribed(network, { signal: stop.signal });
  short[Symbol.dispose]();
  await network.tick();
  assertEquals(stop.listeners, 1); // of the other one
  stop.abort(reason);
  await network.tick(100);
  assertEquals(lines, [["+ shop/cart-0", "= 1", "end"], ["+ shop/cart-0", "= 1", "end"]]);
  assertEquals(network.relay.status().connections, 0);
  assertEquals([await pods[0].events().next(), pods[0].lister.list().length], [{ done: true, value: undefined }, 1]);
  const aborted = subscribed(network, { signal: stop.signal });
  const watched = new CountedController();
  using other = subscribed(network);
  for await (const { type } of other.events({ signal: watched.signal })) {
    assertEquals([type, watched.listeners], ["added", 1]);
    break;
  }
  assertEquals(watched.listeners, 0);
  await assertRejects(() => aborted.waitForCacheSync(), Error, "enough");
  assertEquals(await pods[1].events().next(), { done: true, value: undefined });
});

Deno.test("a subscription to a collection without objects syncs", async () => {
  await using network = new Network();
  using pods = subscribed(network);
  const lines = noted(pods);
  await network.tick();
  assertEquals([pods.hasSynced, lines], [true, ["= 0"]]);
});

Deno.test("a snapshot that is cut is not seen, and the id that was reset is not sent again", async () => {
  await using network = new Network();
  create(network, "cart-0");
  using pods = subscribed(network);
  const lines = noted(pods);
  await network.tick();
  lines.splice(0);
  const part = JSON.stringify(pod({ name: "part", namespace: "shop" }));
  network.answer = () =>
    new Response(`event:reset\ndata:{}\nid:\n\nevent:snapshot\ndata:{}\n\nevent:added\ndata:${part}\n\n`);
  network.cut();
  await network.tick(1_000);
  assertEquals([lines, pods.lister.list().length], [[], 1]);
  network.answer = undefined;
  await network.tick(5_000);
  assertEquals([lines, pods.status().state], [[], "live"]);
  assertEquals(network.requests.map(({ headers }) => headers.has("last-event-id")).slice(0, 3), [false, true, false]);
});

Deno.test("a subscription that is disposed closes its connection, each time", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  let open = 0;
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request, info) => {
    open++;
    void info.completed.catch(() => {}).then(() => open--);
    return relayed.relay.fetch(request, info);
  });
  const address = `http://127.0.0.1:${http.addr.port}`;
  for (let round = 0; round < 30; round++) {
    using copy = subscribe(address, "pods");
    await copy.waitForCacheSync();
    using views = subscribeViews(address);
    for await (const _ of views.view({ of: "pods", limit: 5 }).changes()) break;
  }
  while (open > 0 || relayed.relay.status().connections > 0) await nextTurn();
  await http.shutdown();
});

const TEXT =
  'retry:2000\nevent:state\ndata:{"state":"live"}\n\n:\nid:1\n\nevent: added\ndata: a\ndata: b\nid: 2\n\n:\n\nid:\n\nid:x';

Deno.test("events are read from text however it is split, with either kind of line end", () => {
  const expected = [
    { event: "state", data: '{"state":"live"}', id: undefined },
    { event: "message", data: "", id: "1" },
    { event: "added", data: "a\nb", id: "2" },
    { event: "message", data: "", id: undefined },
    { event: "message", data: "", id: "" },
  ];
  fc.assert(fc.property(fc.array(fc.nat(TEXT.length + 12), { maxLength: 6 }), fc.boolean(), (cuts, crlf) => {
    const text = crlf ? TEXT.replaceAll("\n", "\r\n") : TEXT;
    const events = new ServerEvents();
    const places = [0, ...cuts.sort((a, b) => a - b), text.length];
    assertEquals(places.slice(1).flatMap((end, i) => events.push(text.slice(places[i], end))), expected);
  }));
});

Deno.test("an event that comes in many pieces is split twice at most", () => {
  const events = new ServerEvents();
  const data = "x".repeat(64 * 1024);
  let length = 0;
  const { split } = String.prototype;
  String.prototype.split = function (this: string, ...args: Parameters<typeof split>): string[] {
    length += this.length;
    return split.apply(this, args);
  } as typeof split;
  try {
    assertEquals(events.push("event:added\ndata:"), []);
    for (let piece = 0; piece < 64; piece++) assertEquals(events.push(data), []);
    assertEquals(events.push("\n\n")[0].data.length, 64 * data.length);
  } finally {
    String.prototype.split = split;
  }
  assert(length < 2 * 65 * data.length, `${length} characters were split`);
});
