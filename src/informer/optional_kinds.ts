import type { KubernetesObject } from "../api/object.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import { DEFINITIONS, metadataOf, type Resource, resourceName } from "../api/resource.ts";
import { isForbidden, isNotFound } from "../api/status.ts";
import { LeakyBucket, LongTimer } from "../async/time.ts";
import { InformerError } from "../errors/informer_error.ts";
import { SharedIndexInformer } from "./shared_index_informer.ts";

/** The wait after the attempt that follows a change of a definition, in milliseconds; it doubles with each attempt. */
const FIRST_MS = 50;

/** Changes of one definition that lead to an attempt at once: this many, and one more a second. */
const CHANGES = { burst: 10, everyMs: 1_000 };

/**
 * An informer that waits for its kind, until it is live. A definition is created, accepted and established, and the
 * first request makes the server begin the kind's storage, which it answers with 429 and `Retry-After: 1` meanwhile.
 */
class Waiting implements Disposable {
  readonly #informer: Informer;
  readonly #bucket = new LeakyBucket(CHANGES.burst, CHANGES.everyMs);
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
    this.#informer.retry();
    this.#timer.arm(this.#waitMs);
    this.#waitMs *= 2;
  }
}

type Informer = Pick<SharedIndexInformer<KubernetesObject>, "retry" | "statusChanges">;

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
    const definitions = this.#definitions = new SharedIndexInformer(this.#sourceOf(metadataOf(DEFINITIONS)), {
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
          "Cannot watch definitions: a kind that comes is noticed up to 30 s late; " +
            `grant "list" and "watch" of "${resourceName(DEFINITIONS)}"`,
          { cause: error },
        )
        : error,
      DEFINITIONS,
    );
  }
}
