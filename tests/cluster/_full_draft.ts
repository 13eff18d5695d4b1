/** A schema of OpenAPI, as kube-apiserver writes them. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly "x-kubernetes-group-version-kind"?: readonly Gvk[];
}

/** A kind, and the version of the group that it is in. */
interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The schemas of one version of one group. */
export class Schemas {
  readonly #byName: Readonly<Record<string, Schema>>;

  /** Reads a document of `/openapi/v3`. */
  constructor(document: { readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> } }) {
    this.#byName = document.components?.schemas ?? {};
  }

  /** Returns the schema of a kind. */
  ofKind({ group, version, kind }: Gvk): Schema {
    const found = Object.values(this.#byName).find((schema) =>
      schema["x-kubernetes-group-version-kind"]?.some((gvk) =>
        gvk.group === group && gvk.version === version && gvk.kind === kind
      )
    );
    if (found === undefined) throw new Error(`Cannot find a schema of ${group}/${version} ${kind}`);
    return found;
  }

  /** Follows references; the name is that of the type, without its package, or empty. */
  resolve(schema: Schema): { readonly name: string; readonly schema: Schema } {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (ref === undefined) return { name: "", schema };
    const path = ref.slice(ref.lastIndexOf("/") + 1);
    return { name: path.slice(path.lastIndexOf(".") + 1), schema: this.#byName[path] };
  }
}

/** Fields of metadata that a writer sets. The others are the server's, or of no use in a request to create. */
const WRITTEN_METADATA = [
  "name",
  "generateName",
  "namespace",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
];

/** Values of types whose schema does not describe their form. */
const VALUES: Readonly<Record<string, unknown>> = {
  Quantity: "1",
  IntOrString: 1,
  Time: "2026-01-02T03:04:05Z",
  MicroTime: "2026-01-02T03:04:05.000000Z",
  JSON: { any: ["value"] },
  RawExtension: { any: ["value"] },
  CustomResourceSubresourceStatus: {},
  JSONSchemaPropsOrArray: { type: "string" },
  JSONSchemaPropsOrBool: true,
  JSONSchemaPropsOrStringArray: ["x"],
};

/**
 * Returns an object of a kind with every field that a writer can set, each with some value of its type. A type within
 * itself is left out the second time.
 */
export function fullDraft(schemas: Schemas, { group, version, kind }: Gvk): Record<string, unknown> {
  const { properties = {} } = schemas.ofKind({ group, version, kind });
  const fields = Object.entries(properties)
    .filter(([name]) => name !== "status" && name !== "apiVersion" && name !== "kind")
    .map(([name, schema]) => [name, valueOf(schemas, schema, [])] as const);
  return { apiVersion: group === "" ? version : `${group}/${version}`, kind, ...Object.fromEntries(fields) };
}

/** A value of a type, or nothing for a type that is in itself. */
function valueOf(schemas: Schemas, given: Schema, above: readonly string[]): unknown {
  const { name, schema } = schemas.resolve(given);
  if (name in VALUES) return VALUES[name];
  if (name !== "" && above.includes(name)) return undefined;
  const inside = name === "" ? above : [...above, name];
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties)
      .filter(([field]) => name !== "ObjectMeta" || WRITTEN_METADATA.includes(field))
      .map(([field, type]) => [field, valueOf(schemas, type, inside)] as const)
      .filter(([, value]) => value !== undefined);
    return Object.fromEntries(fields);
  }
  if (schema.additionalProperties !== undefined) {
    const value = valueOf(schemas, schema.additionalProperties, inside);
    return value === undefined ? undefined : { key: value };
  }
  if (schema.enum !== undefined) return schema.enum.find((value) => value !== "") ?? "";
  switch (schema.type) {
    case "array": {
      const item = valueOf(schemas, schema.items!, inside);
      return item === undefined ? undefined : [item];
    }
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    case "string":
      return schema.format === "byte" ? "AAAA" : "x";
    case "object":
      return {}; // a type without fields
    default:
      throw new Error(`Cannot create a value of the type ${name || JSON.stringify(schema)} in ${above.join(".")}`);
  }
}

/** Returns the paths of all fields of a value: `.spec.containers[].name`. */
export function pathsOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [`${path}.${name}`, ...pathsOf(inner, `${path}.${name}`)]);
}
