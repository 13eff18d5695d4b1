import { Client } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { FakeApiServer } from "@kube/informer/testing";
import type { LeaseDraft } from "../../../src/operator/controllers/reconcile/lease_lock.ts";
import { refused } from "../sources/fixtures.ts";

type Answer<R> = R | Promise<R>;

interface Preconditions {
  readonly preconditions: { readonly uid: string; readonly resourceVersion?: string };
}

/** A server of Leases, as a history needs it. */
export interface LeaseServer {
  list(): Answer<{ readonly items: readonly Lease[] }>;
  get(name: string): Answer<Lease>;
  create(draft: LeaseDraft): Answer<Lease>;
  update(lease: Lease): Answer<Lease>;
  delete(name: string, options: Preconditions): Answer<unknown>;
}

/** Leases in memory, and every change of them in order: what the API server does, without requests. */
export class MemoryLeases implements LeaseServer {
  readonly log: { readonly type: "seen" | "gone"; readonly lease: Lease }[] = [];
  readonly watching = new Set<() => void>();
  readonly #leases = new Map<string, Lease>();

  list(): { readonly items: readonly Lease[] } {
    return { items: [...this.#leases.values()] };
  }

  get(name: string): Lease {
    const lease = this.#leases.get(name);
    if (lease === undefined) throw refused(404);
    return lease;
  }

  create(draft: LeaseDraft): Lease {
    if (this.#leases.has(draft.metadata.name)) throw refused(409, { reason: "AlreadyExists" });
    return this.#changed("seen", { ...draft, metadata: { uid: `u${this.log.length}`, ...draft.metadata } });
  }

  update(lease: Lease): Lease {
    this.#check(lease.metadata.name, lease.metadata);
    return this.#changed("seen", lease);
  }

  delete(name: string, { preconditions }: Preconditions): void {
    this.#check(name, preconditions);
    this.#changed("gone", this.get(name));
  }

  /** Refuses a change of another Lease, or of an older version. */
  #check(name: string, { uid, resourceVersion = "" }: Preconditions["preconditions"]): void {
    const { metadata } = this.get(name);
    if (uid !== metadata.uid || !["", metadata.resourceVersion].includes(resourceVersion)) throw refused(409);
  }

  #changed(
    type: "seen" | "gone",
    lease: Pick<Lease, "spec"> & { readonly metadata: Partial<Lease["metadata"]> },
  ): Lease {
    const resourceVersion = String(this.log.length + 1);
    const changed = { ...lease, metadata: { ...lease.metadata, resourceVersion } } as Lease;
    if (type === "seen") this.#leases.set(changed.metadata.name, changed);
    else this.#leases.delete(changed.metadata.name);
    this.log.push({ type, lease: changed });
    for (const see of this.watching) see();
    return changed;
  }
}

/** The Leases of a {@linkcode FakeApiServer}. */
export function fakeLeases(): LeaseServer {
  const client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  return client.resource(Lease, { namespace: "shop" });
}
