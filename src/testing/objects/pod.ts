/**
 * Builders of objects for tests, and large generated pods.
 *
 * `pod`, `node`, `namespace`, `configMap`, `deployment` and `lease` build one object from options; `pods` and `bigPod`
 * generate realistic pods from a seed. The builders do not need a server.
 *
 * @module
 */
import { copyOf } from "../../api/mutable.ts";
import type { WrittenValue } from "../../api/written.ts";
import type { Pod, PodStatus } from "../../kinds/core/v1.ts";
import type { PodSpec } from "../../kinds/core/v1.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import type { Built } from "./built.ts";
import { builtMetadata, builtUid } from "./built_metadata.ts";

/** Options for {@linkcode pod}. */
export interface PodBuildOptions extends NamespacedBuildOptions {
  /** Node of the pod. @default {none, the pod is not scheduled} */
  readonly node?: string;
  /** Pod phase. @default {"Running" on a node, else "Pending"} */
  readonly phase?: WrittenValue<PodStatus>["phase"];
  /** Status of the condition `Ready`. @default {true if running} */
  readonly ready?: boolean;
  /** Image of the only container. @default {"registry.example.com/app:1"} */
  readonly image?: string;
  /** Any other fields of the spec. @default {none} */
  readonly spec?: Partial<WrittenValue<PodSpec>>;
  /** Any other fields of the status. @default {none} */
  readonly status?: WrittenValue<PodStatus>;
}

/** A pod built by {@linkcode pod}. */
export type BuiltPod = Built<Pod, "status">;

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
  const spec: WrittenValue<PodSpec> = {
    containers: [{ name: "app", image }],
    restartPolicy: "Always",
    ...(node === undefined ? {} : { nodeName: node }),
    ...options.spec,
  };
  const status: WrittenValue<PodStatus> = {
    phase,
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    ...(phase === "Running" ? { podIP: `10.42.${name.length % 250}.${Number.parseInt(uid.slice(0, 2), 16)}` } : {}),
    ...options.status,
  };
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { generation: 1, ...builtMetadata("Pod", options) },
    spec: copyOf(spec),
    status: copyOf(status),
  };
}
