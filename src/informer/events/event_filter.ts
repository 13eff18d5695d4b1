import type { Entry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { ofEntries } from "../../entry/path.ts";
import { Added, Deleted, type LoggedEvent, Updated } from "./event.ts";
import type { Quarantine } from "../cache/quarantine.ts";

/**
 * Rewrites events for a reader that asked for some objects only: an object that begins to pass is added, one that no longer
 * passes is deleted (client-go: `FilteringResourceEventHandler`).
 */
export class EventFilter<T extends KubernetesObject> {
  readonly #passes: (entry: Entry<T>) => boolean;
  readonly #quarantine: Quarantine<T>;
  readonly #report: (error: unknown) => void;
  /** Keys of the objects that the reader knows. Asking `passes` again about an earlier state could give another answer. */
  readonly #known = new Set<string>();

  /** An object for which `passes` throws does not pass, and the error goes to `report`. */
  constructor(passes: (object: T) => boolean, quarantine: Quarantine<T>, report: (error: unknown) => void) {
    this.#passes = ofEntries(passes);
    this.#quarantine = quarantine;
    this.#report = report;
  }

  /** The event for the reader, if there is one. */
  apply(event: LoggedEvent<T>): LoggedEvent<T> | undefined {
    if (event.type === "synced") return event;
    const { key } = event;
    // mutant: filter-forgets
    if (event.type === "deleted") return this.#known.delete(key) ? event : undefined;
    if (this.#holds(event)) {
      if (this.#known.has(key)) return event;
      this.#known.add(key);
      return event.type === "added" ? event : new Added(event.entry, this.#quarantine, false);
    }
    if (!this.#known.delete(key)) return undefined;
    return new Deleted(event instanceof Updated ? event.before : event.entry, this.#quarantine, false);
  }

  #holds(event: LoggedEvent<T> & { readonly type: "added" | "updated" }): boolean {
    try {
      return this.#passes(event);
    } catch (error) {
      if (error !== event.error) this.#report(error); // the quarantine reports an object that cannot be read
      return false;
    }
  }
}
