/**
 * The types of built-in kinds, of two sources: OpenAPI documents of a server, and Go packages of the same version.
 *
 * Names are those of OpenAPI: `"io.k8s.api.core.v1.PodSpec"`.
 *
 * @module
 */
import { type GoField, GoModules } from "./go_types.ts";
import { moduleId, type OpenApiDocument } from "./open_api.ts";

/** A part of an OpenAPI document. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly allOf?: readonly SchemaNode[];
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode;
  readonly items?: SchemaNode;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-group-version-kind"?: readonly { group: string; version: string; kind: string }[];
}

/** A field, as both sources have it. */
export interface TypeField {
  /** The type that has the field: the embedded one of a field that is embedded. */
  readonly owner: string;
  readonly go: GoField;
  readonly node: SchemaNode;
}

const APIS = "io.k8s.apimachinery.pkg";

/** Types that are read as one value. */
export const SCALARS: Readonly<Record<string, string>> = {
  [`${APIS}.apis.meta.v1.Time`]: "time",
  [`${APIS}.apis.meta.v1.MicroTime`]: "microTime",
  [`${APIS}.apis.meta.v1.FieldsV1`]: "any",
  [`${APIS}.api.resource.Quantity`]: "quantity",
  [`${APIS}.util.intstr.IntOrString`]: "intOrString",
  [`${APIS}.runtime.RawExtension`]: "any atomic",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "any",
};

/** Types of metadata and of bodies that are no kind of a group. */
export const BODIES: readonly string[] = ["ObjectMeta", "ListMeta", "DeleteOptions", "Status"]
  .map((name) => `${APIS}.apis.meta.v1.${name}`);

/** The modules of Go by the beginnings of the names. */
const MODULES: Readonly<Record<string, string>> = {
  "io.k8s.api": "k8s.io/api",
  "io.k8s.apimachinery": "k8s.io/apimachinery",
  "io.k8s.apiextensions-apiserver": "k8s.io/apiextensions-apiserver",
  "io.k8s.kube-aggregator": "k8s.io/kube-aggregator",
};

/** The types of a server. */
export class BuiltInTypes {
  /** The schemas by name. */
  readonly schemas: ReadonlyMap<string, SchemaNode>;
  readonly #go: GoModules;

  private constructor(schemas: ReadonlyMap<string, SchemaNode>, go: GoModules) {
    this.schemas = schemas;
    this.#go = go;
  }

  /** Reads the documents of a server, and the Go packages of its version. */
  static async read(gitVersion: string, documents: readonly OpenApiDocument[]): Promise<BuiltInTypes> {
    const schemas = new Map<string, SchemaNode>();
    for (const { content } of documents) {
      const found = (content as { components: { schemas: Record<string, SchemaNode> } }).components.schemas;
      for (const [name, schema] of Object.entries(found)) schemas.set(name, schema);
    }
    return new BuiltInTypes(schemas, await GoModules.download(gitVersion, Object.values(MODULES)));
  }

  /** Returns the name of a kind. */
  kind(apiVersion: string, kind: string): string | undefined {
    for (const [name, { "x-kubernetes-group-version-kind": kinds = [] }] of this.schemas) {
      if (kinds.length === 1 && apiVersionOf(kinds[0]) === apiVersion && kinds[0].kind === kind) return name;
    }
  }

  /** Returns the fields that Go has, embedded types among them. */
  goFields(name: string): readonly GoField[] {
    return this.#go.fieldsOf(packageOf(name), typeOf(name));
  }

  /** Returns the fields that both have, in Go's order, those of embedded types in place of these. */
  fields(name: string, node: SchemaNode = this.schemas.get(name)!): TypeField[] {
    return this.goFields(name).flatMap((go) => {
      if (go.embeds !== undefined) {
        return go.embeds.endsWith(".TypeMeta") ? [] : this.fields(openApiName(go.embeds), node);
      }
      const property = node.properties?.[go.name];
      return property === undefined ? [] : [{ owner: name, go, node: property }];
    });
  }
}

/** Returns the name of the type of a field; undefined if it is none with a name. */
export function targetOf({ $ref, allOf }: SchemaNode): string | undefined {
  return ($ref ?? allOf?.[0].$ref)?.slice("#/components/schemas/".length);
}

/** `"io.k8s.api.core.v1.PodSpec"`: `"io.k8s.api.core.v1"`. */
export function packageName(name: string): string {
  return name.slice(0, name.lastIndexOf("."));
}

/** `"io.k8s.api.core.v1.PodSpec"`: `"PodSpec"`. */
export function typeOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** `"io.k8s.api.core.v1.PodSpec"`: `"core/v1"`. */
export function idOf(name: string): string {
  const [group, version] = packageName(name).split(".").slice(-2);
  return moduleId({ group, version });
}

/** `"k8s.io/api/core/v1.PodSpec"`: `"io.k8s.api.core.v1.PodSpec"`. */
export function openApiName(goName: string): string {
  return `io.k8s.${goName.slice("k8s.io/".length).replaceAll("/", ".")}`;
}

/** `"io.k8s.api.core.v1.PodSpec"`: `"k8s.io/api/core/v1"`. */
function packageOf(name: string): string {
  const prefix = Object.keys(MODULES).find((it) => name.startsWith(`${it}.`));
  if (prefix === undefined) throw new Error(`Cannot write the schema of ${name}: the Go module of it is not known`);
  return `${MODULES[prefix]}${packageName(name).slice(prefix.length).replaceAll(".", "/")}`;
}

/** `"v1"`, `"apps/v1"`. */
export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}
