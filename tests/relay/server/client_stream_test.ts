import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeTime, pod } from "../../../src/testing/mod.ts";
import { Relayed } from "../../support/servers/relayed.ts";
import { label, settled, shop } from "./_streams.ts";

Deno.test("a client that falls behind the changes that are kept is disconnected with the reason", async () => {
  await using relayed = new Relayed({ maxBytes: 20_000 }, { server: shop(1) });
  await using slow = await relayed.events("/events/pods");
  await slow.through("synced"); // and then reads nothing else
  await using fast = await relayed.events("/events/pods");
  await fast.through("synced");
  for (let i = 0; i < 50; i++) {
    label(relayed.server, "cart-0", `${i}`);
    await fast.through("updated");
  }
  const texts = await slow.through("closed");
  assertEquals(texts.slice(-2), ["end slow", "closed"]);
  assert(texts.length < 20, `${texts.length} events were kept for it`);
});

Deno.test("a client that reads nothing is disconnected after a time, and its connection is broken at last", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({ heartbeatMs: 10_000, stallMs: 25_000 }, { server: shop(1) });
  const response = await relayed.get("/events/pods");
  const reader = response.body!.getReader();
  await reader.read(); // the state, and then nothing else
  await time.tickAsync(20_000);
  assertEquals(relayed.relay.status().connections, 1);
  await time.tickAsync(10_000);
  assertEquals(relayed.relay.status().connections, 0);
  await time.tickAsync(5_000);
  let error: unknown;
  await reader.read().catch((reason) => error = reason);
  assertEquals(String(error), "Error: The client does not read the response");
});

Deno.test("a snapshot of many objects comes in parts, and changes in between come before it is complete", async () => {
  await using relayed = new Relayed({}, { server: shop(700) });
  await using events = await relayed.events("/events/pods?fields=metadata.labels");
  while ((await events.next()).text !== "snapshot 700");
  label(relayed.server, "cart-699", "after");
  await settled(relayed);
  relayed.server.delete(Pod, "shop/cart-0");
  await settled(relayed);
  const texts = await events.through("synced");
  assertEquals(new Set(texts.filter((text) => text.startsWith("added"))).size, 700);
  assertEquals(texts.filter((text) => !text.startsWith("added")), [
    "updated cart-699",
    "deleted shop/cart-0",
    "synced 700",
  ]);
});

Deno.test("a stream has the state of the cache when it is synced, whatever others have read before", async () => {
  await using relayed = new Relayed({}, { server: shop(3) });
  const reader = (await relayed.get("/events/pods")).body!.getReader(); // has read all parts but the last events
  await reader.read();
  await reader.read();
  for (let round = 0; round < 20; round++) {
    relayed.server.create(Pod, pod({ name: `new-${round}`, namespace: "shop" }));
    if (round > 0) relayed.server.delete(Pod, `shop/new-${round - 1}`);
    await settled(relayed);
    await using late = await relayed.events("/events/pods");
    const texts = await late.through("synced");
    assertEquals(texts.sort(), [
      ...["added cart-0", "added cart-1", "added cart-2", `added new-${round}`],
      ...["snapshot 4", "synced 4"],
    ]);
  }
  await reader.cancel();
});

Deno.test("a stream that is cut before its snapshot is complete has no id to resume at, whatever has changed", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({ heartbeatMs: 15_000 }, { server: shop(600) });
  await using other = await relayed.events("/events/pods");
  await time.tickAsync(0);
  await other.through("synced");
  const events = await relayed.events("/events/pods");
  await events.through("snapshot");
  for (let i = 0; i < 3; i++) {
    label(relayed.server, "cart-599", `${i}`);
    await time.tickAsync(0);
  }
  await time.tickAsync(30_000); // a heartbeat
  const texts: string[] = [];
  for (let text = ""; !text.startsWith("synced"); texts.push(text)) {
    assertEquals(events.lastEventId, "", text);
    ({ text } = await events.next());
  }
  assert(texts.includes("updated cart-599") && texts.includes("heartbeat"), `${texts.length}`);
  assertNotEquals(events.lastEventId, "");
  await events[Symbol.asyncDispose]();
});

Deno.test("slow readers of snapshots share the budget of bytes, and each gets all objects", async () => {
  await using relayed = new Relayed({ maxBytes: 4 * 200_000 }, { server: shop(1_000) }); // some 500 kB of text
  const streams = await Promise.all(
    Array.from({ length: 20 }, (_, i) => relayed.events(`/events/pods?labelSelector=!x${i % 10}`)),
  );
  const seen = streams.map(() => new Set<string>());
  const step = async (index: number): Promise<boolean> => {
    const { text } = await streams[index].next();
    if (text.startsWith("added")) seen[index].add(text);
    return text.startsWith("synced");
  };
  for (let round = 0; round < 900; round++) await Promise.all(streams.map((_, index) => step(index)));
  const { bytes } = relayed.relay.status();
  assert(bytes > 100_000 && bytes <= 200_000, `${bytes}`);
  for (const index of streams.keys()) while (!await step(index));
  assertEquals(seen.map(({ size }) => size), streams.map(() => 1_000));
  assert(relayed.relay.status().bytes < 10_000); // only changes and heartbeats
  for (const events of streams) await events[Symbol.asyncDispose]();
});
