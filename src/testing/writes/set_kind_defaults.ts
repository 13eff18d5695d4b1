import { crdDefaults } from "../storage/crd.ts";
import type { Definition } from "../storage/definition.ts";
import { type MutableJson, objectOr } from "../wire/json.ts";

/** Fills in the defaults of new objects of some kinds, as far as clients depend on them. */
export function setKindDefaults(definition: Definition, object: MutableJson, time: string): void {
  if (definition.custom) return;
  const metadata = object.metadata as MutableJson;
  switch (definition.plural) {
    case "pods":
      object.status = { phase: "Pending", qosClass: "BestEffort", ...objectOr(object.status) };
      return;
    case "namespaces":
      metadata.labels = { ...objectOr(metadata.labels), "kubernetes.io/metadata.name": metadata.name };
      object.spec ??= { finalizers: ["kubernetes"] };
      object.status ??= { phase: "Active" };
      return;
    case "secrets":
      object.type ??= "Opaque";
      return;
    case "customresourcedefinitions":
      crdDefaults(object, time);
  }
}
