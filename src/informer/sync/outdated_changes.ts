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
 * changes at or below it, and sends the cached state of each of their objects, or a later one, before it goes on above that
 * version. The uid does not matter, for a replay includes earlier objects of the same name.
 *
 * Every other outdated change shows that versions are not ordered, so that the cache may be stale. A list, which is always
 * believed, repairs it: at the end of the batch, or a minute after the last list of this kind.
 */
export class OutdatedChanges implements Disposable {
  readonly #options: OutdatedChangesOptions;
  readonly #timer = new LongTimer(() => this.#relist());
  /** Changes that may be replays, until their objects come again: the reason for a list if they do not, by key. */
  readonly #unsettled = new Map<ObjectKey, string>();
  /** The version at which the watch was opened. */
  #openedAt = "";
  #phase: ReflectorPhase["name"] = "stopped";
  /** Whether a list is under way that has not been committed. */
  #isListing = false;
  /** Why a list is due; the timer is armed while there is a reason, from the end of its batch on. */
  #reason: string | undefined;
  #nextRelistMs = -Infinity;
  #isReported = false;

  /** Nothing has been dropped. */
  constructor(options: OutdatedChangesOptions) {
    this.#options = options;
  }

  /** The reflector has entered a phase. */
  entered(phase: ReflectorPhase): void {
    const before = this.#phase;
    this.#phase = phase.name;
    this.#isListing = phase.name === "listing";
    if (phase.name === "watching" && !(phase.open && before === "watching")) this.#openedAt = phase.resourceVersion;
  }

  /** A change was dropped because `known` is cached. */
  dropped<T extends KubernetesObject>({ key, resourceVersion }: Entry<T>, known: Entry<T>, isDeletion: boolean): void {
    const reason = `Cannot apply a change of "${key}": found version ${resourceVersion}, older than the cached ` +
      `${known.resourceVersion}, and no replay; the server does not order its versions, so they are listed again, ` +
      "again, at most once a minute";
    if (!this.#isReplayed(resourceVersion)) this.#reason ??= reason;
    // The deletion of an earlier object says nothing about the cached one.
    else if (!isDeletion) this.#unsettled.set(key, reason);
  }

  /** The watch has sent the cached state of an object, or a later one. */
  settled(key: ObjectKey): void {
    if (this.#unsettled.size > 0) this.#unsettled.delete(key);
  }

  /** Everything up to `version` is in the store. A list settles everything. */
  reached(version: string): void {
    if (this.#isListing) {
      this.#isListing = false;
      this.#openedAt = version;
      this.#unsettled.clear();
      this.#reason = undefined;
      this.#timer[Symbol.dispose]();
      return;
    }
    if (this.#unsettled.size > 0 && isOlder(this.#openedAt, version)) {
      const [reason] = this.#unsettled.values();
      this.#reason ??= reason;
      this.#unsettled.clear();
    }
    if (this.#reason !== undefined && !this.#timer.isArmed) this.#timer.arm(this.#nextRelistMs - monotonicMs());
  }

  /** Leads to no list any more. */
  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #isReplayed(version: string): boolean {
    return isResourceVersion(this.#openedAt) && !isOlder(this.#openedAt, version);
  }

  #relist(): void {
    const reason = new Error(this.#reason);
    this.#nextRelistMs = monotonicMs() + RELIST_EVERY_MS;
    // Asks again if no list comes, for a reflector that waits to reconnect does not list.
    this.#timer.arm(RELIST_EVERY_MS);
    if (!this.#isReported) this.#options.report(reason);
    this.#isReported = true;
    this.#options.relist(reason);
  }
}
