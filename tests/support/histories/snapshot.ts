import type { SnapshotStore, StoredSnapshot } from "@kube/informer";
import { isOlder } from "../../../src/engine/api/status.ts";
import type { SnapshotFault } from "./script.ts";

/** The name of the cluster, unless a fault gives it another one. */
export const CLUSTER = "fake";

/** A cache at one moment. */
export interface CacheState {
  readonly version: string;
  /** The objects, by key. */
  readonly objects: ReadonlyMap<string, { readonly uid: string; readonly version: string }>;
  /** The objects as text, equal for equal objects; none where nothing else reads the objects. */
  readonly texts: readonly string[];
  /** The time at which the cache was up to date. */
  readonly at: number;
  /** The number of times that the server's history had gone back before. */
  readonly epoch: number;
}

/** A snapshot, and the cache that it is of. */
export interface SnapshotOfCache {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly cache: CacheState;
  /** The cluster that it is of. */
  readonly cluster: string;
}

/** The beginning of an informer that was restored. */
export interface Restored {
  readonly cache: CacheState;
  /** True if the server's history has gone back since. */
  readonly wentBack: boolean;
  /** True if the server has the version no longer. */
  readonly expired: boolean;
  /** The number of its objects that are asked for first. */
  readonly gets: number;
  /** True if the server has not reached its version. */
  readonly isAhead: boolean;
  /** True if the answers show that the objects are not those of the server. */
  readonly isFound: boolean;
  /** The number of lists that it needs before it follows the server. */
  lists: number;
  /** The version of the first list. */
  listedAt: number | undefined;
}

/** Keeps the snapshot of one informer. */
export class OneSnapshot implements SnapshotStore {
  /** The last snapshot. */
  last: SnapshotOfCache | undefined;
  /** The reason why the last snapshot cannot be restored, if there is one. */
  fault: SnapshotFault | undefined;
  readonly #cacheState: () => CacheState;
  readonly #cluster: string;

  /** Records the state of the cache with each snapshot, in that cluster. */
  constructor(cacheState: () => CacheState, last: SnapshotOfCache | undefined, cluster: string) {
    this.#cacheState = cacheState;
    this.#cluster = cluster;
    this.last = last;
  }

  /** The last snapshot, if it can be restored. */
  get usable(): SnapshotOfCache | undefined {
    return this.fault === undefined ? this.last : undefined;
  }

  get(): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { fault, last } = this;
    return Promise.resolve(last && chunksOf(fault === undefined ? last.bytes : damaged(last.bytes, fault)));
  }

  async set(_name: string, { bytes, version, replacesNewer }: StoredSnapshot): Promise<boolean> {
    const cache = this.#cacheState();
    const last = { bytes: await bytesOf(bytes), cache, cluster: this.#cluster };
    if (!replacesNewer && isOlder(version, this.last?.cache.version ?? "")) return false;
    this.last = last;
    this.fault = undefined;
    return true;
  }
}

/** Reads the bytes of a snapshot. */
export async function bytesOf(snapshot: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: number[] = [];
  for await (const chunk of snapshot) chunks.push(...chunk);
  return new Uint8Array(chunks);
}

/** Cuts bytes into chunks whose ends are in the middle of lines and characters. */
export async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
}

/** The bytes of a snapshot with a fault; the same bytes if the fault is of the informer that restores them. */
export function damaged(bytes: Uint8Array<ArrayBuffer>, fault: SnapshotFault): Uint8Array<ArrayBuffer> {
  const at = Math.floor(fault.share * bytes.length);
  if (fault.kind === "cut") return bytes.slice(0, at);
  if (fault.kind !== "flip") return bytes;
  const changed = bytes.slice();
  changed[at] ^= 1 << fault.bit;
  return changed;
}
