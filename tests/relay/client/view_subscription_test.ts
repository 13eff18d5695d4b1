import { assert, assertEquals, assertStrictEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { ViewUpdate } from "../../../src/engine/informer/cache_view.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { RelayError } from "../../../src/relay/client/server_events.ts";
import {
  type RemoteView,
  subscribeViews,
  type SubscribeViewsOptions,
  type ViewSubscription,
} from "../../../src/relay/client/view_subscription.ts";
import { pod } from "../../../src/testing/mod.ts";
import { Network } from "./_subscribed.ts";

function subscribed(network: Network, options: SubscribeViewsOptions = {}): ViewSubscription {
  return subscribeViews("http://localhost/", { fetch: network.fetch, ...options });
}

function create(network: Network, ...names: string[]): void {
  for (const name of names) network.server.create(Pod, pod({ name, namespace: "shop" }));
}

function names(view: RemoteView<Pod>): string[] {
  return view.rows().map(({ key }) => key.split("/")[1]);
}

/** The updates of a view: the number of all rows, or of changes. */
function noted(updates: AsyncIterable<ViewUpdate<Pod>>): string[] {
  const lines: string[] = [];
  void (async () => {
    try {
      for await (const { rows, changes, total } of updates) {
        lines.push(rows === undefined ? `${changes.length} changes, ${total}` : `${rows.length} rows, ${total}`);
      }
      lines.push("end");
    } catch (error) {
      lines.push(`failed: ${(error as Error).message}`);
    }
  })();
  return lines;
}

const POSTS = ({ method }: Request): boolean => method === "POST";

Deno.test("a remote view has the rows of its window, and then their changes", async () => {
  await using network = new Network();
  create(network, "a", "b", "c");
  const connected: boolean[] = [];
  using views = subscribed(network, { onConnected: (it) => connected.push(it) });
  const view = views.view<Pod>({ of: "pods", sortBy: ["-metadata.name"], limit: 2 });
  const lines = noted(view.changes());
  assertEquals([view.hasSynced, view.total, view.offset, view.rows(), views.isConnected], [false, 0, 0, [], false]);
  await network.tick(100);
  assertEquals([names(view), view.total, view.hasSynced, connected], [["c", "b"], 3, true, [true]]);
  create(network, "d");
  await network.tick(100);
  assertEquals([names(view), view.total, lines], [["d", "c"], 4, ["2 rows, 3", "2 changes, 4"]]);
  assertEquals(network.requests.filter(POSTS).length, 0);
});

Deno.test("views of one subscription share one stream, and are opened, changed and closed by requests beside it", async () => {
  await using network = new Network();
  create(network, "a", "b", "c");
  using views = subscribed(network);
  const first = views.view<Pod>({ of: "pods", limit: 1 });
  await network.tick(100);
  const second = views.view<Pod>({ of: "pods", search: "c" });
  first.replace({ offset: 1 });
  await network.tick(100);
  assertEquals([names(first), first.offset, names(second)], [["b"], 1, ["c"]]);
  assertEquals([first.request, network.requests.filter(POSTS).length], [{ of: "pods", limit: 1, offset: 1 }, 1]);
  second[Symbol.dispose]();
  second[Symbol.dispose]();
  create(network, "cc");
  await network.tick(100);
  assertEquals([names(second), first.total], [["c"], 4]);
  assertEquals(network.requests.map(({ method }) => method), ["GET", "POST", "POST"]);
});

Deno.test("views come back after a cut and a restart of the relay, with what they ask for now", async () => {
  await using network = new Network();
  create(network, "a", "b", "c");
  const connected: boolean[] = [];
  using views = subscribed(network, { onConnected: (it) => connected.push(it) });
  const view = views.view<Pod>({ of: "pods", limit: 2 });
  const lines = noted(view.changes());
  await network.tick(100);
  const restarted = network.restart();
  await network.tick();
  assertEquals([views.isConnected, names(view)], [false, ["a", "b"]]);
  view.replace({ offset: 1 });
  create(network, "d");
  await network.tick(2_000);
  await restarted;
  await network.tick(2_000);
  assertEquals([names(view), connected, lines.at(-1)], [["b", "c"], [true, false, true], "2 rows, 4"]);
});

Deno.test("a stream that the relay no longer knows is opened again", async () => {
  await using network = new Network();
  create(network, "a", "b");
  using views = subscribed(network);
  const view = views.view<Pod>({ of: "pods", limit: 1 });
  await network.tick(100);
  network.answer = (request) => POSTS(request) ? Response.json({ error: "gone" }, { status: 404 }) : undefined;
  view.replace({ offset: 1 });
  await network.tick(2_000);
  assertEquals([names(view), network.requests.map(({ method }) => method)], [["b"], ["GET", "POST", "GET"]]);
});

Deno.test("views whose request is too long for an address are sent behind it", async () => {
  await using network = new Network();
  create(network, "a", "b");
  using views = subscribed(network);
  const view = views.view<Pod>({
    of: "pods",
    labelSelector: `app!=${"x".repeat(60)}`,
    fields: Array(80).fill("metadata.annotations.x"),
  });
  await network.tick(100);
  assertEquals([names(view), network.requests.map(({ method }) => method)], [["a", "b"], ["GET", "POST"]]);
});

Deno.test("a request that the relay refuses is reported, and the view stays as it was", async () => {
  await using network = new Network();
  create(network, "a", "b");
  const errors: Error[] = [];
  using views = subscribed(network, { onError: (error) => errors.push(error as Error) });
  const view = views.view<Pod>({ of: "pods" });
  await network.tick(100);
  view.replace({ labelSelector: "=" });
  await network.tick(2_000);
  assertEquals([names(view), errors.length, views.isConnected], [["a", "b"], 1, true]);
  assertStringIncludes(errors[0].message, "label selector");
});

Deno.test("snapshots of a view keep what has not changed, over changes, other windows and restarts", async () => {
  await using network = new Network();
  create(network, "a", "b", "c", "d");
  using views = subscribed(network);
  const view = views.view<Pod>({ of: "pods", limit: 3 });
  const { subscribe, getSnapshot } = view;
  let calls = 0;
  const remove = subscribe(() => calls++);
  assertEquals(getSnapshot(), { rows: [], total: 0, offset: 0, hasSynced: false, isConnected: false });
  await network.tick(100);
  const first = getSnapshot();
  assertEquals([first.rows.length, first.total, first.hasSynced, first.isConnected], [3, 4, true, true]);
  await network.tick(1_000);
  assertStrictEquals(getSnapshot(), first);

  calls = 0;
  network.server.patch(Pod, "shop/b", { metadata: { labels: { tier: "1" } } });
  await network.tick(100);
  const second = getSnapshot();
  assertEquals([calls, first.rows[1].object.metadata.labels?.tier], [1, undefined]);
  assertEquals(second.rows.map((row, i) => row === first.rows[i]), [true, false, true]);

  view.replace({ offset: 1 }); // all rows come anew
  await network.tick(100);
  const third = getSnapshot();
  assertEquals([third.offset, third.rows[0] === second.rows[1], third.rows[1] === second.rows[2]], [1, true, true]);

  const restarted = network.restart();
  await network.tick();
  assertEquals([getSnapshot().isConnected, getSnapshot().rows === third.rows], [false, true]);
  await network.tick(2_000);
  await restarted;
  await network.tick(2_000);
  assertEquals(getSnapshot(), third);
  assertStrictEquals(getSnapshot().rows, third.rows);
  remove();
  calls = 0;
  create(network, "e");
  await network.tick(100);
  assertEquals([calls, getSnapshot().total, views.view({ of: "pods" }).getSnapshot().isConnected], [0, 5, true]);
});

Deno.test("a snapshot of a view has the reason for which its subscription has failed", async () => {
  await using network = new Network();
  using views = subscribed(network);
  const { getSnapshot } = views.view({ of: "nodes" });
  await network.tick(100);
  const { error, isConnected } = getSnapshot();
  assert(error instanceof RelayError && !isConnected);
});

Deno.test("the namespaces of collections are reported to views of all namespaces, when they change", async () => {
  await using network = new Network();
  create(network, "a");
  const seen: string[] = [];
  using views = subscribed(network, {
    onNamespaces: ({ name, namespaces }) => seen.push(`${name}: ${namespaces}`),
  });
  const view = views.view({ of: "pods", namespace: "shop" });
  await network.tick(1_000);
  assertEquals(seen, []);
  view.replace({ namespace: "" });
  await network.tick(1_000);
  network.server.create(Pod, pod({ name: "a", namespace: "mail" }));
  create(network, "b");
  await network.tick(1_000);
  network.server.delete(Pod, "mail/a");
  await network.tick(1_000);
  assertEquals(seen.filter((it) => it !== "pods: "), ["pods: shop", "pods: mail,shop", "pods: shop"]);
});

Deno.test("collections of views are reported when they change", async () => {
  await using network = new Network();
  create(network, "a");
  const seen: string[] = [];
  using views = subscribed(network, {
    onCollection: ({ name, state, objects }) => seen.push(`${name} ${state} ${objects}`),
  });
  views.view({ of: "pods" });
  await network.tick(1_000);
  create(network, "b");
  await network.tick(1_000);
  assertEquals(seen.slice(-2), ["pods live 1", "pods live 2"]);
});

Deno.test("a slow reader of a remote view receives all rows, and a late one begins with them", async () => {
  await using network = new Network();
  create(network, "a");
  using views = subscribed(network);
  const view = views.view<Pod>({ of: "pods" });
  const updates = view.changes();
  const first = updates.next();
  await network.tick(100);
  assertEquals((await first).value?.rows?.length, 1);
  for (const name of ["b", "c", "d"]) {
    create(network, name);
    await network.tick(100);
  }
  const { rows, changes } = (await updates.next()).value!;
  assertEquals([rows?.length, changes, view.rows().length], [4, [], 4]);
  assertEquals((await view.changes().next()).value?.rows?.length, 4);
});

Deno.test("views end with their subscription, its signal, and its refusal", async () => {
  await using network = new Network({ lingerMs: 0 });
  create(network, "a");
  const stop = new AbortController();
  const connected: boolean[] = [];
  const onConnected = (it: boolean): void => void connected.push(it);
  const all = [subscribed(network, { onConnected }), subscribed(network, { signal: stop.signal })];
  const opened = all.map((views) => views.view<Pod>({ of: "pods" }));
  const lines = opened.map((view) => noted(view.changes()));
  await network.tick(100);
  all[0][Symbol.dispose]();
  stop.abort(new Error("enough"));
  await network.tick(100);
  assertEquals(lines, [["1 rows, 1", "end"], ["1 rows, 1", "end"]]);
  assertEquals([network.relay.status().connections, names(opened[0]), connected], [0, ["a"], [true, false]]);
  assertThrows(() => all[0].view({ of: "pods" }), Error, "the subscription has ended");
  assertEquals(await opened[0].changes().next(), { done: true, value: undefined });

  using wrong = subscribed(network);
  const refused = noted(wrong.view<Pod>({ of: "nodes" }).changes());
  await network.tick(100);
  assertStringIncludes(refused[0], "failed: Cannot subscribe to http://localhost/views?views=");
});

Deno.test("one request for other views is sent at a time, and the last one has the last views", async () => {
  await using network = new Network();
  create(network, "a", "b", "c", "d");
  const gates: PromiseWithResolvers<void>[] = [];
  using views = subscribed(network, {
    fetch: async (input, init) => {
      if (init.method === "POST") {
        gates.push(Promise.withResolvers<void>());
        await gates.at(-1)!.promise;
      }
      return await network.fetch(input, init);
    },
  });
  const view = views.view<Pod>({ of: "pods", limit: 1 });
  await network.tick(100);
  for (const offset of [1, 2, 3]) {
    view.replace({ offset });
    await network.tick();
  }
  assertEquals(gates.length, 1);
  gates[0].resolve();
  await network.tick();
  assertEquals(gates.length, 2);
  gates[1].resolve();
  await network.tick(100);
  assertEquals([names(view), gates.length], [["d"], 2]);
});

Deno.test("a view that is opened again before the relay has forgotten it is kept", async () => {
  await using network = new Network({ lingerMs: 1_000 });
  create(network, "a");
  using views = subscribed(network);
  views.view<Pod>({ of: "pods" })[Symbol.dispose]();
  const first = views.view<Pod>({ of: "pods" });
  await network.tick(100);
  first[Symbol.dispose]();
  await network.tick(500);
  const second = views.view<Pod>({ of: "pods" });
  await network.tick(3_000);
  create(network, "b");
  await network.tick(100);
  assertEquals(names(second), ["a", "b"]);
});
