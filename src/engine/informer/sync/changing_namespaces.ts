/**
 * The readable namespaces of an informer, which come and go.
 *
 * {@linkcode ChangingNamespaces} is the entry point: each namespace has a controller. A controller of all namespaces
 * hands its objects and version to the controllers of the namespaces that remain. `client/readable_namespaces.ts` asks
 * for the rights.
 *
 * @module
 */
import type { Abortable } from "../../api/call_options.ts";
import type { CacheEntry } from "../../api/entry.ts";
import { type ObjectKey, splitKey } from "../../api/object.ts";
import { isForbidden, UnreachableError } from "../../api/status.ts";
import { DerivedController, Latch } from "../../async/signals.ts";
import { backoffMs, LongTimer, monotonicMs, sleep, unreachableBackoffMs } from "../../async/time.ts";
import type { KnownObjects } from "../../queue/delta_fifo.ts";
import type { NamespaceFinder } from "../cache/cache_scope.ts";

/** The shortest time between two questions for the namespaces, unless a request is refused, in milliseconds. */
const PERIOD_MS = 60_000;
/** The time between two questions is at least this many times that of the last one. */
const TIMES_ASKED = 20;
/** That time varies by this part of it, so that informers do not ask all at once. */
const JITTER = 0.2;

/**
 * The values that one namespace has brought into a shared store. A relist of the namespace deletes only keys of these.
 */
export class NamespaceKeys<V> implements KnownObjects<V> {
  /** The namespace's name. */
  readonly namespace: string;
  readonly #store: Pick<KnownObjects<V>, "getByKey">;
  /** `#keys` has a key if and only if the store had it after its last change from this namespace. */
  readonly #keys = new Set<string>();
  /** Another number after every change: the number of calls of {@linkcode touched} so far. */
  revision = 0;

  /** No keys of the store at first. */
  constructor(namespace: string, store: Pick<KnownObjects<V>, "getByKey">) {
    this.namespace = namespace;
    this.#store = store;
  }

  /** The number of keys. */
  get size(): number {
    return this.#keys.size;
  }

  keys(): Iterable<string> {
    return this.#keys;
  }

  /** The values of the keys. */
  list(): V[] {
    return Array.from(this.#keys, (key) => this.#store.getByKey(key)!);
  }

  getByKey(key: string): V | undefined {
    return this.#keys.has(key) ? this.#store.getByKey(key) : undefined;
  }

  /** Records that a change of `key` from this namespace has been applied to the store. */
  touched(key: string): void {
    this.revision++;
    if (this.#store.getByKey(key) === undefined) this.#keys.delete(key);
    else this.#keys.add(key);
  }
}

/** Ends the waits of a part whose namespace is no longer followed; they begin again with those that are. */
export class NamespaceLeft extends Error {}

/** The part of a namespace, or of all of them. */
interface NamespacePart<T> {
  readonly namespace: string | undefined;
  readonly known: { list(): readonly CacheEntry<T>[] };
  readonly gate: { readonly version: string };
  readonly state: { readonly cause?: unknown };
  /**
   * Takes cached entries over, and begins with the watch from `version`, up to which they are all; with a list of the
   * newest state where that is `""`.
   */
  join(entries: readonly CacheEntry<T>[], version: string): void;
  /** Enters a wait, because of `error`, before it has begun. */
  delay(error: unknown, delayMs: number): void;
  run(options: Abortable): Promise<void>;
  pause(): void;
  end(error: Error, cause: unknown): void;
}

/** The collection whose parts come and go. */
interface NamespacedCollection<T, P extends NamespacePart<T>> {
  readonly parts: readonly P[];
  readonly writer: { moved(entry: CacheEntry<T>): void };
  readonly cache: { readonly entryTransform: { serverKeyOf(entry: CacheEntry<T>): ObjectKey } };
  /** `true` if a watch may resume from the version that another part has reached. */
  readonly sharesVersions: boolean;
  /** Makes the part of a namespace, or of all. */
  make(namespace: string | undefined): P;
  /** Follows these from now on. */
  replace(parts: readonly P[]): void;
  report(error: unknown): void;
}

/**
 * The namespaces of an informer that the client may read, each with a part of its own; one part of all
 * namespaces where these may be read at once, and where none may be, so that the server's refusal shows.
 *
 * The server is asked before anything is listed, after each request that it forbids, and each minute while there are
 * namespaces. Those that come are listed alone. What goes is removed as moved once its list or watch has ended. Where
 * all were followed and some remain, their watches resume at the version of that of all.
 */
export class ChangingNamespaces<T, P extends NamespacePart<T>> {
  readonly #finder: NamespaceFinder<T>;
  readonly #collection: NamespacedCollection<T, P>;
  /** Has the parts that have begun and are followed. */
  readonly #running = new Map<P, { readonly job: DerivedController; readonly ended: Promise<void> }>();
  /** The refusals since the last question, which are reported where its answer does not explain them. */
  #refusals: unknown[] = [];
  /** Questions in a row that failed, and those in a row that have explained no refusal. */
  readonly #row = { failed: 0, vain: 0 };
  /** Opens when the next question is due. */
  #due = new Latch();
  /** Defined if and only if it is paused; opens with its end. */
  #pause: Latch | undefined;
  /** Ends the present question or wait. */
  #work: DerivedController | undefined;

  /** Asks nothing before {@linkcode run}. */
  constructor(finder: NamespaceFinder<T>, collection: NamespacedCollection<T, P>) {
    this.#finder = finder;
    this.#collection = collection;
  }

  /** Follows the namespaces until the signal aborts. `failed` is called with an error that ends a part. */
  async run(signal: AbortSignal, failed: (error: unknown) => void): Promise<void> {
    while (!signal.aborted) {
      using work = this.#work = new DerivedController(signal);
      try {
        await this.#pause?.wait(work);
        const { minMs, maxMs } = await this.#ask(work.signal, signal, failed);
        await sleep(minMs, work);
        using timer = new LongTimer(() => this.#due.open());
        timer.arm(maxMs - minMs);
        await this.#due.wait(work);
      } catch (error) {
        if (!work.signal.aborted) throw error;
      }
    }
    await Promise.all(Array.from(this.#running.values(), ({ ended }) => ended));
  }

  /** Takes the error of a request. Returns `true` for a refusal, after which the server is asked again. */
  refused(error: unknown): boolean {
    if (!isForbidden(error)) return false;
    this.#refusals.push(error);
    this.#due.open();
    return true;
  }

  /** Asks nothing until {@linkcode resume}. */
  pause(): void {
    this.#pause ??= new Latch();
    this.#work?.abort();
  }

  /** Ends a pause: the server is asked at once. */
  resume(): void {
    this.#pause?.open();
    this.#pause = undefined;
  }

  /** Asks now. */
  retry(): void {
    this.#work?.abort();
  }

  /** Asks for the namespaces, and follows them. Returns when to ask again: not before, and at the latest. */
  async #ask(
    asking: AbortSignal,
    signal: AbortSignal,
    failed: (error: unknown) => void,
  ): Promise<{ readonly minMs: number; readonly maxMs: number }> {
    const { parts, report } = this.#collection;
    const beganMs = monotonicMs();
    const refusals = this.#refusals;
    [this.#refusals, this.#due] = [[], new Latch()];
    let names: readonly string[] | undefined;
    try {
      names = await this.#finder.find({ signal: asking });
    } catch (error) {
      this.#refusals.unshift(...refusals);
      asking.throwIfAborted();
      if (!isForbidden(error) || this.#running.size > 0) {
        const waitMs = error instanceof UnreachableError ? unreachableBackoffMs : backoffMs;
        const delayMs = waitMs(this.#row.failed++, {});
        if (this.#running.size > 0) report(error);
        else for (const part of parts) part.delay(error, delayMs);
        return { minMs: delayMs, maxMs: delayMs };
      } // else nobody may ask, and all namespaces are tried
    }
    const tookMs = monotonicMs() - beganMs;
    await this.#follow(names === undefined || names.length === 0 ? [undefined] : names, signal, failed);
    const unexplained = refusals.filter((error) => this.#collection.parts.some(({ state }) => state.cause === error));
    for (const error of unexplained) report(error);
    this.#row.failed = 0;
    this.#row.vain = unexplained.length === 0 ? 0 : this.#row.vain + 1;
    const periodMs = Math.max(PERIOD_MS, TIMES_ASKED * tookMs) * (1 + JITTER * Math.random());
    return { minMs: backoffMs(this.#row.vain, {}), maxMs: names === undefined ? Infinity : periodMs };
  }

  /** Ends and begins parts, so that there is one for each of these namespaces. */
  async #follow(
    wanted: readonly (string | undefined)[],
    signal: AbortSignal,
    failed: (error: unknown) => void,
  ): Promise<void> {
    const collection = this.#collection;
    const leaving = collection.parts.filter(({ namespace }) => !wanted.includes(namespace));
    // What has been read is still written: it precedes the removal.
    await Promise.all(leaving.map(async (part) => {
      this.#running.get(part)?.job.abort();
      await this.#running.get(part)?.ended;
      this.#running.delete(part);
    }));
    if (signal.aborted) return;
    const before = new Map(collection.parts.map((part) => [part.namespace, part]));
    const parts = wanted.map((namespace) => before.get(namespace) ?? collection.make(namespace));
    const { writer, cache: { entryTransform } } = collection;
    const cached = Map.groupBy(
      leaving.flatMap((part) => part.known.list()),
      (entry) => splitKey(entryTransform.serverKeyOf(entry)).namespace,
    );
    collection.replace(parts);
    const version = collection.sharesVersions ? before.get(undefined)?.gate.version ?? "" : "";
    for (const part of parts.filter(({ namespace }) => !before.has(namespace))) {
      part.join(cached.get(part.namespace) ?? [], version);
      cached.delete(part.namespace);
    }
    const isAll = wanted.includes(undefined);
    for (const entry of isAll ? [] : [...cached.values()].flat()) writer.moved(entry);
    for (const part of leaving) part.end(new NamespaceLeft(`it no longer follows "${part.namespace}"`), undefined);
    for (const part of parts) if (!this.#running.has(part)) this.#begin(part, signal, failed);
  }

  #begin(part: P, signal: AbortSignal, failed: (error: unknown) => void): void {
    const job = new DerivedController(signal);
    if (this.#pause !== undefined) part.pause();
    this.#running.set(part, { job, ended: part.run(job).catch(failed).finally(() => job.release()) });
  }
}
