import type { KubernetesObject } from "../../api/object.ts";
import type { BuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A namespace as {@linkcode namespace} makes it. */
export interface BuiltNamespace extends KubernetesObject {
  /** Where it is in its life. */
  readonly status: { readonly phase: string };
}

/** A namespace. */
export function namespace(
  options: BuildOptions & {
    /** Where it is in its life. @default {"Active"} */
    readonly phase?: string;
  },
): BuiltNamespace {
  return {
    kind: "Namespace",
    apiVersion: "v1",
    metadata: builtMetadata("Namespace", options, true),
    status: { phase: options.phase ?? "Active" },
  };
}
