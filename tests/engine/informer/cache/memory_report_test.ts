import { assert, assertEquals, assertThrows } from "@std/assert";
import { Client } from "../../../../src/engine/client/client.ts";
import { entryOf, unreadEntry } from "../../../../src/engine/entry/entry.ts";
import { RowEntry } from "../../../../src/engine/entry/row_entry.ts";
import {
  bytesText,
  heldBytes,
  largestFields,
  MemoryMeter,
} from "../../../../src/engine/informer/cache/memory_report.ts";
import { SharedInformerFactory } from "../../../../src/engine/informer/shared_informer_factory.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ConfigMap } from "../../../support/servers/fake_server.ts";
import { thing, unparsable, unread } from "../../../support/sources/fixtures.ts";
import { asFrozen } from "../../_unread.ts";

Deno.test("bytesText has the unit in which a size has one to three digits before the point", () => {
  const sizes = [0, 999, 1_000, 5_678, 99_499, 99_500, 999_499, 999_500, 2.5e9, 4e13];
  assertEquals(sizes.map(bytesText), [
    ...["0 B", "999 B", "1.0 kB", "5.7 kB", "99.5 kB", "100 kB", "999 kB", "1.0 MB", "2.5 GB", "40000 GB"],
  ]);
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
  const all = [unread("a", 1), asFrozen(read), unread("d", 4, { namespace: "other" }), broken];
  for (const entry of [...all, entryOf(thing("e", 5, { namespace: "" }))]) meter.add(entry);
  assertEquals([meter.sums.objects, meter.bytes], [5, sizeOf("a", 1) + sizeOf("b", 2) + sizeOf("d", 4, "other")]);
  assertEquals(meter.report, {
    objects: 5,
    parsed: 3,
    unreadBytes: sizeOf("a", 1) + sizeOf("d", 4, "other"),
    parsedBytes: sizeOf("b", 2),
    compact: { objects: 0, savedBytes: 0 },
    sharedBytes: 0,
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
  assertEquals([heldBytes(row), heldBytes(asFrozen(cells)) - heldBytes(cells)], [before, 0]);
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
  const sizes = sizesAfter(found[0].memory.namespaces, "of-a");
  const { sharedBytes } = maps.memory();
  assert(sharedBytes > sizes.parsedBytes && sharedBytes < sizes.parsedBytes + 500, String(sharedBytes));
  assertEquals(maps.memory(), { ...found[0].memory, parsed: 1, sharedBytes, ...sizes });
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
