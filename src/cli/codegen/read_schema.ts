/**
 * Reads the schemas of kinds into a model of types.
 *
 * {@linkcode readObject} and {@linkcode readKind} are the entry points. `read_documents.ts` reads the documents around
 * the schemas, and `emitModule` turns the model into the text of a module. It neither sends requests nor reads files,
 * and runs wherever web standards are.
 *
 * @module
 */
import { isObject } from "../../engine/api/json.ts";
import { memberAt } from "../../engine/api/members.ts";

/** The type of a value. */
export type TypeModel =
  /** Any text, number, or boolean; `"unknown"` is any value at all. */
  | { readonly type: "string" | "number" | "boolean" | "unknown" }
  /** A type that the package defines. */
  | { readonly type: "shared"; readonly name: SharedTypeName }
  /** One of several texts, at least one. Later versions of the server may have more. */
  | { readonly type: "enum"; readonly values: readonly string[] }
  | { readonly type: "list"; readonly items: TypeModel }
  /** A list whose items are identified by `keys`: fields that they have, at least one. */
  | { readonly type: "listMap"; readonly items: TypeModel; readonly keys: readonly string[] }
  /** Values by names that are not known beforehand. */
  | { readonly type: "map"; readonly values: TypeModel }
  | ObjectModel
  /** A named type, see {@linkcode TypeDefinition}. `module` defines it, such as `"apps/v1"`, if it is not this one. */
  | { readonly type: "ref"; readonly name: string; readonly module?: string }
  /** A value of the type `of`, or `null`. */
  | { readonly type: "nullable"; readonly of: TypeModel };

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
 * Types that are written by hand, in `src/engine/api`. `"EmbeddedMeta"` is metadata inside another object, such as a
 * template, of which nothing is promised.
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
    /** The groups of resources that it belongs to: `["all"]`. */
    readonly categories: readonly string[];
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

/** A document that cannot be turned into types. The message begins with the path of the part that is wrong. */
export class DocumentError extends Error {
  /** The name of the class. */
  override readonly name = "DocumentError";
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
    "Readonly ReadonlyArray Record Partial Resource ClusterScopedObject NamespacedObject ObjectMeta ListMap OpenEnum EphemeralObject " +
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

/** An object of a JSON document. */
export type DocumentObject = Readonly<Record<string, unknown>>;

/** A value in a document, and its path there. */
export interface DocumentPart {
  readonly value: unknown;
  /** The document and the JSON pointer in it. */
  readonly path: string;
}

/** Returns the value as an object. @throws {DocumentError} when it is none. */
export function objectAt({ value, path }: DocumentPart): DocumentObject {
  if (!isObject(value)) throw new DocumentError(path, `it must be an object, but it is ${shown(value)}`);
  return value;
}

/** Returns the path of a part. */
export function pathTo(path: string, ...names: readonly (string | number)[]): string {
  return names.reduce<string>((to, name) => `${to}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`, path);
}

/** Returns a member of an object, which may be missing. @throws {DocumentError} when there is no object. */
export function part<P extends DocumentPart>(of: P, name: string): P {
  return { ...of, value: memberAt(objectAt(of), name), path: pathTo(of.path, name) };
}

/** Returns the texts of an optional list. @throws {DocumentError} when it is anything else. */
export function textsAt({ value, path }: DocumentPart): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new DocumentError(path, `it must be a list of texts, but it is ${shown(value)}`);
  const wrong = value.findIndex((item) => typeof item !== "string");
  if (wrong !== -1) throw new DocumentError(pathTo(path, wrong), `it must be a text, but it is ${shown(value[wrong])}`);
  return [...new Set(value as string[])];
}

/**
 * Returns an optional text; a description that is missing is empty.
 *
 * @throws {DocumentError} when it is anything else.
 */
export function textAt({ value, path }: DocumentPart): string {
  if (value === undefined) return "";
  if (typeof value !== "string") throw new DocumentError(path, `it must be a text, but it is ${shown(value)}`);
  return value;
}

/** Returns a short form of a value for messages. */
export function shown(value: unknown): string {
  if (value === undefined) return "missing";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The depth of schemas within schemas, references aside, that is read. The deepest one of Kubernetes has 4 levels. */
const MAX_DEPTH = 100;

/** Fields of every kind, whose types are written by hand. */
const OBJECT_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** The decisions that differ between sources of schemas. */
export interface SchemaSource {
  /**
   * Returns the type that a `$ref` refers to, and the schema behind it.
   *
   * @throws {DocumentError} when it refers to nothing.
   */
  resolve(reference: string, path: string): ResolvedReference;
  /** Returns the paragraphs of the description of a field, or of a type. @default {its first sentence} */
  docOf?(schema: DocumentPart): readonly string[];
  /**
   * True if the server fills in `default` before it looks for required fields, so that a field with a default need not
   * be written.
   *
   * @default {false}
   */
  readonly fillsDefaults?: boolean;
}

/** The target of a `$ref`. */
export interface ResolvedReference {
  /** The type, if it has a name; else it is read in place of the reference. */
  readonly type?: TypeModel;
  /** The schema that it refers to. */
  readonly schema: DocumentPart;
  /** The source of that schema, whose references may be those of another document. */
  readonly source: SchemaSource;
}

/** A schema that is read: its place, its source, and the schemas around it. */
interface SchemaContext extends DocumentPart {
  readonly source: SchemaSource;
  readonly around: readonly unknown[];
}

/**
 * Returns the fields of an OpenAPI v3 schema of objects, with Kubernetes' extensions: `x-kubernetes-int-or-string`,
 * `-preserve-unknown-fields`, `-embedded-resource`, `-list-type` and `-list-map-keys`. What only restricts values is
 * left out. An unknown `format` is ignored.
 *
 * @throws {DocumentError} when the schema is malformed, holds itself other than by a named type, or is nested too
 * deeply.
 */
export function readObject(schema: DocumentPart, source: SchemaSource): ObjectModel {
  return fieldsAt({ ...schema, source, around: [schema.value] });
}

/**
 * Returns the fields of a kind's schema without those that every kind has. Nobody but the server needs to write
 * `status`.
 *
 * @throws {DocumentError} as {@linkcode readObject}.
 */
export function readKind(schema: DocumentPart, source: SchemaSource): ObjectModel {
  const { fields, ...rest } = readObject(schema, source);
  const own = fields.filter(({ name }) => !OBJECT_FIELDS.has(name))
    .map((field) => field.name === "status" ? { ...field, required: false } : field);
  return { ...rest, fields: own };
}

/** Returns the first sentence of a schema's description, or nothing if it has none. */
export function summaryOf(schema: DocumentPart): readonly string[] {
  const text = firstSentence(textAt(part(schema, "description")));
  return text === "" ? [] : [text];
}

function typeAt(place: SchemaContext): TypeModel {
  const schema = objectAt(place);
  if (place.around.includes(schema)) {
    throw new DocumentError(place.path, "it refers to itself without an object with fields in between");
  }
  if (place.around.length > MAX_DEPTH) {
    throw new DocumentError(place.path, `it is nested more than ${MAX_DEPTH} levels deep`);
  }
  const inside = { ...place, around: [...place.around, schema] };
  const type = bareType(schema, inside);
  return memberAt(schema, "nullable") === true && type.type !== "nullable" ? { type: "nullable", of: type } : type;
}

function bareType(schema: DocumentObject, place: SchemaContext): TypeModel {
  const reference = memberAt(schema, "$ref");
  if (reference !== undefined) {
    const resolved = place.source.resolve(textAt(part(place, "$ref")), place.path);
    return resolved.type ?? typeAt({ ...resolved.schema, source: resolved.source, around: place.around });
  }
  if (memberAt(schema, "x-kubernetes-int-or-string") === true || memberAt(schema, "format") === "int-or-string") {
    return { type: "shared", name: "IntOrString" };
  }
  if (memberAt(schema, "x-kubernetes-embedded-resource") === true) return embeddedAt(place);
  const type = memberAt(schema, "type");
  switch (type) {
    case undefined:
      return untyped(schema, place);
    case "boolean":
      return { type };
    case "integer":
    case "number":
      return { type: "number" };
    case "string":
      return stringAt(schema, place);
    case "array":
      return listAt(schema, place);
    case "object":
      return objectTypeAt(schema, place);
    default:
      throw new DocumentError(pathTo(place.path, "type"), `${shown(type)} is not a type of JSON schemas`);
  }
}

/** A schema without a type is that of its only `allOf`, of objects if it has properties, else of any value. */
function untyped(schema: DocumentObject, place: SchemaContext): TypeModel {
  if (memberAt(schema, "properties") !== undefined) return objectTypeAt(schema, place);
  const all = memberAt(schema, "allOf");
  if (all === undefined) return { type: "unknown" };
  if (!Array.isArray(all)) {
    throw new DocumentError(pathTo(place.path, "allOf"), `it must be a list, but it is ${shown(all)}`);
  }
  if (all.length === 1) return typeAt({ ...place, value: all[0], path: pathTo(place.path, "allOf", 0) });
  const typed = all.some((one) =>
    isObject(one) && ["$ref", "type", "properties"].some((name) => Object.hasOwn(one, name))
  );
  if (typed) {
    throw new DocumentError(pathTo(place.path, "allOf"), `it joins ${all.length} schemas; only one can be the type`);
  }
  return { type: "unknown" };
}

function stringAt(schema: DocumentObject, place: SchemaContext): TypeModel {
  if (memberAt(schema, "format") === "date-time") return { type: "shared", name: "Time" };
  const { path } = place;
  const values = memberAt(schema, "enum");
  // A nullable enum lists null too.
  const texts = Array.isArray(values) ? values.filter((value) => value !== null) : values;
  const found = textsAt({ value: texts, path: pathTo(path, "enum") });
  return found.length === 0 ? { type: "string" } : { type: "enum", values: found };
}

function listAt(schema: DocumentObject, place: SchemaContext): TypeModel {
  const items: TypeModel = Object.hasOwn(schema, "items") ? typeAt(part(place, "items")) : { type: "unknown" };
  if (memberAt(schema, "x-kubernetes-list-type") !== "map") return { type: "list", items };
  const keysAt = part(place, "x-kubernetes-list-map-keys");
  const keys = textsAt(keysAt);
  if (keys.length === 0) {
    throw new DocumentError(keysAt.path, "a list of type map must name its keys, but it names none");
  }
  if (items.type !== "object" && items.type !== "ref") {
    throw new DocumentError(
      pathTo(place.path, "items"),
      "the items of a list of type map must be objects that are not nullable",
    );
  }
  const fields = fieldNames(part(place, "items"));
  const missing = keys.find((key) => !fields.has(key));
  if (missing !== undefined) {
    throw new DocumentError(keysAt.path, `it names the key ${shown(missing)}, which the items do not have`);
  }
  return { type: "listMap", items, keys };
}

/** Returns the names of the fields of a schema that has been read, wherever its references lead. */
function fieldNames({ value, path, source }: SchemaContext): ReadonlySet<string> {
  const schema = objectAt({ value, path });
  const reference = memberAt(schema, "$ref");
  if (typeof reference === "string") {
    const target = source.resolve(reference, path);
    return fieldNames({ ...target.schema, source: target.source, around: [] });
  }
  const all = memberAt(schema, "allOf");
  const properties = memberAt(schema, "properties");
  if (properties === undefined && Array.isArray(all) && all.length === 1) {
    return fieldNames({ value: all[0], path: pathTo(path, "allOf", 0), source, around: [] });
  }
  return new Set(isObject(properties) ? Object.keys(properties) : []);
}

/** An object within an object. The server refuses it without the two fields that say of which kind it is. */
function embeddedAt(place: SchemaContext): ObjectModel {
  const { fields, open } = fieldsAt(place);
  const identity: FieldModel[] = ["apiVersion", "kind"].map((name) => {
    const own = fields.find((field) => field.name === name);
    const doc = [name === "kind" ? "Kind of the object." : "Group and version of the object."];
    return { name, type: own?.type ?? { type: "string" }, required: true, doc };
  });
  const metadata: FieldModel = {
    name: "metadata",
    type: { type: "shared", name: "EmbeddedMeta" },
    required: fields.some(({ name, required }) => name === "metadata" && required),
    doc: ["Metadata of the object."],
  };
  const others = fields.filter(({ name }) => !OBJECT_FIELDS.has(name));
  return { type: "object", fields: sorted([...others, ...identity, metadata]), open };
}

function objectTypeAt(schema: DocumentObject, place: SchemaContext): TypeModel {
  const properties = memberAt(schema, "properties");
  if (properties !== undefined && !(isObject(properties) && Object.keys(properties).length === 0)) {
    return fieldsAt(place);
  }
  const values = memberAt(schema, "additionalProperties");
  if (isObject(values)) return { type: "map", values: typeAt(part(place, "additionalProperties")) };
  if (values === undefined || typeof values === "boolean") return { type: "map", values: { type: "unknown" } };
  throw new DocumentError(
    pathTo(place.path, "additionalProperties"),
    `it must be a schema or a boolean, but it is ${shown(values)}`,
  );
}

function fieldsAt(place: SchemaContext): ObjectModel {
  const schema = objectAt(place);
  const properties = objectAt({ value: memberAt(schema, "properties") ?? {}, path: pathTo(place.path, "properties") });
  const required = new Set(textsAt(part(place, "required")));
  const fields = Object.keys(properties).map((name): FieldModel => {
    const at = { ...place, value: properties[name], path: pathTo(place.path, "properties", name) };
    const type = typeAt(at);
    const own = docOf(at);
    const target = own.length > 0 ? undefined : targetOf(at);
    return {
      name,
      type,
      required: (required.has(name) && !isFilled(at)) || isNeededSpec(name, at),
      doc: target === undefined ? own : docOf(target),
    };
  });
  const open = memberAt(schema, "x-kubernetes-preserve-unknown-fields") === true;
  return { type: "object", fields: sorted(fields), open };
}

/** Returns true for fields that the server fills in before it looks for them. */
function isFilled({ value, source }: SchemaContext): boolean {
  return source.fillsDefaults === true && Object.hasOwn(value as DocumentObject, "default");
}

/**
 * Kubernetes marks `spec` as optional where it is a struct in Go, which is always there in JSON, and cannot be empty if
 * it has required fields itself: pods have a spec, because they have containers.
 */
function isNeededSpec(name: string, place: SchemaContext): boolean {
  if (name !== "spec" || !isObject(memberAt(objectAt(place), "default"))) return false;
  const target = targetOf(place);
  return target !== undefined && textsAt(part(target, "required")).length > 0;
}

/** Returns the schema that a field's only `allOf` or `$ref` refers to. */
function targetOf(place: SchemaContext): SchemaContext | undefined {
  const schema = objectAt(place);
  const all = memberAt(schema, "allOf");
  const one = Array.isArray(all) && all.length === 1 && isObject(all[0]) ? all[0] : schema;
  const reference = memberAt(one, "$ref");
  if (typeof reference !== "string") return undefined;
  const { schema: target, source } = place.source.resolve(reference, place.path);
  return { ...target, source, around: [] };
}

function docOf(place: SchemaContext): readonly string[] {
  return place.source.docOf?.(place) ?? summaryOf(place);
}

function sorted(fields: readonly FieldModel[]): FieldModel[] {
  return [...fields].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Gives a name to each object with fields that stands inside a kind: that of the kind and of the fields that lead to
 * it, `CronTabSpecJob`. Returns the kind, which refers to these types, and the types.
 *
 * `used` are the names that the module has already; the new ones are added.
 */
export function namedTypes(kind: KindModel, used: Set<string>): ModuleContent {
  const types: TypeDefinition[] = [];
  const fieldsOf = (model: ObjectModel, prefix: string): ObjectModel => ({
    ...model,
    fields: model.fields.map((field) => ({
      ...field,
      type: typeOf(field.type, `${prefix}${capitalized(field.name)}`, field.doc),
    })),
  });
  const typeOf = (model: TypeModel, wanted: string, doc: readonly string[]): TypeModel => {
    switch (model.type) {
      case "list":
      case "listMap":
        return { ...model, items: typeOf(model.items, wanted, doc) };
      case "map":
        return { ...model, values: typeOf(model.values, wanted, doc) };
      case "nullable":
        return { ...model, of: typeOf(model.of, wanted, doc) };
      case "object": {
        if (model.fields.length === 0) return model;
        const name = identifierOf(wanted, used);
        used.add(name);
        types.push({ name, doc, type: fieldsOf(model, name) });
        return { type: "ref", name };
      }
      default:
        return model;
    }
  };
  return { kinds: [{ ...kind, type: fieldsOf(kind.type, kind.name) }], types };
}

/** Returns a text as a part of a name: its words, each with a capital letter. */
export function capitalized(text: string): string {
  return text.split(/[^\w$]+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** Returns the first sentence of a description; all of it if it has no end. */
function firstSentence(description: string): string {
  const text = description.split(/\n\s*\n/, 1)[0].replace(/\s+/g, " ").trim();
  for (const end of text.matchAll(/[.!?](?=\s+[A-Z"'`(\[{]|$)/g)) {
    const sentence = text.slice(0, end.index + 1);
    // Neither "e.g." nor a point in brackets ends a sentence.
    if (!/\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.$/i.test(sentence) && balanced(sentence)) return sentence;
  }
  return text;
}

function balanced(text: string): boolean {
  return (text.match(/[(]/g)?.length ?? 0) <= (text.match(/[)]/g)?.length ?? 0);
}
