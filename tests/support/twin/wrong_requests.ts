import type { Random } from "../../../src/testing/fake/random.ts";
import { isObject, type Json, type JsonObject } from "../../../src/engine/api/json.ts";
import { objectOr } from "../../../src/engine/api/members.ts";
import type { Step } from "./step.ts";

/** A uid that no object has. */
const OTHER_UID = "6b2c1d3e-0000-4000-8000-00000000000f";

/** A mistake of a request, rather than of an object. */
export interface WrongRequest {
  readonly name: string;
  /** True for the steps that it can be made in. */
  readonly fits: (step: Step) => boolean;
  readonly change: (random: Random, step: Step) => Partial<Step>;
}

/** Mistakes of requests. */
export const WRONG_REQUESTS: readonly WrongRequest[] = [
  wrong("a stale version", isWrite, (step) => metadata(step, { resourceVersion: "${stale}" })),
  wrong("a version that is none", isWrite, (step) => metadata(step, { resourceVersion: "abc" })),
  wrong("another uid", isWrite, (step) => metadata(step, { uid: OTHER_UID })),
  wrong("another name", isWrite, (step) => metadata(step, { name: "another" })),
  wrong("another namespace", isWrite, (step) => metadata(step, { namespace: "another" })),
  wrong("no kind", hasObject, (step) => ({ body: { ...objectOr(step.body), kind: "" } })),
  wrong("another kind", hasObject, (step) => ({ body: { ...objectOr(step.body), kind: "Potato" } })),
  wrong("another group", hasObject, (step) => ({ body: { ...objectOr(step.body), apiVersion: "example.com/v1" } })),
  wrong("no object", hasObject, (_, random) => ({ body: random.pick<Json>([[], "text", 5, null]) })),
  wrong("a name that is taken", isPost, (step) => ({ body: { ...objectOr(step.body) } })),
  wrong("no name", isPost, (step) => metadata(step, { name: "" })),
  wrong("a bad query", (step) => step.method !== "DELETE", (step, random) => ({
    query: {
      ...step.query,
      ...random.pick<Record<string, string>>([{ fieldValidation: "Maybe" }, { dryRun: "Some" }, {
        fieldManager: "x".repeat(200),
      }]),
    },
  })),
  wrong("force without apply", isMerge, (step) => ({ query: { ...step.query, force: "true" } })),
  wrong("no field manager", isApply, ({ query: { fieldManager: _, ...query } }) => ({ query })),
  wrong("managed fields", isApply, (step) => metadata(step, { managedFields: [{ manager: "x", operation: "Apply" }] })),
  wrong("no API version", isApply, (step) => ({ body: { ...objectOr(step.body), apiVersion: "" } })),
  wrong(
    "managed fields that are none",
    isMerge,
    (step) => metadata(step, { managedFields: [{ manager: "x", operation: "Shrug" }] }),
  ),
  wrong("an object that is not there", (step) => step.method !== "POST", () => ({ name: "missing" })),
  wrong("a subresource that is not there", (step) => step.method !== "POST", () => ({ subresource: "nonsense" })),
  wrong("a wrong directive", isStrategic, (step, random) => {
    const directive = random.pick<JsonObject>([
      { $patch: "nonsense" },
      { labels: { $patch: "delete" } },
      { $retainKeys: ["name"] },
      { "$setElementOrder/finalizers": "text" },
      { "$deleteFromPrimitiveList/finalizers": [5] },
      { ownerReferences: [{ name: "no key" }] },
      { finalizers: [{ $patch: "delete" }] },
    ]);
    return metadata(step, directive);
  }),
  wrong("an operation that fails", isJsonPatch, (step, random) => {
    const operation = random.pick<JsonObject>([
      { op: "test", path: "/metadata/name", value: "another" },
      { op: "test", path: "/metadata/missing", value: "x" },
      { op: "remove", path: "/metadata/missing" },
      { op: "replace", path: "/metadata/missing/deep", value: 1 },
      { op: "add", path: "/missing/deep", value: 1 },
      { op: "add", path: "metadata/labels", value: {} },
      { op: "shake", path: "/metadata" },
      { op: "move", from: "/nothing", path: "/metadata/labels" },
      { op: "copy", path: "/metadata/labels" },
      { path: "/metadata/labels", value: {} },
      { op: "remove", path: "" },
      { op: "replace", path: "", value: {} },
      { op: "add", path: "/metadata/finalizers/9", value: "example.com/x" },
      { op: "replace", path: "/kind", value: "Potato" },
      { op: "add", path: "/metadata/labels", value: { a: 5 } },
      { op: "add", path: "/nonsense", value: 1 },
    ]);
    const body = step.body as Json[];
    return { body: random.next() < 0.5 ? [operation, ...body] : [...body, operation] };
  }),
  wrong("no list of operations", isJsonPatch, () => ({ body: { op: "add" } })),
  wrong(
    "preconditions that do not hold",
    isDelete,
    (_, random) => options({ preconditions: random.pick([{ uid: OTHER_UID }, { resourceVersion: "1" }]) }),
  ),
  wrong("a bad propagation", isDelete, () => options({ propagationPolicy: "Nonsense" })),
  wrong("two propagations", isDelete, () => options({ propagationPolicy: "Orphan", orphanDependents: true })),
  wrong(
    "bad options",
    isDelete,
    (_, random) =>
      options(
        random.pick<JsonObject>([{ gracePeriodSeconds: -1 }, { gracePeriodSeconds: "x" }, { dryRun: ["Some"] }, {
          nonsense: 1,
        }]),
      ),
  ),
];

function wrong(
  name: string,
  fits: (step: Step) => boolean,
  change: (step: Step, random: Random) => Partial<Step>,
): WrongRequest {
  return { name, fits, change: (random, step) => change(step, random) };
}

function metadata(step: Step, members: JsonObject): Partial<Step> {
  const body = objectOr(step.body);
  return { body: { ...body, metadata: { ...objectOr(body.metadata), ...members } } };
}

function options(members: JsonObject): Partial<Step> {
  return { body: { kind: "DeleteOptions", apiVersion: "v1", ...members } };
}

function hasObject({ method, patch, body }: Step): boolean {
  return isObject(body) && (method === "POST" || method === "PUT" || patch === "apply");
}

function isWrite({ method, body }: Step): boolean {
  return method !== "POST" && method !== "DELETE" && isObject(body);
}

function isPost({ method }: Step): boolean {
  return method === "POST";
}

function isDelete({ method }: Step): boolean {
  return method === "DELETE";
}

function isApply({ patch }: Step): boolean {
  return patch === "apply";
}

function isMerge({ patch }: Step): boolean {
  return patch === "merge";
}

function isStrategic({ patch }: Step): boolean {
  return patch === "strategic";
}

function isJsonPatch({ patch, body }: Step): boolean {
  return patch === "json" && Array.isArray(body);
}
