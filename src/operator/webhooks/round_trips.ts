/**
 * A check of conversions for tests: nothing is lost on the way to another version and back.
 *
 * {@linkcode roundTrips} is the entry point. Tests give it objects, and it adds parts of them, and what the schema has
 * in addition.
 *
 * @module
 */
import { keyOf, type KubernetesObject } from "../../engine/api/object.ts";
import type { Resource } from "../../engine/api/resource.ts";
import { quoted } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { internals } from "../../engine/errors/internals.ts";
import {
  cloneJson,
  isList,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  setMember,
} from "../../engine/api/json.ts";
import { memberAt, objectOr } from "../../engine/api/members.ts";
import { patchOf } from "./json_patch.ts";
import type { Webhooks } from "./webhooks.ts";

/**
 * Checks in a test that no field is lost when objects are converted to each other version and back. Use the objects
 * of a kind's fixtures, or of a generator, which must end.
 *
 * The API server stores one version, so a field that another version cannot say is lost by the next write of a client
 * of that version. Keep such a field in an annotation.
 *
 * Two kinds of objects are added to yours:
 *
 * - Parts of each object, because the API server converts such parts too: each member is left out once, lists and
 *   objects are null once, and each member of the object stands once without the others.
 * - An object for each optional member of the schema that none of yours has. If your functions cannot read the value
 *   that is made up for it, add an object that has this member.
 *
 * @param kind The version of the objects: the hub, which goes through each other version, or another version, which
 * goes through the hub.
 * @throws {InformerError} that names the object and the first field that is lost or changed.
 * @throws {TypeError} if there is no conversion of the kind.
 */
export function roundTrips<T extends KubernetesObject>(
  webhooks: Webhooks,
  kind: Resource<T>,
  objects: Iterable<Omit<T, "metadata"> & { readonly metadata: Partial<T["metadata"]> }>,
): void {
  const converter = webhooks[internals](kind);
  const { group, version, kind: name } = kind;
  const { hub } = converter;
  const through = version === hub.version ? converter.versions : [hub.version];
  const check = (object: JsonObject, which: string, isPart = true, compares = true): void => {
    for (const other of through) {
      const what = `Cannot convert ${name} ${which} from ${version} to ${other} and back`;
      let back: JsonObject;
      try {
        back = converter.convert(converter.convert(object, `${group}/${other}`), `${group}/${version}`);
      } catch (cause) {
        throw isPart ? new InformerError(what, { cause }) : cause; // which names the object already
      }
      const [lost] = compares ? patchOf(comparable(object), comparable(JSON.parse(JSON.stringify(back)))) : [];
      if (lost === undefined) continue;
      const { op, path, value } = lost;
      const field = path.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
      const how = { remove: "is lost", add: "is new", replace: `is now ${quoted(`${JSON.stringify(value)}`)}` }[op];
      throw new InformerError(`${what}: ${field} ${how}`);
    }
  };
  const given = Array.from(objects, (object): JsonObject => ({
    ...JSON.parse(JSON.stringify(object)),
    apiVersion: `${group}/${version}`,
    kind: name,
  }));
  const keyOfObject = (object: JsonObject): string => `"${keyOf(object as unknown as KubernetesObject)}"`;
  for (const object of given) {
    const key = keyOfObject(object);
    check(object, key, false);
    for (const path of pathsIn(object)) {
      check(changed(object, path), `${key} without ${path.join(".")}`);
      // The server's null for a list or an object that lost all it had may become absent.
      const hasParts = typeof memberAt(object, ...path) === "object";
      if (hasParts) check(changed(object, path, null), `${key} with ${path.join(".")} null`, true, false);
    }
    const { apiVersion, kind, ...members } = object;
    for (const [member, value] of Object.entries(members)) {
      check({ apiVersion, kind, [member]: value }, `${key} with nothing but ${member}`);
    }
  }
  const schema = hub.crd.spec.versions.find((it) => it.name === version)?.schema?.openAPIV3Schema;
  const places = given.map((root) => ({ root, path: [] }));
  for (const { root, path, value } of additions(objectOr(schema), places)) {
    const key = keyOfObject(root);
    check(changed(root, path, value), `${key} with ${path.join(".")} ${quoted(JSON.stringify(value))}`);
  }
}

/** Returns an object in which absent metadata, labels, annotations and spec are like empty ones. */
function comparable({ metadata, spec, ...object }: JsonObject): JsonObject {
  const { labels, annotations, ...rest } = objectOr(metadata);
  const full = { ...rest, labels: objectOr(labels), annotations: objectOr(annotations) };
  return { ...object, spec: objectOr(spec), metadata: full };
}

type Path = readonly string[];

/** A value of an object: where it is. */
interface Member {
  readonly root: JsonObject;
  readonly path: Path;
}

/** The paths of all members but kind and apiVersion; of metadata, only itself, labels and annotations. */
function* pathsIn(value: Json | undefined, path: Path = []): Generator<Path> {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const inner = [...path, name];
    const isFixed = path.length === 0 && (name === "apiVersion" || name === "kind");
    if (isFixed || (path.length === 1 && path[0] === "metadata" && !/^(labels|annotations)$/.test(name))) continue;
    if (!isList(value)) yield inner;
    yield* pathsIn(member, inner);
  }
}

/** Returns a copy with another value at a path; without one, the copy lacks the path, and objects that it empties. */
function changed(object: JsonObject, path: Path, value?: Json): JsonObject {
  const copy = cloneJson(object);
  const parent = memberAt(copy, ...path.slice(0, -1)) as MutableJson;
  if (value !== undefined) {
    setMember(parent, path.at(-1)!, value);
    return copy;
  }
  delete parent[path.at(-1)!];
  const isEmptied = Object.keys(parent).length === 0 && isObject(memberAt(copy, ...path.slice(0, -2)));
  return isEmptied ? changed(copy, path.slice(0, -1)) : copy;
}

/** Yields a value for each member of a schema that is at none of these places, with the place that it lacks. */
function* additions(schema: JsonObject, places: readonly Member[]): Generator<Member & { readonly value: Json }> {
  const values = places.map(({ root, path }) => ({ root, path, value: memberAt(root, ...path) }));
  const below = (name: string): Member[] =>
    values.filter(({ value }) => isObject(value) && value[name] !== undefined)
      .map(({ root, path }) => ({ root, path: [...path, name] }));
  const { items, additionalProperties, properties } = schema;
  for (const [name, member] of Object.entries(objectOr(properties))) {
    const found = below(name);
    const parent = values.find(({ value }) => isObject(value));
    const isOurs = parent?.path.length === 0 && /^(apiVersion|kind|metadata)$/.test(name);
    if (found.length > 0 && !isOurs) yield* additions(objectOr(member), found);
    else if (parent !== undefined && !isOurs) {
      yield { root: parent.root, path: [...parent.path, name], value: sample(objectOr(member)) };
    }
  }
  const inner = isObject(items) ? items : objectOr(additionalProperties);
  const elements = values.flatMap(({ root, path, value }) =>
    typeof value !== "object" || isObject(properties)
      ? []
      : Object.keys(value ?? {}).map((name) => ({ root, path: [...path, name] }))
  );
  if (elements.length > 0) yield* additions(inner, elements);
}

/** Returns a value of a schema that has all its members. */
function sample(schema: JsonObject): Json {
  const { type, format, enum: values, default: given, properties, items, additionalProperties, minimum } = schema;
  if (given !== undefined) return given;
  if (isList(values) && values.length > 0) return values[0];
  if (type === "array") return [sample(objectOr(items))];
  if (type === "boolean") return true;
  if (type === "integer" || type === "number" || schema["x-kubernetes-int-or-string"] === true) return minimum ?? 1;
  if (type === "string") return format === "date-time" ? "2026-01-31T12:00:00Z" : "text";
  const members = isObject(properties) ? properties : { key: objectOr(additionalProperties) };
  if (!isObject(properties) && !isObject(additionalProperties)) return { key: "text" };
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, sample(objectOr(member))]));
}
