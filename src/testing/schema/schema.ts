/**
 * Schemas of kinds: the types of fields, how they are merged, and what is filled in.
 *
 * Built-in kinds have generated schemas, and custom kinds those of their definitions; both are read as
 * {@linkcode Schema}. One walker for each question uses them: patches, apply and managedFields, defaults, validation,
 * protobuf and `kubectl explain`.
 *
 * @module
 */

import type { Json, JsonObject } from "../wire/json.ts";

/** The type of a value that has no members. */
export type ScalarType =
  | "string"
  | "int32"
  | "int64"
  | "number"
  | "boolean"
  | "bytes"
  | "time"
  | "microTime"
  | "quantity"
  | "intOrString"
  /** Any JSON: RawExtension, FieldsV1, JSONSchemaProps' default, a custom kind's unknown fields. */
  | "any";

/** The type of a value. */
export type Schema = ScalarSchema | Struct | MapOf | ListOf;

/** A value without members, or one that is not looked into. */
export interface ScalarSchema {
  readonly type: ScalarType;
  /** True for a value of type `"any"` that an apply owns as one field: RawExtension. */
  readonly atomic?: boolean;
  /** For `"any"`: the fields of which JSON shows one, where protobuf has a message of them (JSONSchemaPropsOrBool). */
  readonly union?: Struct;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** An object with named fields. */
export interface Struct {
  readonly type: "struct";
  /** Group's Go package, version and type: `"core/v1.PodSpec"`; `""` in custom kinds. */
  readonly name: string;
  /** The fields by name, in the order of Go's JSON; those of embedded structs are among them. */
  readonly fields: ReadonlyMap<string, Field>;
  /** True if an apply owns it as one field. */
  readonly atomic: boolean;
  /** True if a strategic merge knows `$retainKeys` for it, and clears other members of a union. */
  readonly retainKeys: boolean;
  /** True if unknown fields are kept: `x-kubernetes-preserve-unknown-fields`. */
  readonly open: boolean;
  /** True if it is an object with apiVersion, kind and metadata: `x-kubernetes-embedded-resource`. */
  readonly embedded: boolean;
  /** The messages of protobuf that are embedded, by number, for the codec. */
  readonly inlined: ReadonlyMap<number, Struct>;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** An object with any keys. */
export interface MapOf {
  readonly type: "map";
  /** The type of the values. */
  readonly values: Schema;
  /** True if an apply owns it as one field. */
  readonly atomic: boolean;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** A list. */
export interface ListOf {
  readonly type: "list";
  /** The type of the elements. */
  readonly items: Schema;
  /** The way an apply merges it. */
  readonly list: "atomic" | "set" | "map";
  /** The keys of a list of type map: `["containerPort", "protocol"]`. */
  readonly keys: readonly string[];
  /** The way a strategic merge changes it: by elements of this key, as a set (`""`), or as one value (undefined). */
  readonly mergeKey: string | undefined;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** A field of a struct. */
export interface Field {
  /** Its name in JSON. */
  readonly name: string;
  /** Its type. Read at its first use, since types may contain themselves. */
  readonly schema: Schema;
  /** Its number in protobuf; 0 for custom kinds, and for fields of {@linkcode Struct.inlined}. */
  readonly number: number;
  /** True if Go has a pointer for it, so that a zero value is kept. Always true for custom kinds. */
  readonly pointer: boolean;
  /** True if Go leaves it out of JSON where it is absent or, being no pointer, zero; structs are never zero to it. */
  readonly omitEmpty: boolean;
  /** True if the schema requires it. */
  readonly required: boolean;
  /** True if null is a value: custom kinds. */
  readonly nullable: boolean;
  /**
   * The value that the server fills in where it is absent or, being no pointer, zero; undefined for nothing. A struct
   * that is no pointer is always there in Go: the defaults of its fields apply where it is absent, too.
   */
  readonly default: Json | undefined;
  /** The values that are allowed; empty for any. */
  readonly allowed: readonly string[];
}
