/**
 * Snapshots: a cache as bytes, and a cache filled from them.
 *
 * {@linkcode CacheSnapshots} is the entry point. A snapshot is frames of some 256 KiB, each with a checksum. A restore
 * commits entries as a first list, and the reflector's first phase is a watch from their version. When snapshots are
 * written is decided by `snapshot_keeper.ts`.
 *
 * @module
 */
import type { CacheEntry, Identity } from "../api/entry.ts";
import { decoder, encoder, type KubernetesObject, type ObjectKey } from "../api/object.ts";
import { isBuiltInGroup, type TableColumn } from "../api/resource.ts";
import { DecodeError, isOlder } from "../api/status.ts";
import { limitedSnapshot, type SnapshotLimit, type SnapshotStore, type StoredSnapshot } from "../api/stores.ts";
import { nextTurn, Pacer } from "../async/turns.ts";
import { brokenEntry, type JsonEntry, unreadEntry } from "../entry/entry.ts";
import { entryBytes } from "../entry/entry_json.ts";
import { ReducedEntry, Reduction } from "../entry/reduction.ts";
import { RowEntry, WrittenRowEntry } from "../entry/row_entry.ts";
import { ArgumentError } from "../errors/checks.ts";
import { errorLine } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { checkNames } from "../errors/option_names.ts";
import { type CacheScope, inOrder, recordDifference, type ScopeRecord } from "./cache/cache_scope.ts";
import type { EntryTransform } from "./cache/entry_transform.ts";
import type { CollectionSync } from "./sync/collection_sync.ts";

/**
 * A snapshot cannot be restored. `reason` says why:
 *
 * - `"damaged"`: it is cut off, or its bytes were changed.
 * - `"format"`: it is not a snapshot, or this version cannot read its format.
 * - `"other"`: it belongs to another collection, cluster or object form.
 */
export class SnapshotError extends InformerError {
  /** `"SnapshotError"`. */
  override readonly name = "SnapshotError";
  /** Why the snapshot cannot be restored. */
  readonly reason: "damaged" | "format" | "other";

  /** Creates an error. */
  constructor(reason: SnapshotError["reason"], message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.reason = reason;
  }
}

/** The first line of a snapshot, of 28 bytes. A change of the format changes the number. */
const SNAPSHOT_FORMAT = "kube-informer-snapshot 0001\n";

/** The head of a snapshot. */
export interface SnapshotHeader {
  /** The collection, and the form of its objects. */
  readonly scope: ScopeRecord;
  /** The version of each part of the collection, in the order of its selections. */
  readonly versions: readonly string[];
  /** The time at which the cache was last known to be up to date, in milliseconds since 1970. */
  readonly at: number;
}

/** Options for a cache's snapshot. */
export interface SnapshotOptions {
  /**
   * The cluster's name. A snapshot from a cluster with another name is not restored. If you create a cluster again,
   * give it another name, because its versions start again. By default the name is not compared.
   */
  readonly cluster?: string;
  /** `"keep"` also writes Secrets with their data. Without it, a cache that holds such data is refused. */
  readonly secretData?: "keep";
}

/** Options for the snapshots that a factory keeps of its caches. */
export interface FactorySnapshots extends SnapshotOptions {
  /** The place of the snapshots. */
  readonly store: SnapshotStore;
  /**
   * The time between two snapshots of a changing cache, in milliseconds. `Infinity` writes only when the informer
   * stops.
   * @default {60_000}
   */
  readonly intervalMs?: number;
}

/** An odd number with bits all over (the first prime of xxHash32). */
const PRIME = 0x9e3779b1;

/**
 * Returns a checksum of two lengths and of the bytes of a frame, which are a multiple of four: 32 bits. A change within
 * one word of four bytes always changes it, any other change with a probability of nearly 1. It finds damage, not
 * forgery.
 */
function checksum(bytes: Uint8Array, headLength: number, textLength: number): number {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const words = new Uint32Array(buffer, byteOffset, length >>> 2);
  // Four sums, so that a multiplication does not wait for the one before it.
  let [a, b, c, d] = [1, headLength, textLength, length];
  const end = words.length - words.length % 4;
  for (let i = 0; i < end; i += 4) {
    a = mixed(a, words[i]);
    b = mixed(b, words[i + 1]);
    c = mixed(c, words[i + 2]);
    d = mixed(d, words[i + 3]);
  }
  for (let i = end; i < words.length; i++) a = mixed(a, words[i]);
  return mixed(mixed(mixed(a, b), c), d) >>> 0;
}

function mixed(sum: number, word: number): number {
  const product = Math.imul(sum ^ word, PRIME);
  return (product << 15) | (product >>> 17);
}

/** Keeps snapshots in memory: for tests, or for factories that follow each other in one process. */
export class MemorySnapshots implements SnapshotStore {
  readonly #snapshots = new Map<string, { readonly version: string; readonly chunks: readonly Uint8Array[] }>();
  readonly #maxBytes: number;

  /** Creates an empty store. Without `maxBytes` there is no limit. */
  constructor(options: SnapshotLimit = {}) {
    checkNames("keep snapshots", options, "maxBytes");
    this.#maxBytes = options.maxBytes ?? Infinity;
  }

  /** Returns the last snapshot with this name, if there is one. */
  get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = this.#snapshots.get(name);
    return Promise.resolve(found && chunksOf(found.chunks));
  }

  /** Stores a snapshot, unless there is a newer one. @throws {RangeError} if it is too large. */
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

/** The objects of one part of a collection. */
interface SnapshotPart<T extends KubernetesObject> {
  /** The entries that the cache has. */
  readonly entries: readonly CacheEntry<T>[];
  /** Returns the key that the server has for an entry, where a transform has changed it. */
  readonly originalKey: (entry: CacheEntry<T>) => ObjectKey | undefined;
}

/** The head of a frame of objects. */
interface FrameHead {
  /** The number of the part. */
  readonly part: number;
  /** The objects, whose texts follow in this order. */
  readonly objects: readonly ObjectHead[];
  /** The columns of the objects that are rows. */
  readonly columns?: readonly (readonly TableColumn[])[];
}

/**
 * An object: key, namespace, uid, resourceVersion, the server's key where it differs (else 0), then the length of its
 * text and the positions of metadata and labels in it; of a row also the number of its columns in the frame, and its
 * cells, 0 for none. Or, behind the identity, the reason why it cannot be read.
 */
type ObjectHead =
  | readonly [...ObjectIdentity, ...ObjectPositions]
  | readonly [...ObjectIdentity, ...ObjectPositions, number, readonly unknown[] | 0]
  | readonly [...ObjectIdentity, string];

type ObjectPositions = readonly [number, number, number, number, number];

type ObjectIdentity = readonly [ObjectKey, string, string, string, ObjectKey | 0];

/** The number of bytes of texts at which a frame is complete. */
const FRAME_BYTES = 256 * 1_024;

/**
 * Writes a snapshot: the format's line, a frame with the header, frames of objects, and a frame with their number.
 *
 * A frame is three numbers of four bytes, then its head as JSON, then the texts. The numbers are the length of the
 * head, that of the texts, and the checksum of both numbers and of the rest of the frame. A frame has a multiple of
 * four bytes, so that a checksum needs no copy. The entries are written as they are read, so the entries of one moment
 * are all that is kept.
 */
export function snapshotStream<T extends KubernetesObject>(
  header: SnapshotHeader,
  parts: readonly SnapshotPart<T>[],
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const frames = framesOf(header, parts);
  return new ReadableStream({
    pull: (controller): void => {
      const { value, done } = frames.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

function* framesOf<T extends KubernetesObject>(
  header: SnapshotHeader,
  parts: readonly SnapshotPart<T>[],
): Generator<Uint8Array<ArrayBuffer>, void> {
  yield joined([encoder.encode(SNAPSHOT_FORMAT), frame(header, [])]);
  let count = 0;
  for (const [part, { entries, originalKey }] of parts.entries()) {
    let objects: ObjectHead[] = [];
    let columns: (readonly TableColumn[])[] = [];
    let texts: Uint8Array[] = [];
    let size = 0;
    for (const entry of entries) {
      const text = append(objects, columns, entry, originalKey(entry));
      if (text !== undefined) texts.push(text);
      size += text?.length ?? 0;
      count++;
      if (size < FRAME_BYTES) continue;
      yield frame({ part, objects, columns }, texts);
      [objects, columns, texts, size] = [[], [], [], 0];
    }
    if (objects.length > 0) yield frame({ part, objects, columns }, texts);
  }
  yield frame({ count }, []);
}

/** Appends the head of an entry, and returns its text, if it can be read. */
function append<T extends KubernetesObject>(
  objects: ObjectHead[],
  columns: (readonly TableColumn[])[],
  entry: CacheEntry<T>,
  originalKey: ObjectKey | undefined,
): Uint8Array | undefined {
  const { key, namespace, uid, resourceVersion } = entry;
  const identity = [key, namespace, uid, resourceVersion, originalKey ?? 0] as const;
  const plain = (entry as { readonly unfrozen?: CacheEntry<T> }).unfrozen ?? entry;
  const row: RowEntry<T> | undefined = plain instanceof RowEntry ? plain : undefined;
  try {
    const { text, metadataStart, metadataEnd, labelsStart, labelsEnd } = entryBytes(row?.inner ?? plain);
    const positions = [text.length, metadataStart, metadataEnd, labelsStart, labelsEnd] as const;
    if (row === undefined) objects.push([...identity, ...positions]);
    else objects.push([...identity, ...positions, numberOf(row.columns, columns), row.cells ?? 0]);
    return text;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    objects.push([...identity, errorLine(error)]);
  }
}

/**
 * Returns the number of columns among those of a frame, to which they are added. The rows of a list share one array.
 */
function numberOf(columns: readonly TableColumn[], all: (readonly TableColumn[])[]): number {
  const known = all.indexOf(columns);
  return known === -1 ? all.push(columns) - 1 : known;
}

/** Returns a frame. */
function frame(head: Frame["head"], texts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const headBytes = encoder.encode(JSON.stringify(head));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const body = joined([headBytes, ...texts, new Uint8Array(paddingOf(headBytes.length + length))]);
  return joined([
    new Uint8Array(new Uint32Array([headBytes.length, length, checksum(body, headBytes.length, length)]).buffer),
    body,
  ]);
}

/** The number of bytes by which a length falls short of a multiple of four. */
function paddingOf(length: number): number {
  return -length & 3;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** An entry of a snapshot, and the key that the server has for it. */
interface RestoredEntry<T extends KubernetesObject> {
  /** The entry to be cached. */
  readonly entry: CacheEntry<T>;
  /**
   * The entry of its text: the same, or that of the row's object. Its bytes are part of a larger buffer until it is
   * detached.
   */
  readonly text: JsonEntry<KubernetesObject>;
}

/** The contents of a snapshot. */
interface SnapshotContents<T extends KubernetesObject> {
  /** The head of the snapshot. */
  readonly header: SnapshotHeader;
  /** The entries of each part, in the order of the versions. */
  readonly parts: readonly (readonly RestoredEntry<T>[])[];
}

/** A key that a server can have: its parts can be segments of a path. */
const POSSIBLE_KEY = /^(?:(?!\.{1,2}\/)[^/%]+\/)?(?!\.{1,2}$)[^/%]+$/;

/** The largest part of a frame: a text has at most what one string can have. */
const MAX_BYTES = 2 ** 29;

/** The time for which entries are prepared in one turn, in milliseconds. */
const TURN_MS = 5;

/**
 * Reads a snapshot of `scope`, and prepares its entries as they come, a few milliseconds in a turn. The entries keep
 * the chunks of `bytes` until they are detached. `reduction` is that of the objects, if they are not complete ones or
 * rows.
 *
 * @throws {SnapshotError} when it is of another scope, not complete, not as it was written, or of another format.
 * @throws what `bytes` throws.
 */
async function readSnapshot<T extends KubernetesObject>(
  bytes: AsyncIterable<Uint8Array>,
  scope: ScopeRecord,
  reduction: Reduction | undefined,
  entryTransform: Pick<EntryTransform<T>, "restored">,
): Promise<SnapshotContents<T>> {
  const pacer = new Pacer(TURN_MS, 1);
  const source = new ByteSource(bytes);
  try {
    const format = await source.take(SNAPSHOT_FORMAT.length);
    if (format === undefined || decoder.decode(format) !== SNAPSHOT_FORMAT) {
      throw new SnapshotError("format", `it does not begin with ${JSON.stringify(SNAPSHOT_FORMAT)}`);
    }
    const { head: header } = await nextFrame(source) as { readonly head: SnapshotHeader };
    const difference = recordDifference(header.scope, scope);
    if (difference !== undefined) throw new SnapshotError("other", difference);
    const parts: RestoredEntry<T>[][] = header.versions.map(() => []);
    for (let count = 0;;) {
      const { head, texts } = await nextFrame(source);
      if ("count" in head) {
        if (head.count !== count || await source.take(1) !== undefined) {
          throw damaged("it has too few or too many objects");
        }
        return { header, parts };
      }
      const { part, objects, columns = [] } = head as FrameHead;
      let at = 0;
      if (pacer.step()) await pacer.turn();
      for (const object of objects) {
        const originalKey = object[4] || object[0];
        if (!POSSIBLE_KEY.test(originalKey)) throw damaged(`it has an impossible key: ${JSON.stringify(originalKey)}`);
        const text = entryOf(object, texts, at, reduction, header.scope);
        const entry: CacheEntry<KubernetesObject> = object.length === 12
          ? new RowEntry(text, columns[object[10]], object[11] || undefined)
          : text;
        parts[part].push({ entry: entryTransform.restored(entry as CacheEntry<T>, originalKey), text });
        if (typeof object[5] === "number") at += object[5];
      }
      count += objects.length;
    }
  } finally {
    await source.close();
  }
}

function entryOf(
  object: ObjectHead,
  texts: Uint8Array,
  at: number,
  reduction: Reduction | undefined,
  { representation, resource }: ScopeRecord,
): JsonEntry<KubernetesObject> {
  const identity: Identity = { key: object[0], namespace: object[1], uid: object[2], resourceVersion: object[3] };
  if (object.length === 6) return brokenEntry(identity, new DecodeError(object[5], { key: object[0] }));
  const text = texts.subarray(at, at + object[5]);
  if (representation === "table" && object.length === 10) {
    return new WrittenRowEntry(reduction, identity, text, object[6], object[7], object[8], object[9]);
  }
  if (reduction === undefined) {
    const isCustom = !isBuiltInGroup(`${resource}`.replace(/^[^./]*\.?|\/.*/g, ""));
    return unreadEntry(identity, text, object[6], object[7], object[8], object[9], isCustom);
  }
  return new ReducedEntry(reduction, identity, text, object[6], object[7], object[8], object[9]);
}

interface Frame {
  readonly head: SnapshotHeader | FrameHead | { readonly count: number };
  readonly texts: Uint8Array;
}

async function nextFrame(source: ByteSource): Promise<Frame> {
  const [headLength = 0, textLength = 0, sum = 0] = new Uint32Array((await source.take(12))?.slice().buffer ?? []);
  const length = headLength + textLength;
  if (length === 0 || length > MAX_BYTES) throw damaged("a frame has no lengths");
  const body = await source.take(length + paddingOf(length));
  if (body === undefined) throw damaged("it is cut off");
  if (checksum(body, headLength, textLength) !== sum) throw damaged("a checksum is wrong");
  return { head: JSON.parse(decoder.decode(body.subarray(0, headLength))), texts: body.subarray(headLength) };
}

function damaged(found: string): SnapshotError {
  return new SnapshotError("damaged", `it is damaged: ${found}`);
}

/** Takes bytes off the front of a stream of chunks. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array();
  /** The position in `#chunk` of what was not taken. */
  #at = 0;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** Returns this many bytes; `undefined` if there are fewer. */
  async take(length: number): Promise<Uint8Array | undefined> {
    const there = this.#chunk.length - this.#at;
    if (there >= length) return this.#chunk.subarray(this.#at, this.#at += length);
    const taken = new Uint8Array(length);
    for (let filled = 0;;) {
      const part = this.#chunk.subarray(this.#at, this.#at + length - filled);
      taken.set(part, filled);
      filled += part.length;
      this.#at += part.length;
      if (filled === length) return taken;
      if (!await this.#next()) return undefined;
    }
  }

  /** Ends the stream. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(): Promise<boolean> {
    const { value, done } = await this.#chunks.next();
    if (done) return false;
    this.#chunk = value;
    this.#at = 0;
    return true;
  }
}

/** The number of bytes of restored objects that are copied in one turn: about a millisecond. */
const DETACHED_BYTES = 1_024 * 1_024;

/** The time for which entries are staged in one turn, in milliseconds: index functions read each of them. */
const STAGED_MS = 5;

/** The number of entries that are staged before the clock is read. */
const STAGED_ENTRIES = 16;

/** Writes an informer's cache as bytes, and fills it from them. */
export class CacheSnapshots<T extends KubernetesObject> {
  readonly #sync: CollectionSync<T>;
  /** The reduction of the objects; `undefined` if they are complete, or rows of complete ones. */
  readonly #reduction: Reduction | undefined;

  /** Reads and writes nothing yet. */
  constructor(sync: CollectionSync<T>) {
    this.#sync = sync;
    const { resource, form } = this.#scope;
    this.#reduction = resource && Reduction.of(resource, form);
  }

  get #scope(): CacheScope {
    return this.#sync.collection.scope;
  }

  /** Returns the cache as bytes. @throws as `SharedIndexInformer.snapshot()`. */
  write({ cluster = "", secretData }: SnapshotOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
    const sync = this.#sync;
    const { informer, cache: { entryTransform } } = sync;
    const parts = inOrder(sync.parts);
    this.#checkFixed("write");
    if (parts.some(({ gate }) => gate.version === "")) {
      throw new Error(`Cannot write a snapshot of ${informer}: it has not synced`);
    }
    if (this.#scope.keepsSecretData && secretData !== "keep") {
      throw new ArgumentError(
        `Cannot write a snapshot of ${informer}: it has the data of Secrets. Set secretData: "keep" to write it`,
      );
    }
    return snapshotStream(
      {
        scope: this.#scope.record(cluster),
        versions: parts.map(({ gate }) => gate.version),
        at: sync.state.notLiveSince?.getTime() ?? Date.now(),
      },
      parts.map(({ known }) => ({
        entries: known.list(),
        originalKey: (entry: CacheEntry<T>) => entryTransform.originalKey(entry),
      })),
    );
  }

  /** Fills the cache. Rejects as `SharedIndexInformer.restore()` does; then nothing has changed. */
  async restore(snapshot: AsyncIterable<Uint8Array>, { cluster = "" }: SnapshotOptions): Promise<void> {
    this.#checkFixed("restore");
    const scope = this.#scope;
    this.#checkEmpty(scope);
    const { parts, header } = await this.#read(snapshot, scope.record(cluster));
    await this.#sync.valid?.load();
    this.#checkEmpty(scope);
    const staged = inOrder(this.#sync.parts).map((part) => part.restoring(header.at));
    try {
      const pacer = new Pacer(STAGED_MS, 1);
      for (const [index, entries] of parts.entries()) {
        for (let at = 0; at < entries.length; at += STAGED_ENTRIES) {
          staged[index].add(entries.slice(at, at + STAGED_ENTRIES).map(({ entry }) => entry));
          if (pacer.step()) await pacer.turn();
          this.#checkEmpty(scope);
        }
      }
      this.#sync.state.restored(header.at);
      void this.#detach(parts.flat());
      for (const [index, part] of staged.entries()) part.commit(header.versions[index]);
    } finally {
      for (const part of staged) part.abandon();
    }
  }

  #checkFixed(action: "write" | "restore"): void {
    const { changing } = this.#scope;
    if (changing === undefined) return;
    throw new ArgumentError(
      `Cannot ${action} a snapshot of ${this.#sync.informer}: ${changing}. Use a fixed shard such as "0/4", or name ` +
        "the namespaces",
    );
  }

  /** Gives the restored entries texts of their own, in later turns. */
  async #detach(restored: readonly RestoredEntry<T>[]): Promise<void> {
    let size = 0;
    for (const { text } of restored) {
      size += text.detach();
      if (size < DETACHED_BYTES) continue;
      size = 0;
      await nextTurn();
      if (this.#sync.stage === "stopped") return;
    }
  }

  async #read(snapshot: AsyncIterable<Uint8Array>, scope: ScopeRecord): Promise<SnapshotContents<T>> {
    try {
      return await readSnapshot<T>(snapshot, scope, this.#reduction, this.#sync.cache.entryTransform);
    } catch (cause) {
      if (!(cause instanceof SnapshotError)) throw cause;
      throw new SnapshotError(
        cause.reason,
        `Cannot restore ${this.#sync.informer} from this snapshot: ${cause.message}`,
      );
    }
  }

  #checkEmpty(scope: CacheScope): void {
    const { hasSynced, informer, stage } = this.#sync;
    if (scope !== this.#scope) throw new Error(`Cannot restore ${informer}: rescope() has changed it meanwhile`);
    if (stage === "new" && !hasSynced) return;
    const state = stage === "stopped" ? "has stopped" : stage === "new" ? "has objects" : "is running";
    throw new Error(`Cannot restore ${informer}: it ${state} already`);
  }
}
