import type { KubernetesObject } from "../../api/object.ts";
import type { BuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A namespace built by {@linkcode namespace}. */
export interface BuiltNamespace extends KubernetesObject {
  /** Observed state. */
  readonly status: { readonly phase: string };
}

/** Builds a namespace. */
export function namespace(
  options: BuildOptions & {
    /** Phase of the namespace. @default {"Active"} */
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
