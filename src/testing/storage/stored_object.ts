import { goJson, isObject, type Json, type JsonObject, type MutableJson, setMember } from "../wire/json.ts";
import { writeProtobuf } from "../wire/write_protobuf.ts";
import type { Definition } from "./definition.ts";

/** One state of one object, serialized; each read parses it again. */
export interface StoredObject {
  /** Key: `"namespace/name"` or `"name"`. */
  readonly key: string;
  /** Namespace; `""` if cluster-scoped. */
  readonly namespace: string;
  /** Name of the object. */
  readonly name: string;
  /** The uid. */
  readonly uid: string;
  /** Revision of this state. */
  readonly revision: number;
  /** The object in the server's key order, with kind and apiVersion. */
  readonly bytes: Uint8Array;
  /** Offset of the value of `metadata`. */
  readonly metadataStart: number;
  /** End offset of the value of `metadata`. */
  readonly metadataEnd: number;
  /** Labels of the object. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Selectable fields, besides name and namespace. */
  readonly fields: Readonly<Record<string, string>> | undefined;
  /** True for a tombstone: the last state, under the deletion's revision. */
  readonly deleted: boolean;
  /** The previous state, while the history covers it. */
  previous: StoredObject | undefined;
  /** The PartialObjectMetadata, cached on first use. */
  partial: Uint8Array | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Serializes an object. `revision` becomes its resourceVersion; 0 means that the object is not stored. The result
 * shares nothing with `object` but labels and fields.
 */
export function toStoredObject(
  definition: Definition,
  object: JsonObject,
  revision: number,
  previous?: StoredObject,
): StoredObject {
  const metadata = object.metadata as MutableJson;
  const written = goJson(orderMetadata(definition, metadata, revision > 0 ? String(revision) : undefined));
  const { head, tail } = around(definition, object);
  const bytes = encoder.encode(head + written + tail);
  // The text before metadata is ASCII, except for members of custom resources that sort before it.
  const ascii = bytes.length === head.length + written.length + tail.length;
  const metadataStart = ascii ? head.length : encoder.encode(head).length;
  const metadataEnd = metadataStart + (ascii ? written.length : encoder.encode(written).length);
  const namespace = typeof metadata.namespace === "string" ? metadata.namespace : "";
  const name = metadata.name as string;
  return {
    key: namespace === "" ? name : `${namespace}/${name}`,
    namespace,
    name,
    uid: metadata.uid as string,
    revision,
    bytes,
    metadataStart,
    metadataEnd,
    labels: labelsOf(metadata),
    fields: definition.fieldsOf(object),
    deleted: false,
    previous,
    partial: undefined,
  };
}

/**
 * Returns the state `before` under another revision, with the metadata that `change` returns; undefined if `change`
 * returns undefined.
 *
 * Only metadata is parsed and serialized. For built-in kinds that excludes managedFields, its largest part: `change`
 * does not see them, and they stay unchanged.
 */
export function rewriteMetadata(
  definition: Definition,
  before: StoredObject,
  revision: number,
  change: (metadata: JsonObject) => JsonObject | undefined,
): StoredObject | undefined {
  const text = decoder.decode(before.bytes.subarray(before.metadataStart, before.metadataEnd));
  // Serialized by this file, they come last, and no string in the JSON can contain this text: its quotes would be
  // escaped.
  const cut = definition.custom ? -1 : text.indexOf(MANAGED_FIELDS);
  const changed = change(JSON.parse(cut < 0 ? text : `${text.slice(0, cut)}}`));
  if (changed === undefined) return undefined;
  const json = goJson(orderMetadata(definition, changed, String(revision)));
  const written = encoder.encode(cut < 0 ? json : json.slice(0, -1) + text.slice(cut));
  const tail = before.bytes.subarray(before.metadataEnd);
  const metadataEnd = before.metadataStart + written.length;
  const bytes = new Uint8Array(metadataEnd + tail.length);
  bytes.set(before.bytes.subarray(0, before.metadataStart));
  bytes.set(written, before.metadataStart);
  bytes.set(tail, metadataEnd);
  return {
    ...before,
    revision,
    bytes,
    metadataEnd,
    labels: labelsOf(changed),
    previous: before,
    partial: undefined,
  };
}

const MANAGED_FIELDS = ',"managedFields":[';

/** Returns the tombstone of an object: its last state, under the deletion's revision, as watches deliver it. */
export function tombstone(definition: Definition, last: StoredObject, revision: number): StoredObject {
  return { ...rewriteMetadata(definition, last, revision, (metadata) => metadata)!, deleted: true };
}

/** Returns the same state under another revision, for a watch whose selection an object has left. */
export function restamped(definition: Definition, stored: StoredObject, revision: number): StoredObject {
  return { ...rewriteMetadata(definition, stored, revision, (metadata) => metadata)!, previous: undefined };
}

function labelsOf(metadata: JsonObject): Record<string, string> | undefined {
  return isObject(metadata.labels) ? { ...metadata.labels } as Record<string, string> : undefined;
}

/** Parses the object; the caller owns the result. */
export function parseStored(stored: StoredObject): MutableJson {
  return JSON.parse(decoder.decode(stored.bytes));
}

/** Parses the metadata only. */
function parseMetadata(stored: StoredObject): MutableJson {
  return JSON.parse(decoder.decode(stored.bytes.subarray(stored.metadataStart, stored.metadataEnd)));
}

const PARTIAL_HEAD = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`;

/** Returns the object's PartialObjectMetadata. */
export function partialOf(definition: Definition, stored: StoredObject): Uint8Array {
  // A custom resource's keys are sorted in the object, but not here, where the server fills a struct.
  stored.partial ??= encoder.encode(
    PARTIAL_HEAD +
      (definition.custom
        ? goJson(inOrder(parseMetadata(stored), METADATA_ORDER))
        : decoder.decode(stored.bytes.subarray(stored.metadataStart, stored.metadataEnd))) +
      "}",
  );
  return stored.partial;
}

/** Returns the object's PartialObjectMetadata in protobuf. */
export function protobufOf(definition: Definition, stored: StoredObject): Uint8Array {
  return writeProtobuf(JSON.parse(decoder.decode(partialOf(definition, stored))));
}

/** Serializes everything but metadata, as the text before and after it. */
function around(definition: Definition, object: JsonObject): { readonly head: string; readonly tail: string } {
  const { kind, apiVersion } = definition;
  if (!definition.custom) {
    let tail = "";
    for (const key in object) {
      if (key === "kind" || key === "apiVersion" || key === "metadata" || object[key] === undefined) continue;
      tail += `,${goJson(key)}:${goJson(object[key])}`;
    }
    return { head: `{"kind":${goJson(kind)},"apiVersion":${goJson(apiVersion)},"metadata":`, tail: `${tail}}` };
  }
  let head = "";
  let tail = "";
  for (const key of sortedKeys({ ...object, kind, apiVersion })) {
    if (key === "metadata") continue;
    const value = key === "kind" ? kind : key === "apiVersion" ? apiVersion : sorted(object[key] as Json);
    if (key < "metadata") head += `${goJson(key)}:${goJson(value)},`;
    else tail += `,${goJson(key)}:${goJson(value)}`;
  }
  return { head: `{${head}"metadata":`, tail: `${tail}}` };
}

/** The key order of Go's ObjectMeta, which built-in kinds use. */
const METADATA_ORDER = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
] as const;

const MANAGED_FIELDS_ORDER = ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"];

function orderMetadata(definition: Definition, metadata: JsonObject, resourceVersion: string | undefined): JsonObject {
  if (definition.custom) return sorted({ ...metadata, resourceVersion }) as JsonObject;
  return inOrder({ ...metadata, resourceVersion }, METADATA_ORDER);
}

function inOrder(metadata: JsonObject, order: readonly string[]): JsonObject {
  const ordered: MutableJson = {};
  for (const key of order) if (!isEmpty(metadata[key])) ordered[key] = metadata[key];
  if (Array.isArray(ordered.managedFields)) {
    ordered.managedFields = (ordered.managedFields as JsonObject[]).map((entry) =>
      inOrder(entry, MANAGED_FIELDS_ORDER)
    );
  }
  for (const field of ["labels", "annotations"]) {
    if (ordered[field] !== undefined) ordered[field] = sorted(ordered[field]);
  }
  return ordered;
}

/** Go omits empty values. */
function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const copy: MutableJson = {};
  for (const key of sortedKeys(value)) setMember(copy, key, sorted(value[key] as Json));
  return copy;
}

function sortedKeys(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined).sort();
}
