import { assertEquals } from "@std/assert";
import { type SnapshotHeader, snapshotStream } from "../../src/informer/snapshot.ts";
import { unread } from "../support/fixtures.ts";

Deno.test("snapshotStream writes frames of at least 256 KiB, whose heads are at multiples of four bytes, as a checksum needs them", async () => {
  const header = { scope: {}, versions: ["10"], at: 0 } as unknown as SnapshotHeader;
  const entries = Array.from(
    { length: 10 },
    (_, i) => unread(`a${i}`, i, { labels: { word: "x".repeat(100_001 + i) } }),
  );
  const chunks = await Array.fromAsync(snapshotStream(header, [{ entries, originalKey: () => undefined }]));
  const sizes = chunks.map(({ length }) => Math.floor(length / 100_000));
  assertEquals(sizes, [0, 3, 3, 3, 1, 0]); // the header, the objects, and their number
  let at = chunks[0].length;
  for (const chunk of chunks.slice(1)) {
    assertEquals((at + chunk.indexOf(10) + 1) % 4, 0);
    at += chunk.length;
  }
});
