/**
 * The CEL types of structural schemas: what a rule may read, how large it can be, and its values.
 *
 * {@linkcode Declarations} is the entry point. Values are converted when a rule reads them. This file knows no rules.
 *
 * @module
 */
import type { Environment } from "@marcbachmann/cel-js";
import { isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { objectOr, textOf, textsOf } from "../../../engine/api/members.ts";
import { oncePer } from "../values/object_schema.ts";

/** The bytes that a request may have. They bound what has no limit in the schema. */
export const REQUEST_BYTES: number = 3 * 1024 * 1024;

/** The CEL type of a schema. */
export interface Declared {
  /** The name of the type, as the CEL library knows it. */
  readonly type: string;
  /** The largest size: items, members, or bytes of a text. 0 for values without a size, and for objects. */
  readonly most: number;
  /** The least bytes of a value in JSON. */
  readonly least: number;
  /** The fields of an object by their escaped names. */
  readonly fields?: ReadonlyMap<string, Declared>;
  /** The type of list items or map values. */
  readonly element?: Declared;
  /** The limit that its schema lacks, with its place: `"maxItems of spec.tags"`. */
  readonly missing?: string;
  /** Converts a value that is not null. */
  of(value: Json): unknown;
}

/** A list in a rule, with its schema: the list type decides when two lists are equal. */
export const LIST_SCHEMAS: WeakMap<object, JsonObject> = new WeakMap();

/** The member of an object in a rule that holds its JSON. */
export const RAW: unique symbol = Symbol("raw");

/** An object in a rule. Each object schema has a subclass with getters for its fields. */
export class RuleObject {
  /** The object as JSON. */
  readonly [RAW]: JsonObject;

  /** Wraps an object. */
  constructor(raw: JsonObject) {
    this[RAW] = raw;
  }
}

/** Words that are no names in CEL. As fields they are written with `__` around them. */
export const RESERVED: ReadonlySet<string> = new Set(
  ("true false null in as break const continue else for function if import let loop package namespace return var " +
    "void while").split(" "),
);
const ESCAPES: Readonly<Record<string, string>> = {
  "__": "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** Returns the name of a field in rules; undefined if rules cannot name the field. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  return /^[A-Za-z_.\-/][\w.\-/]*$/.test(name) ? name.replace(/__|[.\-/]/g, (part) => ESCAPES[part]) : undefined;
}

/** Returns a schema with the fields of metadata that rules can read in each Kubernetes object. */
export function withMetadata(schema: JsonObject): JsonObject {
  const properties = objectOr(schema.properties);
  const metadata = objectOr(objectOr(properties.metadata).properties);
  const name = (field: string, most: number): JsonObject => {
    const { maxLength } = objectOr(metadata[field]);
    return { type: "string", maxLength: typeof maxLength === "number" ? Math.min(maxLength, most) : most };
  };
  const own = { name: name("name", 253), generateName: name("generateName", 252) };
  const text = { type: "string" };
  return {
    ...schema,
    properties: { ...properties, apiVersion: text, kind: text, metadata: { type: "object", properties: own } },
  };
}

/** Declares the types of schemas in one environment. */
export class Declarations {
  readonly #environment: Environment;
  #count = 0;
  #checks = 0;

  /** Registers the objects' types in `environment`. */
  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /**
   * Returns the type of a schema; undefined if rules cannot read its values. `at` names its place, and `isResource` is
   * true for the root and for embedded objects.
   */
  of(
    schema: JsonObject,
    at = "self",
    isResource = schema["x-kubernetes-embedded-resource"] === true,
  ): Declared | undefined {
    const lacking = (name: string): string | undefined => schema[name] === undefined ? `${name} of ${at}` : undefined;
    const most = (name: string): number | undefined =>
      typeof schema[name] === "number" ? Math.max(0, schema[name]) : undefined;
    const length = most("maxLength");
    if (schema["x-kubernetes-int-or-string"] === true) {
      const bytes = length === undefined ? REQUEST_BYTES - 2 : length * 4;
      return { type: "dyn", most: bytes, least: 1, of: dynamic, missing: lacking("maxLength") };
    }
    switch (textOf(schema.type)) {
      case "boolean":
        return { type: "bool", most: 0, least: 4, of: (value) => value };
      case "integer":
        return { type: "int", most: 0, least: 1, of: dynamic };
      case "number":
        return { type: "double", most: 0, least: 1, of: (value) => value };
      case "string":
        return this.#text(schema, length, lacking("maxLength"));
      case "array": {
        const element = isObject(schema.items) ? this.of(schema.items, `${at}[]`) : undefined;
        if (element === undefined) return undefined;
        const items = most("maxItems") ?? Math.floor((REQUEST_BYTES - 2) / (element.least + 1));
        const convert = this.#once((list: readonly Json[]) => {
          const items = list.map((item) => itemOf(element, item));
          LIST_SCHEMAS.set(items, schema);
          return items;
        });
        const of = (value: Json): unknown => isList(value) ? convert(value) : value;
        const type = `list<${typeIn(schema.items, element)}>`;
        return { type, most: items, least: 2, element, of, missing: lacking("maxItems") };
      }
      case "object": {
        const { additionalProperties } = schema;
        if (!isObject(additionalProperties)) return this.#object(isResource ? withMetadata(schema) : schema, at);
        const element = this.of(additionalProperties, `${at}[*]`);
        if (element === undefined) return undefined;
        const members = most("maxProperties") ?? Math.floor((REQUEST_BYTES - 2) / (element.least + 6));
        const missing = lacking("maxProperties");
        const convert = this.#once((map: JsonObject) =>
          new Map(Object.entries(map).map(([key, value]) => [key, itemOf(element, value)]))
        );
        const of = (value: Json): unknown => isObject(value) ? convert(value) : value;
        const type = `map<string, ${typeIn(additionalProperties, element)}>`;
        return { type, most: members, least: 2, element, of, missing };
      }
    }
    return undefined;
  }

  /** Forgets converted values: the next check may be about the same objects with other members. */
  forget(): void {
    this.#checks++;
  }

  /** Returns a function that converts each value once in a check. */
  #once<Key extends object, Value>(convert: (value: Key) => Value): (value: Key) => Value {
    let [check, of] = [this.#checks, oncePer(convert)];
    return (value) => {
      if (check !== this.#checks) [check, of] = [this.#checks, oncePer(convert)];
      return of(value);
    };
  }

  #text(schema: JsonObject, length: number | undefined, missing: string | undefined): Declared {
    switch (schema.format) {
      case "byte": {
        const of = (value: Json): unknown => Uint8Array.from(atob(textOf(value)), (c) => c.charCodeAt(0));
        return { type: "bytes", most: length ?? REQUEST_BYTES - 2, least: 2, of };
      }
      case "duration": {
        const of = (value: Json): unknown => this.#environment.evaluate(`duration(${JSON.stringify(value)})`);
        return { type: "google.protobuf.Duration", most: 32, least: 3, of };
      }
      case "date":
        return { type: "google.protobuf.Timestamp", most: 12, least: 12, of: (value) => new Date(textOf(value)) };
      case "date-time":
        return { type: "google.protobuf.Timestamp", most: 32, least: 21, of: (value) => new Date(textOf(value)) };
    }
    const values = textsOf(schema.enum).map((value) => new TextEncoder().encode(textOf(value)).length);
    const most = length !== undefined ? length * 4 : values.length > 0 ? Math.max(...values) : REQUEST_BYTES - 2;
    return { type: "string", most, least: 2, of: (value) => value, missing: values.length > 0 ? undefined : missing };
  }

  #object(schema: JsonObject, at: string): Declared {
    const fields = new Map<string, Declared>();
    const required = textsOf(schema.required);
    let least = 2;
    const Own = class extends RuleObject {};
    for (const [name, value] of Object.entries(objectOr(schema.properties))) {
      const own = objectOr(value);
      const field = this.of(own, `${at}.${name}`);
      if (field === undefined) continue;
      if (required.includes(name) && own.default === undefined) least += name.length + field.least + 4;
      const escaped = escapeName(name);
      if (escaped === undefined || escaped === "constructor") continue;
      fields.set(escaped, field);
      const get = function (this: RuleObject): unknown {
        const member = Object.hasOwn(this[RAW], name) ? this[RAW][name] : undefined;
        return member === undefined || member === null ? undefined : field.of(member);
      };
      Object.defineProperty(Own.prototype, escaped, { get });
    }
    const type = `Object${this.#count++}`;
    const types = Object.fromEntries([...fields].map(([name, field]) => [name, field.type]));
    this.#environment.registerType(type, { ctor: Own, fields: types });
    return { type, most: 0, least, fields, of: this.#once((value: JsonObject) => new Own(value)) as Declared["of"] };
  }
}

function dynamic(value: Json): unknown {
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
}

/** Converts a value without a schema: members and items, too. */
export function anyValue(value: Json): unknown {
  if (isList(value)) return value.map(anyValue);
  if (!isObject(value)) return dynamic(value);
  return new Map(Object.entries(value).map(([name, member]) => [name, anyValue(member ?? null)]));
}

/** The type of an element in a list or map, which can be null. In an object, a field that is null is absent. */
const typeIn = (schema: Json | undefined, { type }: Declared): string =>
  objectOr(schema).nullable === true ? "dyn" : type;

const itemOf = (element: Declared, item: Json | undefined): unknown => item === null ? null : element.of(item!);
