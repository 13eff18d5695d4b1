import type { KubernetesObject } from "../../api/object.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A config map as {@linkcode configMap} makes it. */
export interface BuiltConfigMap extends KubernetesObject {
  /** What it holds. */
  readonly data: Readonly<Record<string, string>>;
}

/** A config map. */
export function configMap(
  options: NamespacedBuildOptions & {
    /** What it holds. @default {nothing} */
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
