import type { KubernetesObject } from "../../api/object.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A deployment as {@linkcode deployment} makes it. */
export interface BuiltDeployment extends KubernetesObject {
  /** What it is to be. */
  readonly spec: {
    /** How many pods. */
    readonly replicas: number;
    /** Which pods are its own. */
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    /** What they are made of. */
    readonly template: {
      /** Their labels. */
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      /** What runs in them. */
      readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
    };
  };
  /** What it is. */
  readonly status: {
    /** How many pods there are. */
    readonly replicas: number;
    /** How many of them are ready. */
    readonly readyReplicas: number;
  };
}

/** A deployment whose pods have the label `app` with its name. */
export function deployment(
  options: NamespacedBuildOptions & {
    /** How many pods. @default {1} */
    readonly replicas?: number;
    /** How many of them are ready. @default {all of them} */
    readonly readyReplicas?: number;
    /** Image of its pods' one container. @default {"registry.example.com/app:1"} */
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
