/**
 * Watches of metadata that the informers of a factory share: {@linkcode OptionalKinds} watches definitions, for kinds
 * that the server need not have, and {@linkcode LabelledNamespaces} namespaces by their labels.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import type { KubernetesObject, Reduced } from "../api/object.ts";
import { defineResource, DEFINITIONS, onlyMetadata, type Resource, resourceName } from "../api/resource.ts";
import { hashesOf, type HashRange, type ShardSource } from "../api/shard.ts";
import { isForbidden, isNotFound } from "../api/status.ts";
import { LeakyBucket } from "../async/rates.ts";
import { LongTimer } from "../async/time.ts";
import { InformerError } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import type { HandlerRegistration } from "./events/event.ts";
import { SharedIndexInformer } from "./shared_index_informer.ts";

/** The wait after the attempt that follows a change of a definition, in milliseconds; it doubles with each attempt. */
const FIRST_MS = 50;

/** Changes of one definition that lead to an attempt at once: this many, and one more a second. */
const CHANGES = { burst: 10, intervalMs: 1_000 };

/**
 * An informer that waits for its kind, until it is live. A definition is created, accepted and established, and the
 * first request makes the server begin the kind's storage, which it answers with 429 and `Retry-After: 1` meanwhile.
 */
class Waiting implements Disposable {
  readonly #informer: Informer;
  readonly #bucket = new LeakyBucket(CHANGES.burst, CHANGES.intervalMs);
  readonly #timer = new LongTimer(() => this.#retry());
  #waitMs = FIRST_MS;

  constructor(informer: Informer) {
    this.#informer = informer;
  }

  /** The definition has changed: the informer tries now, and again with growing waits. */
  defined(): void {
    if (this.#bucket.take() > 0) return;
    this.#waitMs = FIRST_MS;
    this.#retry();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #retry(): void {
    this.#informer[internals].sync.retry();
    this.#timer.arm(this.#waitMs);
    this.#waitMs *= 2;
  }
}

type Informer = Pick<SharedIndexInformer<KubernetesObject>, typeof internals | "statusChanges">;

/**
 * The informers of a factory whose kinds the server need not have. While one of them waits for its kind, one watch of
 * all definitions lets it try again as soon as its definition changes. Where the server refuses that watch, and for
 * kinds without a definition, informers try again by their own back-off alone.
 */
export class OptionalKinds implements AsyncDisposable {
  readonly #sourceOf: (definitions: Resource<KubernetesObject>) => ListerWatcher<KubernetesObject>;
  readonly #report: (error: unknown, resource: Resource) => void;
  /** Has an informer, by the name of its definition, if and only if it waits for its kind. */
  readonly #waiting = new Map<string, Map<Informer, Waiting>>();
  /** Set when the first informer waits; paused while none does. */
  #definitions: SharedIndexInformer<KubernetesObject> | undefined;
  /** True when it was reported that the definitions may not be watched. */
  #isRefused = false;

  /** Sends no request before an informer waits. */
  constructor(
    sourceOf: (definitions: Resource<KubernetesObject>) => ListerWatcher<KubernetesObject>,
    report: (error: unknown, resource: Resource) => void,
  ) {
    this.#sourceOf = sourceOf;
    this.#report = report;
  }

  /** Follows an informer of `resource` until it stops. Only groups with a dot can have definitions. */
  async follow(resource: Resource, informer: Informer): Promise<void> {
    if (!resource.group.includes(".")) return;
    const name = resourceName(resource);
    for await (const { state, unserved } of informer.statusChanges()) {
      if (unserved) this.#set(name, informer, true);
      else if (state === "live" || state === "paused") this.#set(name, informer, false);
    }
    this.#set(name, informer, false);
  }

  /** Ends the watch of definitions. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const informers of this.#waiting.values()) for (const waiting of informers.values()) waiting[Symbol.dispose]();
    await this.#definitions?.[Symbol.asyncDispose]();
  }

  #set(name: string, informer: Informer, waits: boolean): void {
    const informers = this.#waiting.get(name) ?? new Map<Informer, Waiting>();
    const known = informers.get(informer);
    if ((known !== undefined) === waits) return;
    known?.[Symbol.dispose]();
    if (waits) informers.set(informer, new Waiting(informer));
    else informers.delete(informer);
    if (informers.size > 0) this.#waiting.set(name, informers);
    else this.#waiting.delete(name);
    if (this.#waiting.size === 0) this.#definitions?.pause();
    else if (this.#definitions === undefined) this.#watch();
    else this.#definitions.resume();
  }

  #watch(): void {
    const definitions = this.#definitions = new SharedIndexInformer(this.#sourceOf(onlyMetadata(DEFINITIONS)), {
      // An annotation may have the complete definition, with its schemas.
      transform: ({ metadata: { annotations: _, ...metadata } }): KubernetesObject => ({ metadata }),
      onError: (error) => this.#failed(error),
    });
    const changed = ({ name }: { readonly name: string }): void => {
      for (const waiting of this.#waiting.get(name)?.values() ?? []) waiting.defined();
    };
    definitions.addEventHandler({ onAdd: changed, onUpdate: changed });
    definitions.run().catch((error) => this.#failed(error));
  }

  /** A refusal is reported once: optional kinds are found all the same. */
  #failed(error: unknown): void {
    const isRefusal = isForbidden(error) || isNotFound(error);
    if (isRefusal && this.#isRefused) return;
    this.#isRefused ||= isRefusal;
    this.#report(
      isRefusal
        ? new InformerError(
          "Cannot watch CustomResourceDefinitions, so a newly installed kind is noticed up to 30 s late. Grant list " +
            `and watch on ${resourceName(DEFINITIONS)}`,
          { cause: error },
        )
        : error,
      DEFINITIONS,
    );
  }
}

/** Namespaces, as their metadata. */
export const NAMESPACE_METADATA: Resource<KubernetesObject & Reduced> = onlyMetadata(
  defineResource({ version: "v1", plural: "namespaces", kind: "Namespace", scope: "Cluster" }),
);

/** The namespaces of an informer, as a shard by namespace: each is a range of one hash. */
export class LabelledNamespaces implements ShardSource {
  /** As `ShardSource.name`. */
  readonly name: string;
  /** As `ShardSource.by`. */
  readonly by = "namespace";
  readonly #open: () => SharedIndexInformer<KubernetesObject & Reduced>;
  readonly #names = new Set<string>();
  readonly #listeners = new Set<() => void>();
  /** Set by the first {@linkcode ready}. */
  #handler: HandlerRegistration | undefined;

  /** Those with these labels, of the informer that `open` returns, once they are needed. */
  constructor(labels: string, open: () => SharedIndexInformer<KubernetesObject & Reduced>) {
    this.name = `namespaces of ${labels}`;
    this.#open = open;
  }

  /** As `ShardSource.ready`. */
  async ready(options: Abortable): Promise<void> {
    this.#handler ??= this.#open().addEventHandler({
      onAdd: ({ name }) => this.#change(() => this.#names.add(name)),
      onDelete: ({ name }) => this.#change(() => this.#names.delete(name)),
    }, { name: this.name });
    await this.#handler.waitForSync(options);
  }

  /** As `ShardSource.ranges`. */
  ranges(): readonly HashRange[] {
    return [...this.#names].flatMap(hashesOf);
  }

  /** As `ShardSource.namespaces`. */
  namespaces(): readonly string[] {
    return [...this.#names];
  }

  /** As `ShardSource.onChange`. */
  readonly onChange = (listener: () => void): Disposable => {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  };

  #change(change: () => void): void {
    change();
    for (const listener of [...this.#listeners]) listener();
  }
}
