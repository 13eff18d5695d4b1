/**
 * A small store in Deno KV: values with versions, which are written together or not at all.
 *
 * {@linkcode KvStore} is the entry point. Snapshots and checkpoints are kept in it. It does not know what they are.
 *
 * @module
 */
import { decoder, encoder } from "../../engine/api/object.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { isDeno } from "./runtime/runtime.ts";

/** A Deno KV key, as {@linkcode KvSnapshots} uses it. */
export type SnapshotKvKey = readonly (string | number)[];

/** The part of `Deno.Kv` that {@linkcode KvSnapshots} and {@linkcode KvCheckpoints} use. */
export interface SnapshotKv {
  /** Returns a key's value and version stamp, or `null` for both if there is none. */
  get(key: SnapshotKvKey): Promise<{ readonly value: unknown; readonly versionstamp: string | null }>;
  /** Yields the values whose keys begin with `prefix`. */
  list(
    selector: { readonly prefix: SnapshotKvKey },
  ): AsyncIterable<{ readonly key: readonly unknown[]; readonly value: unknown }>;
  /** Begins an atomic write. */
  atomic(): SnapshotKvWrite;
}

/** The part of `Deno.AtomicOperation` that {@linkcode KvSnapshots} and {@linkcode KvCheckpoints} use. */
export interface SnapshotKvWrite {
  /** Makes the write fail unless the key has this version stamp. */
  check(check: { readonly key: SnapshotKvKey; readonly versionstamp: string | null }): SnapshotKvWrite;
  /** Writes a value. */
  set(key: SnapshotKvKey, value: unknown): SnapshotKvWrite;
  /** Deletes a value. */
  delete(key: SnapshotKvKey): SnapshotKvWrite;
  /** Applies everything, or nothing. */
  commit(): Promise<{ readonly ok: boolean; readonly versionstamp?: string }>;
}

/** A value, and the version of its last write: `undefined` and `null` if there is none. */
export interface Versioned<T> {
  readonly value: T | undefined;
  readonly version: string | null;
}

/**
 * Values with versions, below a prefix of keys. Bytes are stored as they are, and other values as JSON in bytes. Deno
 * KV serializes values as its V8 does, and an older V8 may be unable to read them.
 */
export class KvStore implements Disposable {
  readonly #kv: SnapshotKv;
  readonly #prefix: SnapshotKvKey;

  constructor(kv: SnapshotKv, prefix: SnapshotKvKey) {
    this.#kv = kv;
    this.#prefix = prefix;
  }

  /** Returns the JSON value of a key. */
  async read<T>(...key: SnapshotKvKey): Promise<Versioned<T>> {
    const { value, versionstamp } = await this.#kv.get([...this.#prefix, ...key]);
    return { value: value === null ? undefined : valueOf(value as Uint8Array), version: versionstamp };
  }

  /** Yields the last part of each key that begins with `prefix`, and its bytes. */
  async *list(...prefix: SnapshotKvKey): AsyncGenerator<readonly [id: string | number, bytes: Uint8Array], void> {
    for await (const { key, value } of this.#kv.list({ prefix: [...this.#prefix, ...prefix] })) {
      yield [key.at(-1) as string | number, value as Uint8Array];
    }
  }

  /**
   * Writes all values in one step, and returns the new version. A value of `undefined` deletes its key. If a key of
   * `checks` has another version, it writes nothing and returns `undefined`.
   */
  async write(
    changes: readonly (readonly [key: SnapshotKvKey, value: unknown])[],
    ...checks: readonly (readonly [key: SnapshotKvKey, version: string | null])[]
  ): Promise<string | undefined> {
    const write = this.#kv.atomic();
    for (const [key, versionstamp] of checks) write.check({ key: [...this.#prefix, ...key], versionstamp });
    for (const [key, value] of changes) {
      const place = [...this.#prefix, ...key];
      if (value === undefined) write.delete(place);
      else write.set(place, value instanceof Uint8Array ? value : encoder.encode(JSON.stringify(value)));
    }
    const { ok, versionstamp = "" } = await write.commit();
    return ok ? versionstamp : undefined;
  }

  /** Closes the database if {@linkcode openKv} has opened it, and leaves others to the caller. */
  [Symbol.dispose](): void {
    opened.get(this.#kv)?.[Symbol.dispose]();
    opened.delete(this.#kv);
  }
}

/** Returns the value that {@linkcode KvStore.write} has written as these bytes. */
export function valueOf<T>(bytes: Uint8Array): T {
  return JSON.parse(decoder.decode(bytes));
}

/** The open databases of {@linkcode openKv}. */
const opened = new WeakMap<SnapshotKv, Disposable>();

/** Opens Deno KV, until the disposal of its {@linkcode KvStore}. @throws {Error} when Deno has none. */
export async function openKv(path: string | undefined): Promise<SnapshotKv> {
  const { openKv }: { openKv?: (path?: string) => Promise<SnapshotKv & Disposable> } = isDeno() ? globalThis.Deno : {};
  if (openKv === undefined) {
    throw new InformerError(
      isDeno()
        ? "Cannot open Deno KV: Deno has it disabled. Run Deno with --unstable-kv"
        : "Cannot open Deno KV: this runtime does not have it. Use a store in files, or pass a database from the package @deno/kv",
    );
  }
  const kv = await openKv(path);
  opened.set(kv, kv);
  return kv;
}
