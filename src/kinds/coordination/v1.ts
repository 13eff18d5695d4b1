/**
 * Kinds of group coordination.k8s.io, version v1: a type and a value of one name each.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { Lease } from "@kube/informer/kinds/coordination/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await client.resource(Lease, { namespace: "kube-node-lease" }).list();
 * ```
 *
 * @module
 */
import type { KubernetesObject } from "../../api/object.ts";
import { defineResource, type Resource } from "../../api/resource.ts";

/** Who holds something, and until when. */
export interface Lease extends KubernetesObject {
  /** The claim. */
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}
/** Leases. */
export const Lease: Resource<Lease> = defineResource<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
});
