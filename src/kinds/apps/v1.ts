/**
 * Kinds of group apps, version v1: a type and a value of one name each.
 *
 * @example
 * ```ts
 * import { SharedInformerFactory, Client } from "@kube/informer";
 * import { Deployment } from "@kube/informer/kinds/apps/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await using informers = new SharedInformerFactory(client);
 * informers.forResource(Deployment).addEventHandler({ onAdd: ({ object }) => console.log(object.spec.replicas) });
 * ```
 *
 * @module
 */
import type { KubernetesObject, ObjectMeta } from "../../api/object.ts";
import { defineResource, type Resource } from "../../api/resource.ts";
import type { Condition, PodSpec } from "../core/v1.ts";

/** Which objects belong together, by their labels. */
export interface Selector {
  /** Labels and the values they must have. */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** Further conditions. */
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

/** What the pods of a workload are to be. */
export interface PodTemplate {
  /** Labels and annotations of the pods. */
  readonly metadata?: Partial<ObjectMeta>;
  /** What they are to be. */
  readonly spec?: PodSpec;
}

/** What a deployment is to be. */
export interface DeploymentSpec {
  /** How many pods. @default {1} */
  readonly replicas?: number;
  /** Which pods are its own. */
  readonly selector: Selector;
  /** What its pods are to be. */
  readonly template: PodTemplate;
  /** How they are replaced. */
  readonly strategy?: { readonly type?: string; readonly rollingUpdate?: Readonly<Record<string, string | number>> };
  /** Whether it is paused. */
  readonly paused?: boolean;
}

/** What a deployment is. */
export interface DeploymentStatus {
  /** The generation this is the status of. */
  readonly observedGeneration?: number;
  /** How many pods there are. */
  readonly replicas?: number;
  /** How many of them are as its spec says now. */
  readonly updatedReplicas?: number;
  /** How many of them are ready. */
  readonly readyReplicas?: number;
  /** How many of them have been ready for long enough. */
  readonly availableReplicas?: number;
  /** Aspects of its state. */
  readonly conditions?: readonly Condition[];
}

/** Equal pods that are replaced bit by bit. */
export interface Deployment extends KubernetesObject {
  /** What it is to be. */
  readonly spec: DeploymentSpec;
  /** What it is. */
  readonly status?: DeploymentStatus;
}
/** Deployments, `"deploy"`. */
export const Deployment: Resource<Deployment> = defineResource<Deployment>({
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
});
