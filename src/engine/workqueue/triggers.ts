/**
 * Triggers: the reasons for which a key waits.
 *
 * {@linkcode Trigger} is the entry point. A queue joins the triggers of a key by {@linkcode withTrigger}, keeps a
 * bounded number of them, and does not interpret them.
 *
 * @module
 */

/**
 * A reason why a key waits, for your worker and for `status()`. The queue compares triggers but does not interpret
 * them.
 */
export interface Trigger {
  /**
   * The kind of reason. `run` uses `"retry"` (a failure, or `retry()`) and `"requeue"` (`requeueAfter()`). The queue
   * uses `"more"` if it left out triggers. Use your own words, such as `"event"`, `"resync"` or `"external"`.
   */
  readonly type: string;
  /** The source of the trigger, such as a handler's name. */
  readonly source?: string;
  /** The event, such as `"updated"`. */
  readonly event?: string;
  /** The key of the object that changed, if it differs from the waiting key. */
  readonly object?: string;
  /** The paths that changed, such as `"spec.replicas"`. */
  readonly paths?: readonly string[];
  /** The number of retries, for `"retry"`. The number of left-out triggers, for `"more"`. */
  readonly count?: number;
}

/**
 * The triggers of one key: none, one, or 2 to {@linkcode MAX_TRIGGERS}. Most keys have one trigger, which needs no
 * array.
 */
export type TriggerList = Trigger | readonly Trigger[] | undefined;

/** The number of triggers that are kept for a key, and of paths that are kept for a trigger. */
export const MAX_TRIGGERS = 8;

/**
 * Returns `triggers` with one more.
 *
 * A trigger that differs from a known one only in paths or count replaces it, with the paths of both. Above
 * {@linkcode MAX_TRIGGERS}, the first ones are kept, and the last is a `"more"` that counts the others.
 */
export function withTrigger(triggers: TriggerList, cause: Trigger): TriggerList {
  if (triggers === undefined || triggers === cause) return cause;
  const known: readonly Trigger[] = isList(triggers) ? triggers : [triggers];
  const index = known.findIndex((it) => it === cause || isSame(it, cause));
  if (index >= 0) return known[index] === cause ? triggers : known.with(index, joined(known[index], cause));
  if (known.length < MAX_TRIGGERS) return [...known, cause];
  const last = known[MAX_TRIGGERS - 1];
  const count = last.type === "more" ? last.count! + (cause.type === "more" ? cause.count! : 1) : 2;
  return known.with(MAX_TRIGGERS - 1, { type: "more", count });
}

/** Returns the triggers of both. */
export function withTriggers(triggers: TriggerList, others: TriggerList): TriggerList {
  if (triggers === undefined || others === undefined) return triggers ?? others;
  return isList(others) ? others.reduce<TriggerList>(withTrigger, triggers) : withTrigger(triggers, others);
}

/** Returns triggers as a list. */
export function listOfTriggers(triggers: TriggerList): readonly Trigger[] {
  if (triggers === undefined) return NONE;
  return isList(triggers) ? triggers : [triggers];
}

const NONE: readonly Trigger[] = [];

function isList(triggers: Trigger | readonly Trigger[]): triggers is readonly Trigger[] {
  return Array.isArray(triggers);
}

function isSame(a: Trigger, b: Trigger): boolean {
  return a.type === b.type && a.source === b.source && a.event === b.event && a.object === b.object;
}

function joined(known: Trigger, cause: Trigger): Trigger {
  if (known.type === "more") return { type: "more", count: known.count! + cause.count! };
  if (known.paths === undefined || cause.paths === undefined) return { ...known, ...cause };
  const paths = [...new Set([...known.paths, ...cause.paths])].slice(0, MAX_TRIGGERS);
  return { ...known, ...cause, paths };
}
