import type { KubernetesObject } from "../../api/object.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import { builtMetadata, builtUid } from "./built_metadata.ts";

/** What {@linkcode pod} takes. */
export interface PodBuildOptions extends NamespacedBuildOptions {
  /** The node it runs on. @default {none: it is not scheduled} */
  readonly node?: string;
  /** Where it is in its life. @default {"Running" on a node, else "Pending"} */
  readonly phase?: string;
  /** Whether it is ready. @default {true when it runs} */
  readonly ready?: boolean;
  /** Image of its one container. @default {"registry.example.com/app:1"} */
  readonly image?: string;
}

/** A pod as {@linkcode pod} makes it. */
export interface BuiltPod extends KubernetesObject {
  /** What it is to be. */
  readonly spec: {
    /** What runs in it. */
    readonly containers: readonly { readonly name: string; readonly image: string }[];
    /** The node it runs on. */
    readonly nodeName?: string;
    /** When its containers are started again. */
    readonly restartPolicy: string;
  };
  /** What it is. */
  readonly status: {
    /** Where it is in its life. */
    readonly phase: string;
    /** Whether it is ready. */
    readonly conditions: readonly { readonly type: string; readonly status: "True" | "False" }[];
    /** Its address, once it runs. */
    readonly podIP?: string;
  };
}

/**
 * A pod with one container.
 *
 * Like all builders it fills in everything that objects of a server have, uid and version included; a server gives it
 * others when it is created there.
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
