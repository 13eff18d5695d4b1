/**
 * Kinds of the core group, version v1: a type and a value of one name each.
 *
 * The types hold the fields that controllers read most; what they leave out is there all the same, and can be had by an
 * interface of your own with {@linkcode defineResource}.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * const maps = client.resource(ConfigMap, { namespace: "shop" });
 * await maps.create({ metadata: { name: "prices" }, data: { tea: "3" } });
 * ```
 *
 * @module
 */
import type { KubernetesObject } from "../../api/object.ts";
import { defineResource, type Resource } from "../../api/resource.ts";

/** One aspect of an object's state. */
export interface Condition {
  /** Which aspect, `"Ready"`. */
  readonly type: string;
  /** Whether it holds. */
  readonly status: "True" | "False" | "Unknown";
  /** A word for programs. */
  readonly reason?: string;
  /** A sentence for people. */
  readonly message?: string;
  /** When `status` last changed, RFC 3339. */
  readonly lastTransitionTime?: string;
}

/** A port of a container. */
export interface ContainerPort {
  /** Unique within the pod. */
  readonly name?: string;
  /** The port inside. */
  readonly containerPort: number;
  /** The port on the node. */
  readonly hostPort?: number;
  /** `"TCP"`, `"UDP"` or `"SCTP"`. */
  readonly protocol?: string;
}

/** An environment variable of a container. */
export interface EnvVar {
  /** Its name. */
  readonly name: string;
  /** Its value, when given as text. */
  readonly value?: string;
  /** Where its value comes from otherwise. */
  readonly valueFrom?: Readonly<Record<string, unknown>>;
}

/** What runs in a pod. */
export interface Container {
  /** Unique within the pod. */
  readonly name: string;
  /** The image it runs. */
  readonly image?: string;
  /** Replaces the image's entry point. */
  readonly command?: readonly string[];
  /** Replaces the image's arguments. */
  readonly args?: readonly string[];
  /** Environment variables. */
  readonly env?: readonly EnvVar[];
  /** Ports it listens on. */
  readonly ports?: readonly ContainerPort[];
  /** What it asks for and may use at most, by `"cpu"`, `"memory"` and so on. */
  readonly resources?: {
    readonly limits?: Readonly<Record<string, string>>;
    readonly requests?: Readonly<Record<string, string>>;
  };
}

/** How a container is doing. */
export interface ContainerStatus {
  /** Name of the container. */
  readonly name: string;
  /** Whether it passes its readiness probe. */
  readonly ready: boolean;
  /** How often it was started again. */
  readonly restartCount: number;
  /** The image it runs. */
  readonly image?: string;
  /** Its state, under `"waiting"`, `"running"` or `"terminated"`. */
  readonly state?: Readonly<Record<string, unknown>>;
}

/** What a pod is to be. */
export interface PodSpec {
  /** What runs in it. */
  readonly containers: readonly Container[];
  /** What runs before. */
  readonly initContainers?: readonly Container[];
  /** The node it is bound to. */
  readonly nodeName?: string;
  /** Labels a node must have. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** As whom it talks to the API server. */
  readonly serviceAccountName?: string;
  /** When its containers are started again. */
  readonly restartPolicy?: string;
  /** How long it may take to end, in seconds. */
  readonly terminationGracePeriodSeconds?: number;
  /** Its volumes. */
  readonly volumes?: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];
}

/** What a pod is. */
export interface PodStatus {
  /** `"Pending"`, `"Running"`, `"Succeeded"`, `"Failed"` or `"Unknown"`. */
  readonly phase?: string;
  /** Aspects of its state. */
  readonly conditions?: readonly Condition[];
  /** How its containers are doing. */
  readonly containerStatuses?: readonly ContainerStatus[];
  /** Its address. */
  readonly podIP?: string;
  /** Its node's address. */
  readonly hostIP?: string;
  /** A word on why it is in its phase. */
  readonly reason?: string;
  /** A sentence on that. */
  readonly message?: string;
  /** When its node took it, RFC 3339. */
  readonly startTime?: string;
}

/** Containers that run together on one node. */
export interface Pod extends KubernetesObject {
  /** What it is to be. */
  readonly spec: PodSpec;
  /** What it is. */
  readonly status?: PodStatus;
}
/** Pods, `"po"`. */
export const Pod: Resource<Pod> = defineResource<Pod>({ version: "v1", plural: "pods", kind: "Pod" });

/** A machine that pods run on. */
export interface Node extends KubernetesObject {
  /** What it is to be. */
  readonly spec?: {
    readonly podCIDR?: string;
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  };
  /** What it is. */
  readonly status?: {
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly conditions?: readonly Condition[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Readonly<Record<string, string>>;
  };
}
/** Nodes, `"no"`. */
export const Node: Resource<Node> = defineResource<Node>({
  version: "v1",
  plural: "nodes",
  kind: "Node",
  scope: "Cluster",
});

/** A room for names. */
export interface Namespace extends KubernetesObject {
  /** What it is to be. */
  readonly spec?: { readonly finalizers?: readonly string[] };
  /** What it is: `"Active"` or `"Terminating"`. */
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}
/** Namespaces, `"ns"`. */
export const Namespace: Resource<Namespace> = defineResource<Namespace>({
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  scope: "Cluster",
});

/** Configuration that pods read. */
export interface ConfigMap extends KubernetesObject {
  /** Texts by key. */
  readonly data?: Readonly<Record<string, string>>;
  /** Bytes by key, base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
  /** Whether it can not be changed any more. */
  readonly immutable?: boolean;
}
/** Config maps, `"cm"`. */
export const ConfigMap: Resource<ConfigMap> = defineResource<ConfigMap>({
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
});
