import { InformerError } from "../../errors/informer_error.ts";
import {
  limitedSnapshot,
  type SnapshotLimit,
  type SnapshotStore,
  type StoredSnapshot,
} from "../../api/lister_watcher.ts";
import { isOlder } from "../../api/status.ts";
import type { ScopeRecord } from "../cache/cache_scope.ts";

/**
 * A snapshot cannot be restored.
 *
 * `reason` is `"damaged"` if it is cut off or its bytes were changed, `"format"` if it is no snapshot, or one of a
 * format that this version does not read, and `"other"` if it is of another collection, cluster or form of objects.
 */
export class SnapshotError extends InformerError {
  /** `"SnapshotError"`. */
  override readonly name = "SnapshotError";
  /** The kind of the failure. */
  readonly reason: "damaged" | "format" | "other";

  /** Creates an error. */
  constructor(reason: SnapshotError["reason"], message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.reason = reason;
  }
}

/** The first line of a snapshot. A change of the format changes the number. */
export const SNAPSHOT_FORMAT = "kube-informer-snapshot 1\n";

/** The head of a snapshot. */
export interface SnapshotHeader {
  /** The collection, and the form of its objects. */
  readonly scope: ScopeRecord;
  /** The version of each part of the collection, in the order of its selections. */
  readonly versions: readonly string[];
  /** The time at which the cache was last known to be up to date, in milliseconds since 1970. */
  readonly at: number;
}

/** Options of a snapshot of a cache. */
export interface SnapshotOptions {
  /**
   * The name of the cluster. A snapshot of another one is not restored. Give another name to a cluster that was made
   * anew: its versions begin anew too. @default {not compared}
   */
  readonly cluster?: string;
  /** Writes Secrets that have their data (`keep: "data"`); without it they are refused. @default {false} */
  readonly secrets?: boolean;
}

/** The snapshots that a factory keeps of its caches. */
export interface FactorySnapshots extends SnapshotOptions {
  /** The place of the snapshots. */
  readonly store: SnapshotStore;
  /**
   * The time between two snapshots of a cache that changes, in milliseconds; `Infinity` writes only when the informer
   * stops.
   * @default {60_000}
   */
  readonly everyMs?: number;
}

/** An odd number with bits all over (the first prime of xxHash32). */
const PRIME = 0x9e3779b1;

/**
 * Returns a checksum of bytes: 32 bits. A change within one word of four bytes always changes it, any other change with
 * a probability of nearly 1. It finds damage, not forgery.
 */
export function checksum(bytes: Uint8Array): number {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const words = new Uint32Array(buffer, byteOffset, length >>> 2);
  // Four sums, so that a multiplication does not wait for the one before it.
  let [a, b, c, d] = [1, 2, 3, length];
  const end = words.length - words.length % 4;
  for (let i = 0; i < end; i += 4) {
    a = mixed(a, words[i]);
    b = mixed(b, words[i + 1]);
    c = mixed(c, words[i + 2]);
    d = mixed(d, words[i + 3]);
  }
  for (let i = end; i < words.length; i++) a = mixed(a, words[i]);
  for (let i = length - length % 4; i < length; i++) b = mixed(b, bytes[i]);
  return mixed(mixed(mixed(a, b), c), d) >>> 0;
}

function mixed(sum: number, word: number): number {
  const product = Math.imul(sum ^ word, PRIME);
  return (product << 15) | (product >>> 17);
}

/** Keeps snapshots in memory, for tests, and for factories that follow each other in one process. */
export class MemorySnapshots implements SnapshotStore {
  readonly #snapshots = new Map<string, { readonly version: string; readonly chunks: readonly Uint8Array[] }>();
  readonly #maxBytes: number;

  /** There are none at first. The default of `maxBytes` is no limit. */
  constructor({ maxBytes = Infinity }: SnapshotLimit = {}) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the last snapshot of a name, if there is one. */
  get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = this.#snapshots.get(name);
    return Promise.resolve(found && chunksOf(found.chunks));
  }

  /** Keeps a snapshot, unless there is a newer one. @throws {RangeError} when it is too large. */
  async set(name: string, { bytes, version, replacesNewer }: StoredSnapshot): Promise<boolean> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of limitedSnapshot(name, bytes, this.#maxBytes)) chunks.push(chunk);
    if (!replacesNewer && isOlder(version, this.#snapshots.get(name)?.version ?? "")) return false;
    this.#snapshots.set(name, { version, chunks });
    return true;
  }
}

async function* chunksOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* chunks;
}
