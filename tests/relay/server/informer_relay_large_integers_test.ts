import { assert, assertEquals } from "@std/assert";
import { onlyFields } from "../../../src/engine/api/fields.ts";
import { exactJson } from "../../../src/engine/api/large_integers.ts";
import { copyOf } from "../../../src/engine/api/written.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { internals } from "../../../src/engine/errors/internals.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { InformerRelay } from "../../../src/relay/server/informer_relay.ts";
import type { RelayOptions } from "../../../src/relay/server/options.ts";
import type { KindOf } from "../../../src/operator/schema/mod.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { LOCAL } from "../../support/servers/relayed.ts";
import { Big, NARROW, WIDE, wide } from "../../support/sources/wide.ts";

const [ID, LOW] = WIDE;

/** The cache and the relay of a server with two objects that have large integers. */
class Setting implements AsyncDisposable {
  readonly server = new FakeApiServer();
  readonly client = new Client({ server: "http://fake", transport: wide(this.server), namespace: "shop" });
  readonly informers = new SharedInformerFactory(this.client, { onError: () => {} });
  readonly informer = this.informers.forResource(Big);
  readonly relay: InformerRelay;

  constructor(options: Partial<RelayOptions> = {}) {
    this.server.define(Big.crd as never);
    for (const name of ["a", "b"]) {
      const spec = { id: NARROW[0], note: "ü", list: [{ id: NARROW[1] }] };
      this.server.create(Big, { metadata: { name, namespace: "shop", labels: { tier: "one" } }, spec });
    }
    const collections = { bigs: Big, notes: onlyFields(Big, ["metadata", "spec.id"]) };
    this.relay = new InformerRelay(this.informers, {
      collections,
      onError: (error) => assert(false, `${error}`),
      ...options,
    });
    this.informers.start();
  }

  async text(path: string): Promise<string> {
    const response = await this.relay.fetch(new Request(`http://localhost${path}`), LOCAL);
    assertEquals(response.status, 200);
    return await response.text();
  }

  /** The literals that the answer to a request has. */
  async literals(path: string): Promise<string> {
    return [...(await this.text(path)).matchAll(/(?<="id":)-?\d+/g)].join(" ");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay[Symbol.asyncDispose]();
    await this.informers[Symbol.asyncDispose]();
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
  }
}

const BOTH = `${ID} ${LOW} ${ID} ${LOW}`;
const KUBERNETES = "/kubernetes/apis/example.com/v1/namespaces/shop/bigs";

Deno.test("a relay sends large integers as they came, before and after the objects are read", async () => {
  await using setting = new Setting();
  const { informer } = setting;
  await informer.waitForCacheSync();
  for (const read of [false, true]) {
    for (const object of read ? informer.lister.list() : []) assertEquals(object.spec.id, Number(ID));
    assertEquals(await setting.literals("/api/bigs"), BOTH, `read: ${read}`);
    assertEquals(await setting.literals("/api/bigs?fields=spec.id,metadata.name"), `${ID} ${ID}`);
    assertEquals(await setting.literals("/api/notes"), `${ID} ${ID}`);
    assertEquals(await setting.literals(KUBERNETES), BOTH);
    assertEquals(await setting.literals(`${KUBERNETES}/a`), `${ID} ${LOW}`);
  }
  // An object that is selected no longer comes in its last state.
  const watch =
    `${KUBERNETES}?watch=1&labelSelector=tier%3Done&timeoutSeconds=1&resourceVersion=${setting.server.resourceVersion}`;
  const lines = setting.literals(watch);
  await setting.client.resource(Big).patch("a", { type: "merge", body: { metadata: { labels: { tier: "two" } } } });
  assertEquals(await lines, `${ID} ${LOW}`);
});

Deno.test("a cached object is refused by update, shares no stale integers, and is restored with them", async () => {
  await using setting = new Setting();
  const { informer, server, client } = setting;
  await informer.waitForCacheSync();
  const first = informer.lister.get("shop/a")!;
  assert(Object.isFrozen(first.spec.list));
  const spec = `{"id":${ID},"list":[{"id":${LOW}}],"note":"ü"}`;
  assertEquals(exactJson(copyOf(first).spec), spec);
  // The next version has another integer that JavaScript rounds to the same number.
  server.update(Big, { ...server.get(Big, "shop/a")!, spec: { id: NARROW[1], note: "ü", list: [{ id: NARROW[0] }] } });
  await informer.waitForVersion(server.resourceVersion);
  assertEquals(exactJson(informer.lister.get("shop/a")!.spec), `{"id":${LOW},"list":[{"id":${ID}}],"note":"ü"}`);

  const overlay = informer[internals].sync.overlay();
  const written = await client.resource(Big).patch("b", { type: "merge", body: { metadata: { labels: { x: "y" } } } });
  overlay.cover("shop/b", { dueMs: Infinity, isOver: () => false }, written);
  assertEquals(exactJson(overlay.lister.get("shop/b")!.spec), spec);

  const bytes = await new Response(informer.snapshot()).bytes();
  await using informers = new SharedInformerFactory(client, { onError: () => {} });
  const restored = informers.forResource(Big);
  await restored.restore(new Blob([bytes]).stream());
  assertEquals(exactJson(restored.lister.get("shop/b")!.spec), spec);
});

Deno.test("what redact leaves of an object has its large integers", async () => {
  await using setting = new Setting({
    redact: (object) => ({ ...object, spec: { ...(object as KindOf<typeof Big>).spec, note: "-" } }) as never,
  });
  await setting.informer.waitForCacheSync();
  assertEquals(await setting.literals("/api/bigs"), BOTH);
  assert((await setting.text("/api/bigs")).includes(`"note":"-"`));
});
