import { copyOf } from "../../api/mutable.ts";
import type { WrittenValue } from "../../api/written.ts";
import type { Node, NodeSpec, NodeStatus } from "../../kinds/core/v1.ts";
import type { BuildOptions } from "./build_options.ts";
import type { Built } from "./built.ts";
import { builtMetadata } from "./built_metadata.ts";

/** Options for {@linkcode node}. */
export interface NodeBuildOptions extends BuildOptions {
  /** Status of the condition `Ready`. @default {true} */
  readonly ready?: boolean;
  /** If true, the node takes no new pods. @default {false} */
  readonly unschedulable?: boolean;
  /** Any other fields of the spec. @default {none} */
  readonly spec?: WrittenValue<NodeSpec>;
  /** Any other fields of the status. @default {none} */
  readonly status?: WrittenValue<NodeStatus>;
}

/** A node built by {@linkcode node}. */
export type BuiltNode = Built<Node, "spec" | "status">;

/** Builds a node, ready by default. */
export function node(options: NodeBuildOptions): BuiltNode {
  const { ready = true, unschedulable = false } = options;
  const status: WrittenValue<NodeStatus> = {
    capacity: { cpu: "8", memory: "32Gi", pods: "110" },
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    ...options.status,
  };
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: builtMetadata("Node", options, true),
    spec: copyOf({ ...(unschedulable ? { unschedulable } : {}), ...options.spec }),
    status: copyOf(status),
  };
}
