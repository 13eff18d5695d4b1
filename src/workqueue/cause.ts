/** A reason why a key waits, for the worker and for `status()`. The queue compares causes, and does not interpret them. */
export interface Cause {
  /**
   * The kind of reason. `run` gives `"retry"` (a failure, or `retry()`) and `"requeue"` (`requeueAfter()`); the queue gives
   * `"more"` for causes that it left out. Programs use words of their own, such as `"event"`, `"resync"` or `"external"`.
   */
  readonly type: string;
  /** The origin of the cause, such as the name of a handler. */
  readonly source?: string;
  /** The event, such as `"updated"`. */
  readonly event?: string;
  /** The key of the object that changed, where it is not the key that waits. */
  readonly object?: string;
  /** The paths that changed, such as `"spec.replicas"`. */
  readonly paths?: readonly string[];
  /** The number of retries of a `"retry"`, or the number of causes that a `"more"` stands for. */
  readonly count?: number;
}

/** The causes of one key: none, one, or 2 to {@linkcode MAX_CAUSES}. One needs no array, which most keys would have alone. */
export type Causes = Cause | readonly Cause[] | undefined;

/** The number of causes that are kept for a key, and of paths that are kept for a cause. */
export const MAX_CAUSES = 8;

/**
 * Returns `causes` with one more.
 *
 * A cause that differs from a known one in paths or count alone replaces it, with the paths of both. Of more than
 * {@linkcode MAX_CAUSES} the first ones are kept, and the last is a `"more"` that counts the others.
 */
export function withCause(causes: Causes, cause: Cause): Causes {
  if (causes === undefined || causes === cause) return cause;
  const known: readonly Cause[] = isList(causes) ? causes : [causes];
  const index = known.findIndex((it) => it === cause || isSame(it, cause));
  if (index >= 0) return known[index] === cause ? causes : known.with(index, joined(known[index], cause));
  if (known.length < MAX_CAUSES) return [...known, cause];
  const last = known[MAX_CAUSES - 1];
  const count = last.type === "more" ? last.count! + (cause.type === "more" ? cause.count! : 1) : 2;
  return known.with(MAX_CAUSES - 1, { type: "more", count });
}

/** Returns the causes of both. */
export function withCauses(causes: Causes, others: Causes): Causes {
  if (causes === undefined || others === undefined) return causes ?? others;
  return isList(others) ? others.reduce<Causes>(withCause, causes) : withCause(causes, others);
}

/** Returns causes as a list. */
export function listOfCauses(causes: Causes): readonly Cause[] {
  if (causes === undefined) return NONE;
  return isList(causes) ? causes : [causes];
}

const NONE: readonly Cause[] = [];

function isList(causes: Cause | readonly Cause[]): causes is readonly Cause[] {
  return Array.isArray(causes);
}

function isSame(a: Cause, b: Cause): boolean {
  return a.type === b.type && a.source === b.source && a.event === b.event && a.object === b.object;
}

function joined(known: Cause, cause: Cause): Cause {
  if (known.type === "more") return { type: "more", count: known.count! + cause.count! };
  if (known.paths === undefined || cause.paths === undefined) return { ...known, ...cause };
  const paths = [...new Set([...known.paths, ...cause.paths])].slice(0, MAX_CAUSES);
  return { ...known, ...cause, paths };
}
