/**
 * JSON schemas as TypeScript literals, and the types of their values.
 *
 * {@linkcode JsonSchema} has the keywords, and {@linkcode ValueOf} is the type of a schema's values, as you read them.
 * This file has types only: `lower_schema.ts` brings a schema into the form that Kubernetes takes.
 *
 * @module
 */
import type { IntOrString, ListMap, ObjectMeta, OpenEnum } from "../../engine/api/object.ts";

/** The JSON type of a value. */
export type SchemaType = "string" | "integer" | "number" | "boolean" | "object" | "array" | "null";

/** A rule in CEL: an entry of `x-kubernetes-validations`. */
export interface SchemaRule {
  /** The expression, which is true for valid values: `"self.min <= self.max"`. */
  readonly rule: string;
  /** The message if it is not. @default {"failed rule: " and the rule} */
  readonly message?: string;
  /** An expression that computes the message. It falls back to `message`. */
  readonly messageExpression?: string;
  /** The reason in the cause. @default {"FieldValueInvalid"} */
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** The field in the cause, below the rule's place: `".min"`. @default {the rule's place} */
  readonly fieldPath?: string;
  /** `true` if the rule also runs on a create, with `oldSelf` as an optional value. @default {false} */
  readonly optionalOldSelf?: boolean;
}

/** A part of your schema that the CRD lacks, or has in another form. */
export interface SchemaChange {
  /** The path of the field: `"spec.name"`. */
  readonly path: string;
  /** The keyword, or what the library calls it: `"pattern"`, `"trim"`. */
  readonly keyword: string;
  /** A sentence: what was dropped or changed, and what follows for you. */
  readonly reason: string;
}

/**
 * A JSON schema: draft 7 or 2020-12, and the keywords of Kubernetes.
 *
 * `defineKind` brings it into the structural form that CRDs need. A schema without such a form is refused, with its
 * path.
 */
export interface JsonSchema {
  /** The type, or several of which one is `"null"`. */
  readonly type?: SchemaType | readonly SchemaType[];
  /** What the value means. `kubectl explain` shows it. */
  readonly description?: string;
  /** The fields of an object. */
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  /** Names of fields that an object must have. */
  readonly required?: readonly string[];
  /** The schema of values by any name. With `properties`, `false` says what Kubernetes does anyway. */
  readonly additionalProperties?: JsonSchema | boolean;
  /** The schema of an array's elements. */
  readonly items?: JsonSchema;
  /** The only values. */
  readonly enum?: readonly (string | number | boolean | null)[];
  /** The only value. */
  readonly const?: string | number | boolean | null;
  /** The value that the server fills in where there is none. */
  readonly default?: unknown;
  /** `true` if `null` is a value. */
  readonly nullable?: boolean;
  /** A format that the server checks: `"date-time"`, `"duration"`, `"uri"`, `"int32"` and others. */
  readonly format?: string;
  /** A regular expression in RE2, which is part of the text. */
  readonly pattern?: string;
  /** The least number of characters. */
  readonly minLength?: number;
  /** The most characters. Rules need it to bound their cost. */
  readonly maxLength?: number;
  /** The least number. */
  readonly minimum?: number;
  /** The greatest number. */
  readonly maximum?: number;
  /** A number that is too small, or `true` if `minimum` is. */
  readonly exclusiveMinimum?: number | boolean;
  /** A number that is too great, or `true` if `maximum` is. */
  readonly exclusiveMaximum?: number | boolean;
  /** A number that divides the value. */
  readonly multipleOf?: number;
  /** The least number of elements. */
  readonly minItems?: number;
  /** The most elements. Rules need it to bound their cost. */
  readonly maxItems?: number;
  /** `true` if no two elements are equal: for scalars, a list of type set. */
  readonly uniqueItems?: boolean;
  /** The least number of fields. */
  readonly minProperties?: number;
  /** The most fields. Rules need it to bound their cost. */
  readonly maxProperties?: number;
  /** Schemas that all hold. They may have only rules of values. */
  readonly allOf?: readonly JsonSchema[];
  /** Schemas of which one holds. */
  readonly anyOf?: readonly JsonSchema[];
  /** Schemas of which exactly one holds. */
  readonly oneOf?: readonly JsonSchema[];
  /** A schema that does not hold. */
  readonly not?: JsonSchema;
  /** A schema in `$defs`: `"#/$defs/Port"`. It is copied to this place. */
  readonly $ref?: string;
  /** Schemas for `$ref`. */
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  /** Rules in CEL. */
  readonly "x-kubernetes-validations"?: readonly SchemaRule[];
  /** `true` for a number or a text, such as a port: `80` or `"http"`. */
  readonly "x-kubernetes-int-or-string"?: boolean;
  /** `true` if fields that the schema does not name are kept. */
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  /** `true` for a complete Kubernetes object, with `apiVersion`, `kind` and `metadata`. */
  readonly "x-kubernetes-embedded-resource"?: boolean;
  /** How server-side apply merges a list. @default {"atomic"} */
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  /** The fields that identify an element of a list of type map. */
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  /** How server-side apply merges an object. @default {"granular"} */
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  /** The following keywords are dropped. */
  readonly $schema?: string;
  /** Dropped. */
  readonly $id?: string;
  /** Dropped. */
  readonly $comment?: string;
  /** A short name. */
  readonly title?: string;
  /** An example. */
  readonly example?: unknown;
  /** Dropped. */
  readonly examples?: readonly unknown[];
}

/**
 * A schema of a library that implements Standard JSON Schema: zod 4, valibot, arktype.
 *
 * @see https://standardschema.dev
 */
export interface StandardJsonSchema<Input = unknown> {
  /** The members of the standard. */
  readonly "~standard": {
    /** The version of the standard. */
    readonly version: number;
    /** The library's name. */
    readonly vendor: string;
    /** The types of values. Never set. */
    readonly types?: { readonly input: Input } | undefined;
  };
}

/** What a kind's schema says otherwise than the schema that you wrote. */
export interface SchemaChange {
  /** The path of the field: `"spec.tags[]"`. */
  readonly path: string;
  /** The keyword, or the library's name for the check: `"pattern"`, `"refine"`. */
  readonly keyword: string;
  /** What was left out or changed, and why, in sentences for people. */
  readonly reason: string;
}

/** The type of a schema's values, as you read them. */
export type ValueOf<S> = S extends StandardJsonSchema<infer Input> ? ReadonlyValue<Input>
  : Value<S, S extends { readonly $defs: infer Defs } ? Defs : unknown>;

/** Keywords that decide on the type before `type` does. One test finds that a schema has none of them. */
type Deciding =
  | { readonly nullable: true }
  | { readonly const: unknown }
  | { readonly enum: unknown }
  | { readonly "x-kubernetes-int-or-string": true };

interface Scalars {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
}

/**
 * The type of a part of a schema.
 *
 * @internal
 */
export type Value<S, Defs> = S extends Deciding
  ? DecidedValue<S, Defs> | (S extends { readonly nullable: true } ? null : never)
  : S extends ScalarSchema ? Scalars[S["type"]]
  : PlainValue<S, Defs>;

interface ScalarSchema {
  readonly type: keyof Scalars;
}

type DecidedValue<S, Defs> = S extends { readonly enum: readonly (infer Each)[] } ? EnumValue<Each>
  : S extends { readonly "x-kubernetes-int-or-string": true } ? IntOrString
  : S extends { readonly const: infer Only } ? Only
  : PlainValue<S, Defs>;

type PlainValue<S, Defs> = S extends { readonly type: infer Type } ? TypedValue<S, Type, Defs> : UntypedValue<S, Defs>;

type EnumValue<Each> = [Each] extends [string] ? OpenEnum<Each> : EnumWithOthers<Each>;

type EnumWithOthers<Each> = Each extends string ? OpenEnum<Each> : Each;

type TypedValue<S, Type, Defs> = Type extends keyof Scalars ? Scalars[Type]
  : Type extends "array" ? ArrayValue<S, Defs>
  : Type extends readonly (infer Each)[] ? TypedValue<S, Each, Defs>
  : ObjectValue<S, Defs>;

type UntypedValue<S, Defs> = S extends { readonly properties: unknown } ? ObjectValue<S, Defs>
  : S extends { readonly $ref: `#/$defs/${infer Name}` } ? (Name extends keyof Defs ? Value<Defs[Name], Defs> : unknown)
  : S extends { readonly anyOf: readonly (infer Part)[] } ? Value<Part, Defs>
  : S extends { readonly oneOf: readonly (infer Part)[] } ? Value<Part, Defs>
  : unknown;

type ArrayValue<S, Defs> = S extends { readonly items: infer Items }
  ? S extends { readonly "x-kubernetes-list-map-keys": readonly (infer Key)[] }
    ? ListMap<Value<Items, Defs>, Extract<Key, keyof Value<Items, Defs>>>
  : readonly Value<Items, Defs>[]
  : readonly unknown[];

type ObjectValue<S, Defs> = S extends { readonly "x-kubernetes-embedded-resource": true }
  ? EmbeddedObject & OpenValue<S, Defs>
  : S extends { readonly "x-kubernetes-preserve-unknown-fields": true } ? OpenValue<S, Defs>
  : S extends { readonly properties: infer Fields }
  // There is no name for this type, whose instances would be compared by their parameters: that takes too long.
    ? S extends { readonly required: readonly (infer Name)[] } ?
        & { readonly [Each in Extract<keyof Fields, Name>]: Value<Fields[Each], Defs> }
        & { readonly [Each in Exclude<keyof Fields, Name>]?: Value<Fields[Each], Defs> }
    : { readonly [Each in keyof Fields]?: Value<Fields[Each], Defs> }
  : S extends { readonly additionalProperties: infer Values }
    ? { readonly [name: string]: Values extends true ? unknown : Value<Values, Defs> }
  : { readonly [name: string]: unknown };

/** An object that may have other fields. */
type OpenValue<S, Defs> =
  & { readonly [name: string]: unknown }
  & (S extends { readonly properties: unknown } ? ObjectValue<Pick<S, "properties" | ("required" & keyof S)>, Defs>
    : unknown);

/** A complete object inside another object. */
export interface EmbeddedObject {
  /** Group and version. */
  readonly apiVersion: string;
  /** The kind. */
  readonly kind: string;
  /** The metadata, of which nothing is promised. */
  readonly metadata?: Partial<ObjectMeta>;
}

/**
 * A value of a library's type, as it is cached: read-only at any depth.
 *
 * @internal
 */
export type ReadonlyValue<T> = T extends string | number | boolean | null | undefined ? T
  : T extends readonly (infer Item)[] ? readonly ReadonlyValue<Item>[]
  : unknown extends T ? T
  : { readonly [Name in keyof T]: ReadonlyValue<T[Name]> };
