import { goJson, isObject, type Json, type JsonObject, type MutableJson, setMember } from "../wire/json.ts";
import type { Definition } from "./definition.ts";

/** One state of one object, as text: what is read of it is parsed anew each time. */
export interface StoredObject {
  /** `"namespace/name"` or `"name"`. */
  readonly key: string;
  /** `""` when cluster-scoped. */
  readonly namespace: string;
  /** The object's name. */
  readonly name: string;
  /** Which object of that name. */
  readonly uid: string;
  /** The revision this state came with. */
  readonly revision: number;
  /** The object in the server's layout, with kind and apiVersion. */
  readonly bytes: Uint8Array;
  /** Where the value of `metadata` begins in the bytes. */
  readonly metadataStart: number;
  /** Where it ends. */
  readonly metadataEnd: number;
  /** Its labels. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** What field selectors see, beside name and namespace. */
  readonly fields: Readonly<Record<string, string>> | undefined;
  /** Whether this is the end of the object: the last state under the deletion's revision. */
  readonly deleted: boolean;
  /** The state before, as long as history reaches that far. */
  previous: StoredObject | undefined;
  /** The PartialObjectMetadata, once somebody asked. */
  partial: Uint8Array | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Writes an object down. `revision` becomes its resourceVersion; 0 stands for an object that is not stored. Nothing of
 * `object` is kept but its text, labels and fields.
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
  // Before metadata stands nothing but ASCII, except for members of custom resources that sort before it.
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
 * The state `before` under another revision, with metadata as `change` makes it; undefined when it makes nothing of it.
 *
 * Only metadata is parsed and written, and of built-in kinds not even the managedFields, most of it: `change` does not
 * see them, and they stay as they are.
 */
export function rewriteMetadata(
  definition: Definition,
  before: StoredObject,
  revision: number,
  change: (metadata: JsonObject) => JsonObject | undefined,
): StoredObject | undefined {
  const text = decoder.decode(before.bytes.subarray(before.metadataStart, before.metadataEnd));
  // Written by us, they come last, and no text within the JSON can look like this: its quotes would be escaped.
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

/** The end of an object: its last state, under the deletion's revision (the server tells it so on watches). */
export function tombstone(definition: Definition, last: StoredObject, revision: number): StoredObject {
  return { ...rewriteMetadata(definition, last, revision, (metadata) => metadata)!, deleted: true };
}

/** The same state under another revision: how a watch hears of an object that left its selector. */
export function restamped(definition: Definition, stored: StoredObject, revision: number): StoredObject {
  return { ...rewriteMetadata(definition, stored, revision, (metadata) => metadata)!, previous: undefined };
}

function labelsOf(metadata: JsonObject): Record<string, string> | undefined {
  return isObject(metadata.labels) ? { ...metadata.labels } as Record<string, string> : undefined;
}

/** The object, parsed anew: the caller's own. */
export function parseStored(stored: StoredObject): MutableJson {
  return JSON.parse(decoder.decode(stored.bytes));
}

/** Its metadata alone, parsed anew. */
function parseMetadata(stored: StoredObject): MutableJson {
  return JSON.parse(decoder.decode(stored.bytes.subarray(stored.metadataStart, stored.metadataEnd)));
}

const PARTIAL_HEAD = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`;

/** The object's metadata as the server hands it out alone. */
export function partialOf(definition: Definition, stored: StoredObject): Uint8Array {
  // A custom resource's keys are sorted in the object, but not here, where the server fills a struct of its own.
  stored.partial ??= encoder.encode(
    PARTIAL_HEAD +
      (definition.custom
        ? goJson(inOrder(parseMetadata(stored), METADATA_ORDER))
        : decoder.decode(stored.bytes.subarray(stored.metadataStart, stored.metadataEnd))) +
      "}",
  );
  return stored.partial;
}

/** Everything but metadata, as the text before and after it. */
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

/** The order of Go's ObjectMeta, which built-in kinds are written in. */
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

/** Go leaves out what is empty. */
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
