import type { KubernetesObject } from "../../api/object.ts";
import { defineResource, type Resource } from "../../api/resource.ts";
import type { ObjectReference } from "./object_reference.ts";

/** An event of group events.k8s.io. */
export interface ClusterEvent extends KubernetesObject {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly note: string;
  readonly type: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

/** Events. */
export const eventResource: Resource<ClusterEvent> = defineResource<ClusterEvent>({
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
});
