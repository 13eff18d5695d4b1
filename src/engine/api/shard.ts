/**
 * Shards: parts of a collection, split by the hash of a uid or namespace.
 *
 * {@linkcode fixedShard} and {@linkcode ShardFilter} are the entry points. Readers hash an object's bytes, and skip
 * objects in other shards before they decode them. This file does not assign ranges to processes: `group_leases.ts`
 * does.
 *
 * @module
 */
import { ValueError } from "../errors/checks.ts";
import { lowerBound } from "./lower_bound.ts";
import { encoder, type ObjectMeta } from "./object.ts";
import { DecodeError } from "./status.ts";

/** A range of hashes between 0 and 2^64, from `start` up to but not including `end`. */
export interface HashRange {
  /** The first hash. */
  readonly start: bigint;
  /** The first hash after the range. 2^64 for the last range. */
  readonly end: bigint;
}

/**
 * The field to hash:
 *
 * - `"uid"`: an object stays in its shard, because its uid never changes.
 * - `"namespace"`: all objects in a namespace are in the same shard.
 * - `"controller"`: the uid in the owner reference with `controller: true`, so objects are in their controller's shard.
 *   Objects without a controller are in no shard. No server filters by this field, and it may change.
 */
export type ShardField = "uid" | "namespace" | "controller";

/**
 * Decides which objects an informer caches: objects whose hash is in one of the ranges. The hash is 64-bit FNV-1a over
 * the field's UTF-8 bytes.
 */
export interface ShardSource {
  /**
   * The name in messages, in status, and for sharing informers. Two sources with the same name count as the same shard.
   */
  readonly name: string;
  /** The field to hash. */
  readonly by: ShardField;
  /** Returns the ranges that are held now, in any order. They do not overlap. */
  ranges(): readonly HashRange[];
  /**
   * Calls `listener` without arguments, in the same turn, after each change to {@linkcode ranges}. Dispose the result
   * to stop. @default {the ranges never change}
   */
  readonly onChange?: (listener: () => void) => Disposable;
  /** Resolves when the ranges are known. Nothing is listed before. @default {they are known from the start} */
  ready?(options: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * Returns the namespaces that the ranges contain, for a shard by namespace. When a range is added, only its
   * namespaces are listed, one by one. @default {added ranges are filtered from a list of the whole collection}
   */
  namespaces?(): readonly string[];
}

/** The number of hashes. */
const ALL = 1n << 64n;
const LOW = 0xffff_ffffn;

/** Returns one of `count` ranges with nearly equal sizes. `index` starts at 0. */
export function hashRange(index: number, count: number): HashRange {
  const boundary = (at: number): bigint => ALL * BigInt(at) / BigInt(count);
  return { start: boundary(index), end: boundary(index + 1) };
}

/**
 * Returns a shard that never changes. For example, `"0/4"` is the first shard out of four.
 *
 * @throws {RangeError} if `shard` is not `INDEX/COUNT` with an index below the count.
 */
export function fixedShard(shard: string, by: ShardField = "uid"): ShardSource {
  const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(shard)?.map(Number) ?? [];
  if (index === undefined || index >= count) {
    throw new ValueError(
      `Cannot take the shard ${JSON.stringify(shard)}: write INDEX/COUNT, for example "0/4" to "3/4"`,
    );
  }
  const ranges = [hashRange(index, count)];
  return { name: `${index}/${count}`, by, ranges: () => ranges };
}

/** Returns the shard for an option's value. @throws {RangeError} like {@linkcode fixedShard}. */
export function shardOf(shard: string | ShardSource): ShardSource {
  return typeof shard === "string" ? fixedShard(shard) : shard;
}

/** Merges ranges into as few as possible, in order. */
export function mergedRanges(ranges: readonly HashRange[]): readonly HashRange[] {
  const merged: HashRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.start < b.start ? -1 : a.start > b.start ? 1 : 0)) {
    if (range.start >= range.end) continue;
    const before = merged.at(-1);
    if (before === undefined || before.end < range.start) merged.push(range);
    else if (before.end < range.end) merged[merged.length - 1] = { start: before.start, end: range.end };
  }
  return merged;
}

/** Returns the hashes in `ranges` that are not in `without`, in order. */
export function rangesWithout(ranges: readonly HashRange[], without: readonly HashRange[]): readonly HashRange[] {
  let rest = mergedRanges(ranges);
  for (const { start, end } of mergedRanges(without)) {
    rest = rest.flatMap((range) => [
      { start: range.start, end: range.end < start ? range.end : start },
      { start: range.start > end ? range.start : end, end: range.end },
    ]).filter((range) => range.start < range.end);
  }
  return rest;
}

/** Returns the hashes that are in both `a` and `b`, in order. */
export function commonRanges(a: readonly HashRange[], b: readonly HashRange[]): readonly HashRange[] {
  return rangesWithout(a, rangesWithout(a, b));
}

/**
 * Computes 64-bit FNV-1a in two 32-bit halves, because JavaScript has no fast 64-bit arithmetic. `high` and `low` hold
 * the latest result as signed numbers.
 */
class Fnv1a {
  high = 0;
  low = 0;

  /** Hashes `bytes[start, end)`. */
  bytes(bytes: Uint8Array, start: number, end: number): void {
    this.high = OFFSET_HIGH;
    this.low = OFFSET_LOW;
    for (let at = start; at < end; at++) this.#next(bytes[at]);
  }

  /** Hashes a text's UTF-8 bytes. */
  text(text: string): void {
    this.high = OFFSET_HIGH;
    this.low = OFFSET_LOW;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) {
        const bytes = encoder.encode(text);
        return this.bytes(bytes, 0, bytes.length);
      }
      this.#next(code);
    }
  }

  /** Multiplies by the prime, 2^40 + 435. */
  #next(byte: number): void {
    const low = this.low ^ byte;
    const carry = ((low >>> 16) * 435 + (((low & 0xffff) * 435) >>> 16)) >>> 16;
    this.high = (Math.imul(this.high, 435) + carry + (low << 8)) | 0;
    this.low = Math.imul(low, 435);
  }
}

const OFFSET_HIGH = 0xcbf29ce4 | 0;
const OFFSET_LOW = 0x84222325 | 0;
const fnv1a = new Fnv1a();

/** Returns the shard for objects whose controllers are in the given shard by uid. */
export function controlledBy(shard: ShardSource): ShardSource {
  const { name, onChange } = shard;
  return {
    name,
    by: "controller",
    ranges: () => shard.ranges(),
    ...(onChange === undefined ? {} : { onChange: (listener: () => void) => onChange.call(shard, listener) }),
  };
}

/** Returns the hash of a uid or namespace. */
export function hashOf(text: string): bigint {
  fnv1a.text(text);
  return BigInt(fnv1a.high >>> 0) << 32n | BigInt(fnv1a.low >>> 0);
}

/** Returns a range that contains only the hash of this text. */
export function hashesOf(text: string): readonly HashRange[] {
  const start = hashOf(text);
  return [{ start, end: start + 1n }];
}

/**
 * The largest number of ranges in a request parameter. Each takes some 100 characters, and servers accept URLs up to 8
 * kB.
 */
const MOST_SELECTED = 64;

/** Decides which objects are in ranges of hashes. Readers ask it about each object before they decode the object. */
export class ShardFilter {
  /** The field to hash. */
  readonly by: ShardField;
  /** The number of objects that readers have skipped so far. */
  dropped = 0;
  #ranges: readonly HashRange[] = [];
  /**
   * The starts and ends of the merged ranges in turn, as halves. A hash is in a range if an odd number of bounds are
   * not above it.
   */
  #highs: readonly number[] = [];
  #lows: readonly number[] = [];

  /** Creates a filter for ranges in any order. */
  constructor(by: ShardField, ranges: readonly HashRange[]) {
    this.by = by;
    this.ranges = ranges;
  }

  /** The merged ranges, in order. */
  get ranges(): readonly HashRange[] {
    return this.#ranges;
  }

  /** Replaces the ranges. Objects read from now on are filtered by the new ranges. */
  set ranges(ranges: readonly HashRange[]) {
    this.#ranges = mergedRanges(ranges);
    const bounds = this.#ranges.flatMap(({ start, end }) => [start, end]);
    this.#highs = bounds.map((bound) => Number(bound >> 32n));
    this.#lows = bounds.map((bound) => Number(bound & LOW));
  }

  /**
   * The request parameter `shardSelector` for the ranges. `undefined` if all objects are in them, for shards by
   * controller, and if the parameter would be too long for proxies or servers.
   *
   * Without ranges it selects a single hash, because the parameter cannot select nothing.
   */
  get selector(): string | undefined {
    const [first = { start: 0n, end: 1n }] = this.#ranges;
    if (this.by === "controller" || this.#ranges.length > MOST_SELECTED) return undefined;
    if (first.end - first.start === ALL) return undefined;
    const hex = (hash: bigint): string => `'0x${hash.toString(16).padStart(16, "0")}'`;
    return (this.#ranges.length === 0 ? [first] : this.#ranges)
      .map(({ start, end }) => `shardRange(object.metadata.${this.by}, ${hex(start)}, ${hex(end)})`).join(" || ");
  }

  /**
   * Returns `true` if an object is in the ranges. An object with unreadable metadata is in each shard by controller.
   */
  has(
    object: {
      readonly uid: string;
      readonly namespace: string;
      readonly metadata?: Pick<ObjectMeta, "ownerReferences">;
    },
  ): boolean {
    if (this.by !== "controller") return this.hasText(this.by === "uid" ? object.uid : object.namespace);
    try {
      const uid = object.metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid;
      return uid !== undefined && this.hasText(uid);
    } catch (error) {
      if (error instanceof DecodeError) return true;
      throw error;
    }
  }

  /** Returns `true` if a text's hash is in the ranges. */
  hasText(text: string): boolean {
    fnv1a.text(text);
    return this.#hasHash();
  }

  /** Returns `true` if the ranges contain the object whose field is `bytes[start, end)`. */
  hasBytes(bytes: Uint8Array, start: number, end: number): boolean {
    fnv1a.bytes(bytes, start, end);
    return this.#hasHash();
  }

  #hasHash(): boolean {
    const [highs, lows] = [this.#highs, this.#lows];
    const [high, low] = [fnv1a.high >>> 0, fnv1a.low >>> 0];
    // The number of bounds that are not above the hash, by halving.
    const below = lowerBound(highs.length, (at) => highs[at] < high || (highs[at] === high && lows[at] <= low));
    return (below & 1) === 1;
  }
}

/** Counts the objects that arrive in a list, including the objects that a shard skips. */
export class Arrivals {
  readonly #shard: ShardFilter | undefined;
  #dropped: number;

  /** Counts from now on. */
  constructor(shard: ShardFilter | undefined) {
    this.#shard = shard;
    this.#dropped = shard?.dropped ?? 0;
  }

  /** Returns the number of objects that arrived since the last call, if `objects` of them were read. */
  count(objects: number): number {
    if (this.#shard === undefined) return objects;
    const before = this.#dropped;
    this.#dropped = this.#shard.dropped;
    return objects + this.#dropped - before;
  }
}
