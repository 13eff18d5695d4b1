/**
 * Kinds that are written in TypeScript: the resource, its types and its CRD come from one definition.
 *
 * {@linkcode defineKind} is the entry point. It sends nothing: `installCrds` brings definitions to a server.
 *
 * @module
 */
import { defined, isDeeper, type JsonObject, MAX_SCHEMA_DEPTH } from "../../engine/api/json.ts";
import type { ClusterScopedObject, KubernetesObject, NamespacedObject } from "../../engine/api/object.ts";
import { defineResource, type Resource } from "../../engine/api/resource.ts";
import type { StatusCause } from "../../engine/api/status.ts";
import type { ObjectDraft } from "../../engine/api/written.ts";
import { checkNames, namesOf } from "../../engine/errors/option_names.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from "../../engine/kinds/apiextensions/v1.ts";
import { definitionCauses } from "./definition.ts";
import type { JsonSchema, SchemaChange, SchemaRule, StandardJsonSchema, ValueOf } from "./json_schema.ts";
import { lowerSchema, SchemaError, standardJsonSchema } from "./lower_schema.ts";
import { faultsOf, loadValidator } from "./validator.ts";
import type { ScalePaths } from "./values/validate.ts";

/** A schema for `spec` or `status`: a literal, or what a library has made. */
export type KindSchema = JsonSchema | StandardJsonSchema;

/** A column of `kubectl get`. */
export interface KindColumn {
  /** The title: `"Replicas"`. */
  readonly name: string;
  /** The type of its values. A `"date"` is shown as an age. */
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** The path of its values: `".spec.replicas"`. */
  readonly jsonPath: string;
  /** What it means. */
  readonly description?: string;
  /** Above 0, only `kubectl get -o wide` shows the column. @default {0} */
  readonly priority?: number;
  /** An OpenAPI format. */
  readonly format?: string;
}

/** What {@linkcode defineKind} makes a kind of. */
export interface KindDefinition<Group, Version, Kind, Scope, Spec, Status> {
  /** The API group, a domain that you own: `"shop.example.com"`. */
  readonly group: Group;
  /** The API version: `"v1"`, `"v1beta1"`. */
  readonly version: Version;
  /** The kind in CamelCase: `"Website"`. */
  readonly kind: Kind;
  /** The name in paths: `"websites"`. */
  readonly plural: string;
  /** The name of one object in commands. @default {the kind in lower case} */
  readonly singular?: string;
  /** Whether objects have a namespace. @default {"Namespaced"} */
  readonly scope?: Scope;
  /** Short names for commands: `["web"]`. @default {none} */
  readonly shortNames?: readonly string[];
  /** Groups of kinds for commands: `["all"]`. @default {none} */
  readonly categories?: readonly string[];
  /** The purpose of the kind. `kubectl explain` shows it. */
  readonly description?: string;
  /** The schema of `spec`, which users write. Each object has one. */
  readonly spec: Spec;
  /** The schema of `status`, which your controller writes through the subresource `status`. @default {no status} */
  readonly status?: Status;
  /** Rules in CEL for the whole object: `self.spec`, `self.status`, `self.metadata.name`. @default {none} */
  readonly rules?: readonly SchemaRule[];
  /** The columns of `kubectl get`, after the name. @default {the age} */
  readonly columns?: readonly KindColumn[];
  /** The paths of the subresource `scale`, for `kubectl scale` and autoscalers. @default {no scale} */
  readonly scale?: ScalePaths;
  /** Paths that field selectors may name: `[".spec.image"]`. @default {none} */
  readonly selectableFields?: readonly string[];
  /** Other versions of the kind. The server stores this one. @default {none} */
  readonly olderVersions?: readonly DefinedKind[];
  /**
   * If `false`, the CRD keeps this version, but the server does not serve it. Set it for an older version before you
   * remove that, see [Upgrade an operator](../../../docs/controllers/upgrade.md). @default {true}
   */
  readonly served?: boolean;
  /** A warning for users of this version. @default {none} */
  readonly deprecationWarning?: string;
}

/** An object of a defined kind. */
export interface DefinedObject<Group extends string, Version extends string, Kind, Scope, Spec, Status>
  extends KubernetesObject {
  /** Group and version. */
  readonly apiVersion?: `${Group}/${Version}`;
  /** The kind. */
  readonly kind?: Kind extends string ? Kind : never;
  /** The metadata. */
  readonly metadata: (Scope extends "Cluster" ? ClusterScopedObject : NamespacedObject)["metadata"];
  /** The desired state, which users write. */
  readonly spec: Spec;
  /** The observed state, which the controller writes. */
  readonly status?: Status;
}

/** A kind that {@linkcode defineKind} has defined: a resource, with its CRD. */
export interface DefinedKind<T extends KubernetesObject = KubernetesObject> extends Resource<T> {
  /** The CustomResourceDefinition, as an object to create or apply. */
  readonly crd: ObjectDraft<CustomResourceDefinition>;
  /**
   * Each part of your schemas that the CRD lacks or has otherwise: no server checks it, or a library does not write it.
   * Check in a test that the list is empty, so that you notice when a schema promises more than the server checks.
   *
   * The bounds of safe integers, which libraries write for all integers, are left out without an entry.
   */
  readonly changes: readonly SchemaChange[];
  /** See `Resource.loadValidator`. */
  readonly loadValidator: NonNullable<Resource["loadValidator"]>;
  /**
   * Finds what the server would refuse in an object, or in its update from `previous`: an empty list if nothing is
   * wrong. Webhooks are not asked, and metadata are not checked. The first call with rules in CEL loads their library.
   *
   * @throws {SchemaError} if a rule of the kind is wrong.
   */
  validate(object: object, options?: { readonly previous?: object }): Promise<readonly StatusCause[]>;
}

/** The type of the objects of a resource: `type Website = KindOf<typeof Website>`. */
export type KindOf<R> = R extends Resource<infer T> ? T : never;

/**
 * Defines a custom kind in TypeScript. You get its resource, the types of its objects, its CRD and its validation from
 * one schema, so that they cannot differ.
 *
 * The schema is a JSON schema literal, or the schema of a library that implements Standard JSON Schema. Everything that
 * a CRD cannot say is refused here, with its path and a remedy. For kinds of others, generate types from their CRDs
 * with `informer kinds`.
 *
 * @throws {SchemaError} The message names each fault, as kube-apiserver finds it. A schema may have 1,000 fields within
 * each other.
 * @throws {TypeError} if an option does not exist, or a name is no name.
 *
 * @example
 * ```ts
 * import { defineKind, type KindOf } from "@kube/informer/schema";
 * import { assertEquals } from "@std/assert";
 *
 * const Website = defineKind({
 *   group: "example.com",
 *   version: "v1",
 *   kind: "Website",
 *   plural: "websites",
 *   spec: {
 *     type: "object",
 *     required: ["image"],
 *     properties: {
 *       image: { type: "string", minLength: 1 },
 *       replicas: { type: "integer", minimum: 0, default: 1 },
 *     },
 *   },
 * });
 * type Website = KindOf<typeof Website>;
 *
 * const replicas = (website: Website): number => website.spec.replicas ?? 1;
 * const [cause] = await Website.validate({ metadata: { name: "blog" }, spec: { image: "nginx", replicas: -1 } });
 * assertEquals(cause.field, "spec.replicas");
 * assertEquals(Website.crd.metadata.name, "websites.example.com");
 * assertEquals(typeof replicas, "function");
 * ```
 */
export function defineKind<
  const Group extends string,
  const Version extends string,
  const Kind extends string,
  const Spec extends KindSchema,
  const Status extends KindSchema = Record<never, never>,
  const Scope extends "Namespaced" | "Cluster" = "Namespaced",
>(
  definition: KindDefinition<Group, Version, Kind, Scope, Spec, Status>,
): DefinedKind<DefinedObject<Group, Version, Kind, Scope, ValueOf<Spec>, ValueOf<Status>>> {
  checkNames("define a kind", definition, NAMES);
  const { group, version, plural, kind, scope = "Namespaced", shortNames = [], categories = [], scale } = definition;
  const resource = defineResource<DefinedObject<Group, Version, Kind, Scope, ValueOf<Spec>, ValueOf<Status>>>(
    { group, version, plural, kind, scope, shortNames, categories },
  );
  const changes: SchemaChange[] = [];
  const schema = schemaOfObjects(definition, changes);
  const crd = definitionOf(definition, schema);
  const faults = definitionCauses(crd as unknown as JsonObject);
  if (faults.length > 0) throw new SchemaError(faultsOf(faults));
  const load = () => validator ??= loadValidator(schema, scale);
  let validator: ReturnType<typeof loadValidator> | undefined;
  return Object.freeze({
    ...resource,
    crd,
    changes: Object.freeze(changes),
    loadValidator: load,
    validate: async (object: object, options: { readonly previous?: object } = {}) => {
      checkNames("validate an object", options, "previous");
      return (await load())(object, options.previous);
    },
  });
}

const NAMES = namesOf<AnyDefinition>()(
  "group version kind plural singular scope shortNames categories description spec status rules columns scale",
  "selectableFields olderVersions served deprecationWarning",
);

type AnyDefinition = KindDefinition<string, string, string, "Namespaced" | "Cluster", KindSchema, KindSchema>;

/** The schema of complete objects. */
function schemaOfObjects(definition: AnyDefinition, changes: SchemaChange[]): JsonObject {
  const { kind, description, spec, status, rules } = definition;
  const lowered = (name: string, schema: KindSchema | undefined): JsonObject | undefined => {
    if (schema === undefined) return undefined;
    const standard = standardJsonSchema(schema, name);
    const given = standard ?? schema as unknown as JsonObject;
    const isLibrary = standard !== undefined || "~kind" in schema; // of TypeBox
    if (!isDeeper(given, MAX_SCHEMA_DEPTH)) return lowerSchema(given, name, { isLibrary, changes });
    throw new SchemaError([{ path: name, message: `it is nested more than ${MAX_SCHEMA_DEPTH} deep. Flatten it` }]);
  };
  if (spec === undefined) throw new SchemaError([{ path: "spec", message: `"${kind}" has no schema` }]);
  return defined({
    description,
    type: "object",
    required: ["spec"],
    properties: defined({ spec: lowered("spec", spec), status: lowered("status", status) }),
    "x-kubernetes-validations": rules,
  }) as unknown as JsonObject;
}

function definitionOf(definition: AnyDefinition, schema: JsonObject): ObjectDraft<CustomResourceDefinition> {
  const { group, kind, plural, singular = kind.toLowerCase(), scope = "Namespaced", olderVersions = [] } = definition;
  const { shortNames, categories, status, scale, columns, selectableFields, served = true, deprecationWarning } =
    definition;
  const own = defined({
    name: definition.version,
    served,
    storage: true,
    deprecated: deprecationWarning === undefined ? undefined : true,
    deprecationWarning,
    schema: { openAPIV3Schema: schema },
    subresources: status === undefined && scale === undefined ? undefined : defined({ status: status && {}, scale }),
    additionalPrinterColumns: columns,
    selectableFields: selectableFields?.map((jsonPath) => ({ jsonPath })),
  }) as unknown as CustomResourceDefinitionVersion;
  const older = olderVersions.flatMap(({ crd }) =>
    crd.spec.versions.map((version) => ({ ...version, storage: false }))
  );
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: defined({ kind, listKind: `${kind}List`, plural, singular, shortNames, categories }),
      versions: [own, ...older],
    },
  } as ObjectDraft<CustomResourceDefinition>;
}
