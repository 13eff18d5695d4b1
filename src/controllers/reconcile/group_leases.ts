/**
 * Decides which process of a group holds which range. Each process computes the same plan from the same Leases; where
 * they have seen different ones, versions let one write pass.
 *
 * The plan moves few ranges: a process that joins receives its share and triggers no other move; what a process leaves
 * is divided among the others, which keep what they have. It stays the same while it is carried out, in any order.
 *
 * @module
 */
import { type Abortable, defined } from "../../api/options.ts";
import { compareResourceVersions } from "../../api/status.ts";
import type { Client } from "../../client/client.ts";
import { SharedIndexInformer } from "../../informer/shared_index_informer.ts";
import { Lease } from "../../kinds/coordination/v1.ts";
import type { LeaseClient } from "./lease_lock.ts";

/**
 * Returns for each range the member that should hold it; `undefined` for all without members.
 *
 * The shares differ by one range at most. Those that have most keep the larger shares, the first names of them.
 *
 * @param members the processes that stay, each once, in any order.
 * @param holders the present holder of each range; `undefined`, or one that is no member, where it needs another.
 */
export function planRanges(
  members: readonly string[],
  holders: readonly (string | undefined)[],
): readonly (string | undefined)[] {
  const held = new Map(members.toSorted().map((member) => [member, [] as number[]]));
  if (held.size === 0) return holders.map(() => undefined);
  const free: number[] = [];
  for (const [range, holder] of holders.entries()) (held.get(holder ?? "") ?? free).push(range);
  const small = Math.floor(holders.length / held.size);
  // The larger shares belong to those that have one already, then to others by name.
  const names = [...held.keys()];
  const byClaim = [
    ...names.filter((name) => held.get(name)!.length > small),
    ...names.filter((name) => held.get(name)!.length <= small),
  ];
  const larger = new Set(byClaim.slice(0, holders.length % held.size));
  const share = (name: string): number => small + (larger.has(name) ? 1 : 0);
  for (const [name, ranges] of held) free.push(...ranges.slice(share(name)));
  free.sort((a, b) => a - b);
  const plan = [...holders];
  let next = 0;
  for (const [name, ranges] of held) {
    for (let missing = share(name) - ranges.length; missing > 0; missing--) plan[free[next++]] = name;
  }
  return plan;
}

/** The step of a process for one range. */
type RangeStep =
  /** It holds the range: its work may act on it. */
  | "hold"
  /** It ends its work on the range, and holds it no longer. */
  | "release"
  /** It writes the member that the plan names as holder. */
  | "write"
  /** Another process holds it or is to take it, or nobody is there to have it. */
  | "leave";

/**
 * Returns the step for a range.
 *
 * @param holder the one that its Lease names: `"gone"` where that is nobody, or its own Lease was deleted.
 * @param target the one that the plan names.
 * @param isReleased `true` if this process has ended its work on the range since the Lease was written.
 */
export function rangeStep(
  holder: "me" | "other" | "gone",
  target: "me" | "other" | "nobody",
  isReleased: boolean,
): RangeStep {
  if (holder === "other") return "leave";
  if (holder === "gone") return target === "me" ? "write" : "leave";
  // A write that gives it away may be on its way still: only a newer version makes this process the holder again.
  if (isReleased) return target === "nobody" ? "leave" : "write";
  return target === "me" ? "hold" : "release";
}

/** The label of all Leases of a group; its value is the group's name. */
export const GROUP_LABEL = "kube-informer/shard-group";

/** The label of the Lease of a process that gives its ranges away, to end. */
export const LEAVING_LABEL = "kube-informer/leaving";

/** The number of ranges of a group: twenty processes have three or four each. */
export const RANGE_COUNT = 64;

/** The requests of a group, beside its informer's; a `ResourceClient` of Leases has them. */
export interface GroupLeaseClient extends LeaseClient {
  /** Deletes the Lease, unless it has another uid or version. */
  delete(
    name: string,
    options: Abortable & { readonly preconditions: { readonly uid: string; readonly resourceVersion?: string } },
  ): Promise<unknown>;
}

/** Follows the Leases of a group: writes what the server sends to `leases` until the signal aborts. */
export type LeaseFeed = (leases: GroupLeases, options: Required<Abortable>) => Promise<void>;

/** Follows the Leases of a group by an informer. */
export function leaseInformer(
  client: Pick<Client, "resource">,
  { namespace, name, onError }: {
    readonly namespace?: string;
    readonly name: string;
    readonly onError?: (error: unknown) => void;
  },
): LeaseFeed {
  return async (leases, { signal }) => {
    const source = client.resource(Lease, { namespace, labelSelector: `${GROUP_LABEL}=${name}` });
    await using informer = new SharedIndexInformer<Lease>(source, defined({ onError }));
    await using handling = informer.addEventHandler({
      onAdd: ({ object }) => leases.seen(object),
      onUpdate: ({ object }) => leases.seen(object),
      onDelete: ({ object }) => leases.gone(object),
    });
    const running = informer.run({ signal });
    handling.waitForSync({ signal }).then(() => leases.synced(), () => {}); // rejects when it ends before
    await running;
  };
}

/** A process of a group, as its Lease shows it. */
export interface GroupMember {
  /** The uid of its Lease: another one after that was deleted, so that ranges of before are not its own. */
  readonly uid: string;
  /** The identity of the process. */
  readonly identity: string;
  /** The Lease. */
  readonly lease: Lease;
  /** The time at which this version was first seen. */
  readonly observedMs: number;
  /** `true` if it gives its ranges away. */
  readonly isLeaving: boolean;
}

/**
 * The Leases of a group as one process knows them: from its informer and from the answers to its own writes, the newest
 * of both.
 *
 * The informer passes on one collection in order. So a range that names the Lease of a member, which is not known, was
 * held by one whose Lease was deleted: it was created before.
 */
export class GroupLeases {
  readonly #name: string;
  readonly #now: () => number;
  readonly #changed: () => void;
  readonly #members = new Map<string, GroupMember>();
  readonly #ranges: (Lease | undefined)[] = Array(RANGE_COUNT).fill(undefined);
  /** The uids of the holders that they name; `""` for none. */
  readonly #holders: string[] = Array(RANGE_COUNT).fill("");
  /** `true` once the Leases of the first list are known. */
  hasSynced = false;

  /** Knows nothing yet; calls `changed` after each change. */
  constructor(name: string, now: () => number, changed: () => void) {
    this.#name = name;
    this.#now = now;
    this.#changed = changed;
  }

  /** The processes, by the uids of their Leases. */
  get members(): ReadonlyMap<string, GroupMember> {
    return this.#members;
  }

  /** The Lease of each range; `undefined` where there is none. */
  get ranges(): readonly (Lease | undefined)[] {
    return this.#ranges;
  }

  /** The name of the Lease of a range. */
  rangeName(range: number): string {
    return `${this.#name}-range-${range}`;
  }

  /** The uid of the holder of a range; `undefined` when that is gone. */
  holderOf(range: number): string | undefined {
    const uid = this.#holders[range];
    return this.#members.has(uid) ? uid : undefined;
  }

  /** The value of `holderIdentity` of ranges that a member holds. */
  holderIdentity({ identity, uid }: GroupMember): string {
    return `${identity}_${uid}`;
  }

  /** The first list is complete. */
  synced(): void {
    this.hasSynced = true;
    this.#changed();
  }

  /** Remembers a Lease, unless a newer version is known. */
  seen(lease: Lease): void {
    const { name, uid, labels } = lease.metadata;
    const range = this.#rangeOf(name);
    if (range !== undefined) {
      if (!isNewer(lease, this.#ranges[range])) return;
      this.#setRange(range, lease);
    } else if (name.startsWith(this.#memberPrefix)) {
      const identity = name.slice(this.#memberPrefix.length);
      for (const known of this.#members.values()) {
        if (known.identity !== identity) continue;
        if (!isNewer(lease, known.lease)) return;
        if (known.uid !== uid) this.#members.delete(known.uid);
      }
      const isLeaving = labels?.[LEAVING_LABEL] !== undefined;
      this.#members.set(uid, { uid, identity, lease, observedMs: this.#now(), isLeaving });
    }
    this.#changed();
  }

  /** Forgets a Lease that was deleted, unless that of a range was created again since. */
  gone(lease: Lease): void {
    const { name, uid } = lease.metadata;
    const range = this.#rangeOf(name);
    if (range === undefined) this.#members.delete(uid);
    else if (this.#ranges[range]?.metadata.uid === uid) this.#setRange(range, undefined);
    this.#changed();
  }

  #setRange(range: number, lease: Lease | undefined): void {
    const holder = lease?.spec?.holderIdentity ?? "";
    this.#ranges[range] = lease;
    this.#holders[range] = holder.slice(holder.lastIndexOf("_") + 1);
  }

  get #memberPrefix(): string {
    return `${this.#name}-member-`;
  }

  #rangeOf(name: string): number | undefined {
    const range = Number(name.slice(this.rangeName(0).length - 1));
    return range >= 0 && range < RANGE_COUNT && name === this.rangeName(range) ? range : undefined;
  }
}

function isNewer(lease: Lease, known: Lease | undefined): boolean {
  return known === undefined ||
    compareResourceVersions(lease.metadata.resourceVersion, known.metadata.resourceVersion) > 0;
}
