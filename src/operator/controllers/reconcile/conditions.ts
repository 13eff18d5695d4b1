/**
 * Reads and sets the conditions in an object's status.
 *
 * {@linkcode setCondition} is the entry point. It returns a list, which you write with `writeStatus` in `objects.ts`.
 *
 * @module
 */
import { defined, equalJson } from "../../../engine/api/json.ts";
import { rfc3339 } from "../../../engine/async/time.ts";
import type { Condition } from "../../../engine/kinds/meta/v1.ts";

/** Returns the present time like `metav1.Time`: RFC 3339 without fractions of seconds. */
export function timestampNow(): string {
  return rfc3339(Date.now());
}

/**
 * A condition of any kind. Some built-in kinds leave out a reason, a message or a time.
 *
 * @internal
 */
export type AnyCondition = Partial<Record<"type" | "status" | "reason" | "message" | "lastTransitionTime", string>>;

/**
 * A condition to set in a list of `C`. `message` is `""` and `lastTransitionTime` the present time, unless you set
 * them. Members that only `C` has are yours to set.
 */
export type ConditionDraft<C extends AnyCondition = Condition> =
  & Omit<C, keyof Condition>
  & Partial<Pick<C, "message" | "lastTransitionTime">>
  & {
    /** The type, a CamelCase word. */
    readonly type: NonNullable<C["type"]>;
    /** The state. */
    readonly status: C["status"] & ("True" | "False" | "Unknown");
    /** The reason in one word. */
    readonly reason: NonNullable<C["reason"]>;
    /** The generation that the condition is about. */
    readonly observedGeneration?: number;
  };

/**
 * The schema of `status.conditions`, with the bounds that kube-apiserver has for `metav1.Condition`. Server-side apply
 * merges such a list by `type`.
 *
 * It is a JSON schema for `defineKind`, of `./schema`, and fits into the metadata of libraries: `.meta()` of zod.
 */
export const conditionsSchema = {
  type: "array",
  description: "What the controller has observed, one entry for each type.",
  items: {
    type: "object",
    required: ["type", "status", "reason", "message", "lastTransitionTime"],
    properties: {
      type: {
        type: "string",
        maxLength: 316,
        pattern:
          "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
      },
      status: { type: "string", enum: ["True", "False", "Unknown"] },
      reason: { type: "string", minLength: 1, maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
      message: { type: "string", maxLength: 32768 },
      lastTransitionTime: { type: "string", format: "date-time" },
      observedGeneration: { type: "integer", format: "int64", minimum: 0 },
    },
  },
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
} as const;

const { status, reason } = conditionsSchema.items.properties;
const STATUSES: readonly string[] = status.enum;
const REASON = new RegExp(reason.pattern);

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
  conditions: readonly never[] | undefined,
  condition: ConditionDraft,
): readonly (Condition & Pick<ConditionDraft, "status">)[];
/** Does so in a list whose elements have a type of their own, such as the conditions of a zod schema. */
export function setCondition<C extends AnyCondition>(
  conditions: readonly C[] | undefined,
  condition: ConditionDraft<NoInfer<C>>,
): readonly C[];
export function setCondition(
  conditions: readonly AnyCondition[] = [],
  condition: ConditionDraft<AnyCondition>,
): readonly AnyCondition[] {
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
  const lastTransitionTime = isTransition ? condition.lastTransitionTime ?? timestampNow() : present.lastTransitionTime;
  const next = defined({ ...present, ...condition, message, lastTransitionTime, observedGeneration });
  if (equalJson(next, present)) return conditions;
  return at < 0 ? [...conditions, next] : conditions.with(at, next);
}

/**
 * Returns the condition with a type, or `undefined` if there is none. It takes the conditions of any kind: yours, and
 * those built into Kubernetes.
 */
export function findCondition<C extends { readonly type?: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}
