/**
 * The report of a plan: what its controllers would write, sorted, so that `diff` compares two reports.
 *
 * {@linkcode PlanReport} and {@linkcode planText} are the entry points. Times, uids, generated names and
 * resourceVersions of a plan differ each time, so that words stand for them. `plan.ts` makes the report.
 *
 * @module
 */
import { isObject, type JsonObject } from "../../engine/api/json.ts";
import { objectOr, textOf } from "../../engine/api/members.ts";
import { resourceName } from "../../engine/api/resource.ts";
import { parseStored, type StoreEvent } from "../fake/storage/store.ts";
import { FIRST_VERSION } from "./overlay.ts";

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

/** A fact about a reconciler's key, such as an error or a wait. */
export interface PlannedFact {
  /** The reconciler and the key, or `"the program"`. */
  readonly by: string;
  /** The fact. */
  readonly message: string;
}

/** The report from {@linkcode plan}. All lists are sorted, and two reports of the same release are equal. */
export interface PlanReport {
  /**
   * `"failed"` if there are errors, conflicts, loops, refusals or stopped calls. Otherwise it says whether there are
   * changes.
   */
  readonly result: "nothing" | "changes" | "failed";
  /** Whether calls to other systems than the API server took effect. */
  readonly outside: "stopped" | "allowed";
  /** The objects that would be created, changed or deleted. */
  readonly changes: readonly PlannedWrite[];
  /** The Events that would be recorded. */
  readonly events: readonly PlannedFact[];
  /** Applies that other field owners' values refuse. */
  readonly conflicts: readonly PlannedFact[];
  /** Keys that write again and again. They were stopped. */
  readonly loops: readonly PlannedFact[];
  /** Keys that failed three times in a row, and the failures of the program. */
  readonly errors: readonly PlannedFact[];
  /** Calls to other systems that were stopped. */
  readonly stopped: readonly PlannedFact[];
  /** Writes that the API server refuses in a dry run. */
  readonly refused: readonly PlannedFact[];
  /** Keys that wait for a time or for others. Nobody knows the writes that follow. */
  readonly waits: readonly PlannedFact[];
  /** What the plan could not see. */
  readonly notes: readonly string[];
}

/** An object that was written: its first and last state, and who wrote it. */
export interface WrittenObject {
  readonly first: StoreEvent;
  last: StoreEvent;
  readonly by: Set<string>;
}

const NOISE = ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"];
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const UID = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;

/** Replaces what differs each time in texts by words. */
export class StableTexts {
  readonly #startedMs = Math.floor(Date.now() / 1_000) * 1_000;
  readonly #words = new Map<string, string>();

  /** Learns the generated words of a new object. */
  learn({ metadata }: JsonObject): void {
    const { uid, name, generateName } = objectOr(metadata);
    this.#words.set(textOf(uid), "<uid>");
    if (textOf(generateName) !== "") this.#words.set(textOf(name), `${textOf(generateName)}<generated>`);
  }

  /** Returns the text without generated words and new times. */
  readonly of = (text: string): string => {
    const whole = this.#words.get(text);
    if (whole !== undefined || !/\d/.test(text)) return whole ?? text;
    return text.replace(TIME, (time) => Date.parse(time) >= this.#startedMs ? "<time>" : time)
      .replace(UID, (uid) => this.#words.get(uid) ?? uid)
      .replace(/\d{13,}/g, (version) => BigInt(version) >= FIRST_VERSION ? "<resourceVersion>" : version);
  };
}

/** Returns the changes and the Events in what was written. */
export function plannedChanges(
  written: Iterable<WrittenObject>,
  stable: StableTexts,
): Pick<PlanReport, "changes" | "events"> {
  const all = [...written].map(({ first, last, by }) => ({
    definition: first.collection.definition,
    key: first.stored.key,
    by: [...by].sort(),
    before: first.before && parseStored(first.before) as JsonObject,
    after: last.type === "DELETED" ? undefined : parseStored(last.stored) as JsonObject,
  }));
  for (const { before, after } of all) if (before === undefined && after !== undefined) stable.learn(after);
  const changes: PlannedWrite[] = [];
  const events: PlannedFact[] = [];
  for (const { definition, key, by, before, after } of all) {
    if (before === undefined && after === undefined) continue;
    if (definition.plural === "events") {
      const { type, reason, note, message, regarding, involvedObject } = after ?? before!;
      const { kind, namespace, name } = objectOr(regarding ?? involvedObject);
      const about = [kind, namespace, name].map(textOf).filter((part) => part !== "").join("/");
      const said = `${about} ${textOf(type)} ${textOf(reason)}: ${textOf(note ?? message)}`;
      events.push({ by: by.join(", "), message: stable.of(said) });
      continue;
    }
    const hides = resourceName(definition) === "secrets";
    const fields: PlannedField[] = [];
    if (after !== undefined) {
      compare(before ?? {}, after, [], (keys, old, now) => {
        const path = pathOf(keys);
        const values = {
          ...old !== undefined && { before: stabilized(old, stable) },
          ...now !== undefined && { after: stabilized(now, stable) },
        };
        fields.push(hides ? { path } : { path, ...values });
      });
    }
    const isMarked = objectOr(after?.metadata).deletionTimestamp !== undefined &&
      objectOr(before?.metadata).deletionTimestamp === undefined;
    if (after !== undefined && fields.length === 0) continue;
    const does = after === undefined || isMarked ? "delete" : before === undefined ? "create" : "change";
    const name = key.split("/").map(stable.of).join("/");
    changes.push({ does, object: `${resourceName(definition)} ${name}`, by, fields: sorted(fields) });
  }
  return { changes: sorted(changes), events: sorted(events) };
}

/** Returns a list in the order of its texts. */
export function sorted<T>(list: Iterable<T>): T[] {
  const texts = Array.from(list, (it) => [JSON.stringify(it), it] as const);
  return texts.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, it]) => it);
}

/** Calls `found` with each leaf that differs. */
function compare(
  before: unknown,
  after: unknown,
  keys: readonly (string | number)[],
  found: (keys: readonly (string | number)[], before: unknown, after: unknown) => void,
): void {
  if (before === after) return;
  const isNode = (it: unknown): boolean => typeof it === "object" && it !== null && Object.keys(it).length > 0;
  const [old, now] = [before, after].map((it) => isNode(it) ? it as Record<string, unknown> : undefined);
  if (old === undefined && now === undefined && JSON.stringify(before) === JSON.stringify(after)) return;
  const areLeaves = old === undefined && now === undefined;
  const isReplaced = old !== undefined && now !== undefined && Array.isArray(old) !== Array.isArray(now);
  if (areLeaves || isReplaced) return found(keys, before, after);
  const isValue = (it: unknown): boolean => it !== undefined && (typeof it !== "object" || it === null);
  if (isValue(before)) found(keys, before, undefined);
  if (isValue(after)) found(keys, undefined, after);
  for (const name of new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])) {
    const isNoise = (keys.length === 1 && keys[0] === "metadata" && NOISE.includes(name)) ||
      (keys.length === 0 && (name === "kind" || name === "apiVersion"));
    const at = Array.isArray(old ?? now) ? Number(name) : name;
    if (!isNoise) compare(old?.[name], now?.[name], [...keys, at], found);
  }
}

function pathOf(keys: readonly (string | number)[]): string {
  let path = "";
  for (const key of keys) {
    const isPlain = typeof key === "string" && /^[\w$-]+$/.test(key);
    path += isPlain
      ? `${path === "" ? "" : "."}${key}`
      : typeof key === "number"
      ? `[${key}]`
      : `[${JSON.stringify(key)}]`;
  }
  return path;
}

function stabilized(value: unknown, stable: StableTexts): unknown {
  if (typeof value === "string") return stable.of(value);
  if (Array.isArray(value)) return value.map((it) => stabilized(it, stable));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, stabilized(it, stable)]));
}

const SIGNS = { create: "+", change: "~", delete: "-" } as const;

const TITLES = {
  events: "Events",
  conflicts: "Conflicts of field owners",
  loops: "Loops, which were stopped",
  errors: "Errors",
  stopped: "Calls to other systems, which were stopped",
  refused: "Refused by the API server in a dry run",
  waits: "Not decidable",
} as const;

/** Returns a report as text, as `informer plan` prints it. The first line says whether other systems were called. */
export function planText(report: PlanReport): string {
  const { changes, outside, result, notes } = report;
  const lines = [
    outside === "stopped"
      ? "Nothing was written. Calls to other systems than the API server were stopped."
      : "Nothing was written to the cluster. CALLS TO OTHER SYSTEMS WERE ALLOWED, and took effect.",
  ];
  for (const { does, object, by, fields } of changes) {
    lines.push("", `${SIGNS[does]} ${does} ${object}  by ${by.join(", ")}`);
    for (const field of fields) {
      const shown = [field.before, field.after].map((value) => value === undefined ? "(none)" : JSON.stringify(value));
      const hides = !("before" in field) && !("after" in field);
      lines.push(`    ${field.path}: ${hides ? "(differs)" : does === "create" ? shown[1] : shown.join(" → ")}`);
    }
  }
  for (const [name, title] of Object.entries(TITLES) as [keyof typeof TITLES, string][]) {
    if (report[name].length > 0) {
      lines.push(
        "",
        `${title}:`,
        ...report[name].map((it) => `    ${it.by}: ${it.message}`),
      );
    }
  }
  if (notes.length > 0) lines.push("", "Notes:", ...notes.map((note) => `    ${note}`));
  const count = (verb: PlannedWrite["does"]): number => changes.filter(({ does }) => does === verb).length;
  const counts = `${count("create")} to create, ${count("change")} to change, ${count("delete")} to delete`;
  return [...lines, "", `${counts}; ${result === "failed" ? "the plan FAILED" : `result: ${result}`}`].join("\n");
}
