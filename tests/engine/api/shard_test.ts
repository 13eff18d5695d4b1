import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  fixedShard,
  hashOf,
  type HashRange,
  hashRange,
  mergedRanges,
  rangesWithout,
  ShardFilter,
} from "../../../src/engine/api/shard.ts";

const ALL = 1n << 64n;
const encoder = new TextEncoder();

/** 64-bit FNV-1a by its definition. */
function definition(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = (hash ^ BigInt(byte)) * 0x100000001b3n % ALL;
  return hash;
}

Deno.test("hashes are the published vectors of 64-bit FNV-1a", () => {
  const vectors: [string, bigint][] = [
    ["", 0xcbf29ce484222325n],
    ["a", 0xaf63dc4c8601ec8cn],
    ["b", 0xaf63df4c8601f1a5n],
    ["foo", 0xdcb27518fed9d577n],
    ["foobar", 0x85944171f73967e8n],
    ["chongo was here!\n", 0x46810940eff5f915n],
  ];
  for (const [text, hash] of vectors) assertEquals(hashOf(text), hash, text);
});

Deno.test("hashes of random texts are those of the definition, of bytes as of texts, beyond ASCII too", () => {
  for (let i = 0; i < 500; i++) {
    const text = i % 5 === 0 ? `größe-${i}-日本-${Math.random()}` : crypto.randomUUID();
    const bytes = encoder.encode(text);
    const hash = definition(bytes);
    assertEquals(hashOf(text), hash, text);
    const filter = new ShardFilter("uid", [{ start: hash, end: hash + 1n }]);
    assert(filter.hasBytes(encoder.encode(`"${text}"`), 1, bytes.length + 1), text);
    assert(filter.has({ uid: text, namespace: "shop" }), text);
  }
});

Deno.test("shards are half-open, do not overlap, and are together all hashes, of any count", () => {
  for (const count of [1, 2, 3, 7, 128, 999_999]) {
    let end = 0n;
    for (const index of [0, 1, 2, count - 2, count - 1].filter((index) => index >= 0 && index < count)) {
      const range = hashRange(index, count);
      if (index > 0) assertEquals(range.start, hashRange(index - 1, count).end);
      end = range.end;
    }
    assertEquals(end, ALL);
  }
  const [range] = fixedShard("1/2").ranges();
  assertEquals(range, { start: 1n << 63n, end: ALL });
});

Deno.test("a filter has the start of each range and not its end, also where the halves are equal", () => {
  const texts = Array.from({ length: 200 }, () => crypto.randomUUID()).map((uid) => ({ uid, hash: hashOf(uid) }));
  for (const { uid, hash } of texts) {
    const has = (...ranges: HashRange[]): boolean => new ShardFilter("uid", ranges).has({ uid, namespace: "" });
    assert(has({ start: hash, end: hash + 1n }));
    assert(!has({ start: hash + 1n, end: ALL }, { start: 0n, end: hash }));
    assert(has({ start: hash - 5n, end: hash - 1n }, { start: hash, end: ALL }));
    assert(!has());
  }
});

Deno.test("a filter by namespace hashes the namespace", () => {
  const hash = hashOf("shop");
  const filter = new ShardFilter("namespace", [{ start: hash, end: hash + 1n }]);
  assert(filter.has({ uid: "x", namespace: "shop" }));
  assert(!filter.has({ uid: "shop", namespace: "x" }));
});

Deno.test("the ranges of a filter can be replaced, and are merged", () => {
  const filter = new ShardFilter("uid", [hashRange(2, 4), hashRange(0, 4), hashRange(1, 4)]);
  assertEquals(filter.ranges, [{ start: 0n, end: hashRange(2, 4).end }]);
  filter.ranges = [hashRange(3, 4)];
  const uid = crypto.randomUUID();
  assertEquals(filter.has({ uid, namespace: "" }), hashOf(uid) >= hashRange(3, 4).start);
});

Deno.test("merging and subtracting ranges keeps exactly their hashes, for random ranges", () => {
  for (let i = 0; i < 300; i++) {
    const random = (): HashRange[] =>
      Array.from({ length: Math.floor(Math.random() * 5) }, () => {
        const [a, b] = [Math.floor(Math.random() * 20), Math.floor(Math.random() * 20)];
        return { start: BigInt(Math.min(a, b)), end: BigInt(Math.max(a, b)) };
      });
    const has = (ranges: readonly HashRange[], hash: bigint): boolean =>
      ranges.some(({ start, end }) => start <= hash && hash < end);
    const [a, b] = [random(), random()];
    const [merged, rest] = [mergedRanges(a), rangesWithout(a, b)];
    for (let hash = 0n; hash < 21n; hash++) {
      assertEquals(has(merged, hash), has(a, hash));
      assertEquals(has(rest, hash), has(a, hash) && !has(b, hash));
    }
    for (const ranges of [merged, rest]) {
      ranges.forEach(({ start, end }, at) => assert(start < end && (at === 0 || ranges[at - 1].end <= start)));
    }
    merged.forEach(({ start }, at) => assert(at === 0 || merged[at - 1].end < start));
  }
});

Deno.test("the selector names each range in hexadecimal digits, and is left out for all objects", () => {
  const filter = new ShardFilter("uid", [hashRange(3, 4), hashRange(0, 4)]);
  assertEquals(
    filter.selector,
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000') || " +
      "shardRange(object.metadata.uid, '0xc000000000000000', '0x10000000000000000')",
  );
  assertEquals(new ShardFilter("uid", [hashRange(0, 2), hashRange(1, 2)]).selector, undefined);
  assertEquals(
    new ShardFilter("namespace", []).selector,
    "shardRange(object.metadata.namespace, '0x0000000000000000', '0x0000000000000001')",
  );
});

Deno.test("what is no shard is refused by its text", () => {
  for (const text of ["", "4/4", "0/0", "1", "-1/4", "a/4", "0/4/2", "0.5/4"]) {
    const { message } = assertThrows(() => fixedShard(text), RangeError);
    assertEquals(
      message,
      `Cannot take the shard ${JSON.stringify(text)}: write INDEX/COUNT, for example "0/4" to "3/4"`,
    );
  }
  const { name, by, onChange } = fixedShard("02/4", "namespace");
  assertEquals([name, by, onChange], ["2/4", "namespace", undefined]);
});
