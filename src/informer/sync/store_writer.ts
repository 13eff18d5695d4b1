import { type Entry, sameVersion } from "../../api/entry.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { isOlder } from "../../api/resource_version.ts";
import type { Delta, Deltas, Whole } from "../../queue/delta.ts";
import type { Indexer } from "../../store/indexer.ts";
import { Added, Deleted, Updated } from "../events/event.ts";
import type { EntryTransform } from "./entry_transform.ts";
import type { OutdatedChanges } from "./outdated_changes.ts";
import type { Processor } from "../events/processor.ts";
import type { Quarantine } from "../cache/quarantine.ts";

/** What a writer connects. */
export interface StoreWriterOptions<T extends KubernetesObject> {
  /** Where entries are kept. */
  readonly store: Indexer<Entry<T>, string>;
  /** How entries were prepared. */
  readonly intake: EntryTransform<T>;
  /** Where broken entries are known. */
  readonly quarantine: Quarantine<T>;
  /** Who is told. */
  readonly processor: Processor<T>;
}

/** Takes changes into the store and tells of them, in one turn, whichever part of the collection they come from. */
export class StoreWriter<T extends KubernetesObject> {
  readonly #store: Indexer<Entry<T>, string>;
  readonly #intake: EntryTransform<T>;
  readonly #quarantine: Quarantine<T>;
  readonly #processor: Processor<T>;
  #outdated = 0;

  constructor(options: StoreWriterOptions<T>) {
    this.#store = options.store;
    this.#intake = options.intake;
    this.#quarantine = options.quarantine;
    this.#processor = options.processor;
  }

  /** How many changes were older than what was cached, and were passed over. */
  get outdated(): number {
    return this.#outdated;
  }

  /** Takes what happened to one key, oldest first; changes that are older than what is cached go to `outdated`. */
  apply({ key, deltas, initial }: Deltas<Entry<T>>, outdated: OutdatedChanges): void {
    for (const delta of deltas) {
      this.#apply(key, delta, initial, outdated);
      // Reported after delivery: a handler that is added from `onError` starts from the store and the end of the log.
      this.#noteBroken(delta.value);
    }
  }

  /** Begins to fill the store, which is empty, with what it is to hold: it is there, and told, when it is committed. */
  whole(): Whole<Entry<T>> {
    const staged = this.#store.replacing();
    const broken: Entry<T>[] = [];
    return {
      set: (key, entry) => {
        staged.set(key, entry);
        if (entry.error !== undefined) broken.push(entry);
      },
      delete: (entry) => staged.delete(entry),
      commit: (resourceVersion) => {
        staged.commit(resourceVersion);
        const entries = this.#store.list();
        this.#intake.keptAll(entries);
        this.#processor.tellAll(entries);
        // Reported after delivery: a handler that is added from `onError` starts from the store and the end of the log.
        for (const entry of broken) this.#noteBroken(entry);
      },
      abandon: () => staged.abandon(),
      [Symbol.iterator]: () => staged[Symbol.iterator](),
    };
  }

  #apply(key: ObjectKey, delta: Delta<Entry<T>>, initial: boolean, outdated: OutdatedChanges): void {
    const entry = delta.value;
    const known = this.#store.lookUp(key);
    if (delta.type === "Sync") return; // handlers are resynced each at its own period
    if (known !== undefined && isOutdated(delta, known)) {
      this.#outdated++;
      outdated.dropped(entry, known, delta.type === "Deleted");
      return;
    }
    outdated.settled(key);
    if (delta.type === "Deleted") {
      if (known === undefined) return;
      const another = isAnother(known, entry);
      this.#store.deleteByKey(key);
      this.#intake.gone(known);
      this.#quarantine.release(key);
      this.#processor.tell(new Deleted(another ? known : entry, this.#quarantine, another || delta.finalStateUnknown));
      return;
    }
    if (known === undefined) {
      this.#set(key, entry);
      // mutant: initial-after-sync
      this.#processor.tell(new Added(entry, this.#quarantine, initial));
      return;
    }
    if (sameVersion(known, entry)) return;
    this.#set(key, entry);
    // mutant: successor-as-update
    if (isAnother(known, entry)) {
      this.#processor.tell(new Deleted(known, this.#quarantine, true));
      this.#processor.tell(new Added(entry, this.#quarantine, false));
    } else {
      this.#processor.tell(new Updated(entry, this.#quarantine, known, false));
    }
  }

  #set(key: ObjectKey, entry: Entry<T>): void {
    this.#quarantine.release(key);
    this.#store.set(key, entry);
    this.#intake.kept(entry);
  }

  #noteBroken(entry: Entry<T>): void {
    if (entry.error !== undefined && this.#store.getByKey(entry.key) === entry) {
      this.#quarantine.take(entry, entry.error);
    }
  }
}

/**
 * Whether a change is older than the cached entry, so that it is dropped. Within a watch versions rise; a list is always
 * believed. A deletion is dropped when it is of an earlier object of the same name.
 */
function isOutdated<T>(delta: Delta<Entry<T>>, known: Entry<T>): boolean {
  const entry = delta.value;
  if (delta.type === "Replaced" || !isOlder(entry.resourceVersion, known.resourceVersion)) return false;
  // mutant: deletion-of-predecessor-applied
  return delta.type !== "Deleted" || isAnother(known, entry);
}

/** Whether two entries of one key are different objects. */
function isAnother<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.uid !== b.uid && a.uid !== "" && b.uid !== "";
}
