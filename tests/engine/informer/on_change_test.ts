import {
  Client,
  derive,
  type HandlerRegistration,
  onChange,
  type SharedIndexInformer,
  SharedInformerFactory,
} from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { configMap, FakeApiServer, FakeTime, pod } from "@kube/informer/testing";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Latest } from "../../../src/engine/async/iterate.ts";
import { nextTurn } from "../../../src/engine/async/turns.ts";

/** Informers of pods and ConfigMaps on a fake server with one pod. */
async function shop(
  options: { readonly starts?: boolean } = {},
): Promise<
  {
    readonly server: FakeApiServer;
    readonly informers: SharedInformerFactory;
    readonly pods: SharedIndexInformer<Pod>;
    readonly maps: SharedIndexInformer<ConfigMap>;
  } & AsyncDisposable
> {
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
  const client = new Client({ server: "http://fake", transport: server });
  const informers = new SharedInformerFactory(client);
  const pods = informers.forResource(Pod);
  const maps = informers.forResource(ConfigMap);
  if (options.starts ?? true) {
    informers.start();
    await informers.waitForCacheSync();
  }
  return {
    server,
    informers,
    pods,
    maps,
    [Symbol.asyncDispose]: async () => {
      await informers.shutdown();
      client[Symbol.dispose]();
    },
  };
}

/** Counts calls, and waits for them. */
class Calls {
  #count = 0;
  readonly #latest = new Latest(() => this.#count);

  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count++;
    this.#latest.changed();
  }

  async until(count: number): Promise<void> {
    for await (const now of this.#latest.read({})) if (now >= count) return;
  }
}

Deno.test("onChange calls its handler when all collections have synced, also empty ones, and not before", async () => {
  await using all = await shop({ starts: false });
  const calls = new Calls();
  const seen: unknown[] = [];
  using _ = onChange([all.pods, all.maps], () => {
    seen.push([all.pods.hasSynced, all.maps.hasSynced, all.pods.lister.list().length]);
    calls.add();
  });
  const running = new AbortController();
  const podsRun = all.pods.run({ signal: running.signal });
  await all.pods.waitForCacheSync();
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  assertEquals(seen, []);
  const mapsRun = all.maps.run({ signal: running.signal });
  await calls.until(1);
  assertEquals(seen, [[true, true, 1]]);
  running.abort();
  await Promise.all([podsRun, mapsRun]);
});

Deno.test("onChange covers many changes to several collections by one call in a turn", async () => {
  await using all = await shop();
  const calls = new Calls();
  const sizes: number[] = [];
  using _ = onChange([all.pods, all.maps], () => {
    sizes.push(all.pods.lister.list().length + all.maps.lister.list().length);
    calls.add();
  });
  await calls.until(1);
  for (let i = 0; i < 50; i++) {
    all.server.create(Pod, pod({ name: `more-${i}`, namespace: "shop" }));
    all.server.create(ConfigMap, configMap({ name: `more-${i}`, namespace: "shop" }));
  }
  for (const one of [all.pods, all.maps]) await one.until(() => true, { key: "shop/more-49" });
  while (sizes.at(-1)! < 101) await calls.until(calls.count + 1);
  assertEquals([sizes[0], sizes.at(-1)], [1, 101]);
  assert(sizes.length < 20, `${sizes.length} calls for 100 changes`);
  const before = calls.count;
  all.server.patch(Pod, "shop/web-0", { metadata: { labels: { a: "b" } } });
  await calls.until(before + 1);
  all.server.delete(Pod, "shop/web-0");
  await calls.until(before + 2);
  assertEquals(all.pods.lister.get("shop/web-0"), undefined);
});

Deno.test("onChange calls its handler in a later turn, once for all changes of a turn, and follows a collection once", async () => {
  let changed: (() => void) | undefined;
  let handlers = 0;
  const registration = { hasSynced: true };
  const source: Parameters<typeof onChange>[0][number] = {
    addEventHandler: ({ onUpdate }) => {
      handlers++;
      changed = onUpdate as () => void;
      return registration as HandlerRegistration;
    },
  };
  let calls = 0;
  using _ = onChange([source, source], () => void calls++);
  for (let i = 0; i < 10; i++) {
    changed!();
    await Promise.resolve();
  }
  assertEquals([calls, handlers], [0, 1]);
  await nextTurn();
  await nextTurn();
  assertEquals(calls, 1);
});

Deno.test("onChange follows derived collections", async () => {
  await using all = await shop();
  await using phases = derive(all.pods, ({ metadata: { name, namespace }, status }) => ({
    metadata: { name, namespace },
    phase: status?.phase,
  }));
  const calls = new Calls();
  using _ = onChange([phases], () => calls.add());
  await calls.until(1);
  all.server.annotate(Pod, "shop/web-0", { a: "b" }); // changes the pod, and not the derived object
  await all.pods.waitForVersion(all.server.resourceVersion);
  all.server.patch(Pod, "shop/web-0", { status: { phase: "Failed" } });
  await calls.until(2);
  assertEquals(phases.lister.get("shop/web-0")?.phase, "Failed");
  assertEquals(calls.count, 2);
});

Deno.test("onChange never calls a slow handler twice at a time, and once more for what changed meanwhile", async () => {
  await using all = await shop();
  const slow = new Calls();
  const fast = new Calls();
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  let running = 0;
  let most = 0;
  using _slow = onChange([all.pods], async () => {
    most = Math.max(most, ++running);
    slow.add();
    await gates[slow.count - 1].promise;
    running--;
  });
  using _fast = onChange([all.pods], () => fast.add());
  await slow.until(1);
  await fast.until(1);
  for (let i = 0; i < 3; i++) {
    all.server.annotate(Pod, "shop/web-0", { a: `${i}` });
    await fast.until(i + 2); // the slow one does not hold it up
  }
  assertEquals(slow.count, 1);
  gates[0].resolve();
  await slow.until(2);
  gates[1].resolve();
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  assertEquals([slow.count, most], [2, 1]);
});

Deno.test("onChange reports what a handler throws, and calls it again after a wait, while others go on", async () => {
  await using all = await shop();
  using time = new FakeTime();
  const errors: unknown[] = [];
  const failing: number[] = [];
  let fails = 2;
  const others = new Calls();
  using _failing = onChange([all.pods, all.maps], () => {
    failing.push(time.now);
    if (fails-- > 0) throw new Error("no page");
  }, { onError: (error) => errors.push(error) });
  using _others = onChange([all.pods], () => others.add());
  await time.tickAsync(0);
  assertEquals([failing.length, errors.length, others.count], [1, 1, 1]);
  all.server.annotate(Pod, "shop/web-0", { a: "1" });
  await time.tickAsync(0);
  assertEquals([failing.length, others.count], [1, 2]); // its next call is due later, and covers the change
  await time.tickAsync(30_000);
  assertEquals([failing.length, errors.length], [3, 2]);
  assert(failing[1] - failing[0] >= 800 && failing[2] - failing[1] >= 1_600, `${failing}`);
  assertStringIncludes(String(errors[0]), "no page");
  all.server.annotate(Pod, "shop/web-0", { a: "2" });
  await time.tickAsync(0);
  assertEquals(failing.length, 4); // no wait is left over
  fails = 1;
  all.server.annotate(Pod, "shop/web-0", { a: "3" });
  await time.tickAsync(1_600); // the first failure in a row has the shortest wait again
  assertEquals([failing.length, errors.length], [6, 3]);
});

Deno.test("onChange ends by its signal and by disposal, which abort the signal of a running call", async () => {
  await using all = await shop();
  for (const by of ["signal", "disposal"]) {
    const stop = new AbortController();
    const calls = new Calls();
    const errors: unknown[] = [];
    const given = Promise.withResolvers<AbortSignal>();
    const ended = Promise.withResolvers<void>();
    const changes = onChange([all.pods], async ({ signal }) => {
      calls.add();
      given.resolve(signal);
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
        .finally(ended.resolve);
    }, { signal: stop.signal, onError: (error) => errors.push(error) });
    const signal = await given.promise;
    assertEquals(all.pods.status().handlers.map(({ name }) => name), ["onChange"]);
    if (by === "signal") stop.abort();
    else changes[Symbol.dispose]();
    await ended.promise;
    assertEquals(signal.aborted, true);
    all.server.annotate(Pod, "shop/web-0", { by });
    await all.pods.waitForVersion(all.server.resourceVersion);
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    assertEquals([calls.count, errors, all.pods.status().handlers], [1, [], []], by);
  }
});

Deno.test("onChange refuses no collections, and a collection that has stopped, and leaves no handler behind", async () => {
  await using all = await shop();
  assertThrows(() => onChange([], () => {}), TypeError, "Cannot follow changes: collections is empty");
  const stopped = derive(all.maps, () => undefined);
  await stopped[Symbol.asyncDispose]();
  assertThrows(() => onChange([all.pods, stopped], () => {}), Error, "has stopped");
  await nextTurn();
  assertEquals(all.pods.status().handlers, []);
});
