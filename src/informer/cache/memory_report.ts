import type { Entry } from "../../api/options.ts";
import type { ObjectKey } from "../../api/object.ts";

/** The number of objects in {@linkcode MemoryReport.largest}. */
const MOST_LARGEST = 10;

/**
 * The sizes of cached objects. All bytes are those of JSON text, as the objects arrived, without the managedFields that
 * were dropped. An object that was parsed has no text any more; the size of its parts in memory, a multiple of that of
 * its text, is not measured.
 */
export interface MemoryReport {
  /** The number of objects. */
  readonly objects: number;
  /** The number of objects that have been parsed. */
  readonly parsed: number;
  /** The size of the text that the cache holds: that of the objects that have not been parsed. */
  readonly unreadBytes: number;
  /** The size of the text that the parsed objects had. */
  readonly parsedBytes: number;
  /** The number of objects whose text had no known size: those of a transform, and those that cannot be read. */
  readonly unmeasured: number;
  /** The ten objects with the most text, the largest first. */
  readonly largest: readonly LargeObject[];
  /** The namespaces, that with the most text first; one named `""` for objects without a namespace. */
  readonly namespaces: readonly NamespaceMemory[];
}

/** One of the largest objects. */
export interface LargeObject {
  /** Its key. */
  readonly key: ObjectKey;
  /** The size of its text. */
  readonly bytes: number;
}

/** The sizes of the objects in a namespace. */
export interface NamespaceMemory {
  /** The namespace's name. */
  readonly namespace: string;
  /** The number of objects. */
  readonly objects: number;
  /** The size of the text of all of them. */
  readonly bytes: number;
}

/** Adds up sizes of entries, without parsing or keeping them. */
export class MemoryMeter {
  #objects = 0;
  #parsed = 0;
  #unreadBytes = 0;
  #parsedBytes = 0;
  #unmeasured = 0;
  /** `#largest` has the largest objects so far, the largest first, {@linkcode MOST_LARGEST} at most. */
  #largest: LargeObject[] = [];
  readonly #namespaces = new Map<string, { objects: number; bytes: number }>();

  /** Adds an entry. */
  add({ key, namespace, textBytes, isParsed = true }: Entry<unknown>): void {
    this.#objects++;
    if (isParsed) this.#parsed++;
    if (textBytes === undefined) this.#unmeasured++;
    const bytes = textBytes ?? 0;
    if (isParsed) this.#parsedBytes += bytes;
    else this.#unreadBytes += bytes;
    const sum = this.#namespaces.get(namespace) ?? { objects: 0, bytes: 0 };
    this.#namespaces.set(namespace, sum);
    sum.objects++;
    sum.bytes += bytes;
    const last = this.#largest[MOST_LARGEST - 1];
    if (bytes === 0 || (last !== undefined && last.bytes >= bytes)) return;
    this.#largest = [...this.#largest, { key, bytes }].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_LARGEST);
  }

  /** The number of objects so far. */
  get objects(): number {
    return this.#objects;
  }

  /** The size of all text so far. */
  get bytes(): number {
    return this.#unreadBytes + this.#parsedBytes;
  }

  /** The sizes so far. */
  get report(): MemoryReport {
    return {
      objects: this.#objects,
      parsed: this.#parsed,
      unreadBytes: this.#unreadBytes,
      parsedBytes: this.#parsedBytes,
      unmeasured: this.#unmeasured,
      largest: [...this.#largest],
      namespaces: Array.from(this.#namespaces, ([namespace, sum]) => ({ namespace, ...sum }))
        .sort((a, b) => b.bytes - a.bytes),
    };
  }
}
