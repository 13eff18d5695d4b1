import { assert, assertEquals, assertNotStrictEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { CacheEntry } from "../../../src/api/entry.ts";
import { onlyFields } from "../../../src/api/fields.ts";
import { onlyMetadata, type Resource } from "../../../src/api/resource.ts";
import { DecodeError } from "../../../src/api/status.ts";
import { Client } from "../../../src/client/client.ts";
import { brokenEntry, entryOf, frozenEntry, RowEntry, unreadEntry } from "../../../src/entry/entry.ts";
import { CacheScope } from "../../../src/informer/cache/cache_scope.ts";
import { Quarantine, unknownFields } from "../../../src/informer/cache/entry_transform.ts";
import { namespaceIndex } from "../../../src/informer/cache/object_cache.ts";
import { bytesText, heldBytes, largestFields, MemoryMeter } from "../../../src/informer/cache/memory_report.ts";
import { SharedInformerFactory } from "../../../src/informer/shared_informer_factory.ts";
import { Deployment } from "../../../src/kinds/apps/v1.ts";
import { Secret } from "../../../src/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { ConfigMap } from "../../support/fake_server.ts";
import { entry, type Thing, thing, unparsable, unread } from "../../support/fixtures.ts";
import { holding, Run } from "../../support/informer.ts";

Deno.test("Lister list parses only the labels of objects that a selector does not match", async () => {
  const labels = [{ app: "web" }, { app: "api" }, undefined];
  const entries = labels.map((labels, i) => unread(`${i}`, i + 1, { labels }));
  await using run = await new Run(holding(...entries)).start();
  const { lister } = run.informer;
  const parse = JSON.parse;
  const parsed: string[] = [];
  JSON.parse = (text: string): unknown => {
    parsed.push(text);
    return parse(text);
  };
  try {
    assertEquals(lister.list("app=web").map(({ metadata }) => metadata.name), ["0"]);
    assertEquals(lister.list("app!=web").map(({ metadata }) => metadata.name), ["1", "2"]);
    assertEquals(lister.namespace("default").list("!app").map(({ metadata }) => metadata.name), ["2"]);
  } finally {
    JSON.parse = parse;
  }
  const [web, api, none] = [0, 1, 2].map((i) => JSON.stringify(thing(`${i}`, i + 1, { labels: labels[i] })));
  assertEquals(parsed, [`{"app":"web"}`, web, `{"app":"api"}`, api, none]);
});

Deno.test("SharedIndexInformer reports unreadable labels once, whichever lister reads them", async () => {
  const text = `{"metadata":{"name":"a","labels":{"app":?}},"spec":{"size":1}}`;
  const identity = { key: "default/a", namespace: "default", uid: "uid-a", resourceVersion: "11" };
  const broken = unreadEntry<Thing>(identity, text, 12, 43, 33, 42);
  await using run = await new Run(holding(entry("a", 1, { labels: { app: "x" } }), entry("b", 2))).start();
  const asked: unknown[] = [];
  run.informer.addEventHandler({
    onAdd: ({ labels }) => void asked.push(labels),
    onUpdate: (event) => void asked.push(assertThrows(() => event.labels, DecodeError).key),
  });
  await run.send({ type: "MODIFIED", entry: broken });
  assertEquals(asked, [{ app: "x" }, undefined, "default/a"]);
  for (let i = 0; i < 2; i++) assertEquals(run.informer.lister.list("!app").length, 1);
  assertEquals([run.errors.length, run.informer.status().quarantined], [1, 1]);
});

Deno.test("Lister list selects by the labels that a transform has set", async () => {
  const transform = (object: Thing): Thing => ({
    ...object,
    metadata: { ...object.metadata, labels: { of: object.metadata.name } },
  });
  const source = holding(unread("a", 1, { labels: { of: "b" } }), unread("b", 2));
  await using run = await new Run(source, { transform }).start();
  assertEquals(run.informer.lister.list("of=b").map(({ metadata }) => metadata.name), ["b"]);
});

Deno.test("Lister list and Indexer list throw an entry's error if it is not a DecodeError", async () => {
  const failure = new TypeError("not the object's fault");
  const { key, namespace, name, uid, resourceVersion, metadata } = entry("a", 1);
  const odd: CacheEntry<Thing> = {
    ...{ key, namespace, name, uid, resourceVersion, metadata },
    get labels(): never {
      throw failure;
    },
    get object(): never {
      throw failure;
    },
  };
  await using run = await new Run(holding(odd, entry("b", 2))).start();
  const { lister, indexer } = run.informer;
  for (const list of [() => lister.list("app"), () => lister.list(), () => indexer.list()]) {
    assertStrictEquals(assertThrows(list), failure);
  }
  assertEquals([run.errors, run.informer.status().quarantined], [[], 0]);
});

Deno.test("Lister list selects by labels and by any field, in all namespaces and in one", async () => {
  const entries = [
    unread("a", 1, { labels: { app: "web" }, size: 1 }),
    unread("b", 2, { labels: { app: "web" }, size: 2 }),
    unread("c", 3, { labels: { app: "api" }, size: 2 }),
  ];
  await using run = await new Run(holding(...entries)).start();
  const { lister } = run.informer;
  const names = (objects: readonly Thing[]): string[] => objects.map(({ metadata }) => metadata.name);
  assertEquals(names(lister.list({ fieldSelector: "spec.size=2" })), ["b", "c"]);
  assertEquals(names(lister.list({ labelSelector: "app=web", fieldSelector: "spec.size!=1" })), ["b"]);
  assertEquals(names(lister.namespace("default").list({ fieldSelector: "metadata.name=a" })), ["a"]);
  assertEquals(names(lister.namespace("other").list({ fieldSelector: "spec.size=2" })), []);
  assertEquals(names(lister.list({})), ["a", "b", "c"]);
  assertThrows(() => lister.list({ fieldSelector: "spec.size" }), SyntaxError, "field selector");
});

/** The index function, and how often it has asked for the namespaces in use. */
function counted(
  inUse: readonly string[],
): { valuesOf: (namespace: string) => readonly string[]; asked: () => number } {
  let asked = 0;
  const index = namespaceIndex<unknown>(() => (asked++, inUse));
  return {
    valuesOf: (namespace) =>
      index(
        entryOf({
          metadata: { name: "x", namespace, uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
        }),
      ),
    asked: () => asked,
  };
}

Deno.test("namespaceIndex files all objects of a namespace under one array", () => {
  const { valuesOf } = counted([]);
  assertEquals([valuesOf("shop"), valuesOf("bank")], [["shop"], ["bank"]]);
  assertStrictEquals(valuesOf("shop"), valuesOf("shop"));
});

Deno.test("namespaceIndex drops the arrays of unused namespaces, rarely", () => {
  const used = Array.from({ length: 100 }, (_, i) => `used-${i}`);
  const { valuesOf, asked } = counted(used);
  const unused = valuesOf("unused");
  const kept = used.map(valuesOf);
  assertEquals(asked(), 1, "at the 65th namespace");
  assertNotStrictEquals(valuesOf("unused"), unused);
  assertEquals(used.map(valuesOf).every((values, i) => values === kept[i]), true);
  for (let i = 0; i < 1_000; i++) valuesOf(`passing-${i}`);
  assertEquals(asked() < 15, true, `asked ${asked()} times`);
});

Deno.test("CacheScope names resource, version, form and selection, and nothing that is not restricted", () => {
  const scopes = [
    CacheScope.inFactory(Deployment, {}, {}),
    CacheScope.inFactory(onlyMetadata(Deployment), { labelSelector: "", fieldSelector: "" }, {}),
    CacheScope.inFactory(onlyFields(Deployment, ["spec.replicas"]), {
      namespaces: ["shop", "cart"],
      secretData: "keep",
    }, {}),
    CacheScope.inFactory(Deployment, { labelSelector: "app=web", fieldSelector: "metadata.name=a" }, {}),
    CacheScope.inFactory(Deployment, { readable: true }, {}),
    CacheScope.inFactory(Deployment, { shard: "0/2" }, {}),
  ];
  assertEquals(scopes.map(({ name }) => decodeURIComponent(name)), [
    "deployments.apps/v1",
    "deployments.apps/v1?representation=metadata",
    "deployments.apps/v1?namespaces=cart,shop&fields=spec.replicas&secretData=keep",
    "deployments.apps/v1?labelSelector=app=web&fieldSelector=metadata.name=a",
    "deployments.apps/v1?readable=true",
    "deployments.apps/v1?shard=0/2+by+uid",
  ]);
});

Deno.test("CacheScope gives other objects another name, also where a field has a comma", () => {
  const of = (fields: readonly string[]): string => CacheScope.inFactory({ ...Deployment, fields }, {}, {}).name;
  const names = [["a", "b"], ["a,b"], ["a%2Cb"], []].map(of);
  assertEquals(new Set([...names, CacheScope.inFactory(Deployment, {}, {}).name]).size, 5);
});

Deno.test("CacheScope says which part of objects is cached, and nothing of complete ones", () => {
  const of = (...[resource, options]: [Resource | undefined, object?]): string | undefined =>
    new CacheScope(resource, [{}], options).reduction;
  assertEquals([of(Deployment), of(Secret, { secretData: "keep" })], [undefined, undefined]);
  assertEquals([
    of(Deployment, { transform: () => {} }),
    of(Deployment, { readable: true }),
    of(Deployment, { shard: "0/2" }),
    of(undefined),
    of(onlyFields(Deployment, ["spec.replicas", "status"])),
    of(onlyMetadata(Deployment)),
    of(Secret),
  ], [
    "what a transform makes of objects",
    "the objects of namespaces that may be read alone",
    'the objects of the shard "0/2" alone',
    "objects of a source that does not say which fields they have",
    "the fields spec.replicas, status alone",
    "the metadata of objects alone",
    "Secrets without their data",
  ]);
});

const READS: Readonly<Record<string, (quarantine: Quarantine<Thing>, entry: CacheEntry<Thing>) => unknown>> = {
  objectOf: (quarantine, entry) => quarantine.objectOf(entry),
  onlyMetadata: (quarantine, entry) => quarantine.onlyMetadata(entry),
  labelsOf: (quarantine, entry) => quarantine.labelsOf(entry),
};

for (const [name, read] of Object.entries(READS)) {
  Deno.test(`Quarantine ${name} throws for a broken entry, reports it once, and counts it while it is cached`, () => {
    const error = new DecodeError("Cannot parse", { key: "shop/cart" });
    const broken = brokenEntry<Thing>({ key: "shop/cart", namespace: "shop", uid: "u", resourceVersion: "1" }, error);
    const reported: unknown[] = [];
    let isCached = false;
    const quarantine = new Quarantine<Thing>((error) => reported.push(error), () => isCached);
    assertStrictEquals(assertThrows(() => read(quarantine, broken)), error);
    assertEquals([reported, quarantine.size], [[error], 0]);
    isCached = true;
    assertThrows(() => read(quarantine, broken));
    assertEquals([reported, quarantine.size], [[error], 1]);
    quarantine.release("shop/cart");
    assertEquals(quarantine.size, 0);
  });
}

/** Unread entries of these objects, and the count of those that were parsed. */
function entries(...objects: object[]): CacheEntry<unknown>[] {
  return objects.map((object, i) => {
    const identity = { key: `${i}`, namespace: "", uid: "", resourceVersion: "1" };
    return unreadEntry(identity, JSON.stringify({ metadata: {}, ...object }), 12, 14);
  });
}

Deno.test("unknownFields returns the paths that lead to a value in no entry, through arrays, and counts null as a value", async () => {
  const given = entries({ spec: { a: null } }, { spec: { b: [[{ c: 1 }]] } }, { status: "spec.d" });
  assertEquals(
    await unknownFields(given, ["spec.a", "spec.b.c", "spec.d", "status.x", "metadata.labels"]),
    ["spec.d", "status.x", "metadata.labels"],
  );
  assertEquals(await unknownFields(entries(), ["spec.a"]), []);
});

Deno.test("unknownFields takes an object that cannot be read for one without the fields", async () => {
  const given = [unparsable("a", 1), ...entries({ spec: { a: 1 } })];
  assertEquals(await unknownFields(given, ["spec.a", "spec.b"]), ["spec.b"]);
});

Deno.test("bytesText has the unit in which a size has one to three digits before the point", () => {
  const sizes = [0, 999, 1_000, 5_678, 99_499, 99_500, 999_499, 999_500, 2.5e9, 4e13];
  assertEquals(sizes.map(bytesText), [
    ...["0 B", "999 B", "1.0 kB", "5.7 kB", "99.5 kB", "100 kB", "999 kB", "1.0 MB", "2.5 GB", "40000 GB"],
  ]);
});

Deno.test("Lister returns the very object that a transform has returned", async () => {
  const made = new Map<string, Thing>();
  const transform = (thing: Thing): Thing => {
    const own = { ...thing, spec: { size: 7 } };
    made.set(thing.metadata.name, own);
    return own;
  };
  await using run = await new Run(holding(entry("a", 1)), { transform }).start();
  assert(run.informer.lister.get("default/a") === made.get("a"));
});

Deno.test("unknownFields parses no entry whose text lacks the last key of a path", async () => {
  const given = entries(...Array.from({ length: 2_500 }, () => ({ spec: { a: 1 } })));
  assertEquals(await unknownFields(given, ["spec.z"]), ["spec.z"]);
  assertEquals(given.filter((entry) => (entry as { text?: unknown }).text === undefined), []);
});

/** The size of a thing's text. */
function sizeOf(name: string, version: number, namespace?: string): number {
  return JSON.stringify(thing(name, version, { namespace })).length;
}

Deno.test("MemoryMeter adds up text by state and namespace", () => {
  const meter = new MemoryMeter();
  const read = unread("b", 2);
  read.metadata; // parses the metadata alone
  assertEquals([read.textBytes, read.isParsed], [sizeOf("b", 2), false]);
  read.object;
  assertEquals([read.textBytes, read.isParsed], [sizeOf("b", 2), true]);
  const broken = unparsable("c", 3);
  assertThrows(() => broken.object);
  const all = [unread("a", 1), frozenEntry(read), unread("d", 4, { namespace: "other" }), broken];
  for (const entry of [...all, entryOf(thing("e", 5, { namespace: "" }))]) meter.add(entry);
  assertEquals([meter.objects, meter.bytes], [5, sizeOf("a", 1) + sizeOf("b", 2) + sizeOf("d", 4, "other")]);
  assertEquals(meter.report, {
    objects: 5,
    parsed: 3,
    unreadBytes: sizeOf("a", 1) + sizeOf("d", 4, "other"),
    parsedBytes: sizeOf("b", 2),
    unmeasured: 2,
    largest: [
      { key: "default/a", bytes: sizeOf("a", 1) },
      { key: "default/b", bytes: sizeOf("b", 2) },
      { key: "other/d", bytes: sizeOf("d", 4, "other") },
    ],
    namespaces: [
      { namespace: "default", objects: 3, bytes: sizeOf("a", 1) + sizeOf("b", 2) },
      { namespace: "other", objects: 1, bytes: sizeOf("d", 4, "other") },
      { namespace: "", objects: 1, bytes: 0 },
    ],
  });
});

Deno.test("MemoryMeter keeps the ten largest, the largest first", () => {
  const meter = new MemoryMeter();
  const sizes = [5, 90, 17, 3, 40, 41, 60, 8, 77, 21, 12, 33];
  const identity = { namespace: "", uid: "", resourceVersion: "1" };
  for (const size of sizes) meter.add(unreadEntry({ ...identity, key: `k${size}` }, "x".repeat(size), 0, 1));
  assertEquals(
    meter.report.largest,
    [90, 77, 60, 41, 40, 33, 21, 17, 12, 8].map((bytes) => ({ key: `k${bytes}`, bytes })),
  );
});

Deno.test("a row of a table has the size of its object", () => {
  const row = new RowEntry(unread("a", 1));
  assertEquals([row.textBytes, row.isParsed], [sizeOf("a", 1), false]);
  row.object;
  assertEquals([row.textBytes, row.isParsed], [sizeOf("a", 1), true]);
});

Deno.test("an entry with other characters than ASCII has the size of its UTF-8 text", () => {
  const bytes = new TextEncoder().encode(`{"metadata":{"name":"é"}}`);
  const entry = unreadEntry({ key: "é", namespace: "", uid: "", resourceVersion: "1" }, bytes, 12, bytes.length - 1);
  assertEquals(entry.textBytes, 26);
  entry.object;
  assertEquals(entry.textBytes, 26);
});

Deno.test("heldBytes is the same before and after a parse, and counts cells and what a transform has made", () => {
  const entry = unread("a", 1);
  const before = heldBytes(entry);
  entry.object;
  assertEquals(heldBytes(entry), before);
  const [row, cells] = [
    new RowEntry(unread("a", 1)),
    new RowEntry(unread("a", 1), [], ["a", "x".repeat(100), null, 3]),
  ];
  assertEquals([heldBytes(row), heldBytes(frozenEntry(cells)) - heldBytes(cells)], [before, 0]);
  const more = heldBytes(cells) - before;
  assert(more > 100 && more < 130, String(more));
  const cyclic = { ...thing("a", 1), spec: { size: 1, list: ["x".repeat(1_000)] } };
  const made = heldBytes(entryOf(cyclic));
  assertEquals(made - JSON.stringify(cyclic).length, before - sizeOf("a", 1));
  Object.assign(cyclic.spec, { cyclic });
  assertEquals(heldBytes(entryOf(cyclic)), before - sizeOf("a", 1));
  const broken = unparsable("c", 3);
  assertThrows(() => broken.object);
  assert(heldBytes(broken) < before);
});

Deno.test("largestFields names what a projection could leave out, by members of metadata and spec, and parses no entry", () => {
  const spec = { size: 1, template: "x".repeat(200), small: 1 };
  const entries = Array.from({ length: 100 }, (_, i) => {
    const object = { ...thing(`thing-${i}`, i), spec, status: { text: "y".repeat(400) } };
    Object.assign(object.metadata, { annotations: { note: "z".repeat(300) } });
    const text = JSON.stringify(object);
    const identity = { key: `default/thing-${i}`, namespace: "default", uid: "", resourceVersion: "1" };
    return unreadEntry(identity, text, text.indexOf("{", 1), text.indexOf(',"spec"'));
  });
  const found = largestFields([...entries, unparsable("c", 3)]);
  assertEquals(found.map(({ path }) => path), ["status", "metadata.annotations", "spec.template"]);
  assert(found[0].share > 0.3 && found[0].share < 0.45, JSON.stringify(found));
  assertEquals([entries.some(({ isParsed }) => isParsed), largestFields([])], [false, []]);
});

Deno.test("memory() of a factory has the sizes of each informer, and parses nothing", async () => {
  const server = new FakeApiServer();
  for (const name of ["a", "b", "c"]) {
    server.create(ConfigMap, { metadata: { name, namespace: `of-${name}` }, data: { text: name.repeat(1_000) } });
  }
  using client = new Client({ server: "http://fake", transport: server });
  await using informers = new SharedInformerFactory(client, {});
  const maps = informers.forResource(ConfigMap);
  informers.forResource(ConfigMap, { namespace: "of-b", parse: "eager" });
  informers.forResource(ConfigMap, { namespace: "of-c", transform: (map) => map });
  informers.start();
  await informers.waitForCacheSync();
  const found = informers.memory();
  assertEquals(
    found.map(({ resource, selection, memory }) => {
      const { objects, parsed, unmeasured, largest } = memory;
      return [resource.representation ?? "object", selection.namespaces, objects, parsed, unmeasured, largest.length];
    }),
    [
      ["object", undefined, 3, 0, 0, 3],
      ["object", ["of-b"], 1, 1, 0, 1],
      ["object", ["of-c"], 1, 1, 1, 0],
    ],
  );
  const { unreadBytes, parsedBytes, namespaces } = found[0].memory;
  assertEquals([parsedBytes, namespaces.length], [0, 3]);
  assert(unreadBytes > 3_000 && unreadBytes < 6_000, String(unreadBytes));
  maps.lister.get("of-a/a");
  assertEquals(maps.memory(), { ...found[0].memory, parsed: 1, ...sizesAfter(found[0].memory.namespaces, "of-a") });
  using held = informers.acquire(ConfigMap);
  assertEquals(held.informer.memory(), maps.memory());
});

function sizesAfter(
  namespaces: readonly { readonly namespace: string; readonly bytes: number }[],
  read: string,
): { readonly unreadBytes: number; readonly parsedBytes: number } {
  const bytesOf = (wanted: boolean): number =>
    namespaces.filter(({ namespace }) => (namespace === read) === wanted).reduce((sum, { bytes }) => sum + bytes, 0);
  return { unreadBytes: bytesOf(false), parsedBytes: bytesOf(true) };
}
