import fc from "fast-check";
import type { Change, ListPart } from "../../../src/api/lister_watcher.ts";
import type { KubernetesObject } from "../../../src/api/object.ts";
import { defineResource, metadataOf, type Resource } from "../../../src/api/resource.ts";
import type { ReadOptions } from "../../../src/client/decode/object_reader.ts";
import { MetadataListReader } from "../../../src/client/protobuf/metadata_readers.ts";
import { MetadataWatchReader } from "../../../src/client/protobuf/metadata_readers.ts";
import { joinBytes } from "../../../src/testing/wire/byte_body.ts";
import type { JsonObject } from "../../../src/testing/wire/json.ts";
import { writeProtobuf, writeProtobufEvent } from "../../../src/testing/wire/protobuf.ts";

/** The resource that most tests read. */
export const PodMetadata: Resource = metadataOf(defineResource({ version: "v1", plural: "pods", kind: "Pod" }));

const TYPE = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" } as const;

/** The metadata of an object, as the server writes it in JSON. */
export function partial(metadata: JsonObject): JsonObject {
  return { ...TYPE, metadata };
}

/** A list in protobuf. */
export function listBytes(items: readonly JsonObject[], metadata: JsonObject = { resourceVersion: "9" }): Uint8Array {
  return writeProtobuf({ kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items });
}

/** An event in protobuf. */
export function eventBytes(type: string, object: JsonObject): Uint8Array {
  return writeProtobufEvent(type, writeProtobuf(object));
}

/** A failure, as the server describes it. */
export function failure(code: number, reason: string, more: JsonObject = {}): JsonObject {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "no", reason, ...more, code };
}

/** A field of a message: a tag of one byte, a length of one or three bytes, and the content. */
export function field(number: number, ...content: readonly Uint8Array[]): Uint8Array {
  const bytes = joinBytes(...content);
  const { length } = bytes;
  const size = length < 128 ? [length] : [length & 127 | 128, length >> 7 & 127 | 128, length >> 14];
  return joinBytes(new Uint8Array([number * 8 + 2, ...size]), bytes);
}

const OPTIONS: ReadOptions = { resource: PodMetadata, managedFields: "drop" };

/** The parts of a list that arrives in these chunks. */
export function listParts(
  chunks: readonly Uint8Array[],
  options: Partial<ReadOptions> = {},
): ListPart<KubernetesObject>[] {
  const reader = new MetadataListReader<KubernetesObject>({ ...OPTIONS, ...options });
  return [...chunks.map((chunk) => reader.push(chunk)), reader.end()];
}

/** The objects of a list that arrives in these chunks. */
export function listObjects(chunks: readonly Uint8Array[], options: Partial<ReadOptions> = {}): KubernetesObject[] {
  return listParts(chunks, options).flatMap(({ entries }) => entries.map(({ object }) => object));
}

/** The changes of a watch that arrives in these chunks, and the error behind them. */
export function watched(
  chunks: readonly Uint8Array[],
  options: Partial<ReadOptions> = {},
): { readonly changes: Change<KubernetesObject>[]; readonly error: unknown } {
  const reader = new MetadataWatchReader<KubernetesObject>({ ...OPTIONS, ...options });
  const changes: Change<KubernetesObject>[] = [];
  for (const chunk of chunks) {
    changes.push(...reader.push(chunk));
    if (reader.failure !== undefined) break;
  }
  return { changes, error: reader.failure?.error };
}

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 12 }).map((it) => it.toWellFormed()),
  fc.constantFrom("日本", "ä🦕", '"', "\\", "\n\u0000\u001f\u007f", "</script>&\u2028", "__proto__", "x".repeat(300)),
);
const name = fc.oneof({ arbitrary: text.filter((it) => it !== ""), weight: 20 }, fc.constant("n".repeat(1_500)));
const texts = fc.dictionary(name, text, { maxKeys: 4 }).map((it) => sortedMap(it));
const seconds = fc.integer({ min: -62_000_000_000, max: 253_402_300_799 });
const time = fc.oneof(seconds, fc.integer({ min: 1_700_000_000, max: 1_800_000_000 })).map((it) =>
  new Date(it * 1_000).toISOString().replace(".000Z", "Z")
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const owner = fc.record({
  apiVersion: text,
  kind: text,
  name: text,
  uid: text,
  controller: maybe(fc.boolean()),
  blockOwnerDeletion: maybe(fc.boolean()),
}).map((it) => compact(it));
const managed = fc.record({
  manager: maybe(name),
  operation: maybe(name),
  apiVersion: maybe(name),
  time: maybe(time),
  fieldsType: maybe(name),
  fieldsV1: maybe(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })),
  subresource: maybe(name),
}).map((it) => compact(it));

/** Metadata as the server writes it in JSON: keys in its order, and nothing that is empty. */
export const randomMetadata: fc.Arbitrary<JsonObject> = fc.record({
  name,
  generateName: maybe(name),
  namespace: maybe(name),
  selfLink: maybe(name),
  uid: maybe(name),
  resourceVersion: maybe(name),
  generation: maybe(fc.oneof(fc.integer({ min: 1 }), fc.maxSafeInteger().filter((it) => it !== 0))),
  creationTimestamp: maybe(time),
  deletionTimestamp: maybe(time),
  deletionGracePeriodSeconds: maybe(fc.integer()),
  labels: maybe(texts.filter((it) => Object.keys(it).length > 0)),
  annotations: maybe(texts.filter((it) => Object.keys(it).length > 0)),
  ownerReferences: maybe(fc.array(owner, { minLength: 1, maxLength: 3 })),
  finalizers: maybe(fc.array(text, { minLength: 1, maxLength: 3 })),
  managedFields: maybe(fc.array(managed, { minLength: 1, maxLength: 3 })),
}).map((it) => compact(it));

/** The object as JSON gives it, without what is undefined. */
function compact(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object));
}

/** Go's maps are sorted in both encodings. */
function sortedMap(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}
