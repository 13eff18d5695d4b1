import { Client, isNotFound, metadataOf, type Transport } from "@kube/informer";
import { finalize } from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { nextTurn } from "../../../src/async/next_turn.ts";
import { ConfigMap } from "../../support/fake_server.ts";

const FINALIZER = "example.com/backups";
const KEY = "default/tab";

interface Fixture {
  readonly server: FakeApiServer;
  readonly client: Client;
  /** The calls of the cleanup. */
  readonly cleaned: string[];
  /** Guards the object as the server has it now, or `object`. */
  finalize(object?: ConfigMap, cleanup?: () => void): Promise<ConfigMap | undefined>;
}

function fixture(finalizers?: readonly string[]): Fixture {
  const server = new FakeApiServer();
  const client = new Client({ server: "http://fake", transport: server });
  server.create(ConfigMap, { metadata: { name: "tab", ...(finalizers ? { finalizers } : {}) } });
  const cleaned: string[] = [];
  return {
    server,
    client,
    cleaned,
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

async function deletion({ client }: Fixture): Promise<void> {
  await client.resource(ConfigMap, { namespace: "default" }).delete("tab");
}

function writes({ server }: Fixture): number {
  return server.requests.filter(({ verb }) => verb === "patch").length;
}

Deno.test("finalize adds the finalizer behind those of others, once", async () => {
  const tab = fixture(["example.com/other"]);
  const guarded = await tab.finalize();
  assertEquals(guarded?.metadata.finalizers, ["example.com/other", FINALIZER]);
  assertStrictEquals(await tab.finalize(guarded), guarded);
  assertEquals([writes(tab), tab.cleaned], [1, []]);
  tab.client[Symbol.dispose]();
});

Deno.test("finalize cleans up an object that is being deleted, then removes its finalizer alone", async () => {
  const tab = fixture([FINALIZER, "example.com/other"]);
  await deletion(tab);
  assertEquals(await tab.finalize(), undefined);
  assertEquals(tab.cleaned, ["tab"]);
  assertEquals(tab.server.get(ConfigMap, KEY)?.metadata.finalizers, ["example.com/other"]);
  assertEquals(await tab.finalize(), undefined);
  assertEquals(tab.cleaned, ["tab"]);
  tab.client[Symbol.dispose]();
});

Deno.test("finalize awaits a cleanup that takes time before it removes the finalizer", async () => {
  const { server, client } = fixture([FINALIZER]);
  await client.resource(ConfigMap, { namespace: "default" }).delete("tab");
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
  client[Symbol.dispose]();
});

Deno.test("finalize keeps the finalizer when the cleanup fails, and rejects with its error", async () => {
  const tab = fixture([FINALIZER]);
  await deletion(tab);
  const fail = (): void => {
    throw new Error("the backups cannot be reached");
  };
  await assertRejects(() => tab.finalize(undefined, fail), Error, "the backups cannot be reached");
  assertEquals(tab.server.get(ConfigMap, KEY)?.metadata.finalizers, [FINALIZER]);
  tab.client[Symbol.dispose]();
});

Deno.test("finalize writes on the newest version after a conflict, without another cleanup", async () => {
  const tab = fixture();
  const stale = tab.server.get(ConfigMap, KEY)!;
  tab.server.annotate(ConfigMap, KEY, { changed: "1" });
  assertEquals((await tab.finalize(stale))?.metadata.annotations, { changed: "1" });
  await deletion(tab);
  const deleted = tab.server.get(ConfigMap, KEY)!;
  tab.server.annotate(ConfigMap, KEY, { changed: "2" });
  assertEquals(await tab.finalize(deleted), undefined);
  assertEquals([tab.server.get(ConfigMap, KEY), tab.cleaned], [undefined, ["tab"]]);
  tab.client[Symbol.dispose]();
});

Deno.test("finalize returns nothing for an object that was deleted since it was read", async (test) => {
  await test.step("and is gone", async () => {
    const tab = fixture();
    const stale = tab.server.get(ConfigMap, KEY)!;
    await deletion(tab);
    assertEquals([await tab.finalize(stale), tab.cleaned], [undefined, []]);
    tab.client[Symbol.dispose]();
  });
  await test.step("and waits for another finalizer", async () => {
    const tab = fixture(["example.com/other"]);
    const stale = tab.server.get(ConfigMap, KEY)!;
    await deletion(tab);
    assertEquals([await tab.finalize(stale), tab.cleaned], [undefined, []]);
    assertEquals(tab.server.get(ConfigMap, KEY)?.metadata.finalizers, ["example.com/other"]);
    tab.client[Symbol.dispose]();
  });
  await test.step("and has the finalizer by another process: it is cleaned up", async () => {
    const tab = fixture();
    const stale = tab.server.get(ConfigMap, KEY)!;
    await tab.finalize();
    await deletion(tab);
    assertEquals([await tab.finalize(stale), tab.cleaned], [undefined, ["tab"]]);
    assertEquals(tab.server.get(ConfigMap, KEY), undefined);
    tab.client[Symbol.dispose]();
  });
  await test.step("and was created again: the new object is not touched", async () => {
    const tab = fixture();
    const stale = tab.server.get(ConfigMap, KEY)!;
    tab.server.delete(ConfigMap, KEY);
    tab.server.create(ConfigMap, { metadata: { name: "tab" } });
    assertEquals([await tab.finalize(stale), tab.cleaned], [undefined, []]);
    assertEquals(tab.server.get(ConfigMap, KEY)?.metadata.finalizers, undefined);
    tab.client[Symbol.dispose]();
  });
});

Deno.test("finalize does not write where another process has guarded the object since it was read", async () => {
  const tab = fixture();
  const stale = tab.server.get(ConfigMap, KEY)!;
  await tab.finalize();
  assertEquals((await tab.finalize(stale))?.metadata.finalizers, [FINALIZER]);
  assertEquals(writes(tab), 2); // the second one is the conflict
  tab.client[Symbol.dispose]();
});

Deno.test("finalize rejects when the server refuses the finalizer", async () => {
  const tab = fixture();
  tab.server.failNext(403, 1);
  await assertRejects(() => tab.finalize(), Error, "403");
  tab.client[Symbol.dispose]();
});

Deno.test("finalize refuses an object that a cache has reduced", async () => {
  const tab = fixture();
  const { items: [reduced] } = await tab.client.resource(metadataOf(ConfigMap)).list();
  const patches = writes(tab);
  await assertRejects(() => tab.finalize(reduced as unknown as ConfigMap), TypeError, "Cannot finalize an object");
  assertEquals(writes(tab), patches);
  tab.client[Symbol.dispose]();
});

Deno.test("finalize succeeds when the object goes while it is cleaned up", async () => {
  const tab = fixture([FINALIZER]);
  await deletion(tab);
  assertEquals(await tab.finalize(undefined, () => void tab.server.delete(ConfigMap, KEY)), undefined);
  tab.client[Symbol.dispose]();
});

Deno.test("finalize refuses a finalizer without a domain", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const object = server.create(ConfigMap, { metadata: { name: "tab" } });
  const options = { finalizer: "backups", cleanup: () => {} };
  await assertRejects(() => finalize(client.resource(ConfigMap), object, options), TypeError, '"example.com/backups"');
});

Deno.test("finalize fails when the server drops the finalizer, instead of asking without end", async () => {
  const tab = fixture();
  tab.server.admit(ConfigMap, {
    mutate: ({ object }) => object && { ...object, metadata: { ...object.metadata, finalizers: [] } },
  });
  await assertRejects(() => tab.finalize(), Error, "look for an admission webhook");
  tab.client[Symbol.dispose]();
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
 * Lets an object be created, reconciled, deleted and reconciled, with a crash at each of the points `crashes` and its deletion
 * at the point `deletion`. Returns the number of points that were passed.
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
