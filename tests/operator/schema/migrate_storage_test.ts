import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { isForbidden, StatusError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { InformerError } from "../../../src/engine/errors/informer_error.ts";
import { CustomResourceDefinition } from "../../../src/engine/kinds/apiextensions/v1.ts";
import { StorageVersionMigration } from "../../../src/engine/kinds/storagemigration/v1.ts";
import { installCrds } from "../../../src/operator/schema/install_crds.ts";
import {
  migrateStorage,
  type MigrateStorageOptions,
  type StorageMigration,
  type StorageMigrationProgress,
} from "../../../src/operator/schema/migrate_storage.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { OPEN_SCHEMA } from "../../support/servers/fake_server.ts";
import { createWidget, definitionOf, Widget } from "../../support/sources/widgets.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

const NAME = "widgets.acme.dev";

/** A CRD with these versions; the one with a star is stored, and one with an exclamation mark is not served. */
function widgets(...versions: string[]): ReturnType<typeof definitionOf> {
  const crd = definitionOf(Widget);
  const all = versions.map((it) => ({
    name: it.replace(/[*!]/, ""),
    served: !it.endsWith("!"),
    storage: it.endsWith("*"),
    schema: OPEN_SCHEMA,
  }));
  return { ...crd, spec: { ...crd.spec, versions: all } };
}

/** Widgets that were stored in `v1beta1`, whose CRD stores `v1` now. */
class Shop implements Disposable {
  readonly server = new FakeApiServer();
  readonly client = new Client({ server: "http://fake", transport: this.server });
  readonly progress: StorageMigrationProgress[] = [];
  /** The number of writes when the first progress was told. */
  writesBefore: number | undefined;

  static async with(objects: number): Promise<Shop> {
    const shop = new Shop();
    await installCrds(shop.client, [widgets("v1beta1*", "v1")]);
    for (let i = 0; i < objects; i++) createWidget(shop.server, `widget-${i}`);
    const [{ toMigrate }] = await installCrds(shop.client, [widgets("v1beta1", "v1*")]);
    assertEquals(toMigrate, ["v1beta1"]);
    return shop;
  }

  async migrate(options: MigrateStorageOptions = {}): Promise<StorageMigration> {
    return await migrateStorage(this.client, Widget, {
      serverMigrator: false,
      parallel: 1,
      onProgress: (progress) => {
        this.writesBefore ??= this.patched().length;
        this.progress.push(progress);
      },
      ...options,
    });
  }

  /** The names of the widgets that were patched. */
  patched(): string[] {
    return this.server.requests.filter(({ verb, resource }) => verb === "patch" && resource === "widgets")
      .map(({ url }) => new URL(url).pathname.split("/").at(-1)!);
  }

  get storedVersions(): readonly string[] | undefined {
    return this.server.get(CustomResourceDefinition, NAME)?.status?.storedVersions;
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
  }
}

Deno.test("migrateStorage rewrites each object once, and then cuts the older stored versions", async () => {
  using shop = await Shop.with(3);
  const before = shop.server.list(Widget);
  await assertRejects(
    () => installCrds(shop.client, [widgets("v1*")], { allowBreaking: true }),
    StatusError,
    "v1beta1",
  );
  const { storageVersion, storedVersions, rewritten, refused } = await shop.migrate();
  assertEquals([storageVersion, storedVersions, rewritten, refused], ["v1", ["v1"], 3, []]);
  assertEquals(shop.patched(), ["widget-0", "widget-1", "widget-2"]);
  assertEquals([shop.storedVersions, shop.server.list(Widget)], [["v1"], before]);
  const [{ toMigrate }] = await installCrds(shop.client, [widgets("v1*")], { allowBreaking: true });
  assertEquals(toMigrate, []);
  assertEquals((await shop.migrate()).rewritten, 0);
  assertEquals(shop.patched().length, 3);
});

Deno.test("migrateStorage says what it will do before its first write, then how far it is", async () => {
  using shop = await Shop.with(3);
  await shop.migrate({ parallel: 2 });
  assertEquals(shop.writesBefore, 0);
  assertEquals(shop.progress.map(({ step, done, objects, pass, after }) => [step, done, objects, pass, after]), [
    ["planned", 0, 3, 1, undefined],
    ["rewriting", 2, 3, 1, "shop/widget-1"],
    ["rewriting", 3, 3, 1, "shop/widget-2"],
    ["cut", 0, 3, 1, undefined],
  ]);
  const { name, storageVersion, storedVersions } = shop.progress[0];
  assertEquals([name, storageVersion, storedVersions], [NAME, "v1", ["v1beta1", "v1"]]);
});

Deno.test("migrateStorage with dryRun says what it would do, and writes nothing", async () => {
  using shop = await Shop.with(3);
  const { storedVersions, rewritten } = await shop.migrate({ dryRun: true });
  assertEquals([storedVersions, rewritten, shop.patched()], [["v1beta1", "v1"], 0, []]);
  assertEquals(shop.progress.map(({ step, objects }) => [step, objects]), [["planned", 3]]);
});

Deno.test("migrateStorage names what the server refuses, and cuts nothing until that is repaired", async () => {
  for (const code of [400, 403, 422, 500]) {
    using shop = await Shop.with(3);
    const refuse = ({ url, verb }: { readonly url: string; readonly verb: string }): boolean =>
      verb === "patch" && url.includes("widget-1");
    shop.server.failNext(code, 1, refuse);
    const { storedVersions, rewritten, refused } = await shop.migrate();
    assertEquals([storedVersions, rewritten, refused.map(({ key }) => key)], [["v1beta1", "v1"], 2, ["shop/widget-1"]]);
    assert(refused[0].reason.length > 0);
    assertEquals([shop.storedVersions, shop.progress.at(-1)?.step], [["v1beta1", "v1"], "rewriting"]);
    assertEquals((await shop.migrate()).storedVersions, ["v1"]);
  }
});

Deno.test("migrateStorage rejects if the rights do not suffice", async () => {
  using shop = await Shop.with(3);
  const message = 'widgets.acme.dev "widget-0" is forbidden: User "ada" cannot patch resource "widgets"';
  shop.server.failNext({ code: 403, reason: "Forbidden", message }, 1, ({ verb }) => verb === "patch");
  assert(isForbidden(await assertRejects(() => shop.migrate())));
  assertEquals(shop.storedVersions, ["v1beta1", "v1"]);
});

Deno.test("migrateStorage rewrites again what others have written during a pass, and leaves what they deleted", async () => {
  using shop = await Shop.with(4);
  const isLast = ({ url, verb }: { readonly url: string; readonly verb: string }): boolean =>
    verb === "patch" && url.includes("widget-2");
  shop.server.beforeNext(
    () => {
      shop.server.annotate(Widget, "shop/widget-0", { seen: "yes" });
      shop.server.delete(Widget, "shop/widget-2");
      createWidget(shop.server, "widget-9");
    },
    1,
    isLast,
  );
  assertEquals((await shop.migrate()).storedVersions, ["v1"]);
  const passes = [["widget-0", "widget-1", "widget-2", "widget-3"], ["widget-0", "widget-9"]];
  assertEquals(shop.patched(), passes.flat());
});

Deno.test("migrateStorage gives up if others write in every pass", async () => {
  using shop = await Shop.with(2);
  for (const [other, name] of [["widget-0", "widget-1"], ["widget-1", "widget-0"]]) {
    shop.server.beforeNext(
      () => shop.server.annotate(Widget, `shop/${other}`, { seen: `${Math.random()}` }),
      100,
      (it) => it.verb === "patch" && it.url.includes(name),
    );
  }
  await assertRejects(() => shop.migrate(), InformerError, `Cannot migrate "${NAME}": `);
  assertEquals(shop.patched().length, 6, "of both objects, then one in each of four passes");
  assertEquals(shop.storedVersions, ["v1beta1", "v1"]);
});

/** Migrates until so many objects of the first pass are done. Returns the last progress. */
async function stopped(shop: Shop, after: number): Promise<StorageMigrationProgress> {
  const stop = new AbortController();
  const onProgress = (progress: StorageMigrationProgress): void => {
    shop.progress.push(progress);
    if (progress.done === after) stop.abort(new Error("stopped"));
  };
  await assertRejects(() => shop.migrate({ signal: stop.signal, onProgress }), Error, "stopped");
  assertEquals(shop.storedVersions, ["v1beta1", "v1"]);
  return shop.progress.at(-1)!;
}

Deno.test("migrateStorage goes on where an earlier call was stopped", async () => {
  using shop = await Shop.with(4);
  const resume = await stopped(shop, 2);
  assertEquals([resume.after, resume.generation], ["shop/widget-1", 2]);
  assertEquals((await shop.migrate({ resume })).rewritten, 2);
  assertEquals(shop.patched(), ["widget-0", "widget-1", "widget-2", "widget-3"]);
  assertEquals(shop.storedVersions, ["v1"]);
});

Deno.test("migrateStorage begins again with an object that an earlier call could not rewrite", async () => {
  for (const code of [409, 422]) {
    using shop = await Shop.with(4);
    shop.server.failNext(code, 1, ({ url, verb }) => verb === "patch" && url.includes("widget-1"));
    const resume = await stopped(shop, 3);
    assertEquals(resume.after, "shop/widget-0");
    assertEquals((await shop.migrate({ resume })).rewritten, 3);
    assertEquals(shop.storedVersions, ["v1"]);
  }
});

Deno.test("migrateStorage passes over an object that is gone, and resumes after it", async () => {
  using shop = await Shop.with(4);
  shop.server.failNext(404, 1, ({ url, verb }) => verb === "patch" && url.includes("widget-1"));
  assertEquals((await stopped(shop, 3)).after, "shop/widget-2");
});

Deno.test("migrateStorage does not resume a migration from before a change of the CRD", async () => {
  using shop = await Shop.with(3);
  const resume = await stopped(shop, 2);
  await installCrds(shop.client, [widgets("v1beta1*", "v1")]);
  createWidget(shop.server, "widget-00"); // stored in v1beta1, before the key at which the first call was stopped
  await installCrds(shop.client, [widgets("v1beta1", "v1*")]);
  assertEquals((await shop.migrate({ resume })).rewritten, 4);
});

Deno.test("migrateStorage cuts nothing if the storage version changes meanwhile", async () => {
  using shop = await Shop.with(2);
  shop.server.beforeNext(
    () => {
      const versions = widgets("v1beta1*", "v1").spec.versions;
      shop.server.patch(CustomResourceDefinition, NAME, { spec: { versions } });
    },
    1,
    ({ url, verb }) => verb === "patch" && url.includes("widget-1"),
  );
  await assertRejects(() => shop.migrate(), InformerError, "its storage version has become v1beta1 meanwhile");
  assertEquals(shop.storedVersions, ["v1beta1", "v1"]);
});

/** Widgets by name: the managers with the versions in which they manage `spec.size`. */
const MANAGED = {
  both: ["user v1beta1", "operator v1"],
  none: [],
  now: ["user v1"],
  old: ["user v1beta1", "other v1alpha1"],
} as const;

/** A CRD that does not serve v1beta1, and does not have v1alpha1. Objects are stored in v1. */
async function withStaleFields(): Promise<Shop> {
  const shop = new Shop();
  await installCrds(shop.client, [widgets("v1beta1!", "v1*")]);
  for (const [name, managers] of Object.entries(MANAGED)) {
    const managedFields = managers.map((it) => {
      const [manager, version] = it.split(" ");
      const apiVersion = `acme.dev/${version}`;
      return {
        manager,
        operation: "Apply",
        apiVersion,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": { "f:size": {} } },
      };
    });
    const metadata = { name, namespace: "shop", ...managers.length > 0 && { managedFields } };
    shop.server.create(Widget, { metadata, spec: { size: 1 } } as never);
  }
  return shop;
}

/** Returns who manages fields of a widget in which version. */
function managersOf(shop: Shop, name: string): string[] {
  const { managedFields = [] } = shop.server.get(Widget, `shop/${name}`)!.metadata;
  return managedFields.map(({ manager, apiVersion, fieldsV1 }) =>
    `${manager} ${apiVersion?.split("/")[1]} ${JSON.stringify(fieldsV1)}`
  );
}

const SIZE = '{"f:spec":{"f:size":{}}}';

Deno.test("migrateStorage removes managedFields in versions that are no longer served, although all is migrated", async () => {
  using shop = await withStaleFields();
  const apply = async (name: string, spec: object) =>
    await shop.client.resource(Widget, { namespace: "shop" }).apply({ metadata: { name }, spec } as never, {
      fieldManager: "user",
    });
  await assertRejects(() => apply("old", { size: 1 }), StatusError, "an invalid group/version: acme.dev/v1alpha1");
  const { rewritten, cleaned, storedVersions } = await shop.migrate();
  assertEquals([rewritten, cleaned, storedVersions], [0, 2, ["v1"]]);
  assertEquals([shop.patched(), shop.writesBefore], [["old", "both", "old"], 1]);
  assertEquals(shop.progress.map(({ step, objects, stale, done }) => [step, objects, stale, done]), [
    ["planned", 0, 2, 0],
    ["fields", 2, 2, 1],
    ["fields", 2, 2, 2],
  ]);
  assertEquals(managersOf(shop, "both"), [`operator v1 ${SIZE}`]);
  assertEquals(managersOf(shop, "now"), [`user v1 ${SIZE}`]);
  assertEquals(managersOf(shop, "old"), ['user v1 {"f:metadata":{"f:name":{}}}']);
  // Nobody else owns the size now, so that the user can change and remove it.
  assertEquals((await apply("old", { size: 2 })).spec, { size: 2 });
  assertEquals((await apply("old", {})).spec?.size, undefined);
  assertEquals((await shop.migrate()).cleaned, 0);
});

Deno.test("migrateStorage with dryRun says how many objects have stale managedFields, and removes none", async () => {
  using shop = await withStaleFields();
  assertEquals((await shop.migrate({ dryRun: true })).cleaned, 0);
  assertEquals([shop.progress.map(({ stale }) => stale), shop.patched()], [[2], []]);
});

Deno.test("migrateStorage reads an object again that others write while it removes managedFields", async () => {
  using shop = await withStaleFields();
  const isBoth = ({ url, verb }: { readonly url: string; readonly verb: string }): boolean =>
    verb === "patch" && url.includes("/both");
  shop.server.beforeNext(() => void shop.server.annotate(Widget, "shop/both", { seen: "yes" }), 1, isBoth);
  assertEquals((await shop.migrate()).cleaned, 2);
  assertEquals(shop.patched(), ["both", "both", "old"]);
  assertEquals(shop.server.get(Widget, "shop/both")?.metadata.annotations, { seen: "yes" });
  assertEquals(managersOf(shop, "both"), [`operator v1 ${SIZE}`]);
});

Deno.test("migrateStorage names objects whose managedFields it could not remove", async () => {
  for (const [code, attempts] of [[409, 5], [422, 1]] as const) {
    using shop = await withStaleFields();
    shop.server.failNext(code, attempts, ({ url, verb }) => verb === "patch" && url.includes("/both"));
    const { cleaned, refused } = await shop.migrate();
    assertEquals([cleaned, refused.map(({ key }) => key)], [1, ["shop/both"]]);
    assertEquals((await shop.migrate()).cleaned, 1);
  }
});

Deno.test("migrateStorage removes managedFields before it rewrites objects", async () => {
  using shop = await withStaleFields();
  const storedVersions = ["v1beta1", "v1"];
  shop.server.patch(CustomResourceDefinition, NAME, { status: { storedVersions } });
  const { rewritten, cleaned } = await shop.migrate();
  assertEquals([rewritten, cleaned, shop.storedVersions], [4, 2, ["v1"]]);
  assertEquals(shop.patched(), ["both", "old", "both", "none", "now", "old"]);
});

Deno.test("migrateStorage refuses to lose fields that the storage version lacks if no webhook converts them", async () => {
  using shop = await Shop.with(1);
  const text = { type: "string" };
  const install = (conversion?: object): void => {
    const versions = ["v1beta1", "v1"].map((name, at) => {
      const spec = { type: "object", properties: at === 0 ? { image: text } : { source: text } };
      const openAPIV3Schema = { type: "object", properties: { spec } };
      return { name, served: true, storage: at === 1, schema: { openAPIV3Schema } };
    });
    shop.server.patch(CustomResourceDefinition, NAME, { spec: { versions, conversion } } as never);
  };
  install();
  for (const dryRun of [true, false]) {
    await assertRejects(
      () => shop.migrate({ dryRun }),
      InformerError,
      `Cannot migrate "${NAME}": v1 has no spec.image, which objects at v1beta1 may have, and the CRD has no conversion. ` +
        "Install the CRD with its webhook first",
    );
  }
  assertEquals([shop.patched(), shop.progress], [[], []]);
  const clientConfig = { url: "https://webhooks.test" };
  install({ strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } });
  assertEquals((await shop.migrate()).storedVersions, ["v1"]);
  install({ strategy: "None", webhook: null });
  // No object is stored in the older version anymore.
  assertEquals((await shop.migrate()).rewritten, 0);
});

/** Plays the server's own migrator with the conditions, a second after each other. */
async function byServer(conditions: readonly string[], stale = false): Promise<[Shop, StorageMigration, number]> {
  using time = new FakeTime();
  const shop = await Shop.with(2);
  const migration = {
    metadata: { name: `informer-${NAME}` },
    spec: { resource: { group: "acme.dev", resource: "widgets" } },
  };
  const set = (type: string): void => {
    const condition = {
      type,
      status: "True",
      reason: type,
      message: "",
      lastTransitionTime: "2026-01-31T12:00:00Z",
    } as const;
    shop.server.patch(StorageVersionMigration, migration.metadata.name, { status: { conditions: [condition] } });
  };
  if (stale) {
    shop.server.create(StorageVersionMigration, migration);
    set("Succeeded");
  }
  const began = Date.now();
  let result: StorageMigration | undefined;
  const done = shop.migrate({ serverMigrator: true }).then((it) => result = it);
  await time.tickAsync(500);
  for (const condition of conditions) {
    set(condition);
    await time.tickAsync(1_000);
  }
  while (result === undefined) await time.tickAsync(1_000);
  await done;
  assertEquals(shop.server.list(StorageVersionMigration), []);
  return [shop, result, Date.now() - began];
}

Deno.test("migrateStorage lets the server's own migrator do the work", async () => {
  for (const stale of [false, true]) {
    const [shop, { storedVersions, rewritten }] = await byServer(["Running", "Succeeded"], stale);
    using _ = shop;
    assertEquals([storedVersions, rewritten, shop.patched()], [["v1"], 0, []]);
    assertEquals(shop.progress.map(({ step }) => step), ["planned", "server", "cut"]);
  }
});

Deno.test("migrateStorage rewrites the objects itself if the server's migrator fails or does not begin", async () => {
  for (const conditions of [["Running", "Failed"], []]) {
    const [shop, { storedVersions, rewritten }, ms] = await byServer(conditions);
    using _ = shop;
    assertEquals([storedVersions, rewritten, shop.patched()], [["v1"], 2, ["widget-0", "widget-1"]]);
    assert(conditions.length > 0 ? ms < 10_000 : ms > 14_000 && ms < 20_000, `${ms}`);
  }
});

Deno.test("migrateStorage rewrites the objects itself on a server without a migrator, or without the right to it", async () => {
  for (const code of [403, 404]) {
    using shop = await Shop.with(2);
    shop.server.failNext(code, 1, ({ verb, url }) => verb === "create" && url.includes("storagemigration"));
    assertEquals((await shop.migrate({ serverMigrator: true })).rewritten, 2);
  }
});

Deno.test("migrateStorage names a CRD that does not exist, and refuses options that it cannot use", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const { message } = await assertRejects(() => migrateStorage(client, Widget), StatusError);
  assertStringIncludes(message, NAME);
  await assertRejects(() => migrateStorage(client, Widget, { parallel: 0 }), RangeError, "parallel");
});
