import type { ListerWatcher } from "../api/lister_watcher.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Abortable, Selection } from "../api/options.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { callObserver } from "../async/report_uncaught.ts";
import { parsesObjects } from "../entry/path.ts";
import type { IndexFunction } from "../store/index.ts";
import { Demand } from "./demand.ts";
import type { FactoryRun, InformerEnd } from "./factory_run.ts";
import type { InformerScope } from "./informer_scope.ts";
import {
  CACHE_DEFAULTS,
  defined,
  type SharedIndexInformerOptions,
  type SharedInformerFactoryOptions,
} from "./options.ts";
import { sameOption } from "./same_option.ts";
import { SharedIndexInformer } from "./shared_index_informer.ts";
import type { SnapshotKeepers } from "./snapshot/snapshot_keepers.ts";

/** The options that all callers of one informer must agree on. */
const COMPARED = [
  "transform",
  "managedFields",
  "secretAnnotations",
  "parse",
  "freeze",
  "resyncMs",
  "reflector",
  "graceMs",
  "check",
  "onError",
  "unchanged",
] as const;

/** The connection of a {@linkcode SharedInformer} to its factory. */
export interface SharedInformerContext {
  /** The options of the factory. */
  readonly defaults: SharedInformerFactoryOptions;
  /** Keeps snapshots of the caches, if the factory does. */
  readonly keepers: SnapshotKeepers | undefined;
  /** Returns the source of a part of a collection. */
  readonly sourceOf: (resource: Resource<KubernetesObject>, part: Selection) => ListerWatcher<KubernetesObject>;
  /** Receives the errors of an informer, and of one whose end nobody awaits. */
  readonly report: (error: unknown, resource: Resource) => void;
  /** Called when the informer had no holder for so long that it is to be forgotten. */
  readonly onForget: (shared: SharedInformer) => void;
}

type Options = SharedIndexInformerOptions<KubernetesObject, string>;

/** An informer of a factory, which runs once, for all callers that ask for the same objects. */
export class SharedInformer {
  /** The objects that are cached. */
  readonly scope: InformerScope;
  /** The informer. */
  readonly informer: SharedIndexInformer<KubernetesObject, string>;
  /** Pauses the informer while it has no holder. */
  readonly demand: Demand;
  readonly #context: SharedInformerContext;
  /** The options that the informer was made with, defaults included. */
  readonly #options: Options;
  readonly #indexers = new Map<string, IndexFunction<KubernetesObject>>();
  /** `true` from the first {@linkcode keep} on: then the demand never ends. */
  #isKept = false;
  /** Set once it was started. */
  #running: InformerEnd | undefined;
  /** The run of the factory that it stops with. */
  #run: FactoryRun | undefined;

  /** Makes the informer with the options of the first caller, but for its indexers, which {@linkcode join} adds. */
  constructor(scope: InformerScope, own: Options, context: SharedInformerContext) {
    const { onError: _, snapshots: _snapshots, idleMs = 30_000, forgetMs = 300_000, ...defaults } = context.defaults;
    const { indexers: _indexers, ...rest } = defined(own);
    const { resource, parts } = scope;
    const reduction = resource.fields === undefined ? {} : { unchanged: "skip" as const };
    this.scope = scope;
    this.#context = context;
    this.#options = { ...CACHE_DEFAULTS, ...defined(defaults), ...reduction, ...rest };
    const sources = parts.map((part) => {
      return {
        namespace: part.namespace ?? "",
        source: context.sourceOf(resource as Resource<KubernetesObject>, part),
      };
    });
    const informer = new SharedIndexInformer<KubernetesObject>(sources.length === 1 ? sources[0].source : sources, {
      ...this.#options,
      onError: (error: unknown): void => {
        callObserver(() => own.onError?.(error));
        if (own.onError === undefined || context.defaults.onError !== undefined) context.report(error, resource);
      },
    });
    this.informer = informer as SharedIndexInformer<KubernetesObject, string>;
    this.demand = new Demand({
      idleMs,
      forgetMs,
      onPause: () => informer.pause(),
      onResume: () => informer.resume(),
      onForget: () => context.onForget(this),
    });
  }

  /** `true` once it was started. */
  get isStarted(): boolean {
    return this.#running !== undefined;
  }

  /** `true` if it runs as long as the factory. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Lets it run as long as the factory, whatever its holders. */
  keep(): void {
    if (!this.#isKept) this.demand.acquire(); // never released
    this.#isKept = true;
  }

  /** Adds a caller's indexers. @throws {Error} when its options contradict those of the first caller. */
  join(own: Options): void {
    const name = resourceName(this.scope.resource);
    for (const option of COMPARED) {
      if (own[option] === undefined || sameOption(own[option], this.#options[option])) continue;
      throw new Error(`Cannot share the informer of "${name}": option "${option}" is not what the first caller gave`);
    }
    const added: [string, IndexFunction<KubernetesObject>][] = [];
    for (const [index, valuesOf] of Object.entries(own.indexers ?? {})) {
      const known = this.#indexers.get(index);
      if (known === valuesOf || (!parsesObjects(valuesOf) && String(known) === String(valuesOf))) continue;
      if (known !== undefined) {
        throw new Error(`Cannot share the informer of "${name}": index "${index}" has another function already`);
      }
      added.push([index, valuesOf]);
    }
    if (added.length === 0) return;
    this.informer.withIndexers(Object.fromEntries(added));
    for (const [index, valuesOf] of added) this.#indexers.set(index, valuesOf);
  }

  /** Starts it, unless it was started, and reports its failure, for a caller that does not wait for its end. */
  start(options: Abortable): void {
    if (this.#running !== undefined) return;
    void this.#start(options).then((failure) => {
      if (failure !== undefined) this.#context.report(failure.error, this.scope.resource);
    });
  }

  /** Starts it, unless it was started, and lets it stop with a run. */
  enlist(run: FactoryRun): void {
    if (this.#run === run) return;
    this.#run = run;
    const wasStarted = this.#running !== undefined;
    run.add(this.#start({ signal: run.signal }));
    if (!wasStarted) return; // survives: started-by-run
    if (run.signal.aborted) this.stop();
    else run.signal.addEventListener("abort", () => this.stop(), { once: true });
  }

  /** Stops the informer. The error of stopping is that of its run. */
  stop(): void {
    this.informer[Symbol.asyncDispose]().then(undefined, () => undefined);
  }

  #start(options: Abortable): InformerEnd {
    const { keepers } = this.#context;
    return this.#running ??=
      (keepers === undefined ? this.informer.run(options) : keepers.run(this.informer, this.scope, {
        ...options,
        graceMs: this.#options.graceMs ?? CACHE_DEFAULTS.graceMs,
      }))
        .then(() => undefined, (error) => ({ error }));
  }
}
