/**
 * Generation of TypeScript from the descriptions that a server has of its kinds.
 *
 * A reader turns documents into a model: {@linkcode readOpenApi} reads those of `/openapi/v3`, of built-in kinds, and
 * {@linkcode readCrds} the definitions of custom ones. The emitter, `emitModule`, turns a model into the text of a
 * module. The model knows neither schemas nor TypeScript. This folder neither sends requests nor reads files, and runs
 * wherever web standards are.
 *
 * @module
 */

/** The type of a value. */
export type TypeModel =
  | {
    /** Any text, number, or boolean; `"unknown"` is any value at all. */
    readonly type: "string" | "number" | "boolean" | "unknown";
  }
  | {
    /** A type that the package defines: {@linkcode SharedTypeName}. */
    readonly type: "shared";
    readonly name: SharedTypeName;
  }
  | {
    /** One of several texts. Later versions of the server may have more. */
    readonly type: "enum";
    /** The texts, at least one. */
    readonly values: readonly string[];
  }
  | {
    readonly type: "list";
    readonly items: TypeModel;
  }
  | {
    /** A list whose items are identified by some of their fields. */
    readonly type: "listMap";
    /** The type of its items, which has these fields. */
    readonly items: TypeModel;
    /** Names of the fields, at least one. */
    readonly keys: readonly string[];
  }
  | {
    /** Values by names that are not known beforehand. */
    readonly type: "map";
    readonly values: TypeModel;
  }
  | ObjectModel
  | {
    /** A named type: of this module, or of another one. */
    readonly type: "ref";
    /** Its name, which {@linkcode TypeDefinition} has too. */
    readonly name: string;
    /** The module that defines it, as {@linkcode moduleId} writes it; absent for the module of the reference. */
    readonly module?: string;
  }
  | {
    /** A value, or `null`. */
    readonly type: "nullable";
    /** The type of the value. */
    readonly of: TypeModel;
  };

/** Values by names that are known. */
export interface ObjectModel {
  /** Discriminates the types. */
  readonly type: "object";
  /** The fields, by name in ascending order. */
  readonly fields: readonly FieldModel[];
  /** True if it may have other fields too (`x-kubernetes-preserve-unknown-fields`). */
  readonly open: boolean;
}

/** A field of an object. */
export interface FieldModel {
  /** The name in JSON: any text. */
  readonly name: string;
  /** The type of its values. */
  readonly type: TypeModel;
  /** True if it must be written, and is therefore there when it is read. */
  readonly required: boolean;
  /** Paragraphs of its description; may be empty. */
  readonly doc: readonly string[];
}

/**
 * Types that are written by hand, in `src/api`. `"EmbeddedMeta"` is metadata inside another object, such as a template,
 * of which nothing is promised.
 */
export type SharedTypeName =
  | "EmbeddedMeta"
  | "IntOrString"
  | "ManagedFieldsEntry"
  | "MicroTime"
  | "OwnerReference"
  | "Quantity"
  | "Time";

/** A named type of a module. */
export interface TypeDefinition {
  /** The name: an identifier, unique in its module, kinds included. */
  readonly name: string;
  /** Paragraphs of its description; may be empty. */
  readonly doc: readonly string[];
  /** Its fields. */
  readonly type: ObjectModel;
}

/** A kind: a named type of objects with metadata, and their place on the server. */
export interface KindModel extends TypeDefinition {
  /** The kind in JSON; mostly equal to the name. */
  readonly kind: string;
  /** The resource that has the objects. */
  readonly resource: {
    /** API group, `""` for the core group. */
    readonly group: string;
    /** API version, `"v1"`. */
    readonly version: string;
    /** The name in paths: `"pods"`. */
    readonly plural: string;
    /** `"Namespaced"` if each object has a namespace. */
    readonly scope: "Namespaced" | "Cluster";
    /** Short names: `["po"]`. */
    readonly shortNames: readonly string[];
  };
  /** True if the server stores objects; false for those that it only answers, such as reviews. */
  readonly stored: boolean;
}

export interface ModuleContent {
  /** The kinds, by name in ascending order. */
  readonly kinds: readonly KindModel[];
  /** The other types, by name in ascending order. */
  readonly types: readonly TypeDefinition[];
}

/** The kinds and types of one version of one group. */
export interface ModuleModel extends ModuleContent {
  /** API group, `""` for the core group. */
  readonly group: string;
  /** API version, `"v1"`. */
  readonly version: string;
}

/** Returns the id of a module: the first label of its group and the version, `"apps/v1"`, `"core/v1"`. */
export function moduleId({ group, version }: { readonly group: string; readonly version: string }): string {
  return `${group === "" ? "core" : group.split(".")[0]}/${version}`;
}

/** A document that cannot be turned into types. The message begins with the path of the part that is wrong. */
export class SchemaError extends Error {
  /** The name of the class. */
  override readonly name = "SchemaError";
  /** The document and the JSON pointer in it: `"apis/apps/v1#/components/schemas/Deployment"`. */
  readonly path: string;

  /** Creates an error: `path`, what was found there, and perhaps its cause. */
  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`Cannot generate types of "${path}": ${problem}`, options);
    this.path = path;
  }
}

/** Words that cannot name a type or a constant, and names that modules use with their usual meaning. */
const TAKEN: ReadonlySet<string> = new Set(
  ("any arguments as asserts async await bigint boolean break case catch class const continue debugger declare default " +
    "delete do else enum eval export extends false finally for from function get global if implements import in infer " +
    "instanceof interface intrinsic is keyof let module namespace never new null number object of out package private " +
    "protected public readonly require return satisfies set static string super switch symbol this throw true try type " +
    "typeof undefined unique unknown using var void while with yield " +
    "Readonly ReadonlyArray Record Partial Resource KubernetesObject ObjectMeta ListMap OpenEnum EphemeralObject " +
    "EmbeddedMeta IntOrString ManagedFieldsEntry MicroTime OwnerReference Quantity Time defineResource " +
    "Infinity NaN Object __proto__").split(" "),
);

/**
 * Returns a name for a type: `text` itself if it is an identifier, else similar to it. `used` are the names that the
 * module has already, and only grow; a name that exists gets a number.
 */
export function identifierOf(text: string, used: { has(name: string): boolean }): string {
  const plain = text.replace(/[^\w$]+/g, "_");
  const start = /^[A-Za-z_$]/.test(plain) ? plain : `_${plain}`;
  const base = TAKEN.has(start) ? `${start}_` : start;
  if (!used.has(base)) return base;
  const numbers = NUMBERS.get(used) ?? new Map<string, number>();
  NUMBERS.set(used, numbers);
  let number = numbers.get(base) ?? 2;
  while (used.has(`${base}${number}`)) number++;
  numbers.set(base, number);
  return `${base}${number}`;
}

/** The number from which each name is tried: thousands of names that become one are not tried from 2 each time. */
const NUMBERS = new WeakMap<object, Map<string, number>>();
