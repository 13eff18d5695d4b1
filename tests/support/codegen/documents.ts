import type { ApiResource } from "../../../src/engine/api/resource.ts";
import type { TypeModel } from "../../../src/cli/codegen/read_schema.ts";
import { type OpenApiDocument, readOpenApi } from "../../../tools/open_api.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** A reference as the server writes it for a field. */
export function ref(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { default: {}, allOf: [{ $ref: `#/components/schemas/${name}` }], ...more };
}

/** A resource as discovery describes it. */
export function resource(group: string, version: string, kind: string, more: Partial<ApiResource> = {}): ApiResource {
  return {
    group,
    version,
    kind,
    plural: `${kind.toLowerCase()}s`,
    scope: "Namespaced",
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: ["create", "get", "list", "watch"],
    subresources: [],
    preferred: true,
    ...more,
  };
}

/** A document with these schemas. */
export function documentOf(name: string, schemas: Record<string, unknown>): OpenApiDocument {
  return { name, content: { openapi: "3.0.0", components: { schemas } } };
}

/** The schema of a kind. */
export function kindSchema(
  group: string,
  version: string,
  kind: string,
  properties: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    description: `${kind} is a kind. It has more than one sentence.`,
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: ref(`${META}.ObjectMeta`),
      ...properties,
    },
    "x-kubernetes-group-version-kind": [{ group, version, kind }],
    ...more,
  };
}

/** Schemas that all documents have. */
export const SHARED: Record<string, unknown> = {
  [`${META}.ObjectMeta`]: { type: "object", properties: { name: { type: "string" } } },
  [`${META}.Time`]: { type: "string", format: "date-time" },
  [`${META}.LabelSelector`]: {
    description: "A label selector is a query.",
    type: "object",
    properties: { matchLabels: { type: "object", additionalProperties: { type: "string", default: "" } } },
    "x-kubernetes-map-type": "atomic",
  },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { format: "int-or-string", oneOf: [{ type: "integer" }] },
  "io.k8s.apimachinery.pkg.runtime.RawExtension": { type: "object" },
};

const CORE: Record<string, unknown> = {
  ...SHARED,
  "io.k8s.api.core.v1.Pod": kindSchema("", "v1", "Pod", {
    spec: ref("io.k8s.api.core.v1.PodSpec", { description: "The desired state." }),
    status: ref("io.k8s.api.core.v1.PodStatus"),
  }),
  "io.k8s.api.core.v1.PodSpec": {
    description: "PodSpec describes a pod (e.g. Its containers).\n\nMore info: elsewhere.",
    type: "object",
    required: ["containers"],
    properties: {
      containers: {
        type: "array",
        items: ref("io.k8s.api.core.v1.Container"),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      },
      restartPolicy: { description: "It restarts. Or not.", type: "string", enum: ["Always", "Never"] },
      overhead: {
        type: "object",
        additionalProperties: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity" },
      },
    },
  },
  "io.k8s.api.core.v1.Container": {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", default: "" },
      port: ref("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
      "strange-name": { type: "boolean" },
    },
  },
  "io.k8s.api.core.v1.PodStatus": {
    type: "object",
    properties: {
      startTime: ref(`${META}.Time`),
      ready: { type: "boolean" },
      count: { type: "integer", format: "int32" },
    },
  },
  "io.k8s.api.core.v1.PodTemplateSpec": {
    type: "object",
    properties: { metadata: ref(`${META}.ObjectMeta`), spec: ref("io.k8s.api.core.v1.PodSpec") },
  },
  "io.k8s.api.core.v1.Unused": { type: "object", properties: { a: { type: "string" } } },
};

const APPS: Record<string, unknown> = {
  ...CORE,
  "io.k8s.api.apps.v1.Set": kindSchema("apps", "v1", "Set", {
    spec: ref("io.k8s.api.apps.v1.SetSpec"),
    data: { type: "object", additionalProperties: { type: "string", format: "byte" } },
  }),
  "io.k8s.api.apps.v1.SetSpec": {
    type: "object",
    required: ["selector", "template"],
    properties: {
      selector: ref(`${META}.LabelSelector`),
      template: ref("io.k8s.api.core.v1.PodTemplateSpec"),
      pods: { type: "array", items: ref("io.k8s.api.core.v1.Pod") },
      tree: ref("io.k8s.api.apps.v1.Container"),
      raw: ref("io.k8s.apimachinery.pkg.runtime.RawExtension"),
      any: { description: "Anything." },
    },
  },
  "io.k8s.api.apps.v1.Container": {
    type: "object",
    properties: {
      children: { type: "array", items: ref("io.k8s.api.apps.v1.Container") },
      of: ref("io.k8s.api.core.v1.Container"),
    },
  },
};

/** Two groups that use everything that the generator knows, small enough to be read. */
export const DOCUMENTS: readonly OpenApiDocument[] = [documentOf("api/v1", CORE), documentOf("apis/apps/v1", APPS)];

/** The kinds of {@linkcode DOCUMENTS}. */
export const RESOURCES: readonly ApiResource[] = [
  resource("", "v1", "Pod", { shortNames: ["po"], categories: ["all"] }),
  resource("apps", "v1", "Set", { scope: "Cluster", verbs: ["create"] }),
];

/** The type of `spec.field` of the kind Tab, whose spec has this one field. */
export function typeOf(field: unknown, more: Record<string, unknown> = {}): TypeModel {
  const schemas = { ...SHARED, "dev.acme.v1.Tab": kindSchema("acme.dev", "v1", "Tab", { field }), ...more };
  const [module] = readOpenApi([documentOf("apis/acme.dev/v1", schemas)], [resource("acme.dev", "v1", "Tab")]);
  return module.kinds[0].type.fields[0].type;
}
