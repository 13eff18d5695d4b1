import type { KubernetesObject } from "../../api/object.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A lease built by {@linkcode lease}. */
export interface BuiltLease extends KubernetesObject {
  /** Holder and duration. */
  readonly spec: {
    /** Name of the holder. */
    readonly holderIdentity: string;
    /** Duration in seconds. */
    readonly leaseDurationSeconds: number;
    /** Time of the last renewal, RFC 3339 with microseconds. */
    readonly renewTime: string;
  };
}

/** Builds a lease. */
export function lease(
  options: NamespacedBuildOptions & {
    /** Name of the holder. @default {the lease's name} */
    readonly holder?: string;
    /** Duration in seconds. @default {40} */
    readonly durationSeconds?: number;
    /** Time of the last renewal, RFC 3339 with microseconds. @default {"2026-01-01T00:00:00.000000Z"} */
    readonly renewTime?: string;
  },
): BuiltLease {
  return {
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    metadata: builtMetadata("Lease", options),
    spec: {
      holderIdentity: options.holder ?? options.name,
      leaseDurationSeconds: options.durationSeconds ?? 40,
      renewTime: options.renewTime ?? "2026-01-01T00:00:00.000000Z",
    },
  };
}
