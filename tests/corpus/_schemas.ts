/** A schema of OpenAPI, as kube-apiserver writes them. */
export interface Schema {
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
export interface Gvk {
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
