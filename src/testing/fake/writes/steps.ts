/**
 * The steps of a write, between a request and the store.
 *
 * {@linkcode performSteps} is the entry point. {@linkcode STEPS} is the table: each step, in its order, and the objects
 * that it happens to. `writer.ts` finds the object before, and commits the result afterwards.
 *
 * @module
 */
import type { KubernetesObject } from "../../../engine/api/object.ts";
import { rfc3339 } from "../../../engine/async/time.ts";
import { type Causes, knownRefusal, refusal } from "../../../engine/protocol/refusal.ts";
import {
  type FieldManager,
  managedFieldsAfterUpdate,
  type Versions,
  withManagedFields,
} from "../apply/managed_fields.ts";
import { checkMetadata, checkMetadataUpdate, checkName } from "../schema/checks.ts";
import { decodeCustom, decodeTyped, emptyOf, type FieldValidation } from "../schema/decode.ts";
import type { Struct } from "../../../operator/schema/values/object_schema.ts";
import { validateUpdate } from "../schema/updates.ts";
import { validateTyped } from "../schema/validate.ts";
import { customCauses } from "../../../operator/schema/values/validate.ts";
import type { Definition } from "../storage/definition.ts";
import { type Forms, type StoredCollection, storedKey, type StoredObject } from "../storage/store.ts";
import { cloneJson, isList, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { objectOr, textOf } from "../../../engine/api/members.ts";
import type { Admission } from "./admission.ts";
import {
  checkCustomType,
  type CheckedWrite,
  checkObjectIdentity,
  checkObjectType,
  checkVersion,
  type NamespaceLifecycle,
  namespaceOf,
} from "./identity.ts";
import { PARTS, STATUS_ALONE, type Strategy, strategyOf, type Surroundings } from "./strategies.ts";
import { memberObject } from "../schema/members.ts";

/** Settings of a write. */
export interface WriteMode {
  /** Name of the field manager. */
  readonly manager: string;
  /** Operation of the field manager. @default {"Update"} */
  readonly operation?: "Update" | "Apply";
  /** `"status"`, `"scale"`, or `""` for the main resource. */
  readonly subresource: string;
  /** If true, an apply takes over fields of other managers. */
  readonly force?: boolean;
  /** If true, the result is returned and nothing is written. */
  readonly dryRun: boolean;
  /** True for a write by the test itself: it includes the status, and may set what the server fills in. */
  readonly direct: boolean;
  /** The treatment of unknown fields. @default {"Warn"} */
  readonly fieldValidation?: FieldValidation;
  /** The text of an object of a built-in kind, which shows what its parser drops. */
  readonly body?: string;
  /** The members that a patch, or a custom object, has twice: those of any type. @default {[]} */
  readonly repeated?: readonly string[];
  /** Receives the warnings of the response. */
  readonly warnings?: string[];
  /** Asks webhooks about the write. @default {none is called} */
  readonly review?: Reviewer;
}

/** Dependencies of the writer. */
export interface WriterOptions {
  /** Returns the time, in milliseconds since 1970. */
  readonly now: () => number;
  /** Returns a new uid. */
  readonly uid: () => string;
  /** Returns a suffix of five characters for a generated name. */
  readonly suffix: () => string;
  /** If true, writes record managedFields. */
  readonly managedFields: boolean;
  /** Which writes follow the schemas of kinds: those of requests, those of the test itself. */
  readonly schemas: { readonly requests: boolean; readonly fixtures: boolean };
  /** Hooks for writes that arrive as requests. */
  readonly admission: Admission;
  /** Returns a cluster IP for a Service that arrives as a request. */
  readonly clusterIp: () => string;
  /** The rules for namespaces; without them, these need not exist and are deleted at once. */
  readonly namespaces: NamespaceLifecycle | undefined;
}

/** A write on its way to the store: what its steps read and change. */
export interface Draft extends CheckedWrite {
  readonly options: WriterOptions;
  readonly collection: StoredCollection;
  readonly definition: Definition;
  readonly mode: WriteMode;
  /** True for an object that follows schemas; those of test itself need not. */
  readonly isTyped: boolean;
  /** The schema that it follows, if its kind has one. */
  readonly schema: Struct | undefined;
  /** The rules of its kind's registry. */
  readonly strategy: Strategy;
  readonly around: Surroundings;
  /** The namespace of the request; `""` if its path has none. */
  readonly namespace: string;
  /** The state of the existing object; undefined for a new one. */
  readonly before?: StoredObject;
  /** The existing object; undefined for a new one. */
  readonly old?: JsonObject;
  /** The object: as it was sent, and then as the last step has left it. */
  object: MutableJson;
  /** The object in all versions of its kind, if these are converted. */
  forms?: Forms;
  /** The metadata that were sent, as they were read. */
  given: JsonObject;
  /** The faults found so far. */
  readonly causes: Causes;
}

/** A write to an existing object. */
export interface UpdateDraft extends Draft {
  /** Its state. */
  readonly before: StoredObject;
  readonly old: JsonObject;
}

/** Asks webhooks about the writes of one request. Its methods throw `Pause` if there is someone to ask. */
export interface Reviewer {
  /** Continues a write after a pause, if its object has not changed. Returns the index of its next step, or 0. */
  resume(draft: Draft): number;
  /** Asks the mutating webhooks. `at` is the index of this step. */
  mutate(draft: Draft, at: number): void;
  /** Asks the validating webhooks. `at` is the index of this step. */
  validate(draft: Draft, at: number): void;
  /** Converts the object, which is stored in one version. `at` is the index of this step. */
  convert(draft: Draft, at: number): void;
  /** The versions of the request's kind, if its objects are converted. */
  readonly versions: Versions | undefined;
  /** Asks about a deletion. */
  remove(definition: Definition, before: StoredObject, dryRun: boolean): void;
}

/** Begins a write. */
export function draftOf(
  options: WriterOptions,
  collection: StoredCollection,
  object: JsonObject,
  mode: WriteMode,
  namespace = "",
): Draft {
  const { definition } = collection;
  const { direct } = mode;
  const isTyped = direct ? options.schemas.fixtures : options.schemas.requests;
  const schema = isTyped ? definition.schema : undefined;
  const around = { time: rfc3339(options.now()), clusterIp: options.clusterIp };
  const strategy = strategyOf(definition, isTyped);
  const parts = { options, collection, definition, mode, isTyped, schema, strategy, around };
  return { ...parts, namespace, object, given: {}, causes: [] };
}

/** A step of a write. */
interface Step {
  /** The part of a write: it reads an object, and then creates or updates it; `"write"` is either. */
  readonly of: "read" | "create" | "update" | "write";
  /** The only objects that it happens to: those of requests, or those that follow schemas. */
  readonly only?: "requests" | "typed";
  /** Only steps of updates look at the existing object. `at` is the step's index. */
  perform(draft: UpdateDraft, at: number): void;
}

/** All steps, in their order: the reader finds here what happens to an object. */
const STEPS: readonly Step[] = [
  { of: "read", perform: checkObjectType },
  { of: "read", only: "typed", perform: decode },
  { of: "read", perform: (draft) => draft.given = objectOr(draft.object.metadata) },
  { of: "write", only: "requests", perform: checkCustomType },
  { of: "create", perform: place },
  { of: "create", only: "requests", perform: checkPlace },
  { of: "create", perform: identify },
  { of: "create", only: "requests", perform: resetStatus },
  { of: "create", perform: ({ strategy, object, around }) => strategy.defaults?.(object, around) },
  { of: "update", perform: checkObjectIdentity },
  { of: "update", only: "requests", perform: checkVersion },
  { of: "write", perform: recordOwners }, // nobody owns what later steps add
  { of: "write", only: "requests", perform: mutateByWebhooks },
  { of: "create", perform: ({ strategy, object, around }) => strategy.create?.(object, around) },
  { of: "update", perform: keepFixed },
  { of: "update", perform: prepareUpdate },
  { of: "write", only: "requests", perform: admit },
  { of: "create", perform: checkName },
  { of: "update", only: "requests", perform: checkMetadataUpdate },
  { of: "write", only: "typed", perform: validate },
  { of: "write", perform: refuse },
  { of: "write", only: "requests", perform: (draft, at) => draft.mode.review?.validate(draft, at) },
  { of: "write", only: "requests", perform: (draft, at) => draft.mode.review?.convert(draft, at) },
];

type Phase = "read" | "create" | "update";

/** The plans so far: of the phase, of requests or tests, with or without schemas. */
const PLANS = new Map<string, readonly Step[]>();

function planOf(phase: Phase, isTyped: boolean, direct: boolean): readonly Step[] {
  return STEPS.filter(({ of, only }) =>
    (of === phase || (of === "write" && phase !== "read")) && (only === "typed" ? isTyped : !(only && direct))
  );
}

/**
 * Performs the steps of a part of a write.
 *
 * @throws {StatusError} 400, 404, 409, 422 or 500, like kube-apiserver.
 */
export function performSteps(phase: Phase, draft: Draft): void {
  const { isTyped, mode: { direct } } = draft;
  const id = `${phase} ${isTyped} ${direct}`;
  let plan = PLANS.get(id);
  if (plan === undefined) PLANS.set(id, plan = planOf(phase, isTyped, direct));
  let at = phase === "read" ? 0 : draft.mode.review?.resume(draft) ?? 0;
  for (; at < plan.length; at++) plan[at].perform(draft as UpdateDraft, at);
}

/** The first line of the refusal of an apply, which is YAML to the server. */
const STRICT_YAML = "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:";

/**
 * Reads an object as the server's type of its kind has it.
 *
 * @throws {StatusError} 400 for values of other types, and for unknown fields that are not allowed.
 */
function decode(draft: Draft): void {
  const { definition, schema, object, mode } = draft;
  const { custom, kind, version } = definition;
  const { fieldValidation = "Warn", operation, warnings, body, repeated = [] } = mode;
  const decoded = schema === undefined
    ? { object, faults: [] }
    : custom
    ? decodeCustom(schema, object, definition)
    : decodeTyped(schema, object, definition, body);
  draft.object = decoded.object;
  const faults = fieldValidation === "Ignore" ? [] : [...repeated, ...decoded.faults];
  if (fieldValidation === "Strict" && faults.length > 0) {
    if (operation === "Apply") throw refusal(400, [STRICT_YAML, ...faults].join("\n  "));
    const text = `strict decoding error: ${faults.join(", ")}`;
    throw refusal(400, `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${text}`);
  }
  warnings?.push(...faults);
}

/** Puts a new object into its namespace. */
function place(draft: Draft): void {
  const { definition, given, mode, namespace, object } = draft;
  const { namespace: _, selfLink: __, ...metadata } = given;
  draft.object = {
    ...object,
    metadata: definition.scope === "Cluster"
      ? metadata
      : { ...metadata, namespace: namespaceOf(namespace, given, mode) },
  };
}

/** Checks that the namespace of a new object is open, and drops what only the server sets. */
function checkPlace({ options, definition, given, mode, object }: Draft): void {
  const metadata = memberObject(object, "metadata");
  if (definition.scope !== "Cluster") options.namespaces?.checkOpen(definition, metadata);
  if (given.resourceVersion !== undefined && given.resourceVersion !== "" && !mode.dryRun) {
    throw refusal(500, "resourceVersion should not be set on objects to be created", { reason: "" });
  }
  for (const field of ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]) delete metadata[field];
}

/** Gives a new object its name, uid, time and generation. */
function identify({ options, collection, definition, around, mode, object }: Draft): void {
  const metadata = memberObject(object, "metadata");
  metadata.name = textOf(metadata.name) || freeName(collection, metadata, options.suffix);
  metadata.uid = options.uid();
  metadata.creationTimestamp ??= around.time;
  if (definition.generation !== false) metadata.generation = (mode.direct && metadata.generation) || 1;
}

/** Generates a name that is free; `""` if it is not to be generated. */
function freeName(collection: StoredCollection, metadata: JsonObject, suffix: () => string): string {
  const prefix = textOf(metadata.generateName);
  for (;;) {
    const name = prefix && `${prefix.slice(0, 58)}${suffix()}`;
    if (collection.get(storedKey({ ...metadata, name })) === undefined) return name;
  }
}

/** Gives a new object the status that its kind begins with. */
function resetStatus(draft: Draft): void {
  const { definition: { subresources, schema, custom }, strategy } = draft;
  if (strategy.keepsStatus || !subresources.includes("status")) return;
  const { status: _, ...object } = draft.object;
  const field = custom ? undefined : schema?.fields.get("status");
  const isAbsent = field === undefined || field.pointer || field.omitEmpty || field.schema.type !== "struct";
  draft.object = isAbsent ? object : { ...object, status: emptyOf(field.schema) };
}

/** Records the owners of fields; an apply has done so. */
function recordOwners(draft: Draft): void {
  const { options, definition, around, mode, old, object } = draft;
  if (mode.operation === "Apply") return;
  if (mode.subresource === "binding") return; // the scheduler owns nothing of a pod
  // New objects of the test itself keep the managedFields that they have.
  if (old === undefined && mode.direct && isList(objectOr(object.metadata).managedFields)) return;
  const managedFields = options.managedFields
    ? managedFieldsAfterUpdate(old, object, definition, managerOf(mode, around.time))
    : objectOr(old?.metadata).managedFields;
  draft.object = withManagedFields(object, managedFields);
}

/** Returns the manager of a write. */
export function managerOf(
  { manager, operation = "Update", subresource, direct, review }: WriteMode,
  time: string,
): FieldManager {
  return { name: manager, operation, subresource, time, unrestricted: direct, versions: review?.versions };
}

/** Fields set by deletions and the generation counter; only a direct write may set them. */
const MARKS = ["generation", "deletionTimestamp", "deletionGracePeriodSeconds"];
/** Fields that an update cannot change. */
const FIXED_METADATA = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", ...MARKS];

/** Takes what an update cannot change from the existing object; a subresource changes only its own part. */
function keepFixed(draft: UpdateDraft): void {
  const { definition, mode, old, object: body } = draft;
  const oldMetadata = objectOr(old.metadata);
  const metadata: MutableJson = { ...objectOr(body.metadata) };
  const part = PARTS[mode.subresource];
  if (part !== undefined) {
    const { annotations, finalizers, labels, managedFields } = metadata;
    const isFixed = definition.custom || mode.subresource !== "status" || STATUS_ALONE.has(definition.plural);
    const own: MutableJson = isFixed ? {} : { annotations, finalizers, labels };
    if (definition.schema?.name === "apps/v1.Deployment") own.labels = oldMetadata.labels;
    draft.object = { ...old, ...part(old, body), metadata: { ...oldMetadata, ...own, managedFields } };
    return;
  }
  for (const field of FIXED_METADATA) {
    const given = mode.direct && MARKS.includes(field) ? metadata[field] : undefined;
    delete metadata[field];
    const value = given ?? oldMetadata[field];
    if (value !== undefined) metadata[field] = value;
  }
  const object: MutableJson = { ...body, metadata };
  if (!mode.direct && definition.subresources.includes("status")) {
    if (old.status === undefined) delete object.status;
    else object.status = old.status;
  }
  draft.object = object;
}

function prepareUpdate({ strategy, old, object, around, mode: { subresource } }: UpdateDraft): void {
  if (subresource === "status") strategy.status?.(old, object, around);
  else if (subresource !== "finalize") strategy.update?.(old, object, around);
}

/** Has webhooks change the object, which the server's own plugins have completed. */
function mutateByWebhooks(draft: Draft, at: number): void {
  const { strategy, old, object, mode: { review } } = draft;
  if (review === undefined) return;
  if (old === undefined) strategy.plugins?.(object);
  review.mutate(draft, at);
}

/**
 * Puts an object from a webhook in place: unknown fields are dropped without a warning, and it gets defaults.
 *
 * @throws {StatusError} 400 for values of other types.
 */
export function readAgain(draft: Draft, object: JsonObject): void {
  const { body: _, repeated: __, ...mode } = draft.mode;
  const next = { ...draft, object, mode: { ...mode, fieldValidation: "Ignore" as const } };
  if (draft.isTyped) decode(next);
  if (draft.old === undefined) draft.strategy.defaults?.(next.object, draft.around);
  draft.object = next.object;
}

/** Runs the hooks. They cannot change name, namespace and uid. */
function admit(draft: Draft): void {
  const { definition, mode: { subresource, dryRun }, object, old, options: { admission } } = draft;
  if (admission.ignores(definition)) return;
  const { apiVersion, kind } = definition;
  const copy = (object: JsonObject): KubernetesObject => cloneJson(object) as unknown as KubernetesObject;
  const operation = old === undefined ? "CREATE" as const : "UPDATE" as const;
  const request = { operation, old: old && copy(old), subresource, dryRun };
  const mutated = admission.mutate(definition, { ...request, object: copy({ apiVersion, kind, ...object }) });
  const { name, namespace, uid } = objectOr(object.metadata);
  draft.object = { ...mutated, metadata: { ...objectOr(mutated.metadata), name, namespace, uid } };
  admission.validate(definition, { ...request, object: copy(draft.object) });
}

/** Checks an object by its schema. What was wrong before an update may stay: objects of the test need not be valid. */
function validate(draft: Draft): void {
  const { definition, schema, old, object, mode: { subresource }, causes } = draft;
  const { custom, scale } = definition;
  if (schema === undefined) return;
  if (custom) causes.push(...customCauses(schema, definition.rules, object, old, scale));
  const check = (object: JsonObject): Causes => {
    const found = custom ? [] : validateTyped(schema, object);
    checkMetadata(definition, objectOr(object.metadata), found);
    return found;
  };
  const found = check(object);
  if (old === undefined) {
    causes.push(...found);
    return;
  }
  const changes = (old: JsonObject): Causes => custom ? [] : validateUpdate(schema, subresource, old, object);
  if (found.length + changes(old).length === 0) return;
  // What a test created lacks defaults.
  const complete = subresource === "status" ? old : completed(draft, old);
  const placeOf = ({ field, reason }: Causes[number]): string => `${reason} ${field}`;
  const before = new Set(check(complete).map(placeOf));
  const isNew = (cause: Causes[number]): boolean => !before.has(placeOf(cause));
  causes.push(...found.filter(isNew), ...changes(complete));
}

/** Returns an existing object with the defaults that one of the test itself lacks. */
export function completed({ definition, schema, strategy, around }: Draft, old: JsonObject): JsonObject {
  if (definition.custom || schema === undefined) return old;
  const { object } = decodeTyped(schema, old, definition);
  strategy.update?.(old, object, around);
  return object;
}

/** @throws {StatusError} 422 if there are causes. */
function refuse({ definition: { group, kind }, object, causes }: Draft): void {
  if (causes.length > 0) {
    throw knownRefusal("invalid", { group, kind, name: textOf(objectOr(object.metadata).name) }, causes);
  }
}
