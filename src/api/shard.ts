/**
 * Shards: parts of a collection by the hash of a uid or a namespace.
 *
 * {@linkcode fixedShard} and {@linkcode ShardFilter} are the entry points. Readers hash the bytes of an object and skip
 * objects of other shards before they decode them. This file does not decide which process has which range;
 * `group_leases.ts` does.
 *
 * @module
 */
import { lowerBound } from "./lower_bound.ts";
import { encoder, type ObjectMeta } from "./object.ts";
import { DecodeError } from "./status.ts";

/** A part of the hashes from 0 to 2^64: `start` is in it, and `end` is not. */
export interface HashRange {
  /** The first hash. */
  readonly start: bigint;
  /** The first hash behind it; 2^64 for the last range. */
  readonly end: bigint;
}

/**
 * The field that is hashed: an object keeps its uid, and all objects of a namespace have the same hash. `"controller"`
 * is the uid in the owner reference with `controller: true`, so that an object is in the shard of its controller's uid;
 * one without a controller is in none. No server filters by it, and it may change.
 */
export type ShardField = "uid" | "namespace" | "controller";

/**
 * Which objects an informer caches: those whose hash is in one of the ranges. The hash is 64-bit FNV-1a of the UTF-8
 * bytes of the field.
 */
export interface ShardSource {
  /** The name in messages, in status and of shared informers; two sources of one name are the same. */
  readonly name: string;
  /** The hashed field. */
  readonly by: ShardField;
  /** The ranges that are held now, in any order. They do not overlap. */
  ranges(): readonly HashRange[];
  /**
   * Calls `listener`, without arguments and in the same turn, after each change of {@linkcode ranges}, until the result
   * is disposed. @default {the ranges never change}
   */
  readonly onChange?: (listener: () => void) => Disposable;
  /**
   * Resolves once the ranges are known, before which nothing is listed. @default {they are known from the start}
   */
  ready?(options: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * The namespaces whose hashes the ranges are, of a shard by namespace: those that come are listed each by itself.
   * @default {ranges that come are listed by a list of all, from which they are taken}
   */
  namespaces?(): readonly string[];
}

/** The number of hashes. */
const ALL = 1n << 64n;
const LOW = 0xffff_ffffn;

/** Returns one of `count` ranges of nearly equal size, counted from 0. */
export function hashRange(index: number, count: number): HashRange {
  const boundary = (at: number): bigint => ALL * BigInt(at) / BigInt(count);
  return { start: boundary(index), end: boundary(index + 1) };
}

/**
 * Returns a shard that never changes: of `"0/4"` the first of four.
 *
 * @throws {RangeError} when `shard` is not `INDEX/COUNT`, with an index below the count.
 */
export function fixedShard(shard: string, by: ShardField = "uid"): ShardSource {
  const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(shard)?.map(Number) ?? [];
  if (index === undefined || index >= count) {
    throw new RangeError(
      `Cannot take the shard ${JSON.stringify(shard)}: write INDEX/COUNT, for example "0/4" to "3/4"`,
    );
  }
  const ranges = [hashRange(index, count)];
  return { name: `${index}/${count}`, by, ranges: () => ranges };
}

/** Returns the shard that an option names. @throws as {@linkcode fixedShard}. */
export function shardOf(shard: string | ShardSource): ShardSource {
  return typeof shard === "string" ? fixedShard(shard) : shard;
}

/** Returns the same hashes in order, in as few ranges as possible. */
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

/** Returns the hashes of `ranges` that are not in `without`, in order. */
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

/** Returns the hashes that are in both, in order. */
export function commonRanges(a: readonly HashRange[], b: readonly HashRange[]): readonly HashRange[] {
  return rangesWithout(a, rangesWithout(a, b));
}

/**
 * Computes 64-bit FNV-1a in two halves of 32 bits, as JavaScript has no fast arithmetic of 64. The halves are those of
 * the latest call, as signed numbers.
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

  /** Hashes the UTF-8 bytes of a text. */
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

/** Returns the shard of the objects whose controllers are in a shard by uid. */
export function controlledBy(shard: ShardSource): ShardSource {
  const { name, onChange } = shard;
  return {
    name,
    by: "controller",
    ranges: () => shard.ranges(),
    ...(onChange === undefined ? {} : { onChange: (listener: () => void) => onChange.call(shard, listener) }),
  };
}

/** Returns the hash of a uid or of a namespace. */
export function hashOf(text: string): bigint {
  fnv1a.text(text);
  return BigInt(fnv1a.high >>> 0) << 32n | BigInt(fnv1a.low >>> 0);
}

/** Returns the range that has the hash of a text alone. */
export function hashesOf(text: string): readonly HashRange[] {
  const start = hashOf(text);
  return [{ start, end: start + 1n }];
}

/** The largest number of ranges in a parameter, of some 100 characters each: servers take addresses of 8 kB. */
const MOST_SELECTED = 64;

/** Decides which objects are in ranges of hashes. Readers ask it for each object, before they decode one. */
export class ShardFilter {
  /** The hashed field. */
  readonly by: ShardField;
  /** The number of objects so far that readers have left out. */
  dropped = 0;
  #ranges: readonly HashRange[] = [];
  /** The starts and ends of the merged ranges in turn, as halves; a hash is in a range behind an odd number of them. */
  #highs: readonly number[] = [];
  #lows: readonly number[] = [];

  /** A filter for the ranges, which need not be in order. */
  constructor(by: ShardField, ranges: readonly HashRange[]) {
    this.by = by;
    this.ranges = ranges;
  }

  /** The ranges, merged and in order. */
  get ranges(): readonly HashRange[] {
    return this.#ranges;
  }

  /** Replaces the ranges: what is read from now on is filtered by the new ones. */
  set ranges(ranges: readonly HashRange[]) {
    this.#ranges = mergedRanges(ranges);
    const bounds = this.#ranges.flatMap(({ start, end }) => [start, end]);
    this.#highs = bounds.map((bound) => Number(bound >> 32n));
    this.#lows = bounds.map((bound) => Number(bound & LOW));
  }

  /**
   * The `shardSelector` parameter for the ranges; `undefined` where all objects are in them, of shards by controller,
   * and where it would be too long for the servers between.
   *
   * Without any range it selects the objects of a single hash, as the parameter cannot select nothing.
   */
  get selector(): string | undefined {
    const [first = { start: 0n, end: 1n }] = this.#ranges;
    if (this.by === "controller" || this.#ranges.length > MOST_SELECTED) return undefined;
    if (first.end - first.start === ALL) return undefined;
    const hex = (hash: bigint): string => `'0x${hash.toString(16).padStart(16, "0")}'`;
    return (this.#ranges.length === 0 ? [first] : this.#ranges)
      .map(({ start, end }) => `shardRange(object.metadata.${this.by}, ${hex(start)}, ${hex(end)})`).join(" || ");
  }

  /** Returns `true` if an object is in the ranges; one whose metadata cannot be read is in each shard by controller. */
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

  /** Returns `true` if the hash of a text is in the ranges. */
  hasText(text: string): boolean {
    fnv1a.text(text);
    return this.#hasHash();
  }

  /** Returns `true` if an object is in the ranges whose field is `bytes[start, end)`. */
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

/** Counts the objects that arrive in a list: those that are read, and those that a shard leaves out. */
export class Arrivals {
  readonly #shard: ShardFilter | undefined;
  #dropped: number;

  /** Counts from now on. */
  constructor(shard: ShardFilter | undefined) {
    this.#shard = shard;
    this.#dropped = shard?.dropped ?? 0;
  }

  /** Returns the number of objects since the last call, of which `objects` were read. */
  count(objects: number): number {
    if (this.#shard === undefined) return objects;
    const before = this.#dropped;
    this.#dropped = this.#shard.dropped;
    return objects + this.#dropped - before;
  }
}
