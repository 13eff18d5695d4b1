import { apiVersionOf, type Resource } from "../../api/resource.ts";
import { at, type JsonObject, textOf } from "../wire/json.ts";

/** A column of a custom resource's table, as in `additionalPrinterColumns`. */
export interface PrinterColumn {
  /** Title of the column. */
  readonly name: string;
  /** Type: `"string"`, `"integer"`, `"number"`, `"boolean"`, or `"date"`, which is shown as an age. */
  readonly type: string;
  /** JSONPath of the value: `.spec.size`. */
  readonly jsonPath: string;
  /** Description of the column. @default {""} */
  readonly description?: string;
  /** Above 0: only in wide output. @default {0} */
  readonly priority?: number;
  /** OpenAPI format. @default {""} */
  readonly format?: string;
}

/** A resource to serve, with its discovery fields. */
export interface ResourceDefinition extends Omit<Resource, "representation" | "$type"> {
  /** Singular name. @default {the kind in lower case} */
  readonly singular?: string;
  /** Short names: `["po"]`. @default {none} */
  readonly shortNames?: readonly string[];
  /** Categories: `["all"]`. @default {none} */
  readonly categories?: readonly string[];
  /** Supported verbs. @default {all of them} */
  readonly verbs?: readonly string[];
  /** Subresources; `"status"` and `"scale"` are served. @default {["status"]} */
  readonly subresources?: readonly string[];
  /** Columns after the name in tables, which `kubectl get` shows. @default {the age} */
  readonly columns?: readonly PrinterColumn[];
  /** Selectable fields, besides `metadata.name` and `metadata.namespace`. @default {none} */
  readonly fields?: readonly string[];
}

/** The complete definition of a served resource. */
export interface Definition extends Required<ResourceDefinition> {
  /** API version: `"apps/v1"`, `"v1"`. */
  readonly apiVersion: string;
  /** True for a custom resource, whose JSON keys are sorted. */
  readonly custom: boolean;
  /** True if `metadata.generation` counts changes of the desired state. */
  readonly generation: boolean;
  /** True if deletions have a grace period: pods. */
  readonly graceful: boolean;
  /** True if an update without resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** True if a deletion returns the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Warning header of each response. */
  readonly warning: string | undefined;
  /** Returns the selectable fields of an object; undefined if the kind has none. */
  readonly fieldsOf: (object: JsonObject) => Readonly<Record<string, string>> | undefined;
}

/** Deviations of a built-in kind. */
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

/** All verbs, in the order of discovery. */
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

/** Completes a definition; without `builtIn` it is a custom resource. */
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

/** Returns true if two definitions name the same collection. */
export function sameResource(
  a: { readonly group: string; readonly version: string; readonly plural: string },
  b: typeof a,
): boolean {
  return a.plural === b.plural && a.group === b.group && a.version === b.version;
}

/** Returns the map key of a collection. */
export function resourceId(
  resource: { readonly group: string; readonly version: string; readonly plural: string },
): string {
  return `${resource.group}/${resource.version}/${resource.plural}`;
}
