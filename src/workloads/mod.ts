/**
 * Works with workloads: the names that a pod template refers to, and the readiness of all workloads with the reasons of
 * their pods.
 *
 * Read the guide: [Workload helpers](../../docs/guides/workload-helpers.md).
 *
 * @example
 * ```ts
 * import { templateReferences } from "@kube/informer/workloads";
 * import { assertEquals } from "@std/assert";
 *
 * const { images } = templateReferences({ containers: [{ name: "app", image: "web:1" }] });
 * assertEquals(images, ["web:1"]);
 * ```
 *
 * @module
 */
export { type TemplateReferences, templateReferences, type TemplateReferencesOptions } from "./template_references.ts";
export {
  type WorkloadKind,
  type WorkloadStatus,
  workloadStatus,
  type WorkloadStatusOptions,
} from "./workload_status.ts";
