import type { KubernetesObject } from "../../api/object.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A config map built by {@linkcode configMap}. */
export interface BuiltConfigMap extends KubernetesObject {
  /** The data. */
  readonly data: Readonly<Record<string, string>>;
}

/** Builds a config map. */
export function configMap(
  options: NamespacedBuildOptions & {
    /** The data. @default {empty} */
    readonly data?: Readonly<Record<string, string>>;
  },
): BuiltConfigMap {
  return {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: builtMetadata("ConfigMap", options),
    data: options.data ?? {},
  };
}
