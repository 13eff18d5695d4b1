import { type Entry, sameVersion } from "../../api/entry.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { isOlder } from "../../api/resource_version.ts";
import { sameFields } from "../../entry/same_fields.ts";
import type { Delta, Deltas } from "../../queue/delta.ts";
import type { Indexer } from "../../store/indexer.ts";
import type { StoreReplacement } from "../../store/replacement.ts";
import type { EntryTransform } from "../cache/entry_transform.ts";
import type { ObjectCache } from "../cache/object_cache.ts";
import type { Quarantine } from "../cache/quarantine.ts";
import { Added, Deleted, Updated } from "../events/event.ts";
import type { Processor } from "../events/processor.ts";
import type { OutdatedChanges } from "./outdated_changes.ts";

/** Writes changes to the store and logs their events, in one turn. The namespaces of an informer share one writer. */
export class StoreWriter<T extends KubernetesObject> {
  readonly #store: Indexer<Entry<T>, string>;
  readonly #intake: EntryTransform<T>;
  readonly #quarantine: Quarantine<T>;
  readonly #processor: Processor<T>;
  readonly #skipsUnchanged: boolean;
  /** `#outdated` is the number of dropped changes so far. */
  #outdated = 0;

  /** With `skipsUnchanged`, an update that changes nothing but the version is stored, and has no event. */
  constructor({ store, intake, quarantine }: ObjectCache<T>, processor: Processor<T>, skipsUnchanged: boolean) {
    this.#store = store;
    this.#intake = intake;
    this.#quarantine = quarantine;
    this.#processor = processor;
    this.#skipsUnchanged = skipsUnchanged;
  }

  /** The number of changes that were dropped because they were older than the cached object. */
  get outdated(): number {
    return this.#outdated;
  }

  /**
   * Applies the changes of one key, oldest first. `initial` marks new objects as part of the first list. `outdated` receives
   * changes that are older than the cached object.
   */
  apply({ key, deltas }: Deltas<Entry<T>>, initial: boolean, outdated: OutdatedChanges): void {
    for (const delta of deltas) {
      this.#apply(key, delta, initial, outdated);
      // Reported after delivery: a handler that is added from `onError` starts from the store and the end of the log.
      this.#noteBroken(delta.value);
    }
  }

  /** Begins a replacement of the empty store by a first list. Its commit logs all entries as initial, in one step. */
  replacing(): StoreReplacement<Entry<T>> {
    return this.#store.replacing({
      transform: (entry) => this.#intake.take(entry),
      onCommit: () => this.#filled(),
    });
  }

  #filled(): void {
    const entries = this.#store.list();
    this.#intake.keptAll(entries);
    const broken = entries.filter(({ error }) => error !== undefined);
    this.#processor.distributeInitial(entries);
    // Reported after delivery: a handler that is added from `onError` starts from the store and the end of the log.
    for (const entry of broken) this.#noteBroken(entry);
  }

  #apply(key: ObjectKey, delta: Delta<Entry<T>>, initial: boolean, outdated: OutdatedChanges): void {
    const entry = delta.value;
    const known = this.#store.lookUp(key);
    if (delta.type === "Sync") return; // each handler is resynced at its own period
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
      this.#processor.distribute(
        new Deleted(another ? known : entry, this.#quarantine, another || delta.finalStateUnknown),
      );
      return;
    }
    if (known === undefined) {
      this.#set(key, entry);
      // mutant: initial-after-sync
      this.#processor.distribute(new Added(entry, this.#quarantine, initial));
      return;
    }
    if (sameVersion(known, entry)) return;
    this.#set(key, entry);
    // mutant: successor-as-update
    if (isAnother(known, entry)) {
      this.#processor.distribute(new Deleted(known, this.#quarantine, true));
      this.#processor.distribute(new Added(entry, this.#quarantine, false));
      // mutant: change-of-kept-field-skipped
    } else if (!this.#skipsUnchanged || !sameFields(known, entry)) {
      this.#processor.distribute(new Updated(entry, this.#quarantine, known, false));
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
 * Returns `true` if a change is dropped because it is older than the cached entry. Within a watch versions rise; a list is
 * always applied. A deletion is dropped only if it is of an earlier object of the same name.
 */
function isOutdated<T>(delta: Delta<Entry<T>>, known: Entry<T>): boolean {
  const entry = delta.value;
  if (delta.type === "Replaced" || !isOlder(entry.resourceVersion, known.resourceVersion)) return false;
  // mutant: deletion-of-predecessor-applied
  return delta.type !== "Deleted" || isAnother(known, entry);
}

/** Returns `true` if two entries of one key are different objects. */
function isAnother<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.uid !== b.uid && a.uid !== "" && b.uid !== "";
}
