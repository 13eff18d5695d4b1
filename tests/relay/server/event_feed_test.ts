import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Client } from "../../../src/engine/client/client.ts";
import type { SharedInformerFactoryOptions } from "../../../src/engine/informer/options.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { Namespace, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { InformerRelay } from "../../../src/relay/server/informer_relay.ts";
import { type FakeApiServer, FakeTime, namespace, pod } from "../../../src/testing/mod.ts";
import { Events, LOCAL, Relayed } from "../../support/servers/relayed.ts";
import { label, shop } from "./_streams.ts";

Deno.test("a client that reconnects continues behind the last change, without a snapshot", async () => {
  await using relayed = new Relayed({}, { server: shop(2) });
  const { server } = relayed;
  const first = await relayed.events("/events/pods");
  await first.through("synced");
  label(server, "cart-0", "1");
  await first.through("updated");
  await first[Symbol.asyncDispose]();
  label(server, "cart-1", "2");
  server.delete(Pod, "shop/cart-0");
  await using second = await relayed.events("/events/pods", first.lastEventId);
  assertEquals(await second.through("deleted"), ["updated cart-1", "deleted shop/cart-0"]);
});

Deno.test("a client that has missed nothing continues with the next change", async () => {
  await using relayed = new Relayed({}, { server: shop(1) });
  const first = await relayed.events("/events/pods");
  await first.through("synced");
  await first[Symbol.asyncDispose]();
  await using second = await relayed.events(`/events/pods?lastEventId=${first.lastEventId}`);
  label(relayed.server, "cart-0", "1");
  assertEquals(await second.through("updated"), ["updated cart-0"]);
});

Deno.test("a thousand clients that reconnect at once cause no list and take no snapshot", async () => {
  await using relayed = new Relayed({}, { server: shop(3) });
  const { server } = relayed;
  const connect = (id?: string): Promise<Events[]> =>
    Promise.all(Array.from({ length: 1_000 }, () => relayed.events("/events/pods", id)));
  const first = await connect();
  await Promise.all(first.map((events) => events.through("synced")));
  await Promise.all(first.map((events) => events[Symbol.asyncDispose]()));
  await relayed.untilConnections(0);
  label(server, "cart-1", "1");
  const second = await connect(first[0].lastEventId);
  const texts = await Promise.all(second.map((events) => events.through("updated")));
  assertEquals([...new Set(texts.map(String))], ["updated cart-1"]);
  assertEquals(server.requests.length, 1);
  await Promise.all(second.map((events) => events[Symbol.asyncDispose]()));
  await relayed.untilConnections(0);
});

Deno.test("an id that cannot be resumed at is reset, and a snapshot follows", async () => {
  await using relayed = new Relayed({ maxBytes: 8_000 }, { server: shop(1) });
  const { server } = relayed;
  await using open = await relayed.events("/events/pods");
  await open.through("synced");
  const old = open.lastEventId;
  for (let i = 0; i < 20; i++) {
    label(server, "cart-0", `${i}`);
    await open.through("updated");
  }
  const [feed, scope, position] = open.lastEventId.split(".");
  for (
    const [id, reason] of [
      ["7", "Last-Event-ID is not an id of a relay"],
      ["x".repeat(5_000), "Last-Event-ID is not an id of a relay"],
      ["\u00e9 1\t2", "Last-Event-ID is not an id of a relay"],
      [`${feed}.${scope}.99999999999999999999.`, "Last-Event-ID is not an id of a relay"],
      [`${feed}.${scope}.${Number(position) + 1}.`, "This relay did not issue that Last-Event-ID"],
      [
        `${feed}.other.${position}.`,
        "Last-Event-ID belongs to a different selection, a user with other rights, or an unrelated relay",
      ],
      ...["", "1", "1-1", "a-b", "1-2~1-2"].map((versions): [string, string] => [
        `other.${scope}.${position}.${versions}`,
        "Another relay issued Last-Event-ID, and this relay does not know the changes since then",
      ]),
      [old, "This relay no longer keeps the changes since Last-Event-ID"],
    ]
  ) {
    await using events = await relayed.events("/events/pods", id);
    assertEquals(await events.through("synced"), [`reset ${reason}`, "snapshot 1", "added cart-0", "synced 1"]);
  }
});

Deno.test("an id of other objects is reset, even if the collection is the same", async () => {
  await using relayed = new Relayed({}, { server: shop(1) });
  const first = await relayed.events("/events/pods");
  await first.through("synced");
  await using second = await relayed.events("/events/pods?fields=spec", first.lastEventId);
  assertEquals(
    (await second.through("reset"))[0].startsWith("reset Last-Event-ID belongs to a different selection"),
    true,
  );
  await first[Symbol.asyncDispose]();
});

Deno.test("a reset makes browsers forget the id", async () => {
  await using relayed = new Relayed({}, { server: shop(1) });
  await using events = await relayed.events("/events/pods", "7");
  events.lastEventId = "7";
  await events.through("reset");
  assertEquals(events.lastEventId, "");
});

/** Two relays of one server, as two processes have them. */
async function twoRelays(server: FakeApiServer, clusters: readonly [string?, string?]): Promise<[Relayed, Relayed]> {
  const relays = clusters.map((cluster) => new Relayed({ cluster }, { server })) as [Relayed, Relayed];
  for (const relay of relays) await (await relay.get("/api/pods")).body?.cancel();
  return relays;
}

Deno.test("another relay of the same cluster resumes a stream where its cache was at the same version", async () => {
  const [one, two] = await twoRelays(shop(2), ["blue", "blue"]);
  await using _one = one;
  await using _two = two;
  const first = await one.events("/events/pods");
  await first.through("synced");
  const other = await two.events("/events/pods");
  await other.through("synced");
  await first[Symbol.asyncDispose]();
  label(one.server, "cart-0", "1");
  await other.through("updated");
  await using resumed = await two.events("/events/pods", first.lastEventId);
  assertEquals(await resumed.through("updated"), ["updated cart-0"]);
  await using later = await one.events("/events/pods", first.lastEventId);
  await later.through("updated");
  await using same = await two.events("/events/pods", later.lastEventId);
  label(one.server, "cart-1", "2");
  assertEquals(await same.through("updated"), ["updated cart-1"]); // not the change before that
  await other[Symbol.asyncDispose]();
});

Deno.test("a relay of another cluster, or of none that is named, resumes no stream", async () => {
  for (const clusters of [["blue", "green"], [undefined, undefined]] as const) {
    const [one, two] = await twoRelays(shop(1), clusters);
    await using _one = one;
    await using _two = two;
    const first = await one.events("/events/pods");
    await first.through("synced");
    await using second = await two.events("/events/pods", first.lastEventId);
    assert((await second.through("synced"))[0].startsWith("reset "));
    await first[Symbol.asyncDispose]();
  }
});

Deno.test("a stream is resumed from the cache that was kept, after the relay has let the informer go", async () => {
  await using relayed = new Relayed({ lingerMs: 0 }, { server: shop(2) });
  const first = await relayed.events("/events/pods");
  await first.through("synced");
  await first[Symbol.asyncDispose]();
  while (relayed.relay.status().streams.pods !== undefined) await new Promise((resolve) => setTimeout(resolve, 1));
  await using second = await relayed.events("/events/pods", first.lastEventId);
  label(relayed.server, "cart-0", "1");
  assertEquals(await second.through("updated"), ["updated cart-0"]);
});

Deno.test("changes of one turn are one write, and each has an id of its own", async () => {
  await using relayed = new Relayed({}, { server: shop(3) });
  const response = await relayed.get("/events/pods");
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes("event:synced")) text = decoder.decode((await reader.read()).value);
  for (const name of ["cart-0", "cart-1", "cart-2"]) label(relayed.server, name, "1");
  do text = decoder.decode((await reader.read()).value); while (!text.includes("updated"));
  assertEquals(text.match(/^event:updated$/gm)?.length, 3);
  assertEquals(new Set(text.match(/(?<=^event:updated\ndata:.*\n)id:.*$/gm)).size, 3);
  assert(/id:[\w.~-]+\n\n$/.test(text));
  await reader.cancel();
});

Deno.test("streams of one selection share the bytes of a change", async () => {
  await using relayed = new Relayed({}, { server: shop(1) });
  const readers = await Promise.all([1, 2].map(async () => (await relayed.get("/events/pods")).body!.getReader()));
  const nextOf = async (index: number, wanted: string): Promise<Uint8Array> => {
    for (;;) {
      const { value } = await readers[index].read();
      if (new TextDecoder().decode(value).includes(wanted)) return value!;
    }
  };
  const [a, b] = await Promise.all([nextOf(0, "event:added"), nextOf(1, "event:added")]);
  assertEquals(a.buffer === b.buffer, true);
  await Promise.all([nextOf(0, "event:synced"), nextOf(1, "event:synced")]);
  label(relayed.server, "cart-0", "1");
  const [c, d] = await Promise.all([nextOf(0, "event:updated"), nextOf(1, "event:updated")]);
  assertEquals(c.buffer === d.buffer, true);
  for (const reader of readers) await reader.cancel();
});

Deno.test("a stream without changes has heartbeats with an id, by which a client resumes", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({ heartbeatMs: 15_000 }, { server: shop(1) });
  const events = await relayed.events("/events/pods");
  await time.tickAsync(0);
  await events.through("synced");
  const first = events.lastEventId;
  await time.tickAsync(30_000);
  assertEquals((await events.through("heartbeat")).at(-1), "heartbeat");
  assertNotEquals(events.lastEventId, first);
  await events[Symbol.asyncDispose]();
  await using again = await relayed.events("/events/pods", events.lastEventId);
  label(relayed.server, "cart-0", "1");
  await time.tickAsync(0);
  assertEquals(await again.through("updated"), ["updated cart-0"]);
});

Deno.test("the upstream watch ends when there is no client, and resumes without a list, 100 times", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({ lingerMs: 1_000 }, { server: shop(2), idleTimeoutMs: 1_000 });
  const { server } = relayed;
  for (let round = 0; round < 100; round++) {
    const events = await relayed.events("/events/pods");
    await time.tickAsync(0);
    assertEquals((await events.through("synced")).at(-1), "synced 2");
    assertEquals(server.watches, 1);
    label(server, "cart-0", `${round}`);
    await time.tickAsync(0);
    await events.through("updated");
    await events[Symbol.asyncDispose]();
    await time.tickAsync(2_000);
    assertEquals(server.watches, 0, `round ${round}`);
  }
  assertEquals(relayed.present, { connections: 0, streams: {} });
  const lists = server.requests.filter(({ verb, query }) => verb === "list" || query.has("sendInitialEvents"));
  assertEquals(lists.length, 1);
});

Deno.test("a relist is changes to the clients, and no snapshot", async () => {
  await using relayed = new Relayed({}, { server: shop(3) });
  const { server } = relayed;
  await using events = await relayed.events("/events/pods");
  await events.through("synced");
  server.forceRelist();
  server.delete(Pod, "shop/cart-0");
  label(server, "cart-1", "1");
  server.create(Pod, pod({ name: "cart-3", namespace: "shop" }));
  const texts: string[] = [];
  while (texts.length < 3) {
    const { text } = await events.next();
    if (!text.startsWith("state")) texts.push(text);
  }
  assertEquals(texts.sort(), ["added cart-3", "deleted shop/cart-0", "updated cart-1"]);
});

/** Plays two relays of one cluster: a client of the first goes to the second, and receives what `texts` returns. */
async function changeRelays(
  server: FakeApiServer,
  namespaces: SharedInformerFactoryOptions["namespaces"],
  texts: (resumed: Events) => Promise<string[]>,
): Promise<string[]> {
  const make = (): { relay: InformerRelay; informers: SharedInformerFactory; client: Client } => {
    const client = new Client({ server: "http://fake", transport: server });
    const informers = new SharedInformerFactory(client, { namespaces });
    return { relay: new InformerRelay(informers, { collections: { pods: Pod }, cluster: "blue" }), informers, client };
  };
  const [one, two] = [make(), make()];
  const open = async (relay: InformerRelay, id = ""): Promise<Events> =>
    new Events(
      await relay.fetch(new Request("http://localhost/events/pods", { headers: { "last-event-id": id } }), LOCAL),
    );
  const other = await open(two.relay);
  await other.through("synced");
  const first = await open(one.relay);
  assertEquals((await first.through("synced")).at(-1), "synced 2");
  const resumed = await open(two.relay, first.lastEventId);
  server.delete(Pod, "mail/mail-0");
  const received = await texts(resumed);
  for (const events of [first, other, resumed]) await events[Symbol.asyncDispose]();
  for (const { relay, informers, client } of [one, two]) {
    await relay[Symbol.asyncDispose]();
    await informers.shutdown();
    client[Symbol.dispose]();
  }
  return received;
}

Deno.test("caches of several namespaces are served, and resumed by another relay at the same versions", async () => {
  const server = shop(1);
  server.create(Pod, pod({ name: "mail-0", namespace: "mail" }));
  const received = await changeRelays(server, ["shop", "mail"], (resumed) => resumed.through("deleted"));
  assertEquals(received, ["deleted mail/mail-0"]);
});

Deno.test("where namespaces come and go, versions do not say what a client has: another relay begins anew", async () => {
  const server = shop(1);
  server.create(Pod, pod({ name: "mail-0", namespace: "mail" }));
  for (const name of ["shop", "mail"]) server.create(Namespace, namespace({ name, labels: { team: "x" } }));
  const received = await changeRelays(server, { labels: "team=x" }, (resumed) => resumed.through("snapshot"));
  assertEquals(received[0].split(" ")[0], "reset");
});

Deno.test("all selections of a collection together keep no more bytes than they may", async () => {
  await using relayed = new Relayed({ maxBytes: 80_000 }, { server: shop(1) });
  const paths = Array.from({ length: 10 }, (_, i) => `/events/pods?labelSelector=number!%3D${i}`);
  const streams = await Promise.all(paths.map((path) => relayed.events(path)));
  await Promise.all(streams.map((events) => events.through("synced")));
  const ids = streams.map(({ lastEventId }) => lastEventId);
  let bytes = 0;
  for (let i = 0; i < 10; i++) {
    label(relayed.server, "cart-0", `${i}`);
    for (const { data } of await Promise.all(streams.map((events) => events.next()))) {
      bytes += JSON.stringify(data).length;
    }
  }
  assert(bytes > 30_000, `${bytes}`); // each of them stays below the limit
  const again = await Promise.all(paths.map((path, index) => relayed.events(path, ids[index])));
  const texts = await Promise.all(again.map((events) => events.through("").then(() => events.next())));
  assertEquals(texts.map(({ text }) => text.split(" ")[0]), paths.map(() => "reset"));
  for (const events of [...streams, ...again]) await events[Symbol.asyncDispose]();
});

Deno.test("a client that comes back before its informer was released keeps it", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({ lingerMs: 1_000 }, { server: shop(1) });
  const first = await relayed.events("/events/pods");
  await time.tickAsync(0);
  await first.through("synced");
  await first[Symbol.asyncDispose]();
  await time.tickAsync(999);
  await using second = await relayed.events("/events/pods", first.lastEventId);
  await time.tickAsync(2_000);
  label(relayed.server, "cart-0", "1");
  await time.tickAsync(0);
  assertEquals(await second.through("updated"), ["updated cart-0"]);
});
