import { isObject, type Json, type JsonObject, type MutableJson, objectOr, textOf } from "../wire/json.ts";
import type { PrinterColumn, ResourceDefinition } from "./definition.ts";

/** Fills in the defaults and conditions of a CustomResourceDefinition, which is established at once. */
export function crdDefaults(object: MutableJson, time: string): void {
  const spec = objectOr(object.spec);
  const names = objectOr(spec.names);
  const kind = textOf(names.kind);
  const accepted = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names };
  object.spec = { ...spec, names: accepted, conversion: spec.conversion ?? { strategy: "None" } };
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: "True",
    lastTransitionTime: time,
    reason,
    message,
  });
  object.status = {
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    acceptedNames: accepted,
    storedVersions: versionsOf(object).filter((version) => version.storage === true).map((version) =>
      version.name as Json
    ),
  };
}

/** Returns the resources that a CustomResourceDefinition defines: one per served version. */
export function crdResources(crd: JsonObject): ResourceDefinition[] {
  const spec = objectOr(crd.spec);
  const names = objectOr(spec.names);
  const strings = (value: unknown): string[] => Array.isArray(value) ? value.map(textOf) : [];
  return versionsOf(crd).filter((version) => version.served === true).map((version) => {
    const subresources = objectOr(version.subresources);
    const fields = Array.isArray(version.selectableFields) ? version.selectableFields.map(objectOr) : [];
    return {
      group: textOf(spec.group),
      version: textOf(version.name),
      plural: textOf(names.plural),
      kind: textOf(names.kind),
      scope: spec.scope === "Cluster" ? "Cluster" : "Namespaced",
      singular: typeof names.singular === "string" ? names.singular : textOf(names.kind).toLowerCase(),
      shortNames: strings(names.shortNames),
      categories: strings(names.categories),
      subresources: ["status", "scale"].filter((part) => subresources[part] !== undefined),
      columns: columnsOf(version.additionalPrinterColumns),
      fields: fields.map((field) => textOf(field.jsonPath).replace(/^\./, "")),
    };
  });
}

function columnsOf(value: unknown): PrinterColumn[] {
  return (Array.isArray(value) ? value as readonly Json[] : []).filter(isObject).map((column) => ({
    name: textOf(column.name),
    type: textOf(column.type ?? "string"),
    jsonPath: textOf(column.jsonPath),
    ...(typeof column.description === "string" ? { description: column.description } : {}),
    ...(typeof column.priority === "number" ? { priority: column.priority } : {}),
    ...(typeof column.format === "string" ? { format: column.format } : {}),
  }));
}

function versionsOf(crd: JsonObject): readonly JsonObject[] {
  const { versions } = objectOr(crd.spec);
  return Array.isArray(versions) ? (versions as readonly Json[]).filter(isObject) : [];
}
