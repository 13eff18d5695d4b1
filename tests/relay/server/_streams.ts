import { nextTurn } from "../../../src/engine/async/turns.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import type { Relayed } from "../../support/servers/relayed.ts";

/** A server with `count` pods, `shop/cart-0` and so on. */
export function shop(count: number): FakeApiServer {
  const server = new FakeApiServer();
  for (let i = 0; i < count; i++) server.create(Pod, pod({ name: `cart-${i}`, namespace: "shop" }));
  return server;
}

export function label(server: FakeApiServer, name: string, value: string): void {
  server.patch(Pod, `shop/${name}`, { metadata: { labels: { step: value } } });
}

/** Waits until the cache has everything, and the relay has written it. */
export async function settled({ informers, server }: Relayed): Promise<void> {
  using pods = informers.acquire(Pod);
  await pods.informer.waitForVersion(server.resourceVersion);
  for (let i = 0; i < 5; i++) await nextTurn();
}
