import type { KubernetesObject } from "../../api/object.ts";
import type { BuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A node built by {@linkcode node}. */
export interface BuiltNode extends KubernetesObject {
  /** Desired state. */
  readonly spec: { readonly unschedulable?: boolean };
  /** Observed state. */
  readonly status: {
    /** Resources of the node. */
    readonly capacity: Readonly<Record<string, string>>;
    /** The condition `Ready`. */
    readonly conditions: readonly { readonly type: string; readonly status: "True" | "False" }[];
  };
}

/** Builds a node, ready by default. */
export function node(
  options: BuildOptions & {
    /** Status of the condition `Ready`. @default {true} */
    readonly ready?: boolean;
    /** If true, the node takes no new pods. @default {false} */
    readonly unschedulable?: boolean;
  },
): BuiltNode {
  const { ready = true, unschedulable = false } = options;
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: builtMetadata("Node", options, true),
    spec: unschedulable ? { unschedulable } : {},
    status: {
      capacity: { cpu: "8", memory: "32Gi", pods: "110" },
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    },
  };
}
