/** The cost of deciding by the bytes of a body which objects are of a shard. */
import { fixedShard, ShardFilter } from "../mod.ts";

const COUNT = 1_000;
const MASK = (1n << 64n) - 1n;
const UIDS = Array.from({ length: COUNT }, () => crypto.randomUUID());
const LENGTH = UIDS[0].length;
const BYTES = new TextEncoder().encode(UIDS.join(""));

const shard = new ShardFilter("uid", fixedShard("0/8").ranges());

/** 64-bit FNV-1a as it is written down. */
function hashByBigInt(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at++) hash = ((hash ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n) & MASK;
  return hash;
}

const end = (MASK + 1n) / 8n;
const expected = UIDS.filter((uid) => hashByBigInt(uid) < end).length;

function check(found: number): void {
  if (found !== expected) throw new Error(`Cannot measure: found ${found} objects of the shard, expected ${expected}`);
}

Deno.bench({
  name: "text of each uid, hash of 64 bits by BigInt",
  group: "1,000 uids, which are of 1 of 8 shards",
  baseline: true,
  fn: () => {
    const decoder = new TextDecoder();
    let found = 0;
    for (let at = 0; at < BYTES.length; at += LENGTH) {
      if (hashByBigInt(decoder.decode(BYTES.subarray(at, at + LENGTH))) < end) found++;
    }
    check(found);
  },
});

Deno.bench({
  name: "bytes, hash in halves of 32 bits",
  group: "1,000 uids, which are of 1 of 8 shards",
  fn: () => {
    let found = 0;
    for (let at = 0; at < BYTES.length; at += LENGTH) if (shard.hasBytes(BYTES, at, at + LENGTH)) found++;
    check(found);
  },
});
