import { loadAll } from "js-yaml";
import type { Random } from "../../../src/testing/fake/random.ts";
import { isObject, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";

/** The source of a kind's cases: see `drafts.yaml`. */
export interface Draft {
  readonly kind: string;
  /** The path of its collection. */
  readonly path: string;
  readonly apiVersion: string;
  /** True if it has no namespace. */
  readonly cluster?: boolean;
  /** True for a custom kind, which has no strategic merge. */
  readonly custom?: boolean;
  readonly object: JsonObject;
  /** Members of the pod in it. */
  readonly pod?: JsonObject;
  readonly change: readonly JsonObject[];
  readonly status?: readonly JsonObject[];
  /** Members of the spec below which fields have no types: managers take and give up what they apply there. */
  readonly untyped?: readonly string[];
  readonly wrong: readonly JsonObject[];
}

/** Changes of metadata, which every kind has. */
export type CommonDraft = Pick<Draft, "change" | "wrong">;

/** The drafts of `drafts.yaml`. */
export interface Drafts {
  readonly common: CommonDraft;
  readonly kinds: readonly Draft[];
}

/** Reads `drafts.yaml`. */
export function readDrafts(): Drafts {
  const [text] = loadAll(read("drafts.yaml")) as [Record<string, unknown>];
  const { common, ...kinds } = text;
  return {
    common: common as CommonDraft,
    kinds: Object.entries(kinds).map(([kind, draft]) => ({ kind, ...draft as Omit<Draft, "kind"> })),
  };
}

/** The definitions of the two custom kinds. */
export function customKinds(): readonly JsonObject[] {
  return loadAll(read("definitions.yaml")) as unknown as JsonObject[];
}

/** Draws a value from a draft; members and elements that may be left out stay with the probability `keep`. */
export function drawn(random: Random, draft: Json, keep: number): Json {
  if (Array.isArray(draft)) return drawnList(random, draft, keep);
  if (!isObject(draft)) return draft;
  const out: MutableJson = {};
  for (const [marked, value] of Object.entries(draft)) {
    const [, name, marks] = /^(.*?)([?*]*)$/.exec(marked)!;
    if (marks.includes("?") && random.next() >= keep) continue;
    const chosen = marks.includes("*") ? random.pick(value as readonly Json[]) : value!;
    const result = drawn(random, chosen, keep);
    if (name === "") Object.assign(out, result);
    else out[name] = result;
  }
  return out;
}

/** Draws an object of a kind, without its name. */
export function drawnObject(random: Random, { kind, apiVersion, object, pod }: Draft, keep: number): JsonObject {
  const result = { apiVersion, kind, ...drawn(random, object, keep) as MutableJson };
  const spec = podIn(result);
  if (spec === undefined) return result;
  Object.assign(spec, drawn(random, pod ?? {}, keep));
  repairPod(spec);
  return result;
}

/** Returns `base` with the members of `overlay`, as a JSON merge patch; null stays where `base` is undefined. */
export function overlaid(base: Json | undefined, overlay: Json): Json {
  if (!isObject(overlay)) return overlay;
  const out: MutableJson = isObject(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(overlay)) {
    if (value === null && isObject(base)) delete out[key];
    else out[key] = overlaid(out[key], value!);
  }
  return out;
}

function drawnList(random: Random, draft: readonly Json[], keep: number): Json[] {
  // Other members refer to the first of several containers.
  const isAnchored = isObject(draft[0]) && "image*" in draft[0];
  const kept = draft.filter((_, at) => at === 0 && isAnchored || random.next() < keep);
  if (kept.length === 0 && draft.length > 0) kept.push(random.pick(draft));
  return kept.map((element) => drawn(random, element, keep));
}

/** The pod that an object describes. */
function podIn(value: Json | undefined): MutableJson | undefined {
  if (!isObject(value)) return undefined;
  if (Array.isArray(value.containers)) return value as MutableJson;
  return podIn(value.spec) ?? podIn(value.template) ?? podIn(value.jobTemplate);
}

/** Removes mounts of volumes that were left out. */
function repairPod(spec: MutableJson): void {
  const volumes = new Set((spec.volumes as JsonObject[] | undefined ?? []).map(({ name }) => name));
  for (const container of spec.containers as MutableJson[]) {
    const mounts = (container.volumeMounts as JsonObject[] | undefined)?.filter(({ name }) => volumes.has(name));
    if (mounts === undefined) continue;
    if (mounts.length === 0) delete container.volumeMounts;
    else container.volumeMounts = mounts;
  }
}

function read(name: string): string {
  return Deno.readTextFileSync(new URL(name, import.meta.url));
}
