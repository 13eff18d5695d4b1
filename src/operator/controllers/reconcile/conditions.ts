/**
 * Reads and sets the conditions in an object's status.
 *
 * {@linkcode setCondition} is the entry point. It returns a list, which you write with `writeStatus` in `objects.ts`.
 *
 * @module
 */
import { defined } from "../../../engine/api/json.ts";
import { rfc3339 } from "../../../engine/async/time.ts";
import type { Condition } from "../../../engine/kinds/meta/v1.ts";

/** Returns the present time like `metav1.Time`: RFC 3339 without fractions of seconds. */
export function timestampNow(): string {
  return rfc3339(Date.now());
}

/** A condition to set. `message` is `""` and `lastTransitionTime` the present time, unless you set them. */
export interface ConditionDraft
  extends Pick<Condition, "type" | "reason">, Partial<Omit<Condition, "type" | "reason" | "status">> {
  /** The state. */
  readonly status: "True" | "False" | "Unknown";
}

const STATUSES: readonly string[] = ["True", "False", "Unknown"];

/** CRDs with `metav1.Condition` check it like this. */
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/**
 * Returns `conditions` with `condition` set: it replaces the condition of the same type, or is added at the end.
 *
 * - `lastTransitionTime` changes only if `status` changes. A new status gets your time, or else the present time
 *   (apimachinery `meta.SetStatusCondition`).
 * - If nothing changes, you get the same list, so {@linkcode writeStatus} sends nothing.
 *
 * @throws {TypeError} if the type is empty, the status is not `"True"`, `"False"` or `"Unknown"`, or the reason is not
 * a CamelCase word. The server refuses such conditions.
 *
 * @example
 * ```ts
 * import { setCondition } from "@kube/informer/reconcile";
 * import { assertEquals, assertStrictEquals } from "@std/assert";
 *
 * const before = setCondition([], { type: "Ready", status: "False", reason: "Waiting" });
 * const after = setCondition(before, { type: "Ready", status: "False", reason: "StillWaiting" });
 * assertEquals(after[0].lastTransitionTime, before[0].lastTransitionTime);
 * assertStrictEquals(setCondition(after, { type: "Ready", status: "False", reason: "StillWaiting" }), after);
 * ```
 */
export function setCondition(
  conditions: readonly Condition[] | undefined = [],
  condition: ConditionDraft,
): readonly Condition[] {
  const { type, status, reason, message = "", observedGeneration } = condition;
  const problem = type === ""
    ? "its type is empty"
    : !STATUSES.includes(status)
    ? `its status must be "True", "False" or "Unknown", but it is ${JSON.stringify(status)}`
    : !REASON.test(reason)
    ? `its reason must be a CamelCase word, but it is ${JSON.stringify(reason)}`
    : undefined;
  if (problem !== undefined) throw new TypeError(`Cannot set condition "${type}": ${problem}`);
  const at = conditions.findIndex((present) => present.type === type);
  const present = conditions[at];
  const isTransition = present?.status !== status;
  const isSame = !isTransition && present.reason === reason && present.message === message &&
    present.observedGeneration === observedGeneration;
  if (isSame) return conditions;
  const lastTransitionTime = isTransition ? condition.lastTransitionTime ?? timestampNow() : present.lastTransitionTime;
  const next: Condition = defined({ type, status, reason, message, lastTransitionTime, observedGeneration });
  return at < 0 ? [...conditions, next] : conditions.with(at, next);
}

/** Returns the condition with a type, or `undefined` if there is none. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
