import { copyOf } from "../../api/mutable.ts";
import type { MicroTime } from "../../api/time.ts";
import type { WrittenValue } from "../../api/written.ts";
import type { Lease, LeaseSpec } from "../../kinds/coordination/v1.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import type { Built } from "./built.ts";
import { builtMetadata } from "./built_metadata.ts";

/** Options for {@linkcode lease}. */
export interface LeaseBuildOptions extends NamespacedBuildOptions {
  /** Name of the holder. @default {the lease's name} */
  readonly holder?: string;
  /** Duration in seconds. @default {40} */
  readonly durationSeconds?: number;
  /** Time of the last renewal. @default {"2026-01-01T00:00:00.000000Z"} */
  readonly renewTime?: MicroTime;
  /** Any other fields of the spec. @default {none} */
  readonly spec?: WrittenValue<LeaseSpec>;
}

/** A lease built by {@linkcode lease}. */
export type BuiltLease = Built<Lease, "spec">;

/** Builds a lease. */
export function lease(options: LeaseBuildOptions): BuiltLease {
  const { holder = options.name, durationSeconds = 40, renewTime = "2026-01-01T00:00:00.000000Z" } = options;
  return {
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    metadata: builtMetadata("Lease", options),
    spec: copyOf({
      holderIdentity: holder,
      leaseDurationSeconds: durationSeconds,
      renewTime,
      ...options.spec,
    }),
  };
}
