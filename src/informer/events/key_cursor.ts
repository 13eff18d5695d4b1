import type { Entry } from "../../api/entry.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Quarantine } from "../cache/quarantine.ts";
import { Cursor, type CursorSelection, type CursorStart } from "./cursor.ts";
import { Added, type LoggedEvent, Updated } from "./event.ts";
import type { LogFollower } from "./event_log.ts";

/** Reads the events of one object, and `synced`. Events of other objects neither reach nor wake it. */
export class KeyCursor<T extends KubernetesObject> extends Cursor<T> implements LogFollower<T> {
  readonly #quarantine: Quarantine<T>;
  readonly #unfollow: () => void;
  /** The events that have not been read, in order. */
  readonly #unread: LoggedEvent<T>[];
  /** Set if and only if the reader waits for an event. */
  #wake: (() => void) | undefined;

  constructor(start: CursorStart<T>, selection: CursorSelection<T>, key: ObjectKey) {
    super(start, selection);
    const { entries, synced, log, quarantine } = start;
    this.#quarantine = quarantine;
    this.#unread = entries.map((entry) => new Added(entry, quarantine, true));
    if (synced !== undefined) this.#unread.push(synced);
    this.#unfollow = log.followKey(key, this);
  }

  get pending(): number {
    return this.#unread.length;
  }

  logged(event: LoggedEvent<T>): void {
    this.#unread.push(event);
    this.#wake?.();
  }

  loggedInitial(entries: readonly Entry<T>[]): void {
    for (const entry of entries) this.logged(new Added(entry, this.#quarantine, true));
  }

  protected override onceLogged(wake: () => void): () => void {
    const leave = (): void => void (this.#wake = undefined);
    this.#wake = () => {
      leave();
      wake();
    };
    return leave;
  }

  protected take(): LoggedEvent<T> | undefined {
    return this.#unread.shift();
  }

  protected add(entries: readonly Entry<T>[]): void {
    if (this.#unread.some((event) => event.type === "updated" && event.resync)) return;
    this.#unread.push(...entries.map((entry) => new Updated(entry, this.#quarantine, entry, true)));
  }

  protected clear(): void {
    this.#unfollow();
    this.#unread.length = 0;
  }
}
