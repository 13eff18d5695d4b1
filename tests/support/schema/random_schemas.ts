import { cloneJson, isObject, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import type { Random } from "../../../src/testing/fake/random.ts";

/** A place in a schema: the path of its fields as changes name it, and a function that replaces the schema there. */
export interface SchemaPlace {
  readonly path: string;
  readonly schema: JsonObject;
  /** Returns the whole schema with another one at this place. */
  replaced(schema: JsonObject): JsonObject;
}

/** A narrowing: schemas before and after it, and the change that it is. */
export interface Narrowing {
  readonly change: string;
  /** Follows the path of the place: `".a"` where a field changes, `""` for the place itself. */
  readonly at: string;
  readonly wide: JsonObject;
  readonly narrow: JsonObject;
}

const NAMES = ["a", "b", "c", "d"];
const PATTERNS = ["^[a-z]*$", "^a", "^.{0,3}$"];

/** Returns a random structural schema. */
export function randomSchema(random: Random, depth = 3): JsonObject {
  const kinds = ["string", "integer", "number", "boolean", "int-or-string", "any", "object", "map", "array"];
  const kind = random.pick(depth === 0 ? kinds.slice(0, 6) : kinds);
  const some = (members: JsonObject): JsonObject => random.below(3) === 0 ? members : {};
  const own: MutableJson = { ...some({ nullable: true }) };
  if (kind === "string") {
    Object.assign(own, { type: kind }, some({ enum: ["a", "ab", "z"] }), some({ pattern: random.pick(PATTERNS) }));
    Object.assign(own, some({ minLength: random.below(2) }), some({ maxLength: 1 + random.below(4) }));
  } else if (kind === "integer" || kind === "number") {
    Object.assign(own, { type: kind }, some({ minimum: random.below(3) }), some({ maximum: 3 + random.below(4) }));
    Object.assign(own, some({ multipleOf: 1 + random.below(2) }));
  } else if (kind === "boolean") own.type = kind;
  else if (kind === "int-or-string") own["x-kubernetes-int-or-string"] = true;
  else if (kind === "any") own["x-kubernetes-preserve-unknown-fields"] = true;
  else if (kind === "map") {
    Object.assign(own, { type: "object", additionalProperties: randomSchema(random, depth - 1) });
    Object.assign(own, some({ maxProperties: 1 + random.below(3) }));
  } else if (kind === "array") {
    const form = random.pick(["atomic", "set", "map"]);
    const item: JsonObject = form === "set"
      ? { type: "string" }
      : form === "atomic"
      ? randomSchema(random, depth - 1)
      : { ...objectSchema(random, depth - 1, { a: { type: "string" } }), required: ["a"] };
    Object.assign(own, { type: "array", items: item }, some({ maxItems: 1 + random.below(3) }));
    if (form !== "atomic") own["x-kubernetes-list-type"] = form;
    if (form === "map") own["x-kubernetes-list-map-keys"] = ["a"];
  } else return { ...own, ...objectSchema(random, depth - 1) };
  return own;
}

/** Returns a random schema of an object with fields. */
export function objectSchema(random: Random, depth: number, fixed: JsonObject = {}): JsonObject {
  const names = NAMES.filter((name) => fixed[name] === undefined && random.below(2) === 0);
  const properties = { ...Object.fromEntries(names.map((name) => [name, randomSchema(random, depth)])), ...fixed };
  return {
    type: "object",
    properties,
    ...(random.below(3) === 0 ? { required: Object.keys(properties).slice(0, 1) } : {}),
    ...(random.below(5) === 0 ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
  };
}

/** Returns all places of a schema, itself first. */
export function placesOf(
  schema: JsonObject,
  path = "",
  replaced: SchemaPlace["replaced"] = (it) => it,
): SchemaPlace[] {
  const own: SchemaPlace = { path, schema, replaced };
  const below = (member: JsonObject, at: string, put: (it: JsonObject) => JsonObject): SchemaPlace[] =>
    placesOf(member, at, (it) => replaced(put(it)));
  const join = (name: string): string => path === "" ? name : `${path}.${name}`;
  const { properties, items, additionalProperties } = schema;
  return [
    own,
    ...Object.entries(isObject(properties) ? properties : {}).flatMap(([name, member]) =>
      below(
        member as JsonObject,
        join(name),
        (it) => ({ ...schema, properties: { ...properties as object, [name]: it } }),
      )
    ),
    ...(isObject(items) ? below(items, `${path}[]`, (it) => ({ ...schema, items: it })) : []),
    ...(isObject(additionalProperties)
      ? below(additionalProperties, join("*"), (it) => ({ ...schema, additionalProperties: it }))
      : []),
  ];
}

const string = (more: JsonObject = {}): JsonObject => ({ type: "string", ...more });
const integer = (more: JsonObject = {}): JsonObject => ({ type: "integer", ...more });
const list = (more: JsonObject = {}): JsonObject => ({ type: "array", items: string(), ...more });
const struct = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });
const map = (more: JsonObject = {}): JsonObject => ({ type: "object", additionalProperties: string(), ...more });
const open = { "x-kubernetes-preserve-unknown-fields": true };
const intOrString = { "x-kubernetes-int-or-string": true };

/** Returns every narrowing whose reverse is a widening, with random bounds. */
export function narrowings(random: Random): Narrowing[] {
  const low = random.below(5);
  const high = low + 1 + random.below(5);
  const row = (change: string, wide: JsonObject, narrow: JsonObject, at = ""): Narrowing => ({
    change,
    at,
    wide,
    narrow,
  });
  const bound = (of: (more?: JsonObject) => JsonObject, name: string, loose: number, tight: number): Narrowing[] => [
    row("bound narrowed", of({ [name]: loose }), of({ [name]: tight })),
    ...(tight > 0 ? [row("bound narrowed", of(), of({ [name]: tight }))] : []),
  ];
  return [
    row("field removed", struct({ a: string(), b: integer() }), struct({ b: integer() }), ".a"),
    row("field removed", map({ properties: undefined }), struct({}), ".*"),
    row("unknown fields removed", struct({ a: string() }, open), struct({ a: string() }), ".*"),
    row("type changed", { type: "number" }, integer()),
    row("type changed", open, string()),
    row("int-or-string removed", intOrString, string()),
    row("int-or-string removed", intOrString, integer()),
    row("nullable removed", string({ nullable: true }), string()),
    row("required added", struct({ a: string() }), struct({ a: string() }, { required: ["a"] }), ".a"),
    row("enum added", string(), string({ enum: ["a", "b"] })),
    row("enum value removed", string({ enum: ["a", "b"] }), string({ enum: ["b"] })),
    ...bound(integer, "maximum", high, low),
    ...bound(integer, "minimum", low, high),
    ...bound(string, "maxLength", high, low),
    ...bound(string, "minLength", low, high),
    ...bound(list, "maxItems", high, low),
    ...bound(list, "minItems", low, high),
    ...bound(map, "maxProperties", high, low),
    ...bound(map, "minProperties", low, high),
    row("bound narrowed", integer({ maximum: high }), integer({ maximum: high, exclusiveMaximum: true })),
    row("bound narrowed", integer({ minimum: low }), integer({ minimum: low, exclusiveMinimum: true })),
    row("bound narrowed", integer({ multipleOf: high }), integer({ multipleOf: 2 * high })),
    row("bound narrowed", integer(), integer({ multipleOf: high + 1 })),
    row("pattern added", string(), string({ pattern: "^a" })),
    row("format changed", string(), string({ format: random.pick(["date-time", "uuid", "ipv4", "duration"]) })),
    row("format changed", string(), string({ format: "quantity" })),
    row("format changed", integer({ format: "int64" }), integer({ format: "int32" })),
    row("combination added", string(), string({ anyOf: [{ minLength: 1 }] })),
    row("combination added", integer(), integer({ allOf: [{ minimum: 1 }] })),
    row("combination added", integer(), integer({ oneOf: [{ minimum: 1 }] })),
    row("combination added", integer(), integer({ not: { enum: [1] } })),
    row(
      "combination changed",
      integer({ anyOf: [{ minimum: 9 }, { maximum: 1 }] }),
      integer({ anyOf: [{ minimum: 9 }] }),
    ),
    row(
      "combination changed",
      integer({ allOf: [{ minimum: 1 }] }),
      integer({ allOf: [{ minimum: 1 }, { maximum: 9 }] }),
    ),
    row("rule added", integer(), integer({ "x-kubernetes-validations": [{ rule: "self > 1" }] })),
    row(
      "embedded resource added",
      struct({}, open),
      struct({}, { ...open, "x-kubernetes-embedded-resource": true }),
    ),
  ];
}

/** Changes a random place of a schema at random. */
export function mutated(random: Random, schema: JsonObject): JsonObject {
  const { schema: found, replaced } = random.pick(placesOf(schema).slice(1).concat(placesOf(schema).slice(0, 1)));
  const next = cloneJson(found) as MutableJson;
  const rules = Object.keys(next).filter((name) =>
    !["type", "properties", "items", "additionalProperties"].includes(name)
  );
  const choice = random.below(5);
  if (choice === 0) return replaced(randomSchema(random, 1));
  if (choice === 1 && rules.length > 0) delete next[random.pick(rules)];
  else if (isObject(next.properties)) {
    const name = random.pick(NAMES);
    if (choice === 2) delete (next.properties as MutableJson)[name];
    else if (choice === 3) (next.properties as MutableJson)[name] ??= randomSchema(random, 1);
    else next.required = [name].filter((it) => (next.properties as JsonObject)[it] !== undefined);
  } else {
    const other = Object.entries(randomSchema(random, 1)).filter(([name]) =>
      /^(min|max|enum|pattern|nullable)/.test(name)
    );
    for (const [name, value] of other) next[name] = value;
  }
  return replaced(next);
}

/** Returns a random value, which mostly fits the schema. */
export function randomValue(random: Random, schema: JsonObject): Json {
  if (schema.nullable === true && random.below(4) === 0) return null;
  if (Array.isArray(schema.enum)) return random.pick(schema.enum);
  const { type, properties, items, additionalProperties } = schema;
  const scalar = (): Json => random.pick([random.below(8), random.pick(["", "a", "ab", "abc", "z"]), true]);
  const several = Array.from({ length: random.below(3) });
  if (type === "string") return random.pick(["", "a", "ab", "abc", "abcd", "z", "A"]);
  if (type === "integer") return random.below(8);
  if (type === "number") return random.below(16) / 2;
  if (type === "boolean") return random.below(2) === 0;
  if (type === "array") return several.map(() => randomValue(random, items as JsonObject));
  if (schema["x-kubernetes-int-or-string"] === true) return random.pick([1, "a"]);
  if (isObject(additionalProperties)) {
    return Object.fromEntries(several.map(() => [random.pick(NAMES), randomValue(random, additionalProperties)]));
  }
  if (!isObject(properties)) return random.pick([scalar(), { a: scalar() }, [scalar()]]);
  const required = schema.required as readonly string[] ?? [];
  const names = Object.keys(properties).filter((name) => required.includes(name) || random.below(3) > 0);
  const unknown = schema["x-kubernetes-preserve-unknown-fields"] === true ? { [random.pick(NAMES)]: scalar() } : {};
  return {
    ...unknown,
    ...Object.fromEntries(names.map((name) => [name, randomValue(random, properties[name] as JsonObject)])),
  };
}
