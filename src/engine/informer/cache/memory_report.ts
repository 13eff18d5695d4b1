/**
 * The sizes of cached objects: in all, by namespace, and by field.
 *
 * {@linkcode MemoryReport} and {@linkcode heldBytes} are the entry points. The sizes are those of JSON text. What
 * happens when there are too many bytes is decided by `memory_budget.ts`.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import { FieldTree } from "../../api/fields.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import type { TableRow } from "../../api/resource.ts";
import { formatFieldPath } from "../../api/selector.ts";
import { parseObject } from "../../entry/entry.ts";
import { entryWithin } from "../../entry/entry_around.ts";
import { entryText, jsonOf } from "../../entry/entry_json.ts";

/** The number of objects in {@linkcode MemoryReport.largest}. */
const MOST_LARGEST = 10;

/**
 * The sizes of cached objects, in bytes of JSON text as it arrived, without dropped managedFields. A parsed object has
 * no text any more. In memory it takes a multiple of its text, which is not measured.
 */
export interface MemoryReport {
  /** The number of objects. */
  readonly objects: number;
  /** The number of parsed objects. */
  readonly parsed: number;
  /** The size of the text in the cache, from objects that are not parsed yet. */
  readonly unreadBytes: number;
  /** The size of the text that the parsed objects had. */
  readonly parsedBytes: number;
  /** The compact objects, see `CacheOptions.compact`, and by how much less memory they take than their text. */
  readonly compact: { readonly objects: number; readonly savedBytes: number };
  /**
   * The size of the text that is kept of parsed objects, so that their next versions share what has not changed. It is
   * given up first when memory is short. See `CacheOptions.freeze`.
   */
  readonly sharedBytes: number;
  /** The number of objects without a known size: results of a transform, and unreadable objects. */
  readonly unmeasured: number;
  /** The ten objects with the most text, the largest first. */
  readonly largest: readonly LargeObject[];
  /** The namespaces, the largest first. Objects without a namespace are under `""`. */
  readonly namespaces: readonly NamespaceMemory[];
}

/** One of the largest objects. */
export interface LargeObject {
  /** The object's key. */
  readonly key: ObjectKey;
  /** The size of its text. */
  readonly bytes: number;
}

/** The sizes of the objects in one namespace. */
export interface NamespaceMemory {
  /** The namespace's name. */
  readonly namespace: string;
  /** The number of objects. */
  readonly objects: number;
  /** The size of their text. */
  readonly bytes: number;
}

/** Adds up sizes of entries, without parsing or keeping them. */
export class MemoryMeter {
  /** The compact objects so far. */
  readonly compact = { objects: 0, savedBytes: 0 };
  /** The sums so far. */
  readonly sums = { objects: 0, parsed: 0, unreadBytes: 0, parsedBytes: 0, sharedBytes: 0, unmeasured: 0 };
  /** `#largest` has the largest objects so far, the largest first, {@linkcode MOST_LARGEST} at most. */
  #largest: LargeObject[] = [];
  readonly #namespaces = new Map<string, { objects: number; bytes: number }>();

  /** Adds an entry. */
  add({ key, namespace, textBytes, savedBytes = 0, isParsed = true }: CacheEntry<unknown>): void {
    const { sums, compact } = this;
    if (savedBytes > 0) compact.objects++;
    compact.savedBytes += savedBytes;
    sums.objects++;
    if (isParsed) sums.parsed++;
    if (textBytes === undefined) sums.unmeasured++;
    const bytes = textBytes ?? 0;
    if (isParsed) sums.parsedBytes += bytes;
    else sums.unreadBytes += bytes;
    const sum = this.#namespaces.get(namespace) ?? { objects: 0, bytes: 0 };
    this.#namespaces.set(namespace, sum);
    sum.objects++;
    sum.bytes += bytes;
    const last = this.#largest[MOST_LARGEST - 1];
    if (bytes === 0 || (last !== undefined && last.bytes >= bytes)) return;
    this.#largest = [...this.#largest, { key, bytes }].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_LARGEST);
  }

  /** The size of all text so far. */
  get bytes(): number {
    return this.sums.unreadBytes + this.sums.parsedBytes;
  }

  /** The sizes so far. */
  get report(): MemoryReport {
    return {
      ...this.sums,
      compact: { ...this.compact },
      largest: [...this.#largest],
      namespaces: Array.from(this.#namespaces, ([namespace, sum]) => ({ namespace, ...sum }))
        .sort((a, b) => b.bytes - a.bytes),
    };
  }
}

/** About the bytes of a cached object beside its text: its entry, the strings of that, and its place in the store. */
const ENTRY_BYTES = 300;

/**
 * Returns about the bytes that an entry holds: the size of its text, or of the JSON of an object that has none, without
 * what it saves while it is compact, and what there is in addition. A parse changes them only if the entry was compact.
 */
export function heldBytes(entry: CacheEntry<unknown>): number {
  const { cells } = ((entry as { readonly unfrozen?: unknown }).unfrozen ?? entry) as Partial<TableRow>;
  const ofCells = cells === undefined ? 0 : jsonBytes(cells);
  return ENTRY_BYTES + entry.key.length + ofCells + (entry.textBytes ?? objectBytes(entry)) - (entry.savedBytes ?? 0);
}

function objectBytes(entry: CacheEntry<unknown>): number {
  if (entry.error !== undefined) return 0;
  const { columns: _shared, ...object } = entry.object as Partial<TableRow>;
  return jsonBytes(object);
}

/** Returns the length of a value as JSON; 0 for one that cannot be written, such as a cyclic one. */
function jsonBytes(value: unknown): number {
  try {
    return jsonOf(value, "")?.length ?? 0;
  } catch {
    return 0;
  }
}

/** So many objects of a cache, and so many bytes of their texts, are looked at to find the largest fields. */
const SAMPLE = { objects: 32, bytes: 1_000_000 };

/** So many fields are named, with a share of this at least. */
const NAMED = { fields: 3, share: 0.05 };

/** A field, and its share of the objects' text. */
export interface FieldShare {
  /** The field's path, as in the option `fields`. */
  readonly path: string;
  /** The field's share, from 0 to 1. */
  readonly share: number;
}

/**
 * Returns the largest fields of objects, those of metadata and spec by their members, the largest first: up to three
 * that a projection could leave out. It parses the texts of up to 32 objects, and keeps nothing.
 */
export function largestFields(entries: readonly CacheEntry<unknown>[]): FieldShare[] {
  const sizes = new Map<string, number>();
  let total = 0;
  const step = Math.ceil(entries.length / SAMPLE.objects);
  for (let i = 0; i < entries.length && total < SAMPLE.bytes; i += step) {
    for (const [keys, size] of fieldSizes(entries[i] as CacheEntry<KubernetesObject>)) {
      const path = formatFieldPath(keys);
      total += size;
      if (!FieldTree.of([]).keeps(keys)) sizes.set(path, (sizes.get(path) ?? 0) + size);
    }
  }
  return Array.from(sizes, ([path, size]) => ({ path, share: size / total }))
    .sort((a, b) => b.share - a.share).slice(0, NAMED.fields).filter(({ share }) => share >= NAMED.share);
}

/** The sizes of the members of an object; none of one that cannot be read, as its readers report that. */
function fieldSizes(entry: CacheEntry<KubernetesObject>): [keys: readonly string[], size: number][] {
  let object: unknown;
  try {
    object = parseObject(entryText(entryWithin(entry)));
  } catch {
    return [];
  }
  const found: [readonly string[], number][] = [];
  for (const [name, member] of Object.entries(object as object)) {
    const isDivided = (name === "metadata" || name === "spec") && typeof member === "object" && member !== null;
    for (const [key, value] of Object.entries(isDivided ? member : { [name]: member })) {
      found.push([isDivided ? [name, key] : [name], key.length + 4 + jsonBytes(value)]);
    }
  }
  return found;
}

/** Returns a size for people: `"5.7 kB"`. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  for (; bytes >= 999.5 && unit < units.length - 1; unit++) bytes /= 1_000;
  return `${unit === 0 || bytes >= 99.5 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}
