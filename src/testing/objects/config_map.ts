import type { ConfigMap } from "../../kinds/core/v1.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import type { Built } from "./built.ts";
import { builtMetadata } from "./built_metadata.ts";

/** Options for {@linkcode configMap}. */
export interface ConfigMapBuildOptions extends NamespacedBuildOptions {
  /** The data. @default {empty} */
  readonly data?: ConfigMap["data"];
  /** The binary data, base64. @default {none} */
  readonly binaryData?: ConfigMap["binaryData"];
  /** True if the data cannot be changed. @default {false} */
  readonly immutable?: boolean;
}

/** A config map built by {@linkcode configMap}. */
export type BuiltConfigMap = Built<ConfigMap, "data">;

/** Builds a config map. */
export function configMap(options: ConfigMapBuildOptions): BuiltConfigMap {
  const { data = {}, binaryData, immutable } = options;
  return {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: builtMetadata("ConfigMap", options),
    data: { ...data },
    ...(binaryData === undefined ? {} : { binaryData: { ...binaryData } }),
    ...(immutable === undefined ? {} : { immutable }),
  };
}
