/**
 * An informer of a factory, with the options that its callers agree on, and the runs of a factory.
 *
 * {@linkcode SharedInformer} and {@linkcode FactoryRun} are the entry points. Informers are made and started by
 * `shared_informer_factory.ts`.
 *
 * @module
 */
import type { KubernetesObject } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import { isPlain } from "../api/selector.ts";
import { DerivedController, Latch } from "../async/signals.ts";
import { parsesObjects } from "../entry/path.ts";
import { internals } from "../errors/internals.ts";
import type { Settings } from "../errors/option_table.ts";
import type { IndexFunction } from "../store/value_index.ts";
import { Demand, type DemandTimes } from "./acquired_informer.ts";
import type { CacheScope } from "./cache/cache_scope.ts";
import { INFORMER_OPTIONS, type SharedIndexInformerOptions } from "./options.ts";
import type { SharedIndexInformer } from "./shared_index_informer.ts";

/** The end of an informer: its failure, if it has failed. */
export type InformerEnd = Promise<{ readonly error: unknown } | undefined>;

/** One `run()` of a factory: the informers that run in it, to which more may be added, and their common end. */
export class FactoryRun {
  /** Stops the informers: aborted with the signal of the run, by `stop()`, and by the failure of an informer. */
  readonly signal: AbortSignal;
  readonly #job: DerivedController;
  readonly #ended = new Latch();
  /** Has an informer if and only if it has not ended. */
  readonly #running = new Set<InformerEnd>();
  /** The first failure of an informer. */
  #failure: { readonly error: unknown } | undefined;

  /** Stops with `signal`. */
  constructor(signal?: AbortSignal) {
    this.#job = new DerivedController(signal);
    this.signal = this.#job.signal;
    if (this.signal.aborted) this.#check();
    else this.signal.addEventListener("abort", () => this.#check(), { once: true });
  }

  /**
   * Resolves once the run was stopped and all informers have ended; rejects then with the first failure, if there is
   * one.
   */
  get ended(): Promise<void> {
    return this.#ended.wait();
  }

  /** Adds a running informer. */
  add(end: InformerEnd): void {
    this.#running.add(end);
    void end.then((failure) => {
      this.#running.delete(end);
      if (failure !== undefined) {
        this.#failure ??= failure;
        this.stop();
      }
      this.#check();
    });
  }

  /** Stops all informers. */
  stop(): void {
    if (!this.signal.aborted) this.#job.abort(new DOMException("The run of the factory has ended", "AbortError"));
  }

  #check(): void {
    if (!this.signal.aborted || this.#running.size > 0) return;
    if (this.#failure === undefined) this.#ended.open();
    else this.#ended.fail(this.#failure.error);
  }
}

/**
 * Returns `true` if two values of an option mean the same: they are equal, or plain objects or arrays whose members
 * mean the same. Functions and other objects are compared by identity; a member that is `undefined` counts as absent.
 */
function sameOption(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isPlain(a) || !isPlain(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  return Object.keys({ ...a, ...b }).every((name) => sameOption(Reflect.get(a, name), Reflect.get(b, name)));
}

/** The options of a shared informer, whatever its objects. */
type Options = SharedIndexInformerOptions<KubernetesObject, string>;

/** An informer of a factory, which runs once, for all callers that ask for the same objects. */
export class SharedInformer {
  /** The informer. */
  readonly informer: SharedIndexInformer<KubernetesObject, string>;
  /** The options that the informer was made with, defaults included. */
  readonly options: Settings<Options, typeof INFORMER_OPTIONS>;
  /** Pauses the informer while it has no holder. */
  readonly demand: Demand;
  /** `true` if it runs as long as the factory: then the demand never ends. */
  isKept = false;
  /** The number of followers that named the informer itself, whatever its scope is. */
  guests = 0;
  /** The number of its followers, see `SharedInformerFactory`. */
  followers = 0;
  /** Set once it was started: the end of its last run. */
  running: InformerEnd | undefined;
  /** Ends that run. */
  job: DerivedController | undefined;
  /** The run of the factory that it stops with. */
  run: FactoryRun | undefined;
  /** Those of all callers. */
  readonly #indexers = new Map<string, IndexFunction<KubernetesObject>>();

  /** Is not started yet. When its demand is over, it stops, and calls `forget`. */
  constructor(
    informer: SharedIndexInformer<KubernetesObject, string>,
    options: Settings<Options, typeof INFORMER_OPTIONS>,
    times: DemandTimes,
    forget: () => void,
  ) {
    this.informer = informer;
    this.options = options;
    this.demand = new Demand(informer, times, () => {
      forget();
      this.stop();
    });
  }

  /** The objects that are cached. `rescope()` changes it. */
  get scope(): CacheScope<Resource> {
    return this.informer[internals].sync.collection.scope as CacheScope<Resource>;
  }

  /** `true` if it runs with the factory, and not only for its holders. */
  get isWanted(): boolean {
    return this.isKept || this.followers > 0;
  }

  /** Adds a caller's indexers. @throws {Error} when its options contradict those of the first caller. */
  join(own: Options): void {
    const refused = (why: string): Error => new Error(`Cannot share the informer of "${this.scope.kind}": ${why}`);
    for (const [option, row] of Object.entries(INFORMER_OPTIONS) as [Exclude<keyof Options, symbol>, object][]) {
      const isAgreed = own[option] === undefined || sameOption(own[option], this.options[option]);
      if (isAgreed || "shared" in row) continue;
      throw refused(
        `the option "${option}" has another value than the first caller gave. Pass the same value, or create another factory`,
      );
    }
    const added: [string, IndexFunction<KubernetesObject>][] = [];
    for (const [index, valuesOf] of Object.entries(own.indexers ?? {})) {
      const isThere = this.informer[internals].sync.cache.store[internals].has(index);
      const known = isThere ? this.#indexers.get(index) : undefined;
      if (known === valuesOf || (!parsesObjects(valuesOf) && String(known) === String(valuesOf))) continue;
      if (known !== undefined) throw refused(`the index "${index}" already has another function. Choose another name`);
      added.push([index, valuesOf]);
    }
    if (added.length === 0) return;
    this.informer.withIndexers(Object.fromEntries(added));
    for (const [index, valuesOf] of added) this.#indexers.set(index, valuesOf);
  }

  /** Stops the informer. The error of stopping is that of its run. */
  stop(): void {
    this.informer[Symbol.asyncDispose]().then(undefined, () => undefined);
  }
}
