import {
  Client,
  defineResource,
  InformerError,
  isConflict,
  isForbidden,
  isNotFound,
  type KubernetesObject,
  type Mutable,
  onlyMetadata,
  type Transport,
} from "@kube/informer";
import { createOrUpdate, finalize, retryOnConflict, upgradeManagedFields, writeStatus } from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, assertMatch, assertRejects, assertStrictEquals } from "@std/assert";
import * as fc from "npm:fast-check@^4.10.2";
import { nextTurn } from "../../../../src/engine/async/turns.ts";
import { timestampNow } from "../../../../src/operator/controllers/reconcile/conditions.ts";
import { mergeDiff, microTimestampNow } from "../../../../src/operator/controllers/reconcile/objects.ts";
import { mergePatch } from "../../../../src/testing/fake/apply/patches.ts";
import type { Json } from "../../../../src/engine/api/json.ts";
import { ConfigMap, Pod } from "../../../support/servers/fake_server.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { refused } from "../../../support/sources/fixtures.ts";

const draft = { metadata: { name: "settings", namespace: "shop" }, data: { colour: "red" } };
const paint = (colour: string) => (map: ConfigMap): ConfigMap => ({ ...map, data: { ...map.data, colour } });

function verbs(server: FakeApiServer): string {
  return server.requests.map(({ verb }) => verb).join(" ");
}

Deno.test("createOrUpdate creates, leaves alone and updates, with one write at most", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const maps = client.resource(ConfigMap);
  const operations = [];
  for (const colour of ["red", "red", "blue"]) {
    const { operation, object } = await createOrUpdate(maps, draft, paint(colour));
    operations.push(`${operation} ${object.data?.colour}`);
  }
  assertEquals(operations, ["created red", "unchanged red", "updated blue"]);
  assertEquals(verbs(server), "get create get get patch");
  assertEquals(server.get(ConfigMap, "shop/settings")?.data, { colour: "blue" });
});

Deno.test("createOrUpdate accepts a change in place, removes fields, and does not write the status", async () => {
  // The type of a ConfigMap has no status.
  const Setting = defineResource<ConfigMap>({
    group: "example.com",
    version: "v1",
    plural: "settings",
    kind: "Setting",
  });
  const server = new FakeApiServer({ resources: [Setting] });
  using client = new Client({ server: "http://fake", transport: server });
  const map = { ...draft, data: { colour: "red", shape: "round" }, status: { seen: true } };
  server.create(Setting, map);
  const { operation } = await createOrUpdate(client.resource(Setting), draft, (map) => {
    Object.assign(map, { data: { colour: "red" }, status: { seen: false } });
  });
  assertEquals(operation, "updated");
  const { data, status } = server.get(Setting, "shop/settings") as ConfigMap & { readonly status?: unknown };
  assertEquals([data, status], [{ colour: "red" }, { seen: true }]);
});

Deno.test("createOrUpdate reads nothing when the caller has the object, and does not change that", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const current = server.create(ConfigMap, draft);
  await createOrUpdate(client.resource(ConfigMap), draft, (map) => void Object.assign(map.data!, { colour: "blue" }), {
    current,
  });
  assertEquals([verbs(server), current.data], ["patch", { colour: "red" }]);
});

Deno.test("createOrUpdate reads again when the object has changed, was deleted or was created meanwhile", async (test) => {
  const cases: [string, string, (server: FakeApiServer) => void][] = [
    ["patch", "get patch get patch", (server) => server.annotate(ConfigMap, "shop/settings", { seen: "yes" })],
    ["patch", "get patch get create", (server) => void server.delete(ConfigMap, "shop/settings")],
    ["create", "get create get patch", (server) => void server.create(ConfigMap, draft)],
  ];
  for (const [verb, requests, interfere] of cases) {
    await test.step(requests, async () => {
      const server = new FakeApiServer();
      using client = new Client({ server: "http://fake", transport: server });
      if (verb === "patch") server.create(ConfigMap, draft);
      server.beforeNext(() => interfere(server), 1, (request) => request.verb === verb);
      await createOrUpdate(client.resource(ConfigMap), draft, paint("blue"));
      assertEquals(verbs(server), requests);
      assertEquals(server.get(ConfigMap, "shop/settings")?.data?.colour, requests.endsWith("create") ? "red" : "blue");
    });
  }
});

Deno.test("createOrUpdate leaves an owned object that is being deleted, unless its finalizers change", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "shop", uid: "uid-of-shop" };
  const owned = { ...draft, metadata: { ...draft.metadata, ownerReferences: [owner], finalizers: [FINALIZER] } };
  server.create(ConfigMap, owned);
  const maps = client.resource(ConfigMap);
  await client.resource(ConfigMap, { namespace: "shop" }).delete("settings");
  const operations: string[] = [];
  const write = async (of: typeof draft, change: (map: Mutable<ConfigMap>) => void) => {
    operations.push((await createOrUpdate(maps, of, change)).operation);
  };
  await write(owned, paint("blue"));
  assertEquals(verbs(server), "delete get");
  await write(draft, paint("green")); // without the owner's name
  await write(owned, (map) => void (map.metadata.finalizers = []));
  assertEquals(operations, ["unchanged", "updated", "updated"]);
  assertEquals(server.get(ConfigMap, "shop/settings"), undefined);
});

Deno.test("createOrUpdate rejects with other errors at once, a missing namespace among them", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  server.failNext(403);
  assert(isForbidden(await assertRejects(() => createOrUpdate(client.resource(ConfigMap), draft, paint("red")))));
  server.failNext(404, 1, (request) => request.verb === "create");
  assert(isNotFound(await assertRejects(() => createOrUpdate(client.resource(ConfigMap), draft, paint("red")))));
  assertEquals(verbs(server), "get get create");
});

Deno.test("createOrUpdate refuses a draft without a name, and a change of the name", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  server.create(ConfigMap, draft);
  const maps = client.resource(ConfigMap);
  await assertRejects(
    () => createOrUpdate(maps, { metadata: { generateName: "x" } }, paint("red")),
    TypeError,
    "no metadata.name",
  );
  const rename = (map: ConfigMap): ConfigMap => ({ ...map, metadata: { ...map.metadata, name: "other" } });
  await assertRejects(() => createOrUpdate(maps, draft, rename), TypeError, 'it returned "other"');
});

const FINALIZER = "example.com/backups";
const KEY = "default/tab";

interface Guarded extends Disposable {
  readonly server: FakeApiServer;
  readonly client: Client;
  /** The calls of the cleanup. */
  readonly cleaned: string[];
  /** Guards the object as the server has it now, or `object`. */
  finalize(object?: ConfigMap, cleanup?: () => void): Promise<ConfigMap | undefined>;
}

function tabWith(finalizers?: readonly string[]): Guarded {
  const server = new FakeApiServer();
  const client = new Client({ server: "http://fake", transport: server });
  server.create(ConfigMap, { metadata: { name: "tab", ...(finalizers ? { finalizers } : {}) } });
  const cleaned: string[] = [];
  return {
    server,
    client,
    cleaned,
    [Symbol.dispose]: () => client[Symbol.dispose](),
    finalize: (object = server.get(ConfigMap, KEY)!, cleanup = () => {}) => {
      return finalize(client.resource(ConfigMap), object, {
        finalizer: FINALIZER,
        cleanup: ({ metadata }) => {
          cleanup();
          cleaned.push(metadata.name);
        },
      });
    },
  };
}

async function deletion({ client }: Guarded): Promise<void> {
  await client.resource(ConfigMap, { namespace: "default" }).delete("tab");
}

function writes({ server }: Guarded): number {
  return server.requests.filter(({ verb }) => verb === "patch").length;
}

Deno.test("finalize adds the finalizer behind those of others, once", async () => {
  using tab = tabWith(["example.com/other"]);
  const guarded = await tab.finalize();
  assertEquals(guarded?.metadata.finalizers, ["example.com/other", FINALIZER]);
  assertStrictEquals(await tab.finalize(guarded), guarded);
  assertEquals([writes(tab), tab.cleaned], [1, []]);
});

Deno.test("finalize cleans up an object that is being deleted, then removes its finalizer alone", async () => {
  using tab = tabWith([FINALIZER, "example.com/other"]);
  await deletion(tab);
  assertEquals(await tab.finalize(), undefined);
  assertEquals(tab.cleaned, ["tab"]);
  assertEquals(tab.server.get(ConfigMap, KEY)?.metadata.finalizers, ["example.com/other"]);
  assertEquals(await tab.finalize(), undefined);
  assertEquals(tab.cleaned, ["tab"]);
});

Deno.test("finalize awaits a cleanup that takes time before it removes the finalizer", async () => {
  using tab = tabWith([FINALIZER]);
  await deletion(tab);
  const { server, client } = tab;
  const before = server.requests.length;
  const asked = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const finalized = finalize(client.resource(ConfigMap), server.get(ConfigMap, KEY)!, {
    finalizer: FINALIZER,
    cleanup: () => {
      asked.resolve();
      return done.promise;
    },
  });
  await asked.promise;
  await nextTurn();
  await nextTurn();
  assertEquals([server.requests.length - before, server.get(ConfigMap, KEY)?.metadata.finalizers], [0, [FINALIZER]]);
  done.resolve();
  await finalized;
  assertEquals(server.get(ConfigMap, KEY), undefined);
});

Deno.test("finalize keeps the finalizer when the cleanup fails, and rejects with its error", async () => {
  using tab = tabWith([FINALIZER]);
  await deletion(tab);
  const fail = (): void => {
    throw new Error("the backups cannot be reached");
  };
  await assertRejects(() => tab.finalize(undefined, fail), Error, "the backups cannot be reached");
  assertEquals(tab.server.get(ConfigMap, KEY)?.metadata.finalizers, [FINALIZER]);
});

Deno.test("finalize writes on the newest version after a conflict, without another cleanup", async () => {
  using tab = tabWith();
  const stale = tab.server.get(ConfigMap, KEY)!;
  tab.server.annotate(ConfigMap, KEY, { changed: "1" });
  assertEquals((await tab.finalize(stale))?.metadata.annotations, { changed: "1" });
  await deletion(tab);
  const deleted = tab.server.get(ConfigMap, KEY)!;
  tab.server.annotate(ConfigMap, KEY, { changed: "2" });
  assertEquals(await tab.finalize(deleted), undefined);
  assertEquals([tab.server.get(ConfigMap, KEY), tab.cleaned], [undefined, ["tab"]]);
});

Deno.test("finalize returns nothing for an object that was deleted since it was read", async (test) => {
  await test.step("and is gone", async () => {
    using tab = tabWith();
    const stale = tab.server.get(ConfigMap, KEY)!;
    await deletion(tab);
    assertEquals([await tab.finalize(stale), tab.cleaned], [undefined, []]);
  });
  await test.step("and waits for another finalizer", async () => {
    using tab = tabWith(["example.com/other"]);
    const stale = tab.server.get(ConfigMap, KEY)!;
    await deletion(tab);
    assertEquals([await tab.finalize(stale), tab.cleaned], [undefined, []]);
    assertEquals(tab.server.get(ConfigMap, KEY)?.metadata.finalizers, ["example.com/other"]);
  });
  await test.step("and has the finalizer by another process: it is cleaned up", async () => {
    using tab = tabWith();
    const stale = tab.server.get(ConfigMap, KEY)!;
    await tab.finalize();
    await deletion(tab);
    assertEquals([await tab.finalize(stale), tab.cleaned], [undefined, ["tab"]]);
    assertEquals(tab.server.get(ConfigMap, KEY), undefined);
  });
  await test.step("and was created again: the new object is not touched", async () => {
    using tab = tabWith();
    const stale = tab.server.get(ConfigMap, KEY)!;
    tab.server.delete(ConfigMap, KEY);
    tab.server.create(ConfigMap, { metadata: { name: "tab" } });
    assertEquals([await tab.finalize(stale), tab.cleaned], [undefined, []]);
    assertEquals(tab.server.get(ConfigMap, KEY)?.metadata.finalizers, undefined);
  });
});

Deno.test("finalize does not write where another process has guarded the object since it was read", async () => {
  using tab = tabWith();
  const stale = tab.server.get(ConfigMap, KEY)!;
  await tab.finalize();
  assertEquals((await tab.finalize(stale))?.metadata.finalizers, [FINALIZER]);
  assertEquals(writes(tab), 2); // the second one is the conflict
});

Deno.test("finalize rejects when the server refuses the finalizer", async () => {
  using tab = tabWith();
  tab.server.failNext(403, 1);
  await assertRejects(() => tab.finalize(), Error, "403");
});

Deno.test("finalize refuses an object that a cache has reduced", async () => {
  using tab = tabWith();
  const { items: [reduced] } = await tab.client.resource(onlyMetadata(ConfigMap)).list();
  const patches = writes(tab);
  await assertRejects(() => tab.finalize(reduced as unknown as ConfigMap), TypeError, "Cannot finalize an object");
  assertEquals(writes(tab), patches);
});

Deno.test("finalize succeeds when the object goes while it is cleaned up", async () => {
  using tab = tabWith([FINALIZER]);
  await deletion(tab);
  assertEquals(await tab.finalize(undefined, () => void tab.server.delete(ConfigMap, KEY)), undefined);
});

Deno.test("finalize refuses a finalizer without a domain", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const object = server.create(ConfigMap, { metadata: { name: "tab" } });
  const options = { finalizer: "backups", cleanup: () => {} };
  await assertRejects(() => finalize(client.resource(ConfigMap), object, options), TypeError, '"example.com/backups"');
});

Deno.test("finalize fails when the server drops the finalizer, instead of asking without end", async () => {
  using tab = tabWith();
  tab.server.admit(ConfigMap, {
    mutate: ({ object }) => object && { ...object, metadata: { ...object.metadata, finalizers: [] } },
  });
  await assertRejects(() => tab.finalize(), Error, "Look for an admission webhook");
});

/** The process has stopped: nothing that it would do happens any more. */
class Crash extends Error {}

/** A controller that makes a backup of an object, in a process that crashes at one point of its life. */
class BackupProcess {
  readonly #server: FakeApiServer;
  readonly #backups: Set<string>;
  readonly #onPoint: (point: string) => void;
  #crashed = false;

  constructor(server: FakeApiServer, backups: Set<string>, onPoint: (point: string) => void) {
    this.#server = server;
    this.#backups = backups;
    this.#onPoint = onPoint;
  }

  async reconcile(): Promise<void> {
    const transport: Transport = {
      fetch: async (request) => {
        this.#point(`before ${request.method}`);
        const response = await this.#server.fetch(request);
        const body = await response.text();
        this.#point(`after ${request.method}`);
        return new Response(body, response);
      },
    };
    using client = new Client({ server: "http://fake", transport, namespace: "default" });
    const maps = client.resource(ConfigMap);
    let object: ConfigMap | undefined;
    try {
      object = await maps.get("tab");
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    const { uid } = object.metadata;
    const cleanup = (): void => {
      this.#point("before the cleanup");
      this.#backups.delete(uid);
      this.#point("after the cleanup");
    };
    if (await finalize(maps, object, { finalizer: FINALIZER, cleanup }) === undefined) return;
    this.#point("before the backup");
    this.#backups.add(uid);
    this.#point("after the backup");
  }

  #point(point: string): void {
    if (this.#crashed) throw new Crash();
    try {
      this.#onPoint(point);
    } catch (error) {
      this.#crashed = true;
      throw error;
    }
  }
}

/**
 * Lets an object be created, reconciled, deleted and reconciled, with a crash at each of the points `crashes` and its
 * deletion at the point `deletion`. Returns the number of points that were passed.
 */
async function life(crashes: readonly number[], deletion: number): Promise<number> {
  const server = new FakeApiServer();
  using user = new Client({ server: "http://fake", transport: server, namespace: "default" });
  const backups = new Set<string>();
  const passed: string[] = [];
  const { uid } = server.create(ConfigMap, { metadata: { name: "tab" } }).metadata;
  let deleting: Promise<unknown> | undefined;
  const onPoint = (point: string): void => {
    passed.push(point);
    const at = passed.length - 1;
    const isLost = backups.has(uid) && server.get(ConfigMap, KEY)?.metadata.uid !== uid;
    assert(!isLost, `the object is gone and its backup is left: crashes ${crashes}, deletion ${deletion}: ${passed}`);
    if (at === deletion) deleting ??= user.resource(ConfigMap).delete("tab");
    if (crashes.includes(at)) throw new Crash();
  };
  for (let runs = 0; runs < 3 + crashes.length; runs++) {
    // The process starts again after a crash, and the user deletes the object at the latest when it has reconciled it.
    if (runs === 1 + crashes.length) deleting ??= user.resource(ConfigMap).delete("tab");
    await deleting;
    try {
      await new BackupProcess(server, backups, onPoint).reconcile();
    } catch (error) {
      assert(crashes.includes(passed.length - 1), `only crashes stop a process, found ${error}: ${passed}`);
    }
  }
  assertEquals([server.get(ConfigMap, KEY), backups.size], [undefined, 0], `${crashes}, ${deletion}: ${passed}`);
  return passed.length;
}

Deno.test("finalize leaves nothing behind, wherever the process crashes and whenever the object is deleted", async () => {
  const points = await life([], Infinity);
  assert(points >= 14, `found ${points} points`);
  for (let deletion = 0; deletion < points; deletion++) {
    for (let crash = 0; crash < points; crash++) await life([crash], deletion);
  }
  for (let first = 0; first < points; first++) {
    for (let second = first + 1; second < points; second++) await life([first, second], Infinity);
  }
});

/** JSON whose members are never null, as objects of the API server are. */
const json = fc.letrec<{ readonly value: unknown; readonly members: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string(), fc.boolean(), fc.array(tie("value")), tie("members")),
  members: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value")),
}));

Deno.test("mergeDiff returns a merge patch that turns one object into the other", () => {
  fc.assert(fc.property(json.members, json.members, (before, after) => {
    const patch = mergeDiff(before, after);
    const result = patch === undefined ? before : mergePatch(before as Json, patch as Json);
    assertEquals(JSON.parse(JSON.stringify(result)), JSON.parse(JSON.stringify(after)));
  }));
});

Deno.test("mergeDiff returns undefined for equal objects, whatever the order of their members", () => {
  fc.assert(fc.property(json.members, (before) => {
    const reversed = Object.fromEntries(Object.entries(before as object).reverse());
    assertEquals(mergeDiff(before, structuredClone(reversed)), undefined);
  }));
  assertEquals(mergeDiff({ a: undefined, b: null }, {}), undefined);
});

Deno.test("mergeDiff names only what differs", () => {
  assertEquals(
    mergeDiff({ a: { b: 1, c: [1] }, d: 1, e: "x" }, { a: { b: 2, c: [1] }, e: "x", f: [] }),
    { a: { b: 2 }, d: null, f: [] },
  );
});

Deno.test("retryOnConflict calls again until there is no conflict, and returns the result [C157]", async (test) => {
  await test.step("resolves with the first result, a wait of 10 to 11 ms after each conflict", async () => {
    using time = new FakeTime();
    const startedAt = time.now;
    const calls: number[] = [];
    const result = retryOnConflict((retries) => {
      calls.push(retries);
      return retries < 3 ? Promise.reject(refused(409)) : Promise.resolve("written");
    });
    await time.tickAsync(33);
    assertEquals([await result, calls, time.now - startedAt], ["written", [0, 1, 2, 3], 33]);
  });

  await test.step("rejects with the last conflict after 5 calls", async () => {
    using time = new FakeTime();
    const errors = Array.from({ length: 6 }, () => refused(409));
    const failed = assertRejects(() => retryOnConflict((retries) => Promise.reject(errors[retries])));
    await time.tickAsync(1_000);
    assertStrictEquals(await failed, errors[4]);
  });

  await test.step("rejects at once with any other error", async () => {
    const error = refused(403);
    assertStrictEquals(await assertRejects(() => retryOnConflict(() => Promise.reject(error))), error);
  });

  await test.step("rejects with the reason of the signal, also during a wait", async () => {
    using time = new FakeTime();
    const stop = new AbortController();
    const options = { signal: stop.signal, initialMs: 1_000 };
    let calls = 0;
    const failed = assertRejects(() => retryOnConflict(() => (calls++, Promise.reject(refused(409))), options));
    await time.tickAsync(10);
    stop.abort(new Error("stopped"));
    assertEquals([(await failed as Error).message, calls, time.timers], ["stopped", 1, 0]);
  });
});

Deno.test("retryOnConflict refuses a number of attempts below 1", async () => {
  await assertRejects(() => retryOnConflict(() => Promise.resolve(), { attempts: 0 }), RangeError, "it is 0");
});

Deno.test("timestamps have the number of digits that the server demands", () => {
  assertMatch(timestampNow(), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assertMatch(microTimestampNow(), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
});

Deno.test("writeStatus patches the status with the difference alone, in the namespace of the object", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const pod = server.create(Pod, { metadata: { name: "web", namespace: "shop" }, status: { phase: "Pending" } });
  const written = await writeStatus(client.resource(Pod), pod, { phase: "Running" }, { fieldManager: "me" });
  assertEquals(written.status?.phase, "Running");
  // A pod keeps its class.
  assertEquals(server.get(Pod, "shop/web")?.status, { phase: "Running", qosClass: "BestEffort" } as object);
  const request = server.requests.at(-1);
  assertEquals(
    [request?.method, request?.path, request?.query.get("fieldManager")],
    ["PATCH", "/api/v1/namespaces/shop/pods/web/status", "me"],
  );
});

Deno.test("writeStatus removes fields that the new status lacks", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const status = { phase: "Pending", reason: "x" };
  const pod = server.create(Pod, { metadata: { name: "web" }, status });
  await writeStatus(client.resource(Pod), pod, { phase: "Pending" });
  assertEquals(server.get(Pod, "web")?.status, { phase: "Pending", qosClass: "BestEffort" } as object);
});

Deno.test("writeStatus sends nothing and returns the object when the status is the same", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const pod = server.create(Pod, { metadata: { name: "web" }, status: { phase: "Running" } });
  assertStrictEquals(await writeStatus(client.resource(Pod), pod, { ...pod.status, phase: "Running" }), pod);
  assertEquals(server.requests.length, 0);
});

Deno.test("writeStatus says that a kind has no status, which the server answers as it answers for a missing object", async () => {
  const server = new FakeApiServer({
    resources: [{
      group: "example.com",
      version: "v1",
      plural: "widgets",
      kind: "Widget",
      scope: "Namespaced",
      subresources: [],
    }],
  });
  using client = new Client({ server: "http://fake", transport: server });
  const Widget = defineResource<KubernetesObject & { status?: { phase: string } }>({
    group: "example.com",
    version: "v1",
    plural: "widgets",
    kind: "Widget",
  });
  for (const resource of [Widget, ConfigMap] as const) {
    const objects = client.resource(resource as typeof Widget, { namespace: "shop" });
    const one = await objects.create({ metadata: { name: "one" } });
    const error = await assertRejects(() => writeStatus(objects, one, { phase: "Ready" }), InformerError);
    const name = `${resource === Widget ? "widgets.example.com" : "configmaps"}/one`;
    assertEquals(
      error.message,
      `Cannot write the status of "${name}": its kind has no subresource status. Add it to the CRD, or write the field with patch()`,
    );
    await objects.delete("one");
    assert(isNotFound(await assertRejects(() => writeStatus(objects, one, { phase: "Ready" }))));
    await objects.create({ metadata: { name: "one" } }); // another object of its name
    assert(isNotFound(await assertRejects(() => writeStatus(objects, one, { phase: "Ready" }))));
  }
});

Deno.test("writeStatus rejects with a conflict when the object has changed since", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const pod = server.create(Pod, { metadata: { name: "web" } });
  server.annotate(Pod, "web", { changed: "yes" });
  assert(isConflict(await assertRejects(() => writeStatus(client.resource(Pod), pod, { phase: "Running" }))));
});

/** The managers of an object's fields, such as `shop/Apply`. */
function managersOf({ metadata }: KubernetesObject): string {
  return (metadata.managedFields ?? []).map(({ manager, operation }) => `${manager}/${operation}`).join(" ");
}

Deno.test("upgradeManagedFields makes updates a part of the apply, so that an apply removes what it lacks", async () => {
  for (const isApplied of [false, true]) {
    const server = new FakeApiServer();
    using client = new Client({ server: "http://fake", transport: server });
    const maps = client.resource(ConfigMap, { namespace: "shop" });
    const names = { metadata: { name: "settings" } };
    const applied = { ...names, data: { colour: "red", size: "1" } };
    const by = { fieldManager: "shop" };
    await maps.create({ ...names, data: { colour: "red", legacy: "1" } });
    await maps.patch("settings", { type: "merge", body: { data: { theirs: "1" } } }, { fieldManager: "kubectl-edit" });
    if (isApplied) await maps.apply(applied, by);
    const stale = { metadata: { name: "settings", namespace: "shop" } } as ConfigMap; // as caches without managedFields
    const upgraded = await upgradeManagedFields(maps, stale, { from: "kube-informer", ...by });
    assertEquals(managersOf(upgraded), "shop/Apply kubectl-edit/Update");
    assertEquals(upgraded.data, { colour: "red", legacy: "1", theirs: "1", ...(isApplied && { size: "1" }) });
    const written = server.requests.length;
    assertEquals(await upgradeManagedFields(maps, upgraded, { from: ["kube-informer", "none"], ...by }), upgraded);
    assertEquals(server.requests.slice(written).map(({ verb }) => verb), ["get"]);
    assertEquals((await maps.apply(applied, by)).data, { colour: "red", size: "1", theirs: "1" });
    await upgradeManagedFields(maps, upgraded, { from: "kubectl-edit", ...by });
    assertEquals((await maps.apply(applied, by)).data, { colour: "red", size: "1" });
  }
});

Deno.test("upgradeManagedFields joins the sets of fields, those that are owned with others below them too", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const pods = client.resource(Pod, { namespace: "shop" });
  const app = { name: "app", image: "web:1" };
  await pods.create({ metadata: { name: "web", labels: { a: "1" } }, spec: { containers: [app] } });
  await pods.apply({ metadata: { name: "web", labels: { b: "2" } }, spec: { containers: [app] } }, {
    fieldManager: "shop",
  });
  const before = await pods.get("web");
  assertEquals(managersOf(before), "shop/Apply kube-informer/Update");
  const after = await upgradeManagedFields(pods, before, { from: "kube-informer", fieldManager: "shop" });
  const [entry, ...others] = after.metadata.managedFields!;
  assertEquals([entry.manager, entry.operation, others], ["shop", "Apply", []]);
  const metadata = entry.fieldsV1!["f:metadata"];
  assertEquals(metadata, { "f:labels": { ".": {}, "f:a": {}, "f:b": {} } });
});

Deno.test("upgradeManagedFields reads again after a conflict, leaves subresources, and drops other versions", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const maps = client.resource(ConfigMap, { namespace: "shop" });
  const created = await maps.create({ metadata: { name: "settings" }, data: { a: "1" } });
  const from = { from: "kube-informer", fieldManager: "shop" };
  server.beforeNext(
    () => void server.patch(ConfigMap, "shop/settings", { data: { b: "2" } }),
    1,
    ({ verb }) => verb === "patch",
  );
  assertEquals(managersOf(await upgradeManagedFields(maps, created, from)).includes("kube-informer"), false);
  assertEquals(verbs(server), "create get patch get patch");

  const fields = (name: string): { readonly fieldsV1: object } => ({ fieldsV1: { "f:data": { [`f:${name}`]: {} } } });
  const entry = { manager: "kube-informer", operation: "Update", apiVersion: "v1" };
  const applied = { ...entry, manager: "shop", operation: "Apply", fieldsV1: { "f:data": {} } };
  const managedFields = [
    applied,
    { ...entry, ...fields("a") },
    { ...entry, apiVersion: "v0", ...fields("b") },
    { ...entry, subresource: "status", ...fields("c") },
  ];
  let sent: unknown;
  const transport: Transport = {
    fetch: async (request) => {
      if (request.method !== "GET") sent = await request.json();
      const metadata = { name: "m", managedFields, resourceVersion: "7" };
      return Response.json({ apiVersion: "v1", kind: "ConfigMap", metadata });
    },
  };
  using scripted = new Client({ server: "http://fake", transport });
  await upgradeManagedFields(scripted.resource(ConfigMap, { namespace: "shop" }), created, from);
  const both = { ...applied, fieldsV1: { "f:data": { ".": {}, "f:a": {} } } };
  assertEquals(sent, [
    { op: "replace", path: "/metadata/managedFields", value: [both, managedFields[3]] },
    { op: "replace", path: "/metadata/resourceVersion", value: "7" },
  ]);
});

Deno.test("upgradeManagedFields refuses to take over from nobody, and passes on that the object is gone", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const maps = client.resource(ConfigMap, { namespace: "shop" });
  const object = { ...draft, metadata: { ...draft.metadata, uid: "1" } } as never;
  for (
    const options of [{ from: [], fieldManager: "a" }, { from: "", fieldManager: "a" }, { from: "a", fieldManager: "" }]
  ) {
    await assertRejects(() => upgradeManagedFields(maps, object, options), TypeError, "must name managers");
  }
  const gone = await assertRejects(() => upgradeManagedFields(maps, object, { from: "a", fieldManager: "b" }));
  assert(isNotFound(gone));
});
