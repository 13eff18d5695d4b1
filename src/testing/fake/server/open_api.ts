/**
 * The OpenAPI v3 documents and the version of the fake server.
 *
 * {@linkcode openApiIndex} and {@linkcode openApiDocument} are the entry points. They write enough for clients that
 * look up types and parameters of a path, such as kubectl; fields have no descriptions.
 *
 * @module
 */
import { KUBERNETES_VERSION } from "../../../engine/protocol/discovery.ts";
import type { Field, Schema, Struct } from "../../../operator/schema/values/object_schema.ts";
import { SCALARS } from "../schema/schema.ts";
import type { Definition } from "../storage/definition.ts";
import type { Store } from "../storage/store.ts";
import type { JsonObject, MutableJson } from "../../../engine/api/json.ts";
import { objectOr } from "../../../engine/api/members.ts";

/** Scalars that are types of their own. */
const NAMED: Partial<Record<keyof typeof SCALARS, string>> = {
  quantity: "io.k8s.apimachinery.pkg.api.resource.Quantity",
  intOrString: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
};

const MODULES: Readonly<Record<string, string>> = {
  meta: "io.k8s.apimachinery.pkg.apis.meta",
  apiextensions: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
  apiregistration: "io.k8s.kube-aggregator.pkg.apis.apiregistration",
};

/** Returns the name in OpenAPI of a built-in type: `"io.k8s.api.apps.v1.DeploymentSpec"`. */
function openApiName({ name }: Struct): string {
  const [group, type] = name.split("/");
  return `${MODULES[group] ?? `io.k8s.api.${group}`}.${type}`;
}

/** Adds a type, and all that it consists of, to the schemas of an OpenAPI document; without descriptions. */
function addSchemas(schemas: MutableJson, struct: Struct): void {
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
    ...(allowed.length === 0 ? {} : { enum: allowed }),
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

function scalarOf(schemas: MutableJson, type: keyof typeof SCALARS): JsonObject {
  const name = NAMED[type];
  if (name === undefined) return SCALARS[type];
  schemas[name] = SCALARS[type];
  return { allOf: [{ $ref: `#/components/schemas/${name}` }] };
}

/** The document of `/version`. */
export const SERVER_VERSION = { ...KUBERNETES_VERSION, gitCommit: "fake" };

const INFO = { title: "Kubernetes", version: SERVER_VERSION.gitVersion };

/** The document of `/openapi/v3`: the paths of all documents, one per group and version. */
export function openApiIndex(store: Store): JsonObject {
  const paths: MutableJson = {};
  for (const { definition } of store.collections()) {
    const path = pathOf(definition);
    paths[path] ??= { serverRelativeURL: `/openapi/v3/${path}` };
  }
  return { paths };
}

/** Returns the document of `/openapi/v3/PATH`, such as `api/v1` and `apis/apps/v1`; undefined if it does not exist. */
export function openApiDocument(store: Store, path: string): JsonObject | undefined {
  const definitions = [...store.collections()].map(({ definition }) => definition)
    .filter((definition) => pathOf(definition) === path);
  if (definitions.length === 0) return undefined;
  const paths: MutableJson = {};
  const schemas: MutableJson = {};
  for (const definition of definitions) {
    Object.assign(paths, pathsOf(definition));
    schemas[schemaName(definition)] = {
      ...schemaIn(schemas, definition),
      "x-kubernetes-group-version-kind": [kindOf(definition)],
    };
  }
  return { openapi: "3.0.0", info: INFO, paths, components: { schemas } };
}

function pathOf({ group, version }: Definition): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function kindOf({ group, version, kind }: Definition): JsonObject {
  return { group, version, kind };
}

/** The schema of a kind: that of its type, which `schemas` gets; that of a custom kind's definition. */
function schemaIn(schemas: MutableJson, { custom, schema, openAPIV3Schema }: Definition): JsonObject {
  if (custom || schema === undefined) {
    return openAPIV3Schema ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  }
  addSchemas(schemas, schema);
  return objectOr(schemas[openApiName(schema)]);
}

function schemaName({ group, version, kind, custom, schema }: Definition): string {
  if (!custom && schema !== undefined) return openApiName(schema);
  return [...(group === "" ? ["core"] : group.split(".").reverse()), version, kind].join(".");
}

function pathsOf(definition: Definition): JsonObject {
  const { plural, scope, verbs } = definition;
  const namespaced = scope === "Namespaced";
  const collection = `/${pathOf(definition)}/${namespaced ? "namespaces/{namespace}/" : ""}${plural}`;
  const operations = (candidates: Readonly<Record<string, string>>, one: boolean): JsonObject => {
    const found: MutableJson = {};
    for (const [method, verb] of Object.entries(candidates)) {
      if (verbs.includes(verb)) found[method] = operation(definition, method, verb, namespaced, one);
    }
    return found;
  };
  return {
    ...(namespaced ? { [`/${pathOf(definition)}/${plural}`]: operations({ get: "list" }, false) } : {}),
    [collection]: operations({ get: "list", post: "create", delete: "deletecollection" }, false),
    [`${collection}/{name}`]: operations({ get: "get", put: "update", patch: "patch", delete: "delete" }, true),
  };
}

/** Query parameters of writes. */
const WRITE_PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"];
// A strategic merge needs a schema; without one, kubectl uses its own.
const PATCHES = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];

function operation(
  definition: Definition,
  method: string,
  verb: string,
  namespaced: boolean,
  one: boolean,
): JsonObject {
  const schema = { $ref: `#/components/schemas/${schemaName(definition)}` };
  const writes = method === "post" || method === "put" || method === "patch";
  const types = method === "patch" ? PATCHES : ["application/json"];
  const query = [...(writes ? WRITE_PARAMETERS : []), ...(method === "patch" ? ["force"] : [])];
  const path = [...(namespaced ? ["namespace"] : []), ...(one ? ["name"] : [])];
  return {
    operationId: `${verb}${definition.kind}`,
    parameters: [
      ...path.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...query.map((name) => ({ name, in: "query", schema: { type: name === "force" ? "boolean" : "string" } })),
    ],
    ...(writes ? { requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) } } : {}),
    responses: { "200": { description: "OK", content: { "application/json": { schema } } } },
    "x-kubernetes-action": verb,
    "x-kubernetes-group-version-kind": kindOf(definition),
  };
}
