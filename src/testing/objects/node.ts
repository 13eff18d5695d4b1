import type { KubernetesObject } from "../../api/object.ts";
import type { BuildOptions } from "./build_options.ts";
import { builtMetadata } from "./built_metadata.ts";

/** A node as {@linkcode node} makes it. */
export interface BuiltNode extends KubernetesObject {
  /** What it is to be. */
  readonly spec: { readonly unschedulable?: boolean };
  /** What it is. */
  readonly status: {
    /** What it has. */
    readonly capacity: Readonly<Record<string, string>>;
    /** Whether it is ready. */
    readonly conditions: readonly { readonly type: string; readonly status: "True" | "False" }[];
  };
}

/** A node that is ready, unless told otherwise. */
export function node(
  options: BuildOptions & {
    /** Whether it is ready. @default {true} */
    readonly ready?: boolean;
    /** Whether new pods are kept off it. @default {false} */
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
