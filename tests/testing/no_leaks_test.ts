import { Client, derive, SharedIndexInformer, SharedInformerFactory } from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, FakeTime, noLeaks, pod } from "@kube/informer/testing";
import { assertEquals, assertRejects } from "@std/assert";

/** The error of a guard. */
async function leaks(guard: AsyncDisposable): Promise<readonly string[]> {
  const { message } = await assertRejects(() => Promise.resolve(guard[Symbol.asyncDispose]()), Error);
  const [, list] = /^Cannot end the test without leaks: (.*)\. Dispose them: .*$/.exec(message)!;
  return list.split("; ");
}

Deno.test("noLeaks names informers that run, their handlers and open watches, and nothing after their disposal", async () => {
  using server = new FakeApiServer();
  const guard = noLeaks(server);
  const client = new Client({ server: "http://fake", transport: server });
  const informers = guard.add(new SharedInformerFactory(client));
  const alone = guard.add(new SharedIndexInformer(client.resource(ConfigMap, { namespace: "shop" })));
  const pods = informers.forResource(Pod);
  pods.addEventHandler({}, { name: "printer" });
  informers.start();
  const running = alone.run();
  const named = guard.add(derive(pods, () => undefined, { name: "named" }));
  await Promise.all([informers.waitForCacheSync(), alone.waitForCacheSync(), named.waitForCacheSync()]);
  assertEquals(await leaks(guard), [
    "a watch on pods is open",
    "a watch on configmaps is open",
    'the informer of "pods" still runs, and its state is "live"',
    'handler "printer" on the informer of "pods" is still registered, and 0 events wait',
    'the informer of "configmaps" still runs, and its state is "live"',
    'derived collection "named" still runs, and its state is "live"',
  ]);
  await named[Symbol.asyncDispose]();
  await alone[Symbol.asyncDispose]();
  await running;
  await informers.shutdown();
  client[Symbol.dispose]();
  await guard[Symbol.asyncDispose]();
});

Deno.test("noLeaks finds an informer that it was not given by the server, also a request without a response", async () => {
  using server = new FakeApiServer();
  const guard = noLeaks(server);
  using client = new Client({ server: "http://fake", transport: server });
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  server.beforeNext(() => {
    asked.resolve();
    return gate.promise;
  });
  const lost = assertRejects(() => client.resource(Pod).list());
  await asked.promise;
  assertEquals(await leaks(guard), ["GET /api/v1/pods has no response"]);
  const informer = new SharedIndexInformer(client.resource(ConfigMap));
  const running = informer.run();
  await informer.waitForCacheSync();
  assertEquals((await leaks(guard))[0], "a watch on configmaps is open");
  await informer[Symbol.asyncDispose]();
  await running;
  client[Symbol.dispose]();
  await lost;
  gate.resolve();
  await guard[Symbol.asyncDispose]();
});

Deno.test("noLeaks names the fake timers that wait, until they are cleared", async () => {
  using time = new FakeTime();
  const guard = noLeaks(time);
  const late = setTimeout(() => {}, 30_000);
  setTimeout(() => {}, 800);
  time.tick(100);
  assertEquals(await leaks(guard), ["a fake timer is due in 700 ms", "a fake timer is due in 29900 ms"]);
  time.tick(700);
  clearTimeout(late);
  await guard[Symbol.asyncDispose]();
});

Deno.test("noLeaks looks after the objects that are declared after it, and accepts what was never started", async () => {
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0" }));
  using time = new FakeTime();
  await using guard = noLeaks(server, time);
  using client = new Client({ server: "http://fake", transport: server });
  await using informers = guard.add(new SharedInformerFactory(client));
  informers.forResource(ConfigMap);
  informers.forResource(Pod).addEventHandler({});
  informers.start();
  await time.tickAsync(10);
  guard.add(new SharedInformerFactory(client)).forResource(Pod); // never started
  assertEquals(informers.forResource(Pod).hasSynced, true);
});
