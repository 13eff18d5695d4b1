import { apiVersionOf, type Resource } from "../../api/resource.ts";
import { at, type JsonObject } from "../wire/json.ts";

/** A column of a custom resource's table, as in `additionalPrinterColumns` of its definition. */
export interface PrinterColumn {
  /** Its title. */
  readonly name: string;
  /** `"string"`, `"integer"`, `"number"`, `"boolean"`, or `"date"`, which is shown as an age. */
  readonly type: string;
  /** Where in the object: `.spec.size`. */
  readonly jsonPath: string;
  /** What it tells. @default {""} */
  readonly description?: string;
  /** Above 0: only for `-o wide`. @default {0} */
  readonly priority?: number;
  /** A format of OpenAPI. @default {""} */
  readonly format?: string;
}

/** A resource for the fake to serve, with what discovery says about it. */
export interface ResourceDefinition extends Omit<Resource, "representation" | "$type"> {
  /** The kind in lower case, for people. @default {the kind in lower case} */
  readonly singular?: string;
  /** Other names: `["po"]`. @default {none} */
  readonly shortNames?: readonly string[];
  /** Groups of resources: `["all"]`. @default {none} */
  readonly categories?: readonly string[];
  /** Which verbs it has. @default {all of them} */
  readonly verbs?: readonly string[];
  /** Parts of an object that have a path of their own; of these `"status"` is served. @default {["status"]} */
  readonly subresources?: readonly string[];
  /** What `as=Table`, and so `kubectl get`, shows of an object beside its name. @default {the age} */
  readonly columns?: readonly PrinterColumn[];
  /** Field paths that field selectors may name, beside `metadata.name` and `metadata.namespace`. @default {none} */
  readonly fields?: readonly string[];
}

/** What the fake knows about a resource it serves, complete. */
export interface Definition extends Required<ResourceDefinition> {
  /** `"apps/v1"`, `"v1"`. */
  readonly apiVersion: string;
  /** Whether it is a custom resource, whose JSON has its keys in alphabetical order. */
  readonly custom: boolean;
  /** Whether objects count the changes of their desired state. */
  readonly generation: boolean;
  /** Whether a deletion gives the object time: pods. */
  readonly graceful: boolean;
  /** Whether an update without resourceVersion is taken. */
  readonly unconditionalUpdate: boolean;
  /** Whether a deletion answers with the object rather than with a Status. */
  readonly returnsDeleted: boolean;
  /** What the server warns about with each answer. */
  readonly warning: string | undefined;
  /** The values that field selectors see in an object; undefined when the kind has none of its own. */
  readonly fieldsOf: (object: JsonObject) => Readonly<Record<string, string>> | undefined;
}

/** What a built-in kind does differently. */
export interface BuiltIn extends ResourceDefinition {
  /** @see Definition.generation */
  readonly generation?: boolean;
  /** @see Definition.unconditionalUpdate */
  readonly unconditionalUpdate?: boolean;
  /** @see Definition.returnsDeleted */
  readonly returnsDeleted?: boolean;
  /** @see Definition.warning */
  readonly warning?: string;
}

/** Every verb of a resource, in the order of discovery. */
export const VERBS: readonly string[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** Fills in a definition; without `builtIn` it is a custom resource. */
export function define(resource: ResourceDefinition, builtIn?: BuiltIn): Definition {
  const { group, version, plural, kind, scope } = resource;
  const fields = builtIn?.fields ?? resource.fields ?? [];
  const paths = fields.map((field) => ({ field, path: field.split(".") }));
  return {
    group,
    version,
    plural,
    kind,
    scope,
    singular: resource.singular ?? builtIn?.singular ?? kind.toLowerCase(),
    shortNames: resource.shortNames ?? builtIn?.shortNames ?? [],
    categories: resource.categories ?? builtIn?.categories ?? [],
    verbs: resource.verbs ?? builtIn?.verbs ?? VERBS,
    subresources: resource.subresources ?? builtIn?.subresources ?? ["status"],
    fields,
    columns: resource.columns ?? [],
    apiVersion: apiVersionOf(resource),
    custom: builtIn === undefined,
    generation: builtIn === undefined || builtIn.generation === true,
    graceful: builtIn?.plural === "pods",
    unconditionalUpdate: builtIn !== undefined && builtIn.unconditionalUpdate !== false,
    returnsDeleted: builtIn?.returnsDeleted === true,
    warning: builtIn?.warning,
    fieldsOf: (object) => {
      if (paths.length === 0) return undefined;
      const values: Record<string, string> = {};
      for (const { field, path } of paths) values[field] = textOf(at(object, ...path));
      return values;
    },
  };
}

/** A missing field is equal to `""`, as on the server. */
function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Whether two definitions name the same collection. */
export function sameResource(
  a: { readonly group: string; readonly version: string; readonly plural: string },
  b: typeof a,
): boolean {
  return a.plural === b.plural && a.group === b.group && a.version === b.version;
}

/** The text a collection is filed under. */
export function resourceId(
  resource: { readonly group: string; readonly version: string; readonly plural: string },
): string {
  return `${resource.group}/${resource.version}/${resource.plural}`;
}
