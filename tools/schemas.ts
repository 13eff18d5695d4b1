/**
 * Writes the schemas of built-in kinds as texts, which the fake server reads: what OpenAPI says of their fields, and
 * what only the Go types say, such as the numbers of protobuf.
 *
 * A text is a list of types, separated by empty lines. The first line of a type is its name and marks: `kind` if it has
 * apiVersion and kind, `atomic` and `retainKeys` as in {@linkcode Struct}, `union` if JSON is the value of one of its
 * fields. Each other line is a field: name, number in protobuf, type, marks, `=` and the default in JSON.
 *
 * After the name, `!` says that it is required, `-` that its zero value is written. The name of an embedded type's line
 * is `+`. Before the type, `*` is a pointer, `{}` a map and `{atomic}` an atomic one, `[]` an atomic list, `[set]` a
 * set and `[port,protocol]` a list with these keys. Types of other groups are named with group and version. The marks
 * are `atomic` or `granular` for a field that is so though its type is not, `merge=` with the key by which a strategic
 * merge patch changes a list, and `enum=` with values.
 *
 * After `~` is what the `+k8s:` tags of the Go types say of the value: `~maxItems=8`, `~minimum=0`,
 * `~format=subdomain`, and `unique=` with the key of elements that must differ, if they are no texts. A kind's
 * `fixed=` has the paths of the fields that an update cannot change. Tags of stage alpha are not enforced by the
 * server, which has code that says the same, as far as `fixed=` goes; the others end with `!`, and the refusal does
 * not show the value. Tags of list elements, unions and modes are not written, nor those of types that only features
 * need which are off.
 *
 * @module
 */
import {
  apiVersionOf,
  BODIES,
  type BuiltInTypes,
  idOf,
  openApiName,
  packageName,
  SCALARS,
  type SchemaNode,
  targetOf,
  typeOf,
} from "./built_in_types.ts";
import type { GoField } from "./go_types.ts";
import type { OpenApiDocument } from "./open_api.ts";
import type { CodeDefaults } from "./schema_defaults.ts";

/** Types of which JSON shows one field, with their fields: OpenAPI does not have these. */
const UNIONS: Readonly<Record<string, readonly string[]>> = {
  JSONSchemaPropsOrBool: ["allows 1 boolean", "schema 2 *JSONSchemaProps"],
  JSONSchemaPropsOrArray: ["schema 1 *JSONSchemaProps", "jSONSchemas 2 []JSONSchemaProps"],
  JSONSchemaPropsOrStringArray: ["schema 1 *JSONSchemaProps", "property 2 []string"],
};

/** The forms of texts by the formats of tags; others are not written. */
const FORMS: Readonly<Record<string, string>> = {
  "k8s-label-key": "labelKey",
  "k8s-label-value": "labelValue",
  "k8s-long-name": "subdomain",
  "k8s-path-segment-name": "pathSegment",
  "k8s-short-name": "dnsLabel",
};

/** Features that are on by default, of those that tags ask for. */
const FEATURES: readonly string[] = ["HPAScaleToZero"];

/** A tag: its stage, the feature that it asks for, its name and value. */
const TAG = /^(?:(alpha|beta)\([^)]*\)=\+k8s:)?(?:if(Enabled|Disabled)\("?(\w+)"?\)=\+k8s:)?(\w+)(?:="?([\w-]+)"?)?$/;

/** A tag that is read. */
interface Tag {
  /** False for a tag of stage alpha. */
  readonly isEnforced: boolean;
  readonly name: string;
  readonly value: string;
}

/** Reads the tags of a field; those of features hold if the feature is as they ask. */
function tagsOf({ tags }: GoField): Tag[] {
  return tags.flatMap((tag) => {
    const [, stage, condition, feature = "", name, value = ""] = TAG.exec(tag) ?? [];
    const holds = name !== undefined &&
      (condition === undefined || (condition === "Enabled") === FEATURES.includes(feature));
    return holds ? [{ isEnforced: stage !== "alpha", name, value }] : [];
  });
}

/** Returns what the tags of a field say of its value, as a text has it; `""` for nothing. */
function valueTags(field: GoField): string {
  const tags = tagsOf(field).filter(({ isEnforced }) => isEnforced);
  const key = tags.find(({ name }) => name === "listMapKey")?.value ?? "";
  return tags.flatMap(({ name, value }) => {
    if (name === "unique") return [`unique=${key}`];
    if (name === "format") return FORMS[value] === undefined ? [] : [`format=${FORMS[value]}`];
    return /^(?:minimum|max(?:Items|Length|Bytes))$/.test(name) ? [`${name}=${value}`] : [];
  }).join(",");
}

/** What is read of the types. */
type Types = Pick<BuiltInTypes, "schemas" | "goFields" | "fields">;

/** Returns the module of the schemas of the kinds in `documents`, which `types` was read from. */
export function schemaModule(
  gitVersion: string,
  documents: readonly OpenApiDocument[],
  types: Types,
  defaults: CodeDefaults,
): string {
  const versions = new Set(documents.map(({ name }) => name.replace(/^apis?\//, "")));
  const texts = new SchemaWriter(types, defaults).texts(versions);
  const entries = [...texts].map(([id, text]) => `  ${JSON.stringify(id)}: ${template(text)},\n`);
  return `/**
 * The schemas of built-in kinds, by group and version. tools/schemas.ts says how they are written.
 *
 * Generated by \`deno task kinds\` from Kubernetes ${gitVersion}; do not edit. The names are those of Kubernetes,
 * Copyright The Kubernetes Authors, under the Apache License 2.0: see src/engine/kinds/LICENSE.
 *
 * @module
 */
export const SCHEMA_TEXTS: Readonly<Record<string, string>> = {
${entries.join("")}};
`;
}

class SchemaWriter {
  /** The lines of types, by group and version, and by name. */
  readonly #blocks = new Map<string, Map<string, string>>();
  readonly #unwritten: (readonly [name: string, schema: SchemaNode])[] = [];
  readonly #groups = new Map<string, string>();
  readonly #retaining = new Set<string>();

  constructor(readonly types: Types, readonly defaults: CodeDefaults) {}

  texts(versions: ReadonlySet<string>): Map<string, string> {
    for (const [name, schema] of this.types.schemas) {
      const kinds = schema["x-kubernetes-group-version-kind"] ?? [];
      if (kinds.length === 1 && !kinds[0].kind.endsWith("List") && versions.has(apiVersionOf(kinds[0]))) {
        this.#groups.set(idOf(name), apiVersionOf(kinds[0]));
        this.#reference(name);
      }
    }
    for (const name of BODIES) this.#reference(name);
    for (let next = this.#unwritten.pop(); next !== undefined; next = this.#unwritten.pop()) this.#write(...next);
    for (const name of this.#retaining) this.#mark(name, "retainKeys");
    return new Map(
      [...this.#blocks].sort(([a], [b]) => a < b ? -1 : 1).map(([id, blocks]) => [
        id,
        [this.#groups.get(id) ?? id, ...[...blocks.keys()].sort().map((name) => blocks.get(name)!)].join("\n\n"),
      ]),
    );
  }

  #mark(name: string, mark: string): void {
    const blocks = this.#blocks.get(idOf(name))!;
    const [first, ...rest] = blocks.get(typeOf(name))!.split("\n");
    blocks.set(typeOf(name), [`${first} ${mark}`, ...rest].join("\n"));
  }

  /** Returns the name of a type as the text of `from` has it; the type is written, too. */
  #reference(name: string, from?: string, schema: SchemaNode | undefined = this.types.schemas.get(name)): string {
    const id = idOf(name);
    const blocks = this.#blocks.get(id) ?? new Map<string, string>();
    this.#blocks.set(id, blocks);
    if (!blocks.has(typeOf(name))) {
      blocks.set(typeOf(name), "");
      if (schema === undefined) throw new Error(`Cannot write the schema of ${name}: the documents do not have it`);
      this.#unwritten.push([name, schema]);
    }
    return from !== undefined && idOf(from) === id ? typeOf(name) : `${id}.${typeOf(name)}`;
  }

  #write(name: string, schema: SchemaNode): void {
    const type = typeOf(name);
    const union = UNIONS[type];
    const fields = union === undefined ? this.types.goFields(name) : [];
    if (union?.some((line) => line.endsWith("JSONSchemaProps"))) {
      this.#reference(`${packageName(name)}.JSONSchemaProps`);
    }
    const isKind = fields.some(({ embeds }) => embeds?.endsWith(".TypeMeta"));
    const fixed = isKind ? this.#fixed(name) : [];
    const marks = [
      type,
      ...(isKind ? ["kind"] : []),
      ...(fixed.length === 0 ? [] : [`fixed=${fixed.join(",")}`]),
      ...(schema["x-kubernetes-map-type"] === "atomic" ? ["atomic"] : []),
      ...(union === undefined ? [] : ["union"]),
    ];
    const lines = union ?? fields.flatMap((field) => this.#field(name, schema, field));
    this.#blocks.get(idOf(name))!.set(type, [marks.join(" "), ...lines].join("\n"));
  }

  /** Returns the paths that an update cannot change, but those in elements of lists and maps. */
  #fixed(name: string, around: readonly string[] = []): string[] {
    if (SCALARS[name] !== undefined || around.includes(name) || typeOf(name) === "ObjectMeta") return [];
    return this.types.fields(name).flatMap(({ go, node }) => {
      const tags = tagsOf(go);
      if (tags.some((tag) => tag.name === "forbidden")) return []; // Of a feature that is off.
      const immutable = tags.find((tag) => tag.name === "immutable");
      if (immutable !== undefined) return [`${go.name}${immutable.isEnforced ? "!" : ""}`];
      const target = targetOf(node);
      return target === undefined ? [] : this.#fixed(target, [...around, name]).map((path) => `${go.name}.${path}`);
    });
  }

  #field(owner: string, schema: SchemaNode, field: GoField): string[] {
    if (field.embeds !== undefined) {
      if (field.embeds.endsWith(".TypeMeta")) return [];
      const name = openApiName(field.embeds);
      return [`+ ${field.number} ${this.#reference(name, owner, this.types.schemas.get(name) ?? schema)}`];
    }
    const { name, number, pointer, omitEmpty, omitZero } = field;
    const node = schema.properties?.[name];
    if (node === undefined) return []; // A feature that the server has switched off.
    const target = targetOf(node);
    const omits = omitZero || (omitEmpty && (pointer || target === undefined)); // Go's omitempty does not omit structs.
    if (field.patchStrategy.includes("retainKeys")) this.#retaining.add(targetOf(node.items ?? node)!);
    const mapType = target === undefined ? undefined : node["x-kubernetes-map-type"];
    const type = typeOf(owner).replace(/^EphemeralContainerCommon$/, "Container"); // Go casts it, to fill it in.
    const value = this.defaults.get(`${idOf(owner)}.${type} ${name}`) ??
      (isZero(node.default) ? undefined : node.default);
    const tags = this.#groups.has(idOf(owner)) ? valueTags(field) : "";
    const merges = node.type === "array" && field.patchStrategy.includes("merge");
    return [[
      `${name}${schema.required?.includes(name) ? "!" : ""}${omits ? "" : "-"}`,
      number,
      `${pointer ? "*" : ""}${this.#type(node, owner)}`,
      ...(mapType === undefined ? [] : [mapType]),
      ...(merges ? [`merge=${field.patchMergeKey}`] : []),
      ...(node.enum === undefined ? [] : [`enum=${node.enum.join("|")}`]),
      ...(tags === "" ? [] : [`~${tags}`]),
      ...(value === undefined ? [] : [`=${JSON.stringify(value)}`]),
    ].join(" ")];
  }

  #type(node: SchemaNode, owner: string): string {
    const target = targetOf(node);
    if (target !== undefined) return SCALARS[target] ?? this.#reference(target, owner);
    if (node.type === "array") {
      const keys = node["x-kubernetes-list-map-keys"] ?? [];
      const list = node["x-kubernetes-list-type"] ?? "atomic";
      return `[${list === "map" ? keys.join(",") : list === "set" ? "set" : ""}]${this.#type(node.items!, owner)}`;
    }
    if (node.type === "object" && node.additionalProperties !== undefined) {
      const mark = node["x-kubernetes-map-type"] === "atomic" ? "atomic" : "";
      return `{${mark}}${this.#type(node.additionalProperties, owner)}`;
    }
    if (node.type === "string") return node.format === "byte" ? "bytes" : "string";
    if (node.type === "integer") return node.format === "int64" ? "int64" : "int32";
    if (node.type === "number" || node.type === "boolean") return node.type;
    throw new Error(`Cannot write the schema of ${owner}: nothing is known of the type ${JSON.stringify(node)}`);
  }
}

/** Zero values are filled in where Go has no pointer, whatever the documents say. */
function isZero(value: unknown): boolean {
  return value === undefined || value === "" || value === 0 || value === false ||
    (typeof value === "object" && value !== null && Object.keys(value).length === 0 && !Array.isArray(value));
}

/** Returns a text as a template literal. */
export function template(text: string): string {
  return `\`${text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${")}\``;
}
