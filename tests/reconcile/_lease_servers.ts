import { Client, copyOf } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { FakeApiServer } from "@kube/informer/testing";
import type { LeaseClient, LeaseDraft } from "../../src/reconcile/leader_elector.ts";
import { refused } from "../support/fixtures.ts";

/** A server with one Lease, as a history needs it. */
export interface LeaseServer extends LeaseClient {
  /** The Lease as it is. */
  readonly lease: Lease | undefined;
  /** Deletes the Lease, as somebody may do by hand. */
  remove(): void;
  /** Gives the Lease to somebody else by hand. */
  steal(holder: string): void;
}

/** A Lease in memory: what the API server does with it, without requests, for many histories. */
export class MemoryLeaseServer implements LeaseServer {
  lease: Lease | undefined;
  #revision = 0;

  get(): Promise<Lease> {
    return this.lease === undefined ? Promise.reject(refused(404)) : Promise.resolve(this.lease);
  }

  create(draft: LeaseDraft): Promise<Lease> {
    if (this.lease !== undefined) return Promise.reject(refused(409, { reason: "AlreadyExists" }));
    return Promise.resolve(
      this.#store({ ...draft, metadata: { uid: `u${this.#revision}`, ...draft.metadata } }),
    );
  }

  update(lease: Lease): Promise<Lease> {
    if (this.lease === undefined) return Promise.reject(refused(404));
    const { resourceVersion } = lease.metadata;
    if (resourceVersion !== "" && resourceVersion !== this.lease.metadata.resourceVersion) {
      return Promise.reject(refused(409));
    }
    return Promise.resolve(this.#store(lease));
  }

  remove(): void {
    this.lease = undefined;
  }

  steal(holder: string): void {
    if (this.lease !== undefined) this.#store({ ...this.lease, spec: { ...this.lease.spec, holderIdentity: holder } });
  }

  #store(lease: Omit<Lease, "metadata"> & { readonly metadata: Partial<Lease["metadata"]> }): Lease {
    const resourceVersion = String(++this.#revision);
    return this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion } } as Lease;
  }
}

/** The Lease of a {@linkcode FakeApiServer}. */
export class FakeLeaseServer implements LeaseServer {
  readonly #server = new FakeApiServer();
  readonly #leases = new Client({ server: "http://fake", transport: this.#server }).resource(Lease, {
    namespace: "shop",
  });

  get lease(): Lease | undefined {
    return this.#server.get(Lease, "shop/it");
  }

  get(name: string): Promise<Lease> {
    return this.#leases.get(name);
  }

  create(draft: LeaseDraft): Promise<Lease> {
    return this.#leases.create(draft);
  }

  update(lease: Lease): Promise<Lease> {
    return this.#leases.update(copyOf(lease));
  }

  remove(): void {
    if (this.lease !== undefined) this.#server.delete(Lease, "shop/it");
  }

  steal(holder: string): void {
    if (this.lease !== undefined) this.#server.patch(Lease, "shop/it", { spec: { holderIdentity: holder } });
  }
}
