/**
 * Builders of objects for tests, and large generated pods.
 *
 * `pod`, `node`, `namespace`, `configMap`, `deployment` and `lease` build one object from options; `pods` and `bigPod`
 * generate realistic pods from a seed. The builders do not need a server.
 *
 * @module
 */
import type { KubernetesObject } from "../../api/object.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import { builtMetadata, builtUid } from "./built_metadata.ts";

/** Options for {@linkcode pod}. */
export interface PodBuildOptions extends NamespacedBuildOptions {
  /** Node of the pod. @default {none, the pod is not scheduled} */
  readonly node?: string;
  /** Pod phase. @default {"Running" on a node, else "Pending"} */
  readonly phase?: string;
  /** Status of the condition `Ready`. @default {true if running} */
  readonly ready?: boolean;
  /** Image of the only container. @default {"registry.example.com/app:1"} */
  readonly image?: string;
}

/** A pod built by {@linkcode pod}. */
export interface BuiltPod extends KubernetesObject {
  /** Desired state. */
  readonly spec: {
    /** Containers of the pod. */
    readonly containers: readonly { readonly name: string; readonly image: string }[];
    /** Node of the pod. */
    readonly nodeName?: string;
    /** Restart policy of the containers. */
    readonly restartPolicy: string;
  };
  /** Observed state. */
  readonly status: {
    /** Pod phase. */
    readonly phase: string;
    /** The condition `Ready`. */
    readonly conditions: readonly { readonly type: string; readonly status: "True" | "False" }[];
    /** IP address, once the pod is running. */
    readonly podIP?: string;
  };
}

/**
 * Builds a pod with one container.
 *
 * Like all builders, it fills in the metadata that a server would set, including uid and resourceVersion. A server
 * replaces these on creation.
 */
export function pod(options: PodBuildOptions): BuiltPod {
  const { name, node, image = "registry.example.com/app:1" } = options;
  const { phase = node === undefined ? "Pending" : "Running", ready = phase === "Running" } = options;
  const uid = builtUid("Pod", options);
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { ...builtMetadata("Pod", options), generation: 1 },
    spec: {
      containers: [{ name: "app", image }],
      restartPolicy: "Always",
      ...(node === undefined ? {} : { nodeName: node }),
    },
    status: {
      phase,
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
      ...(phase === "Running" ? { podIP: `10.42.${name.length % 250}.${Number.parseInt(uid.slice(0, 2), 16)}` } : {}),
    },
  };
}
