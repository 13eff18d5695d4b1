import { copyOf } from "../../api/mutable.ts";
import type { WrittenValue } from "../../api/written.ts";
import type { Namespace, NamespaceSpec, NamespaceStatus } from "../../kinds/core/v1.ts";
import type { BuildOptions } from "./build_options.ts";
import type { Built } from "./built.ts";
import { builtMetadata } from "./built_metadata.ts";

/** Options for {@linkcode namespace}. */
export interface NamespaceBuildOptions extends BuildOptions {
  /** Phase of the namespace. @default {"Active"} */
  readonly phase?: WrittenValue<NamespaceStatus>["phase"];
  /** Any fields of the spec. @default {no spec} */
  readonly spec?: WrittenValue<NamespaceSpec>;
  /** Any other fields of the status. @default {none} */
  readonly status?: WrittenValue<NamespaceStatus>;
}

/** A namespace built by {@linkcode namespace}. */
export type BuiltNamespace = Built<Namespace, "status">;

/** Builds a namespace. */
export function namespace(options: NamespaceBuildOptions): BuiltNamespace {
  return {
    kind: "Namespace",
    apiVersion: "v1",
    metadata: builtMetadata("Namespace", options, true),
    ...(options.spec === undefined ? {} : { spec: copyOf(options.spec) }),
    status: copyOf({ phase: options.phase ?? "Active", ...options.status }),
  };
}
