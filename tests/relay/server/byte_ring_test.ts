import { assert, assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { ByteRing } from "../../../src/relay/server/byte_ring.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Everything behind a position, and the number of reads that it took. */
function readAll(ring: ByteRing, position: number): { text: string; position: number } {
  let text = "";
  for (let next = ring.after(position); next !== undefined; next = ring.after(position)) {
    text += decoder.decode(next.bytes);
    assert(next.position > position);
    position = next.position;
  }
  return { text, position };
}

Deno.test("a ring returns what is behind a position, also after the oldest batches were dropped", () => {
  const batches = fc.array(
    fc.record({ gap: fc.integer({ min: 1, max: 3 }), length: fc.integer({ min: 0, max: 300 }) }),
  );
  fc.assert(fc.property(fc.integer({ min: 0, max: 3_000 }), batches, (limit, batches) => {
    const ring = new ByteRing(10);
    const pushed: { position: number; text: string }[] = [];
    let position = 10;
    for (const [index, { gap, length }] of batches.entries()) {
      position += gap;
      const text = String(index % 10).repeat(length);
      pushed.push({ position, text });
      ring.push([{ position, bytes: encoder.encode(text) }]);
      while (ring.bytes > limit) ring.drop();
      for (let from = ring.base; from <= position; from++) {
        const behind = pushed.filter((batch) => batch.position > from);
        const text = behind.map((batch) => batch.text).join("");
        assertEquals(readAll(ring, from).text, text);
        const next = ring.next(from);
        assertEquals([next?.position, next && decoder.decode(next.bytes)], [behind[0]?.position, behind[0]?.text]);
      }
    }
  }));
});

Deno.test("a ring joins small batches to one read, and shares it among readers", () => {
  const ring = new ByteRing(0);
  ring.push([1, 2, 3].map((position) => ({ position, bytes: encoder.encode(`${position}`) })));
  const first = ring.after(0)!;
  assertEquals([decoder.decode(first.bytes), first.position], ["123", 3]);
  assertEquals(ring.after(0) === first, true);
  assertEquals(decoder.decode(ring.after(1)!.bytes), "23");
  ring.push([{ position: 4, bytes: encoder.encode("4") }]);
  assertEquals(decoder.decode(ring.after(1)!.bytes), "234");
});

Deno.test("a ring returns no more than 64 kB at once, unless one batch is larger, and never a part of a batch", () => {
  const ring = new ByteRing(0);
  ring.push([{ position: 1, bytes: new Uint8Array(1_000_000) }]);
  for (let position = 2; position <= 11; position++) ring.push([{ position, bytes: new Uint8Array(20_000) }]);
  assertEquals([0, 1, 3, 4, 11].map((position) => ring.after(position)?.bytes.length), [
    1_000_000,
    60_000,
    20_000,
    60_000,
    undefined,
  ]);
});

Deno.test("a ring returns what was added before it, wherever readers begin", () => {
  const ring = new ByteRing(7);
  const batches = (...positions: number[]): { position: number; bytes: Uint8Array<ArrayBuffer> }[] =>
    positions.map((position) => ({ position, bytes: encoder.encode(`${position}`) }));
  ring.prepend(5, batches(6));
  ring.push(batches(8, 9));
  assertEquals(ring.after(4)?.position, 6);
  ring.prepend(4, []);
  ring.prepend(0, batches(1, 3));
  assertEquals([0, 1, 2, 3, 5, 6, 8].map((from) => readAll(ring, from).text), [
    ...["13689", "3689", "3689", "689", "689", "89", "9"],
  ]);
  assertEquals([ring.base, ring.bytes], [0, 256 + 3]);
  ring.drop();
  assertEquals([ring.base, ring.bytes], [3, 256 + 1]);
});

Deno.test("batches that come together are in one block, and each can be begun at", () => {
  const ring = new ByteRing(0);
  ring.push([1, 2, 3].map((position) => ({ position, bytes: new Uint8Array(40_000) })));
  assertEquals([0, 1, 2].map((from) => ring.after(from)?.bytes.length), [120_000, 80_000, 40_000]);
  assertEquals(ring.next(1)?.position, 2);
});

Deno.test("bytes that were read do not change while batches follow", () => {
  const ring = new ByteRing(0);
  ring.push([{ position: 1, bytes: encoder.encode("1") }]);
  const first = ring.after(0)!;
  ring.push([{ position: 2, bytes: encoder.encode("2") }]);
  ring.drop();
  ring.push([{ position: 3, bytes: encoder.encode("3") }]);
  assertEquals([decoder.decode(first.bytes), decoder.decode(ring.after(2)!.bytes)], ["1", "3"]);
});

Deno.test("a ring stays small after a million batches, and counts the room that it has taken", () => {
  const ring = new ByteRing(0);
  const batch = new Uint8Array(100);
  for (let position = 1; position <= 1_000_000; position++) {
    ring.push([{ position, bytes: batch }]);
    while (ring.bytes > 10_000) ring.drop();
  }
  let behind = 0;
  for (let at = ring.base; ring.after(at) !== undefined; at = ring.after(at)!.position) {
    behind += ring.after(at)!.bytes.length;
  }
  assertEquals(behind, (1_000_000 - ring.base) * 100);
  assert(behind > 7_000 && behind <= ring.bytes && ring.bytes <= 10_000, `${behind} of ${ring.bytes}`);
});
