import type { KubernetesObject } from "../../api/object.ts";
import { Added, Deleted, type LoggedEvent, Updated } from "./event.ts";
import type { Quarantine } from "../cache/quarantine.ts";

/** Turns the story of a collection into the story of those objects that pass, each told gaplessly for itself. */
export class EventFilter<T extends KubernetesObject> {
  readonly #passes: (object: T) => boolean;
  readonly #quarantine: Quarantine<T>;
  readonly #report: (error: unknown) => void;
  /** Of which objects the listener knows. Remembered: asking again about an earlier state could get another answer. */
  readonly #told = new Set<string>();

  /** What `passes` throws is reported, and the object does not pass. */
  constructor(passes: (object: T) => boolean, quarantine: Quarantine<T>, report: (error: unknown) => void) {
    this.#passes = passes;
    this.#quarantine = quarantine;
    this.#report = report;
  }

  /** The event as the listener sees it, if at all. */
  apply(event: LoggedEvent<T>): LoggedEvent<T> | undefined {
    if (event.type === "synced") return event;
    const { key } = event;
    // mutant: filter-forgets
    if (event.type === "deleted") return this.#told.delete(key) ? event : undefined;
    if (this.#holds(event)) {
      if (this.#told.has(key)) return event;
      this.#told.add(key);
      return event.type === "added" ? event : new Added(event.entry, this.#quarantine, false);
    }
    if (!this.#told.delete(key)) return undefined;
    return new Deleted(event instanceof Updated ? event.before : event.entry, this.#quarantine, false);
  }

  #holds(event: LoggedEvent<T> & { readonly type: "added" | "updated" }): boolean {
    try {
      return this.#passes(event.object);
    } catch (error) {
      if (error !== event.error) this.#report(error); // the quarantine reports what cannot be read
      return false;
    }
  }
}
