import type { KubernetesObject } from "../../api/object.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A lease as {@linkcode lease} makes it. */
export interface BuiltLease extends KubernetesObject {
  /** Who holds it. */
  readonly spec: {
    /** Name of the holder. */
    readonly holderIdentity: string;
    /** How long it holds, in seconds. */
    readonly leaseDurationSeconds: number;
    /** When it was last renewed, RFC 3339 with microseconds. */
    readonly renewTime: string;
  };
}

/** A lease. */
export function lease(
  options: NamespacedBuildOptions & {
    /** Who holds it. @default {its name} */
    readonly holder?: string;
    /** How long it holds, in seconds. @default {40} */
    readonly durationSeconds?: number;
    /** When it was last renewed, RFC 3339 with microseconds. @default {"2026-01-01T00:00:00.000000Z"} */
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
