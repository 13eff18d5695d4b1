import type { Field, ScalarType, Schema, Struct } from "../schema/schema.ts";
import type { Json, JsonObject, MutableJson } from "../wire/json.ts";

const SCALARS: Readonly<Record<ScalarType, JsonObject>> = {
  string: { type: "string" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  number: { type: "number", format: "double" },
  boolean: { type: "boolean" },
  bytes: { type: "string", format: "byte" },
  time: { type: "string", format: "date-time" },
  microTime: { type: "string", format: "date-time" },
  quantity: { oneOf: [{ type: "string" }, { type: "number" }] },
  intOrString: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
};

/** Scalars that are types of their own. */
const NAMED: Partial<Record<ScalarType, string>> = {
  quantity: "io.k8s.apimachinery.pkg.api.resource.Quantity",
  intOrString: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
};

const MODULES: Readonly<Record<string, string>> = {
  meta: "io.k8s.apimachinery.pkg.apis.meta",
  apiextensions: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
  apiregistration: "io.k8s.kube-aggregator.pkg.apis.apiregistration",
};

/** Returns the name in OpenAPI of a built-in type: `"io.k8s.api.apps.v1.DeploymentSpec"`. */
export function openApiName({ name }: Struct): string {
  const [group, type] = name.split("/");
  return `${MODULES[group] ?? `io.k8s.api.${group}`}.${type}`;
}

/** Adds a type, and all that it consists of, to the schemas of an OpenAPI document; without descriptions. */
export function addSchemas(schemas: MutableJson, struct: Struct): void {
  const name = openApiName(struct);
  if (schemas[name] !== undefined) return;
  const properties: MutableJson = {};
  const fields = [...struct.fields.values()];
  const required = fields.filter((field) => field.required).map((field) => field.name);
  schemas[name] = { type: "object", ...(required.length === 0 ? {} : { required }), properties };
  for (const field of fields) properties[field.name] = fieldOf(schemas, field);
}

function fieldOf(schemas: MutableJson, { schema, allowed, default: value }: Field): JsonObject {
  return {
    ...typeOf(schemas, schema),
    ...(allowed.length === 0 ? {} : { enum: allowed as readonly Json[] }),
    ...(value === undefined ? {} : { default: value }),
  };
}

function typeOf(schemas: MutableJson, schema: Schema): JsonObject {
  switch (schema.type) {
    case "struct":
      addSchemas(schemas, schema);
      return { allOf: [{ $ref: `#/components/schemas/${openApiName(schema)}` }] };
    case "map":
      return { type: "object", additionalProperties: typeOf(schemas, schema.values) };
    case "list":
      return {
        type: "array",
        items: typeOf(schemas, schema.items),
        "x-kubernetes-list-type": schema.list,
        ...(schema.keys.length === 0 ? {} : { "x-kubernetes-list-map-keys": schema.keys }),
      };
    default:
      return scalarOf(schemas, schema.type);
  }
}

function scalarOf(schemas: MutableJson, type: ScalarType): JsonObject {
  const name = NAMED[type];
  if (name === undefined) return SCALARS[type];
  schemas[name] = SCALARS[type];
  return { allOf: [{ $ref: `#/components/schemas/${name}` }] };
}
