import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { isForbidden, isThrottled, StatusError } from "../../../src/engine/api/status.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { evict } from "../../../src/operator/workloads/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { CountedController } from "../../support/times/listeners.ts";
import { Shop } from "./_shop.ts";

const isEviction = ({ path }: { readonly path: string }): boolean => path.endsWith("/eviction");

/** The value, or the error, of a promise that has settled. */
function outcomeOf<T>(promise: Promise<T>): { value?: T | unknown } {
  const outcome: { value?: T | unknown } = {};
  promise.then((value) => outcome.value = value, (error) => outcome.value = error);
  return outcome;
}

Deno.test("evict deletes a pod with the given grace period, and is false for a pod that is gone", async () => {
  using shop = new Shop();
  const { server, client } = shop;
  shop.add("shop/a");
  const pods = client.resource(Pod, { namespace: "shop" });
  assertEquals(await evict(pods, "a", { dryRun: true }), true);
  assertEquals(server.get(Pod, "shop/a")?.metadata.deletionTimestamp, undefined);
  assertEquals(await evict(pods, "a", { gracePeriodSeconds: 7 }), true);
  assertEquals(server.get(Pod, "shop/a")?.metadata.deletionGracePeriodSeconds, 7);
  assertEquals(await evict(pods, "a", { gracePeriodSeconds: 0 }), true);
  assertEquals(server.keys(Pod), []);
  assertEquals(await evict(pods, "a"), false);
});

Deno.test("evict waits for its budget, while another eviction goes on", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  shop.add("shop/a");
  shop.add("shop/b");
  shop.allow("a", 0);
  shop.allow("b", 1);
  const pods = shop.client.resource(Pod, { namespace: "shop" });
  const delays: number[] = [];
  const onBlocked = (error: StatusError, delayMs: number): void => {
    assert(isThrottled(error));
    delays.push(delayMs);
  };
  const controller = new CountedController();
  const { signal } = controller;
  const blocked = outcomeOf(evict(pods, "a", { gracePeriodSeconds: 0, signal, onBlocked }));
  const free = outcomeOf(evict(pods, "b", { gracePeriodSeconds: 0, onBlocked }));
  await time.tickAsync(0);
  assertEquals([blocked, free], [{}, { value: true }]);
  await time.tickAsync(60_000);
  assertEquals(blocked, {});
  assert(delays[0] >= 800 && delays[0] <= 1_600, `${delays[0]}`);
  assert(delays.slice(3).every((ms) => ms >= 2_500 && ms <= 5_000), `${delays}`);
  shop.allow("a", 1);
  await time.tickAsync(5_000);
  assertEquals([blocked, shop.server.keys(Pod), controller.listeners], [{ value: true }, [], 0]);
});

Deno.test("evict waits as long as the server asks, and tells so at once", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  shop.add("shop/a");
  const busy = { code: 429, reason: "TooManyRequests", retryAfterSeconds: 10 };
  shop.server.failNext(busy, 1, isEviction);
  const delays: number[] = [];
  const onBlocked = (_error: unknown, delayMs: number): void => void delays.push(delayMs);
  const eviction = outcomeOf(evict(shop.client.resource(Pod, { namespace: "shop" }), "a", { onBlocked }));
  await time.tickAsync(9_999);
  assertEquals([eviction, delays], [{}, [10_000]]);
  await time.tickAsync(1);
  assertEquals([eviction, shop.evictions], [{ value: true }, 2]);
});

Deno.test("evict tries again while the namespace terminates and after a conflict of others, and fails for other reasons", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  const uid = shop.add("shop/a");
  const pods = shop.client.resource(Pod, { namespace: "shop" });
  const causes = [{ reason: "NamespaceTerminating", message: "namespace shop is being terminated" }];
  shop.server.failNext({ code: 403, reason: "Forbidden", details: { causes } }, 1, isEviction);
  shop.server.failNext({ code: 409, reason: "Conflict" }, 1, isEviction);
  shop.server.failNext(503, 1, isEviction);
  const eviction = outcomeOf(evict(pods, "a", { uid }));
  await time.tickAsync(10_000);
  assertEquals([eviction, shop.evictions], [{ value: true }, 4]);
  shop.server.failNext(403, 1, isEviction);
  assert(isForbidden(await assertRejects(() => evict(pods, "a", { uid }))));
  shop.server.failNext({ code: 404, reason: "NotFound" }, 1, isEviction);
  await assertRejects(() => evict(pods, "a"), StatusError); // says nothing about the pod
});

Deno.test("evict leaves another pod of the same name, that came while it was blocked", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  const { server } = shop;
  const uid = shop.add("shop/a");
  shop.allow("a", 0);
  const pods = shop.client.resource(Pod, { namespace: "shop" });
  const eviction = outcomeOf(evict(pods, "a", { uid, gracePeriodSeconds: 0 }));
  await time.tickAsync(500);
  server.delete(Pod, "shop/a");
  const next = shop.add("shop/a");
  shop.allow("a", 1);
  await time.tickAsync(2_000);
  assertEquals([eviction, server.get(Pod, "shop/a")?.metadata.uid], [{ value: false }, next]);
});

Deno.test("an eviction and a binding without these functions are answered by a status", async () => {
  using shop = new Shop();
  shop.add("shop/a");
  const pods = shop.client.resource(Pod, { namespace: "shop" });
  const { code, reason } = await pods.create({ metadata: { name: "a" } }, { subresource: "eviction" });
  assertEquals([code, reason], [201, "Success"]);
});

Deno.test("evict does not wait in a dry run", async () => {
  using shop = new Shop();
  shop.add("shop/a");
  shop.allow("a", 0);
  const pods = shop.client.resource(Pod, { namespace: "shop" });
  assert(isThrottled(await assertRejects(() => evict(pods, "a", { dryRun: true }))));
});

Deno.test("evict ends with the reason of its signal", async () => {
  using time = new FakeTime();
  using shop = new Shop();
  shop.add("shop/a");
  shop.allow("a", 0);
  const controller = new AbortController();
  const { signal } = controller;
  const eviction = outcomeOf(evict(shop.client.resource(Pod, { namespace: "shop" }), "a", { signal }));
  await time.tickAsync(100);
  const reason = new Error("enough");
  controller.abort(reason);
  await time.tickAsync(0);
  assertStrictEquals(eviction.value, reason);
  assertEquals([time.timers, shop.evictions], [0, 1]);
});

Deno.test("evict refuses wrong options", async () => {
  using shop = new Shop();
  const pods = shop.client.resource(Pod, { namespace: "shop" });
  await assertRejects(() => evict(pods, "a", { gracePeriodSeconds: -1 }), RangeError, "gracePeriodSeconds");
  const options = { force: true };
  await assertRejects(() => evict(pods, "a", options as never), TypeError, '"force"');
});
