/**
 * The report of a plan: what its controllers would write, sorted, so that `diff` compares two reports.
 *
 * {@linkcode PlanReport}, {@linkcode reportOf} and {@linkcode planText} are the entry points. Times, uids, generated
 * names and resourceVersions of a plan differ each time, so that words stand for them. `plan.ts` collects the writes.
 *
 * @module
 */
import { isList } from "../../engine/api/json.ts";
import { memberAt, objectOr, textOf } from "../../engine/api/members.ts";
import { resourceName } from "../../engine/api/resource.ts";
import { formatFieldPath } from "../../engine/api/selector.ts";
import { parseStored, type StoreEvent } from "../fake/storage/store.ts";

/** A field that differs. It has no values if the object is a Secret. */
export interface PlannedField {
  /** The path, such as `spec.template.spec.containers[0].image`. */
  readonly path: string;
  /** The value in the cluster. Absent if the field is new. */
  readonly before?: unknown;
  /** The value after the plan. Absent if the field is removed. */
  readonly after?: unknown;
}

/** An object that the plan writes. */
export interface PlannedWrite {
  /** What happens to the object. An object with finalizers is only marked as deleted. */
  readonly does: "create" | "change" | "delete";
  /** The resource and the key, such as `"deployments.apps shop/blog"`. */
  readonly object: string;
  /** The reconcilers and keys that write it, such as `"websites.example.com shop/blog"`. */
  readonly by: readonly string[];
  /** The fields that differ. Empty for an object that is gone. */
  readonly fields: readonly PlannedField[];
}

/** A fact about a reconciler's key. */
export interface PlannedFact {
  /**
   * - `"conflict"`: other field owners' values refuse an apply
   * - `"error"`: the key failed three times in a row, or the program failed
   * - `"loop"`: the key writes again and again, and was stopped
   * - `"note"`: something that the plan could not see
   * - `"refused"`: the API server refuses a write in a dry run
   * - `"stopped"`: a call to another system was stopped
   * - `"wait"`: the key waits for a time or for others. Nobody knows the writes that follow
   */
  readonly is: "conflict" | "error" | "loop" | "note" | "refused" | "stopped" | "wait";
  /** The reconciler and the key, or `"the program"`. */
  readonly by: string;
  /** The fact. */
  readonly message: string;
}

/** The report from {@linkcode plan}. All lists are sorted, and two reports of the same release are equal. */
export interface PlanReport {
  /** `"failed"` if there are facts other than notes and waits. Otherwise it says whether there are changes. */
  readonly result: "nothing" | "changes" | "failed";
  /** Whether calls to other systems than the API server took effect. */
  readonly outside: "stopped" | "allowed";
  /** The objects that would be created, changed or deleted, except Events and Leases. */
  readonly changes: readonly PlannedWrite[];
  /** Other facts, such as errors, conflicts and waits. */
  readonly facts: readonly PlannedFact[];
}

/** An object that was written: its first and last state, and who wrote it. */
export interface WrittenObject {
  readonly first: StoreEvent;
  last: StoreEvent;
  readonly by: Set<string>;
}

const NOISE = /^(kind|apiVersion|metadata\.(managedFields|resourceVersion|generation|uid|creationTimestamp|selfLink))$/;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** A version of the overlay, which begins with `FIRST_VERSION`. */
const VERSION = /^1000\d{12}$/;

/** Returns the report about a plan that began at `startedMs`. */
export function reportOf(
  written: Iterable<WrittenObject>,
  facts: Iterable<PlannedFact>,
  outside: PlanReport["outside"],
  startedMs: number,
): PlanReport {
  const words = new Map<string, string>();
  const changes = Array.from(written).flatMap(({ first, last, by }): PlannedWrite[] => {
    const before = first.before && parseStored(first.before);
    const after = last.type === "DELETED" ? undefined : parseStored(last.stored);
    const { uid, name, generateName } = objectOr(after?.metadata);
    if (before === undefined) {
      words.set(textOf(uid), "<uid>");
      if (textOf(generateName) !== "") words.set(textOf(name), `${textOf(generateName)}<generated>`);
    }
    const resource = resourceName(first.collection.definition);
    const fields = after === undefined ? [] : fieldsOf(before, after, resource === "secrets");
    if (after === undefined ? before === undefined : fields.length === 0) return [];
    const [wasMarked, isMarked] = [before, after].map((it) => memberAt(it, "metadata", "deletionTimestamp"));
    const isDeleted = after === undefined || (isMarked !== undefined && wasMarked === undefined);
    const does = isDeleted ? "delete" : before === undefined ? "create" : "change";
    return [{ does, object: `${resource} ${first.stored.key}`, by: [...by], fields }];
  });
  const stable = (text: string): string =>
    text.replace(TIME, (time) => Date.parse(time) >= startedMs ? "<time>" : time)
      .replace(/[\w.-]+/g, (word) => VERSION.test(word) ? "<resourceVersion>" : words.get(word) ?? word);
  const report: Pick<PlanReport, "changes" | "facts"> = JSON.parse(
    JSON.stringify({ changes, facts: [...facts] }),
    (_, it) => typeof it === "string" ? stable(it) : it,
  );
  const hasFailed = report.facts.some(({ is }) => is !== "note" && is !== "wait");
  return {
    result: hasFailed ? "failed" : changes.length > 0 ? "changes" : "nothing",
    outside,
    changes: sorted(report.changes.map((change) => ({ ...change, by: sorted(new Set(change.by)) }))),
    facts: sorted(report.facts),
  };
}

/** Returns a list in the order of its texts. */
function sorted<T>(list: Iterable<T>): T[] {
  const texts = Array.from(list, (it) => [JSON.stringify(it), it] as const);
  return texts.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, it]) => it);
}

/** Returns the fields that differ, by path. */
function fieldsOf(before: unknown, after: unknown, hides: boolean): PlannedField[] {
  const [old, now] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths.filter((path) => JSON.stringify(old.get(path)) !== JSON.stringify(now.get(path)))
    .map((path) => hides ? { path } : { path, before: old.get(path), after: now.get(path) });
}

/** Returns the values in a value that have no members, by path. */
function leavesOf(
  value: unknown,
  keys: readonly (string | number)[] = [],
  found: Map<string, unknown> = new Map(),
): Map<string, unknown> {
  const path = formatFieldPath(keys);
  if (value === undefined || NOISE.test(path)) return found;
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length === 0) found.set(path, value);
  for (const [name, it] of members) leavesOf(it, [...keys, isList(value) ? Number(name) : name], found);
  return found;
}

const SIGNS = { create: "+", change: "~", delete: "-" } as const;

/** Returns a report as text, as `informer plan` prints it. The first line says whether other systems were called. */
export function planText({ changes, facts, outside, result }: PlanReport): string {
  const lines = [
    outside === "stopped"
      ? "Nothing was written. Calls to other systems than the API server were stopped."
      : "Nothing was written to the cluster. CALLS TO OTHER SYSTEMS WERE ALLOWED, and took effect.",
  ];
  for (const { does, object, by, fields } of changes) {
    lines.push("", `${SIGNS[does]} ${does} ${object}  by ${by.join(", ")}`);
    for (const { path, ...values } of fields) {
      const [old, now] = [values.before, values.after].map((value) => JSON.stringify(value) ?? "(none)");
      const hides = Object.keys(values).length === 0;
      lines.push(`    ${path}: ${hides ? "(differs)" : does === "create" ? now : `${old} → ${now}`}`);
    }
  }
  if (facts.length > 0) lines.push("", ...facts.map(({ is, by, message }) => `! ${is}  ${by}: ${message}`));
  const count = (verb: PlannedWrite["does"]): number => changes.filter(({ does }) => does === verb).length;
  const counts = `${count("create")} to create, ${count("change")} to change, ${count("delete")} to delete`;
  return [...lines, "", `${counts}; ${result === "failed" ? "the plan FAILED" : `result: ${result}`}`].join("\n");
}
