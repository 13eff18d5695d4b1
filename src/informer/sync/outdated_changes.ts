import type { Entry } from "../../api/entry.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { isOlder, isResourceVersion } from "../../api/resource_version.ts";
import type { ReflectorPhase } from "../../reflector/phase.ts";
import { monotonicMs } from "../../async/time/monotonic_ms.ts";
import { LongTimer } from "../../async/time/long_timer.ts";

/** The shortest time between two lists that outdated changes lead to, in milliseconds. */
const RELIST_EVERY_MS = 60_000;

/** Options for {@linkcode OutdatedChanges}. */
export interface OutdatedChangesOptions {
  /** Ends the watch and lists. */
  readonly relist: (reason: Error) => void;
  /** Receives the first reason for a list, and no other. */
  readonly report: (error: unknown) => void;
}

/**
 * Decides whether a change that is older than the cached object leads to a list.
 *
 * A server that orders its versions sends such a change only as a replay: a watch resumed at some version begins with
 * changes at or below it, and sends the cached state of each of their objects, or a later one, before it continues above that
 * version. The uid does not matter, for a replay includes earlier objects of the same name.
 *
 * Every other outdated change shows that versions are not ordered, so that the cache may be stale. A list, which is always
 * applied, repairs it: at the end of the batch, or a minute after the last list of this kind.
 */
export class OutdatedChanges implements Disposable {
  readonly #options: OutdatedChangesOptions;
  /** `#timer` is armed from the end of a batch that leaves a `#reason` until it asks for a list. */
  readonly #timer = new LongTimer(() => this.#relist());
  /** `#unsettled` has a key if and only if a change was dropped that may be a replay, and the object did not come again. */
  readonly #unsettled = new Map<ObjectKey, string>();
  /** `#openedAt` is the version at which the present watch was opened, or of the list since. */
  #openedAt = "";
  /** `#isListing` is true if and only if the present phase is a list that has not been applied. */
  #isListing = false;
  /** `#reason` is defined if and only if a list is due. */
  #reason: string | undefined;
  /** `#nextRelistMs` is the earliest time of the next relist, by the monotonic clock. */
  #nextRelistMs = -Infinity;
  /** `#isReported` is true if and only if a reason was reported. */
  #isReported = false;

  /** No change has been dropped. */
  constructor(options: OutdatedChangesOptions) {
    this.#options = options;
  }

  /** Applies a phase that the reflector has entered. */
  entered(phase: ReflectorPhase): void {
    this.#isListing = phase.name === "listing";
    if (phase.name === "paused") this.#timer[Symbol.dispose](); // armed again by the progress of the next watch
    if (phase.name === "watching") this.#openedAt = phase.resourceVersion;
  }

  /** Records a change that was dropped because `known`, which is newer, is cached. */
  dropped<T extends KubernetesObject>({ key, resourceVersion }: Entry<T>, known: Entry<T>, isDeletion: boolean): void {
    const reason = `Cannot apply a change of "${key}": found version ${resourceVersion}, older than the cached ` +
      `${known.resourceVersion}, and no replay; the server does not order its versions, so they are listed ` +
      "again, at most once a minute";
    if (!this.#isReplayed(resourceVersion)) this.#reason ??= reason;
    // The deletion of an earlier object says nothing about the cached one.
    else if (!isDeletion) this.#unsettled.set(key, reason);
  }

  /** Records that the watch has sent the cached state of an object, or a later one. */
  settled(key: ObjectKey): void {
    if (this.#unsettled.size > 0) this.#unsettled.delete(key);
  }

  /** Records that the store has every change up to `version`. After a list no relist is due any more. */
  reached(version: string): void {
    if (this.#isListing) {
      this.#isListing = false;
      this.#openedAt = version;
      this.#unsettled.clear();
      this.#reason = undefined;
      this.#timer[Symbol.dispose]();
    }
    if (this.#unsettled.size > 0 && isOlder(this.#openedAt, version)) {
      const [reason] = this.#unsettled.values();
      this.#reason ??= reason;
    }
    if (this.#reason !== undefined && !this.#timer.isArmed) this.#timer.arm(this.#nextRelistMs - monotonicMs());
  }

  /** Stops the timer: no relist follows. */
  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #isReplayed(version: string): boolean {
    return isResourceVersion(this.#openedAt) && !isOlder(this.#openedAt, version);
  }

  #relist(): void {
    const reason = new Error(this.#reason);
    this.#nextRelistMs = monotonicMs() + RELIST_EVERY_MS;
    if (!this.#isReported) this.#options.report(reason);
    this.#isReported = true;
    this.#options.relist(reason);
  }
}
