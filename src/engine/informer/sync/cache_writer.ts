/**
 * Writes changes to the store and logs their events, in one turn.
 *
 * {@linkcode CacheWriter} is the entry point: changes pass its `#apply`, and first lists are staged by `replacing()`. A
 * change that is older than the cached object is not applied; {@linkcode OutdatedChanges} decides whether it leads to a
 * list. Relists are staged by the queue of the controller.
 *
 * @module
 */
import { type CacheEntry, sameVersion } from "../../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { isOlder, isResourceVersion } from "../../api/status.ts";
import { LongTimer, monotonicMs } from "../../async/time.ts";
import { sameFields } from "../../entry/entry.ts";
import type { Delta, Deltas } from "../../queue/delta_fifo.ts";
import type { ReflectorPhase } from "../../reflector/transition.ts";
import type { Indexer, StoreReplacement } from "../../store/indexer.ts";
import type { EntryTransform, Quarantine } from "../cache/entry_transform.ts";
import type { CountedCache } from "../cache/memory_budget.ts";
import type { ObjectCache } from "../cache/object_cache.ts";
import { Added, Deleted, type DeletedEvent, noteListed, Updated } from "../events/event.ts";
import type { Processor } from "../events/processor.ts";

/** The shortest time between two lists that outdated changes lead to, in milliseconds. */
const RELIST_EVERY_MS = 60_000;

/**
 * Decides whether a change that is older than the cached object leads to a list.
 *
 * A server that orders its versions sends such a change only as a replay: a watch resumed at some version begins with
 * changes at or below it, and sends the cached state of each of their objects, or a later one, before it continues
 * above that version. The uid does not matter, for a replay includes earlier objects of the same name.
 *
 * Every other outdated change shows that versions are not ordered, so that the cache may be stale. A list, which is
 * always applied, repairs it: at the end of the batch, or a minute after the last list of this kind.
 */
export class OutdatedChanges implements Disposable {
  readonly #controller: { relist(reason: Error): void };
  readonly #report: (error: unknown) => void;
  /** `#timer` is armed from the end of a batch that leaves a `#reason` until it asks for a list. */
  readonly #timer = new LongTimer(() => this.#relist());
  /**
   * `#unsettled` has a key if and only if a change was dropped that may be a replay, and the object did not come again.
   */
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

  /** `controller` lists again; `report` receives the first reason for that, and no other. */
  constructor(controller: { relist(reason: Error): void }, report: (error: unknown) => void) {
    this.#controller = controller;
    this.#report = report;
  }

  /** Applies a phase that the reflector has entered. */
  entered(phase: ReflectorPhase): void {
    this.#isListing = phase.name === "listing";
    if (phase.name === "paused") this.#timer[Symbol.dispose](); // armed again by the progress of the next watch
    if (phase.name === "watching") this.#openedAt = phase.resourceVersion;
  }

  /** Records a change that was dropped because `known`, which is newer, is cached. */
  dropped<T extends KubernetesObject>(
    { key, resourceVersion }: CacheEntry<T>,
    known: CacheEntry<T>,
    isDeletion: boolean,
  ): void {
    const reason =
      `Cannot apply a change of "${key}": its version ${resourceVersion} is older than the cached version ` +
      `${known.resourceVersion}, and it is not a replay. The server does not order its versions, so the informer ` +
      "lists again, at most once a minute";
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
    if (!this.#isReported) this.#report(reason);
    this.#isReported = true;
    this.#controller.relist(reason);
  }
}

/** Writes changes to the store and logs their events, in one turn. The namespaces of an informer share one writer. */
export class CacheWriter<T extends KubernetesObject> {
  readonly #store: Indexer<CacheEntry<T>, string>;
  readonly #entryTransform: EntryTransform<T>;
  readonly #quarantine: Quarantine<T>;
  readonly #processor: Processor<T>;
  readonly #skipsUnchanged: boolean;
  /** `#counted` is `undefined` if and only if the bytes of the cache are not counted. */
  readonly #counted: CountedCache<T> | undefined;
  readonly #compaction: ObjectCache<T>["compaction"];
  /** The number of changes that were dropped because they were older than the cached object. */
  outdated = 0;
  /** The reason of the deletions that are found now. */
  reason: DeletedEvent<T>["reason"];
  /** The number of calls of {@linkcode moved} so far. */
  moves = 0;

  /** With `skipsUnchanged`, an update that changes nothing but the version is stored, and has no event. */
  constructor(
    { store, entryTransform, quarantine, compaction }: ObjectCache<T>,
    processor: Processor<T>,
    skipsUnchanged: boolean,
    counted?: CountedCache<T>,
  ) {
    this.#counted = counted;
    this.#compaction = compaction;
    this.#store = store;
    this.#entryTransform = entryTransform;
    this.#quarantine = quarantine;
    this.#processor = processor;
    this.#skipsUnchanged = skipsUnchanged;
  }

  /**
   * Applies the changes of one key, oldest first. `initial` marks new objects as part of the first list. `outdated`
   * receives changes that are older than the cached object.
   *
   * @throws {MemoryLimitError} behind a change of the watch that makes the caches hold more than they may.
   */
  apply({ key, deltas }: Deltas<CacheEntry<T>>, initial: boolean, outdated: OutdatedChanges): void {
    for (const delta of deltas) {
      this.#apply(key, delta, initial, outdated);
      // Reported after delivery: a handler that is added from `onError` starts from the store and the end of the log.
      this.#noteBroken(delta.value);
      this.#counted?.wrote(delta.type === "Replaced" ? "list" : "watch");
    }
  }

  /** Begins a replacement of the empty store by a first list. Its commit logs all entries as initial, in one step. */
  replacing(): StoreReplacement<CacheEntry<T>> {
    return this.#store.replacing({
      transform: (entry) => this.#entryTransform.apply(entry),
      onCommit: () => this.#filled(),
    });
  }

  #filled(): void {
    const entries = this.#store.list();
    this.#entryTransform.keptAll(entries);
    const broken = entries.filter(({ error }) => error !== undefined);
    this.#processor.distributeInitial(entries);
    // Reported after delivery: a handler that is added from `onError` starts from the store and the end of the log.
    for (const entry of broken) this.#noteBroken(entry);
  }

  #apply(key: ObjectKey, delta: Delta<CacheEntry<T>>, initial: boolean, outdated: OutdatedChanges): void {
    const entry = delta.value;
    const known = this.#store.lookUp(key);
    if (delta.type === "Sync") return; // each handler is resynced at its own period
    if (known !== undefined && isOutdated(delta, known)) {
      this.outdated++;
      outdated.dropped(entry, known, delta.type === "Deleted");
      return;
    }
    outdated.settled(key);
    if (delta.type === "Replaced" && !initial) noteListed(entry);
    if (delta.type === "Deleted") {
      if (known === undefined) return;
      const another = isAnother(known, entry);
      this.#delete(known);
      this.#processor.log.append(
        new Deleted(another ? known : entry, this.#quarantine, another || delta.finalStateUnknown, this.reason, known),
      );
      return;
    }
    if (known === undefined) {
      this.#set(key, entry);
      this.#processor.log.append(new Added(entry, this.#quarantine, initial));
      return;
    }
    if (sameVersion(known, entry)) return;
    this.#set(key, entry, known);
    if (isAnother(known, entry)) {
      this.#processor.log.append(new Deleted(known, this.#quarantine, true));
      this.#processor.log.append(new Added(entry, this.#quarantine, false));
    } else if (!this.#skipsUnchanged || !sameFields(known, entry)) {
      this.#processor.log.append(new Updated(entry, this.#quarantine, known, false));
    }
  }

  /** Deletes a cached object that was not deleted on the server, for `reason`. */
  moved(known: CacheEntry<T>, reason: DeletedEvent<T>["reason"] = "moved"): void {
    this.moves++;
    this.#delete(known);
    this.#processor.log.append(new Deleted(known, this.#quarantine, false, reason));
    this.#counted?.wrote("list");
  }

  #delete(known: CacheEntry<T>): void {
    this.#compaction?.left(known);
    this.#store.deleteByKey(known.key);
    this.#entryTransform.gone(known);
    this.#quarantine.release(known.key);
  }

  #set(key: ObjectKey, entry: CacheEntry<T>, known?: CacheEntry<T>): void {
    this.#quarantine.release(key);
    this.#store.set(key, entry);
    this.#entryTransform.kept(entry);
    if (known !== undefined && known !== entry) this.#compaction?.left(known);
    if (entry.textBytes !== undefined) this.#compaction?.changed(key);
  }

  #noteBroken(entry: CacheEntry<T>): void {
    if (entry.error !== undefined && this.#store.getByKey(entry.key) === entry) {
      this.#quarantine.add(entry, entry.error);
    }
  }
}

/**
 * Returns `true` if a change is dropped because it is older than the cached entry. Within a watch versions rise; a list
 * is always applied. A deletion is dropped only if it is of an earlier object of the same name.
 */
function isOutdated<T>(delta: Delta<CacheEntry<T>>, known: CacheEntry<T>): boolean {
  const entry = delta.value;
  if (delta.type === "Replaced" || !isOlder(entry.resourceVersion, known.resourceVersion)) return false;
  return delta.type !== "Deleted" || isAnother(known, entry);
}

/** Returns `true` if two entries of one key are different objects. */
function isAnother<T>(a: CacheEntry<T>, b: CacheEntry<T>): boolean {
  return a.uid !== b.uid && a.uid !== "" && b.uid !== "";
}
