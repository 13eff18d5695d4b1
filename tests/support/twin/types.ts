import { isObject, type Json, type JsonObject } from "../../../src/engine/api/json.ts";

/** A place in an object. */
export interface Place {
  /** Keys and indexes that lead to it. */
  readonly path: readonly (string | number)[];
  readonly value: Json;
  /** Its schema, with references followed; `{}` where there is none. */
  readonly type: JsonObject;
}

/** The types of fields, of the OpenAPI v3 documents of a server. */
export class Types {
  readonly #schemas = new Map<string, JsonObject>();
  /** The names of kinds' schemas by `group/version/kind`. */
  readonly #kinds = new Map<string, JsonObject>();

  constructor(documents: readonly JsonObject[]) {
    for (const { components } of documents) {
      for (const [name, schema] of Object.entries((components as JsonObject).schemas as JsonObject)) {
        this.#schemas.set(name, schema as JsonObject);
        for (const kind of (schema as JsonObject)["x-kubernetes-group-version-kind"] as JsonObject[] ?? []) {
          this.#kinds.set(`${kind.group}/${kind.version}/${kind.kind}`, schema as JsonObject);
        }
      }
    }
  }

  /** The schema of a kind; `{}` if no document has it. */
  of(apiVersion: string, kind: string): JsonObject {
    return this.#kinds.get(`${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}/${kind}`) ?? {};
  }

  /** The schema of a member, an element or a value of a map. */
  member(type: JsonObject, key: string | number): JsonObject {
    const { properties, items, additionalProperties } = type;
    return this.resolved(typeof key === "number" ? items : (properties as JsonObject)?.[key] ?? additionalProperties);
  }

  /** Follows a reference. */
  resolved(type: Json | undefined): JsonObject {
    if (!isObject(type)) return {};
    const { $ref, allOf } = type;
    const target = $ref ?? ((allOf as JsonObject[] | undefined)?.[0]?.$ref);
    if (typeof target !== "string") return type;
    return this.#schemas.get(target.slice(target.lastIndexOf("/") + 1)) ?? {};
  }

  /** All places in a value, itself first. */
  places(value: Json, type: JsonObject, path: readonly (string | number)[] = []): Place[] {
    const children: [string | number, Json][] = Array.isArray(value)
      ? value.map((element, at) => [at, element])
      : isObject(value)
      ? Object.entries(value) as [string, Json][]
      : [];
    const below = children.flatMap(([key, child]) => this.places(child, this.member(type, key), [...path, key]));
    return [{ path, value, type }, ...below];
  }
}

/** Returns a copy of `value` with another value at a path; undefined removes it. */
export function withValueAt(value: Json, path: readonly (string | number)[], put: Json | undefined): Json {
  if (path.length === 0) return put ?? null;
  const [key, ...rest] = path;
  if (Array.isArray(value)) {
    if (rest.length === 0 && put === undefined) return value.toSpliced(key as number, 1);
    return value.map((element, at) => at === key ? withValueAt(element, rest, put) : element);
  }
  const { [key]: old, ...others } = value as JsonObject;
  if (rest.length === 0 && put === undefined) return others as JsonObject;
  return { ...value as JsonObject, [key]: withValueAt(old ?? {}, rest, put) };
}
