import type { ObjectKey } from "./object.ts";
import { InformerError } from "../errors/informer_error.ts";

/**
 * The uid and the version of an object that were delivered last. The version is `""` where it is not known if the
 * addition was delivered, because its call was interrupted or has failed.
 */
export type DeliveredVersion = readonly [uid: string, resourceVersion: string];

/** The contents of a position. */
export interface PositionRecord {
  /** Identifies the reader; each {@linkcode Position.open} has another one. */
  readonly holder: string;
  /** Every change up to this version was delivered; `""` before the first list was. */
  readonly version: string;
  /** The objects that exist by what was delivered. Some may be of later versions: a list has no order of versions. */
  readonly objects: ReadonlyMap<ObjectKey, DeliveredVersion>;
}

/** A record as it is in a store. */
export interface StoredPosition {
  /** The record. */
  readonly record: PositionRecord;
  /** Identifies the last write. Only the store reads it. */
  readonly stamp: unknown;
}

/** The difference of a record from the one in the store. */
export interface PositionChange {
  /** The stamp of the last read or write; `undefined` where there was none. */
  readonly stamp: unknown;
  /** The keys of the objects that differ. */
  readonly keys: readonly ObjectKey[];
}

/**
 * Keeps positions by name: `MemoryPositions`, and in other entry points `FilePositions`, `KvPositions` and
 * `ConfigMapPositions`.
 */
export interface PositionStore {
  /** The default of {@linkcode PositionOptions.everyMs}. @default {0} */
  readonly everyMs?: number;
  /**
   * Returns the contents and their stamp, another one after each write by another reader; `undefined` if there is no
   * position of that name.
   */
  read(name: string): Promise<StoredPosition | undefined>;
  /**
   * Writes a record if the stamp is still the one given, and there is none if that is `undefined`. Returns the new
   * stamp, and `undefined` where it has written nothing, because the stamp is another one. What is in the store
   * differs from the record by its head and by these keys. The record is live: it is read before the first `await`.
   */
  write(name: string, record: PositionRecord, change: PositionChange): Promise<unknown>;
  /** Returns `true` for the uid of an object in which it keeps a position. No reader of that position receives it. */
  isOwn?(name: string, uid: string): boolean;
}

/**
 * A position cannot be read on. `reason` is `"lost"` where another reader has opened it since, `"held"` where it has a
 * reader, and `"tooLarge"` where its store cannot keep so many objects.
 */
export class PositionError extends InformerError {
  /** `"PositionError"`. */
  override readonly name = "PositionError";
  /** The kind of failure. */
  readonly reason: "lost" | "held" | "tooLarge";

  /** Creates an error. */
  constructor(message: string, reason: PositionError["reason"]) {
    super(message);
    this.reason = reason;
  }
}
