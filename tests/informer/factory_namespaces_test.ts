import { WaitError } from "../../src/informer/status.ts";
import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { isForbidden } from "../../src/api/status.ts";
import type { CacheOptions } from "../../src/informer/options.ts";
import type { SharedInformerFactoryOptions } from "../../src/informer/options.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { Namespace, Node, Pod } from "../../src/kinds/core/v1.ts";
import { type FakeApiServerOptions, node, pod } from "../../src/testing/mod.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

/** A fixture whose namespaces have a pod each. */
function fixtureOf(options: SharedInformerFactoryOptions = {}, server: FakeApiServerOptions = {}): FactoryFixture {
  const fixture = new FactoryFixture(options, server);
  for (const namespace of ["a", "b", "c"]) fixture.server.create(Pod, pod({ namespace, name: "x" }));
  return fixture;
}

Deno.test("SharedInformerFactory's informer of several namespaces equals the server in these, and requests no others", async () => {
  await using fixture = fixtureOf({ namespaces: ["b", "a", "b"] });
  const { informers, server } = fixture;
  const pods = informers.forResource(Pod);
  informers.start();
  const waiting = informers.waitForCacheSync();
  await fixture.tick();
  await waiting;
  assertEquals([...pods.indexer.keys()].sort(), ["a/x", "b/x"]);
  assertEquals(server.requests.map(({ path }) => path).sort(), [
    "/api/v1/namespaces/a/pods",
    "/api/v1/namespaces/b/pods",
  ]);
  assertEquals(pods.status().namespaces?.map(({ namespace, state }) => `${namespace} ${state}`), ["b live", "a live"]);
  const { metadata } = server.create(Pod, pod({ namespace: "a", name: "y" }));
  const written = pods.atLeast(metadata.resourceVersion, { namespace: "a" });
  server.delete(Pod, "b/x");
  server.create(Pod, pod({ namespace: "c", name: "y" }));
  await fixture.tick();
  await written;
  assertEquals([...pods.indexer.keys()].sort(), ["a/x", "a/y"]);
  assertEquals(pods.lister.namespace("a").list().length, 2);
});

Deno.test("SharedInformerFactory's informer that is forbidden one namespace has the others", async () => {
  let mayAll = false;
  await using fixture = fixtureOf({ namespaces: ["a", "b"] }, {
    authorize: ({ namespace }) => mayAll ? true : namespace === "a",
  });
  const { informers } = fixture;
  const pods = informers.forResource(Pod);
  informers.start();
  const waiting = assertRejects(() => informers.waitForCacheSync(), WaitError);
  await fixture.tick();
  const { message, cause } = await waiting;
  assertEquals(message, 'Cannot wait for "pods" in namespace "b" to sync: its state has been "forbidden" for 0.0 s');
  assert(isForbidden(cause));
  assertEquals([pods.hasSynced, [...pods.indexer.keys()], pods.status().state], [false, ["a/x"], "forbidden"]);
  assertEquals(pods.status().namespaces?.map(({ state }) => state), ["live", "forbidden"]);
  mayAll = true;
  await fixture.tick(10_000);
  assertEquals([pods.hasSynced, [...pods.indexer.keys()], pods.status().state], [true, ["a/x", "b/x"], "live"]);
});

Deno.test("SharedInformerFactory makes one informer per set of namespaces, in any order", async () => {
  await using fixture = fixtureOf({ namespaces: ["a", "b"] });
  const { informers } = fixture;
  const pods = informers.forResource(Pod);
  for (const namespaces of [["a", "b"], ["b", "a", "a"]]) {
    assertStrictEquals(informers.forResource(Pod, { namespaces }), pods);
  }
  const a = informers.forResource(Pod, { namespace: "a" });
  assertStrictEquals(informers.forResource(Pod, { namespaces: ["a"] }), a);
  const others = [
    a,
    informers.forResource(Pod, { namespaces: ["a", "c"] }),
    informers.forResource(Pod, { namespace: "" }),
  ];
  for (const other of others) assertNotStrictEquals(other, pods);
  assertEquals(new Set(others).size, 3);
  informers.start();
  await fixture.tick();
  assertEquals(fixture.server.watches, 2 + 1 + 2 + 1);
});

Deno.test("SharedInformerFactory requests a cluster-scoped resource once, whatever namespaces are selected", async () => {
  await using fixture = fixtureOf({ namespaces: ["a", "b"] });
  const { informers, server } = fixture;
  server.create(Node, node({ name: "worker-1" }));
  const nodes = informers.forResource(Node);
  assertStrictEquals(informers.forResource(Node, { namespace: "a" }), nodes);
  informers.forResource(Namespace, { namespaces: ["c", "d"] });
  informers.start();
  await fixture.tick();
  assertEquals([[...nodes.indexer.keys()], server.watches], [["worker-1"], 2]);
});

Deno.test("SharedInformerFactory refuses invalid namespaces before any request", async () => {
  await using fixture = fixtureOf({ namespace: "a" });
  const { informers, client } = fixture;
  for (const namespaces of [[], [""]]) {
    assertThrows(() => new SharedInformerFactory(client, { namespaces }), TypeError, "Cannot select namespaces");
    assertThrows(() => informers.forResource(Pod, { namespaces }), TypeError, "Cannot select namespaces");
    assertThrows(() => informers.forResource(Node, { namespaces }), TypeError, "Cannot select namespaces");
  }
  const both = { namespace: "a", namespaces: ["b"] };
  assertThrows(() => new SharedInformerFactory(client, both), TypeError, "give one of the two");
  assertThrows(() => informers.forResource(Pod, both), TypeError, "give one of the two");
  assertThrows(() => informers.acquire(Pod, both), TypeError, "give one of the two");
  for (const where of [{ namespace: "a/b" }, { namespaces: ["a", ".."] }]) {
    assertThrows(() => informers.forResource(Pod, where), TypeError, "as namespace");
  }
  // What is given instead of the factory's is no contradiction.
  informers.forResource(Pod, { namespaces: ["b", "c"] });
});

Deno.test("SharedInformerFactory treats an option that is set to its default like an absent one", async () => {
  const same: CacheOptions[] = [
    { managedFields: "drop", parse: "lazy", freeze: false, resyncMs: 0, graceMs: 10_000 },
    { reflector: { backoff: { jitter: 0 } } }, // equal, not the same
    { reflector: { backoff: { jitter: 0, maxMs: undefined } } },
  ];
  for (const first of [{}, ...same]) {
    await using fixture = fixtureOf();
    const { informers } = fixture;
    const pods = informers.forResource(Pod, first);
    for (const later of [{}, ...same]) assertStrictEquals(informers.forResource(Pod, later), pods);
    for (
      const [name, other] of Object.entries({
        managedFields: "keep",
        resyncMs: 1,
        reflector: { backoff: { jitter: 0 }, pageSize: 1 },
        transform: (pod: Pod) => pod,
      })
    ) assertThrows(() => informers.forResource(Pod, { [name]: other }), Error, `option "${name}"`);
  }
  // The factory's own default is not the library's.
  await using fixture = fixtureOf({ managedFields: "keep" });
  fixture.informers.forResource(Pod);
  fixture.informers.forResource(Pod, { managedFields: "keep" });
  assertThrows(() => fixture.informers.forResource(Pod, { managedFields: "drop" }), Error, 'option "managedFields"');
});

Deno.test("statusChanges() of many namespaces yields one status for all that change in a turn", async () => {
  await using fixture = new FactoryFixture({ reflector: { reconnectMs: 0 } });
  const namespaces = Array.from({ length: 30 }, (_, i) => `n${i}`);
  const pods = fixture.informers.forResource(Pod, { namespaces });
  await fixture.start();
  let statuses = 0;
  let state = "";
  const reading = (async () => {
    for await (const status of pods.statusChanges()) {
      statuses++;
      state = status.state;
    }
  })();
  await fixture.tick();
  statuses = 0;
  // The watches open one after the other in a turn, so that a reader could take a status for each.
  let opened = 0;
  fixture.server.beforeNext(async () => {
    for (let left = 50 * opened++; left > 0; left--) await Promise.resolve();
  }, namespaces.length);
  fixture.server.endWatches();
  await fixture.tick(1_000);
  assertEquals(state, "live");
  assert(statuses > 0 && statuses <= 4, `${statuses} statuses`);
  await Promise.all([fixture.informers.shutdown(), fixture.tick()]);
  await reading;
  assertEquals(state, "stopped");
});
