/**
 * Checkpoints: what was delivered to one handler or stream, kept beyond the process.
 *
 * {@linkcode Checkpoint} is the entry point. It has uid and version of each object, since a list has no order of
 * versions. A reader that opens a checkpoint writes a holder into it, and the reader before it ends at its next write.
 * Deliveries are compared with it in `checkpoint_reader.ts`.
 *
 * @module
 */
import type { ObjectKey } from "../../api/object.ts";
import {
  type CheckpointChange,
  CheckpointError,
  type CheckpointRecord,
  type CheckpointStore,
  type DeliveredVersion,
  type StoredCheckpoint,
} from "../../api/stores.ts";
import { backoffMs, LongTimer, monotonicMs, sleep } from "../../async/time.ts";
import { checkDurations } from "../../errors/checks.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { internals } from "../../errors/internals.ts";
import { checkNames } from "../../errors/option_names.ts";

/** The shortest time between two writes of additions that are announced, in milliseconds. */
const MIN_PERIOD_MS = 1_000;

/** Options for {@linkcode Checkpoint.open}. */
export interface CheckpointOptions {
  /** The checkpoint's name in its store. */
  readonly name: string;
  /**
   * The time from a delivery to the write, in milliseconds. After a crash, events delivered within this time are
   * delivered again. With 0 each event waits until the event before is written, so a crash repeats at most one call.
   * The default is 10,000 in a ConfigMap.
   *
   * New objects are written before they are delivered: each one with 0, otherwise at most once a second. So an object
   * that is deleted after a crash still arrives as a deletion.
   *
   * @default {0}
   */
  readonly intervalMs?: number;
}

/** The reader of a checkpoint. */
interface CheckpointOwner {
  /** Receives errors of the store; the write is tried again. */
  readonly report: (error: unknown) => void;
  /** Called when the checkpoint cannot be written any more. */
  readonly onLost: (error: CheckpointError) => void;
  /** Aborted when the reader ends: failed writes are not tried again. */
  readonly signal: AbortSignal;
}

/**
 * Remembers what a handler or event stream has received, so that a restarted process continues there. Pass it as
 * `checkpoint` to `addEventHandler()` or `events()`. With `followLogs` from `./logs`, it remembers the lines that were
 * taken instead, as the option says there.
 *
 * - The last state of each object is delivered at least once, across restarts, crashes and expired versions, deletions
 *   included. An older state never follows a newer one. Delivered objects that have not changed do not come again.
 * - An event counts as delivered when your callback has returned and its promise has resolved. In a stream it counts
 *   when you ask for the next event.
 * - If a callback throws, it is called again with the same event, after 0.8 s and then growing waits up to 30 s. Later
 *   events wait. `status().handlers` names the object in `failing`, and `HandlerRegistration.skip()` gives it up. An
 *   unreadable object is not tried again.
 * - Deliveries begin when the cache is new enough: after the first list. A restored or already running informer
 *   asks the server for its version and waits for it, up to about a minute.
 * - The checkpoint stores only uid and version, not the object. So an object that changed meanwhile has no readable
 *   `previous`, and a deleted one no readable `object` (`finalStateUnknown`): both throw a `DecodeError`. `initial` is
 *   `true` only for the very first list.
 * - A checkpoint has one reader. If a second process opens it, the first reader ends with a {@linkcode CheckpointError}
 *   at its next write.
 *
 * The store keeps about 100 bytes per object.
 *
 * See the guide: [Continue after a restart](../../../../docs/guides/continue-after-a-restart.md).
 *
 * @example
 * ```ts
 * import { Client, MemoryCheckpoints, Checkpoint, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * const store = new MemoryCheckpoints(); // FileCheckpoints, KvCheckpoints and ConfigMapCheckpoints last longer
 * for (const expected of [["shop/cart-0"], []]) {
 *   await using checkpoint = await Checkpoint.open(store, { name: "mails" });
 *   await using pods = new SharedIndexInformer(client.resource(Pod));
 *   const keys: string[] = [];
 *   const mails = pods.addEventHandler({ onAdd: ({ key }) => keys.push(key) }, { checkpoint });
 *   pods.run();
 *   await mails.waitForSync();
 *   assertEquals(keys, expected);
 * }
 * ```
 */
export class Checkpoint implements AsyncDisposable {
  /** The checkpoint's name in its store. */
  readonly name: string;
  readonly #store: CheckpointStore;
  readonly #intervalMs: number;
  readonly #holder = crypto.randomUUID();
  readonly #objects: Map<ObjectKey, DeliveredVersion>;
  #version: string;
  #stamp: unknown;
  /** The keys whose state is not written. */
  #changed = new Set<ObjectKey>();
  /** `true` if and only if `#version` or a key has changed since the last write began, or that has failed. */
  #isDue = false;
  /** Set while a write runs; never rejects. */
  #writing: Promise<void> | undefined;
  /** The monotonic time at which the last write began. */
  #wroteAtMs = -Infinity;
  readonly #timer = new LongTimer(() => void this.#write());
  /** Set if and only if there is a reader. */
  #owner: CheckpointOwner | undefined;
  /** Set once the checkpoint cannot be written any more. */
  #failure: CheckpointError | undefined;
  /** @internal */
  readonly [internals] = {
    /** Begins to read. @throws {CheckpointError} when it has a reader, or was lost. */
    begin: (owner: CheckpointOwner): void => {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#owner !== undefined) {
        throw new CheckpointError(
          `Cannot read from checkpoint "${this.name}": another handler or stream already uses it. Open one checkpoint ` +
            "per handler",
          "held",
        );
      }
      this.#owner = owner;
    },
    /** Returns `true` for an object that the checkpoint is kept in. */
    isOwn: (uid: string): boolean => this.#store.isOwn?.(this.name, uid) ?? false,
    /** Records that a state was delivered, or a deletion. */
    delivered: (key: ObjectKey, state: DeliveredVersion | undefined): void => {
      if (state === undefined) this.#objects.delete(key);
      else this.#objects.set(key, state);
      this.#changed.add(key);
      this.#isDue = true;
    },
    /** Records that every change up to `version` was delivered. */
    reached: (version: string): void => {
      if (version === "" || version === this.#version) return; // versions of several namespaces may have no order
      this.#isDue = true;
      this.#version = version;
    },
    /** Writes what was recorded: now, with a promise that never rejects, or later. */
    save: (): Promise<void> | undefined => {
      if (!this.#isDue || this.#failure !== undefined) return undefined;
      if (this.isImmediate) return this.#write();
      if (!this.#timer.isArmed) this.#timer.arm(this.#intervalMs);
    },
    /** Writes what was recorded as soon as there was no write for a second. Never rejects. */
    saveSoon: async (): Promise<void> => {
      await this.#writing;
      const waitMs = this.isImmediate ? 0 : this.#wroteAtMs + MIN_PERIOD_MS - monotonicMs();
      const signal = this.#owner?.signal;
      if (waitMs > 0) await sleep(waitMs, { signal }).catch(() => {}); // in the end at once
      if (this.#isDue && this.#failure === undefined) await this.#write();
    },
    /** Ends the reader, and writes what is left. Never rejects. */
    end: async (): Promise<void> => {
      await this[Symbol.asyncDispose]();
      this.#owner = undefined;
    },
  };

  /**
   * Reads a checkpoint, and takes it over from its current reader. A new checkpoint begins with the first list.
   *
   * @throws {CheckpointError} if another reader opens it at the same moment.
   * @throws {RangeError} if `intervalMs` is out of range.
   * @throws the store's errors.
   */
  static async open(store: CheckpointStore, options: CheckpointOptions): Promise<Checkpoint> {
    checkNames("open a checkpoint", options, "name intervalMs");
    const found = await store.get(options.name);
    const checkpoint = new Checkpoint(store, options, found?.record);
    checkpoint.#stamp = found?.stamp;
    await checkpoint.#writeNow([]);
    return checkpoint;
  }

  private constructor(store: CheckpointStore, options: CheckpointOptions, found: CheckpointRecord | undefined) {
    const { name, intervalMs: intervalMs = store.intervalMs ?? 0 } = options;
    checkDurations("open a checkpoint", { intervalMs }, { finite: true });
    this.name = name;
    this.#store = store;
    this.#intervalMs = intervalMs;
    this.#objects = new Map(found?.objects);
    this.#version = found?.version ?? "";
  }

  /**
   * Every change up to this version was delivered. `""` until the first list was. It rises when the reader has nothing
   * left to read, and never within a list.
   */
  get version(): string {
    return this.#version;
  }

  /** The objects that exist, according to the delivered events. */
  get objects(): ReadonlyMap<ObjectKey, DeliveredVersion> {
    return this.#objects;
  }

  /**
   * Writes the changes that are left to write. It does not end the reader: remove the handler or stop the informer
   * first.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer[Symbol.dispose]();
    while (this.#writing !== undefined) await this.#writing; // the end of a reader may begin another one
    if (this.#isDue && this.#failure === undefined) await this.#write();
  }

  /** `true` if each write is waited for. */
  get isImmediate(): boolean {
    return this.#intervalMs === 0;
  }

  #write(): Promise<void> {
    return this.#writing ??= this.#tryWrite().finally(() => this.#writing = undefined);
  }

  /** Writes until that succeeds, the checkpoint is lost, or the reader has ended. */
  async #tryWrite(): Promise<void> {
    for (let failures = 0;; failures++) {
      this.#wroteAtMs = monotonicMs();
      const keys = [...this.#changed];
      this.#changed.clear();
      this.#isDue = false;
      try {
        return await this.#writeNow(keys);
      } catch (error) {
        for (const key of keys) this.#changed.add(key);
        this.#isDue = true;
        if (error instanceof CheckpointError) {
          this.#failure = error;
          return this.#owner?.onLost(error);
        }
        this.#owner?.report(new InformerError(`Cannot write checkpoint "${this.name}"`, { cause: error }));
      }
      const signal = this.#owner?.signal;
      if (signal === undefined || signal.aborted) return;
      await sleep(backoffMs(failures, {}), { signal }).catch(() => {}); // aborted: the last attempt follows
    }
  }

  /** Writes once. What another reader has written meanwhile is another's; its own may be a write without an answer. */
  async #writeNow(keys: readonly ObjectKey[]): Promise<void> {
    for (;;) {
      const record = { holder: this.#holder, version: this.#version, objects: this.#objects };
      const stamp = await this.#store.set(this.name, record, { stamp: this.#stamp, keys });
      if (stamp !== undefined) {
        this.#stamp = stamp;
        return;
      }
      const found = await this.#store.get(this.name);
      if (found?.record.holder !== this.#holder) {
        const what = found === undefined ? "somebody deleted its record" : "another reader has opened it";
        throw new CheckpointError(`Cannot keep checkpoint "${this.name}": ${what}`, "lost");
      }
      this.#stamp = found.stamp;
    }
  }
}

/** Keeps checkpoints in memory: for tests, or for readers that follow each other in one process. */
export class MemoryCheckpoints implements CheckpointStore {
  readonly #checkpoints = new Map<string, { readonly record: CheckpointRecord; readonly stamp: number }>();

  /** Returns the checkpoint with this name, if there is one. */
  get(name: string): Promise<StoredCheckpoint | undefined> {
    return Promise.resolve(this.#checkpoints.get(name));
  }

  /** Stores a checkpoint, unless another reader has written it meanwhile. */
  set(
    name: string,
    { objects, ...head }: CheckpointRecord,
    { stamp, keys }: CheckpointChange,
  ): Promise<number | undefined> {
    const found = this.#checkpoints.get(name);
    if (found?.stamp !== stamp) return Promise.resolve(undefined);
    const kept = new Map(found?.record.objects);
    for (const key of keys) {
      const state = objects.get(key);
      if (state === undefined) kept.delete(key);
      else kept.set(key, state);
    }
    const next = (found?.stamp ?? 0) + 1;
    this.#checkpoints.set(name, { record: { ...head, objects: kept }, stamp: next });
    return Promise.resolve(next);
  }
}
