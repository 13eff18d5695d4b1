import type { Random } from "../../../src/testing/fake/random.ts";
import { isObject, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import { type Place, type Types, withValueAt } from "./types.ts";

/** Values by the end of a field's name, before those by its type. */
const VALUES: readonly (readonly [ending: RegExp, values: readonly Json[]])[] = [
  [/port$/i, [80, 8080]],
  [/image$/i, ["other:1"]],
  [/name$/i, ["other", "data"]],
  [/path$/i, ["/other"]],
  [/ip$/i, ["10.0.0.9"]],
  [/labels|annotations|selector$/i, [{ a: "b" }]],
  [/seconds$|limit$|replicas$/i, [0, 1, 30]],
  [/policy$/i, ["Always", "Never", "Retain", "Other"]],
];

/** Changes one place of a body so that its schema does not allow it any more, most of the time. */
export type Mutation = (random: Random, types: Types, body: JsonObject, type: JsonObject) => JsonObject | undefined;

/** Changes by schema, by name. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "a wrong type": (random, types, body, type) => {
    const place = pickPlace(random, types.places(body, type), ({ path }) => path.length > 1);
    return place && changed(body, place, random.pick(otherTypes(place.value)));
  },
  "an unknown field": (random, types, body, type) => {
    const place = pickPlace(random, types.places(body, type), ({ value }) => isObject(value));
    if (place === undefined) return undefined;
    const value = place.value as JsonObject;
    const key = random.pick(["unknownField", ...Object.keys(value).flatMap((key) => [`${key}s`, capital(key)])]);
    return changed(body, place, { ...value, [key]: value[key] ?? 1 });
  },
  "a missing field": (random, types, body, type) => {
    const requires = ({ type, value }: Place): boolean => isObject(value) && Array.isArray(type.required);
    const place = pickPlace(random, types.places(body, type), requires);
    return place && without(body, place, random.pick(place.type.required as string[]));
  },
  "no value of an enum": (random, types, body, type) => {
    const isEnum = ({ value, type, path }: Place): boolean =>
      typeof value === "string" && (Array.isArray(type.enum) || /^[A-Z][a-zA-Z]+$/.test(value)) && path[0] !== "kind";
    const place = pickPlace(random, types.places(body, type), isEnum);
    return place && changed(body, place, random.pick(["Bogus", "", (place.value as string).toLowerCase()]));
  },
  "a field of the schema": (random, types, body, type) => {
    const hasFields = ({ type, value, path }: Place): boolean =>
      isObject(value) && isObject(type.properties) && path[0] !== "metadata";
    const place = pickPlace(random, types.places(body, type), hasFields);
    if (place === undefined) return undefined;
    const fields = Object.keys(place.type.properties as JsonObject).filter((key) =>
      !["apiVersion", "kind", "metadata", "status"].includes(key)
    );
    if (fields.length === 0) return undefined;
    const key = random.pick(fields);
    const value = valueOf(random, types, key, types.member(place.type, key), 3);
    return changed(body, place, { ...place.value as JsonObject, [key]: value });
  },
  "null": (random, types, body, type) => {
    const place = pickPlace(random, types.places(body, type), ({ path }) => path.length > 1);
    return place && changed(body, place, null);
  },
  "an edge of a value": (random, types, body, type) => {
    const place = pickPlace(random, types.places(body, type), ({ value }) => !isObject(value) && !Array.isArray(value));
    const numbers = [0, -1, 70000, 2 ** 31, 1.5, 1e20];
    const texts = ["", " ", "x".repeat(64), "x".repeat(254), "Bad_Name", "-a", "a.b", "ä", "1", "100%"];
    return place && changed(body, place, random.pick<Json>(typeof place.value === "number" ? numbers : texts));
  },
};

/** A value that a schema allows, with a likely one for the field's name. */
export function valueOf(random: Random, types: Types, name: string, type: JsonObject, depth: number): Json {
  if (Array.isArray(type.enum)) return random.pick(type.enum as Json[]);
  const known = VALUES.find(([ending, values]) => ending.test(name) && fits(values[0], type));
  if (known !== undefined) return random.pick(known[1].filter((value) => fits(value, type)));
  if (type.format === "date-time") return "2024-01-02T03:04:05Z";
  if (Array.isArray(type.oneOf)) return random.pick<Json>([1, "1", "10%"]);
  switch (type.type) {
    case "integer":
    case "number":
      return random.below(5);
    case "boolean":
      return random.next() < 0.5;
    case "array":
      return [valueOf(random, types, name.replace(/s$/, ""), types.member(type, 0), depth - 1)];
    case "string":
      return random.pick(["text", "a-b", "Name"]);
  }
  const fields = isObject(type.properties) ? Object.keys(type.properties) : [];
  const required = type.required as string[] ?? [];
  const out: MutableJson = {};
  for (const key of fields) {
    if (!required.includes(key) && (depth <= 0 || random.next() > 1.5 / fields.length)) continue;
    out[key] = valueOf(random, types, key, types.member(type, key), depth - 1);
  }
  return out;
}

function fits(value: Json, type: JsonObject): boolean {
  if (isObject(value)) return isObject(type.additionalProperties);
  const expected = type.type === "integer" ? "number" : type.type;
  const found: string = typeof value;
  return found === expected;
}

function otherTypes(value: Json): Json[] {
  const values: Json[] = ["text", "", 5, 1.5, true, {}, [], ["x"], { a: 1 }];
  const typeOf = (value: Json): string => Array.isArray(value) ? "list" : typeof value;
  return values.filter((other) => typeOf(other) !== typeOf(value));
}

function pickPlace(random: Random, places: readonly Place[], is: (place: Place) => boolean): Place | undefined {
  const found = places.filter(is);
  return found.length === 0 ? undefined : random.pick(found);
}

function changed(body: JsonObject, { path }: Place, value: Json): JsonObject {
  return withValueAt(body, path, value) as JsonObject;
}

function without(body: JsonObject, { path }: Place, key: string): JsonObject {
  return withValueAt(body, [...path, key], undefined) as JsonObject;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
