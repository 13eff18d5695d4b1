import type { KubernetesObject } from "../../api/object.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A deployment built by {@linkcode deployment}. */
export interface BuiltDeployment extends KubernetesObject {
  /** Desired state. */
  readonly spec: {
    /** Number of desired pods. */
    readonly replicas: number;
    /** Selector of the deployment's pods. */
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    /** Template of the pods. */
    readonly template: {
      /** Metadata of the pods. */
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      /** Spec of the pods. */
      readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
    };
  };
  /** Observed state. */
  readonly status: {
    /** Number of pods. */
    readonly replicas: number;
    /** Number of ready pods. */
    readonly readyReplicas: number;
  };
}

/** Builds a deployment whose pods have the label `app` with its name. */
export function deployment(
  options: NamespacedBuildOptions & {
    /** Number of pods. @default {1} */
    readonly replicas?: number;
    /** Number of ready pods. @default {`replicas`} */
    readonly readyReplicas?: number;
    /** Image of the pods' container. @default {"registry.example.com/app:1"} */
    readonly image?: string;
  },
): BuiltDeployment {
  const { name, replicas = 1, readyReplicas = replicas, image = "registry.example.com/app:1" } = options;
  const labels = { app: name };
  return {
    kind: "Deployment",
    apiVersion: "apps/v1",
    metadata: { ...builtMetadata("Deployment", options), generation: 1 },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "app", image }] } },
    },
    status: { replicas, readyReplicas },
  };
}
