import type { Entry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { LoggedEvent } from "./event.ts";

/** A place in the log: behind `event`, or behind `initial`. */
export interface LogPlace<T extends KubernetesObject> {
  /** The event before this place; none at the beginning. */
  readonly event: LoggedEvent<T> | undefined;
  /**
   * In place of an event: the first list, whose events are made when they are delivered. A place with these always has a
   * next one, so that a reader that has taken them keeps the array alive no longer than it needs it.
   */
  readonly initial: readonly Entry<T>[] | undefined;
  /** How many events there were up to here. */
  readonly count: number;
  /** The next place, once there is one. */
  readonly next: LogPlace<T> | undefined;
}

/** Who wants to know of events as they are logged, and not only when it comes round to reading them. */
export interface LogFollower<T extends KubernetesObject> {
  /** An event was logged. */
  logged(event: LoggedEvent<T>): void;
  /** Many events at once: these objects were there from the beginning. */
  loggedInitial(entries: readonly Entry<T>[]): void;
}

interface Node<T extends KubernetesObject> extends LogPlace<T> {
  next: Node<T> | undefined;
}

/**
 * One list of events, one place per reader: nothing is copied per reader, a slow one holds only its own backlog alive and
 * delays nobody, and a late one takes its place at the end.
 */
export class EventLog<T extends KubernetesObject> {
  #end: Node<T> = { event: undefined, initial: undefined, count: 0, next: undefined };
  readonly #followers = new Set<LogFollower<T>>();
  #sleepers = new Set<() => void>();

  /** The place behind the last event. */
  get end(): LogPlace<T> {
    return this.#end;
  }

  /** Logs an event and wakes those who wait for one. */
  append(event: LoggedEvent<T>): void {
    this.#append({ event, initial: undefined, count: this.#end.count + 1, next: undefined });
    if (this.#followers.size > 0) { for (const follower of this.#followers) follower.logged(event); }
    if (this.#sleepers.size > 0) this.wake();
  }

  /** Logs that these are there from the beginning, in one step, however many they are, and wakes those who wait. */
  appendInitial(entries: readonly Entry<T>[]): void {
    const count = this.#end.count + entries.length;
    this.#append({ event: undefined, initial: entries, count, next: undefined });
    this.#append({ event: undefined, initial: undefined, count, next: undefined });
    for (const follower of this.#followers) follower.loggedInitial(entries);
    this.wake();
  }

  /** Calls `follower` with each event from now on, until the returned function is called. */
  follow(follower: LogFollower<T>): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Calls `wake`, once, when something is logged, unless the returned function is called before. */
  onceAppended(wake: () => void): () => void {
    this.#sleepers.add(wake);
    return () => this.#sleepers.delete(wake);
  }

  /** Wakes those who wait, so that they look around. */
  wake(): void {
    const sleepers = this.#sleepers;
    this.#sleepers = new Set();
    for (const wake of sleepers) wake();
  }

  #append(node: Node<T>): void {
    this.#end.next = node;
    this.#end = node;
  }
}
