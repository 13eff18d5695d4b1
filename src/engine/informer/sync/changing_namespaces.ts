/**
 * The readable namespaces of an informer, which come and go.
 *
 * {@linkcode ChangingNamespaces} is the entry point: each namespace has a controller. A controller of all namespaces
 * hands its objects and version to the controllers of the namespaces that remain. `client/readable_namespaces.ts` asks
 * for the rights. {@linkcode NamespaceKeys} has the keys of one of several namespaces in a shared store.
 *
 * @module
 */
import type { Selection } from "../../api/call_options.ts";
import { isForbidden, UnreachableError } from "../../api/status.ts";
import { DerivedController, Latch } from "../../async/signals.ts";
import { backoffMs, LongTimer, monotonicMs, sleep, unreachableBackoffMs } from "../../async/time.ts";
import type { CacheScope, NamespaceFinder } from "../cache/cache_scope.ts";
import type { KnownObjects } from "../../queue/delta_fifo.ts";

/** The shortest time between two questions for the namespaces, unless a request is refused, in milliseconds. */
const PERIOD_MS = 60_000;
/** The time between two questions is at least this many times that of the last one. */
const TIMES_ASKED = 20;
/** That time varies by this part of it, so that informers do not ask all at once. */
const JITTER = 0.2;

/** The collection whose namespaces change. */
interface NamespacedCollection {
  readonly parts: readonly {
    readonly state: { readonly cause?: unknown };
    delay(error: unknown, delayMs: number): void;
  }[];
  readonly collection: { readonly scope: CacheScope };
  readonly changing: { change(wanted: readonly Selection[]): Promise<void> };
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
export class ChangingNamespaces {
  readonly #finder: NamespaceFinder;
  readonly #collection: NamespacedCollection;
  /** `true` once an answer has begun parts. */
  #hasBegun = false;
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
  constructor(finder: NamespaceFinder, collection: NamespacedCollection) {
    this.#finder = finder;
    this.#collection = collection;
  }

  /** Follows the namespaces until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      using work = this.#work = new DerivedController(signal);
      try {
        await this.#pause?.wait(work);
        const { minMs, maxMs } = await this.#ask(work.signal, signal);
        await sleep(minMs, work);
        using timer = new LongTimer(() => this.#due.open());
        timer.arm(maxMs - minMs);
        await this.#due.wait(work);
      } catch (error) {
        if (!work.signal.aborted) throw error;
      }
    }
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
  ): Promise<{ readonly minMs: number; readonly maxMs: number }> {
    const { parts, report, changing, collection: { scope } } = this.#collection;
    const beganMs = monotonicMs();
    const refusals = this.#refusals;
    [this.#refusals, this.#due] = [[], new Latch()];
    let names: readonly string[] | undefined;
    try {
      names = await this.#finder({ signal: asking });
    } catch (error) {
      this.#refusals.unshift(...refusals);
      asking.throwIfAborted();
      if (!isForbidden(error) || this.#hasBegun) {
        const waitMs = error instanceof UnreachableError ? unreachableBackoffMs : backoffMs;
        const delayMs = waitMs(this.#row.failed++, {});
        if (this.#hasBegun) report(error);
        else for (const part of parts) part.delay(error, delayMs);
        return { minMs: delayMs, maxMs: delayMs };
      } // else nobody may ask, and all namespaces are tried
    }
    const tookMs = monotonicMs() - beganMs;
    const namespaces = names === undefined || names.length === 0 ? [undefined] : names;
    const wanted = namespaces.map((namespace) => ({ ...scope.parts[0], namespace }));
    if (!signal.aborted) await changing.change(wanted);
    this.#hasBegun = true;
    const unexplained = refusals.filter((error) => this.#collection.parts.some(({ state }) => state.cause === error));
    for (const error of unexplained) report(error);
    this.#row.failed = 0;
    this.#row.vain = unexplained.length === 0 ? 0 : this.#row.vain + 1;
    const periodMs = Math.max(PERIOD_MS, TIMES_ASKED * tookMs) * (1 + JITTER * Math.random());
    return { minMs: backoffMs(this.#row.vain, {}), maxMs: names === undefined ? Infinity : periodMs };
  }
}

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
