import type { Definition } from "../storage/definition.ts";
import type { Store } from "../storage/store.ts";
import type { JsonObject, MutableJson } from "../wire/json.ts";
import { SERVER_VERSION } from "./server_version.ts";

const INFO = { title: "Kubernetes", version: SERVER_VERSION.gitVersion };

/**
 * The OpenAPI v3 documents: enough for clients that look up the parameters of a path, such as kubectl. Kinds have no
 * schema beyond their group, version and kind.
 */
export class OpenApi {
  readonly #store: Store;

  /** Describes the collections of `store`. */
  constructor(store: Store) {
    this.#store = store;
  }

  /** The document of `/openapi/v3`: the paths of all documents, one per group and version. */
  get index(): JsonObject {
    const paths: MutableJson = {};
    for (const { definition } of this.#store.collections()) {
      const path = pathOf(definition);
      paths[path] ??= { serverRelativeURL: `/openapi/v3/${path}` };
    }
    return { paths };
  }

  /**
   * Returns the document of `/openapi/v3/PATH`, such as `api/v1` and `apis/apps/v1`; undefined if it does not exist.
   */
  document(path: string): JsonObject | undefined {
    const definitions = [...this.#store.collections()].map(({ definition }) => definition)
      .filter((definition) => pathOf(definition) === path);
    if (definitions.length === 0) return undefined;
    const paths: MutableJson = {};
    const schemas: MutableJson = {};
    for (const definition of definitions) {
      Object.assign(paths, pathsOf(definition));
      schemas[schemaName(definition)] = {
        type: "object",
        "x-kubernetes-group-version-kind": [kindOf(definition)],
        "x-kubernetes-preserve-unknown-fields": true,
      };
    }
    return { openapi: "3.0.0", info: INFO, paths, components: { schemas } };
  }
}

function pathOf({ group, version }: Definition): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function kindOf({ group, version, kind }: Definition): JsonObject {
  return { group, version, kind };
}

function schemaName({ group, version, kind }: Definition): string {
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
