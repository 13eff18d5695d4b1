import { copyOf } from "../../api/mutable.ts";
import type { WrittenValue } from "../../api/written.ts";
import type { Deployment } from "../../kinds/apps/v1.ts";
import type { DeploymentSpec, DeploymentStatus } from "../../kinds/apps/v1.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import type { Built } from "./built.ts";
import { builtMetadata } from "./built_metadata.ts";

/** Options for {@linkcode deployment}. */
export interface DeploymentBuildOptions extends NamespacedBuildOptions {
  /** Number of pods. @default {1} */
  readonly replicas?: number;
  /** Number of ready pods. @default {`replicas`} */
  readonly readyReplicas?: number;
  /** Image of the pods' container. @default {"registry.example.com/app:1"} */
  readonly image?: string;
  /** Any other fields of the spec. @default {none} */
  readonly spec?: Partial<WrittenValue<DeploymentSpec>>;
  /** Any other fields of the status. @default {none} */
  readonly status?: Partial<WrittenValue<DeploymentStatus>>;
}

/** A deployment built by {@linkcode deployment}. */
export type BuiltDeployment = Built<Deployment, "status">;

/** Builds a deployment whose pods have the label `app` with its name. */
export function deployment(options: DeploymentBuildOptions): BuiltDeployment {
  const { name, replicas = 1, readyReplicas = replicas, image = "registry.example.com/app:1" } = options;
  const labels = { app: name };
  const spec: WrittenValue<DeploymentSpec> = {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "app", image }] } },
    ...options.spec,
  };
  return {
    kind: "Deployment",
    apiVersion: "apps/v1",
    metadata: { generation: 1, ...builtMetadata("Deployment", options) },
    spec: copyOf(spec),
    status: copyOf({ replicas, readyReplicas, ...options.status }),
  };
}
