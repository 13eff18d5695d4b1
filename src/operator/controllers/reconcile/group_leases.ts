/**
 * Decides which process in a group holds which range. Each process computes the same plan from the same Leases. If they
 * have seen different Leases, the versions let only one write pass.
 *
 * The plan moves few ranges. A process that joins receives its share, and no other range moves. When a process leaves,
 * its ranges are divided among the others, which keep their own. The plan stays the same while it is carried out, in
 * any order.
 *
 * @module
 */
import type { Abortable } from "../../../engine/api/call_options.ts";
import { defined } from "../../../engine/api/json.ts";
import { compareResourceVersions } from "../../../engine/api/status.ts";
import type { Client } from "../../../engine/client/client.ts";
import { SharedIndexInformer } from "../../../engine/informer/shared_index_informer.ts";
import { Lease } from "../../../engine/kinds/coordination/v1.ts";
import type { LeaseClient } from "./lease_lock.ts";

/**
 * Returns for each range the member that should hold it, or `undefined` if there are no members.
 *
 * The shares differ by at most one range. Members that hold more than a smaller share get the larger ones first, then
 * the others, both by name.
 *
 * @param members The processes that stay, each once, in any order.
 * @param holders The present holder of each range. `undefined`, or a name that is no member, means that it needs
 * another.
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
  // Members that have a larger share already come first, then the others, both by name.
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

/** A process's step for one range. */
type RangeStep =
  /** It holds the range: its work may act on it. */
  | "hold"
  /** It ends its work on the range, and then no longer holds it. */
  | "release"
  /** It writes the member from the plan as the holder. */
  | "write"
  /** Another process holds it or will take it, or nobody can have it. */
  | "leave";

/**
 * Returns the step for a range.
 *
 * @param holder The holder in its Lease, or `"gone"` if there is none or the holder's own Lease was deleted.
 * @param target The holder in the plan.
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

/** The label on all Leases in a group. Its value is the group's name. */
export const GROUP_LABEL = "kube-informer/shard-group";

/** The label on the Lease of a process that gives its ranges away before it ends. */
export const LEAVING_LABEL = "kube-informer/leaving";

/** The number of ranges in a group. Twenty processes have three or four each. */
export const RANGE_COUNT = 64;

/** The requests that a group sends besides its informer's requests. A `ResourceClient` for Leases has them. */
export interface GroupLeaseClient extends LeaseClient {
  /** Deletes the Lease, unless it has another uid or version. */
  delete(
    name: string,
    options: Abortable & { readonly preconditions: { readonly uid: string; readonly resourceVersion?: string } },
  ): Promise<unknown>;
}

/** Follows a group's Leases: writes the server's changes to `leases` until the signal aborts. */
export type LeaseFeed = (leases: GroupLeases, options: Required<Abortable>) => Promise<void>;

/** Follows a group's Leases with an informer. */
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

/** A process in a group, as its Lease shows it. */
export interface GroupMember {
  /**
   * Its Lease's uid. If the Lease was deleted and created again, the uid differs, and earlier ranges are not its own.
   */
  readonly uid: string;
  /** The process's identity. */
  readonly identity: string;
  /** The Lease. */
  readonly lease: Lease;
  /** When this version was first seen. */
  readonly observedMs: number;
  /** `true` if it gives its ranges away. */
  readonly isLeaving: boolean;
}

/**
 * A group's Leases as one process knows them. They come from its informer and from the responses to its own writes, and
 * the newest counts.
 *
 * The informer delivers one collection in order. So if a range names an unknown member, that member's Lease was
 * deleted, because it was created before.
 */
export class GroupLeases {
  readonly #name: string;
  readonly #now: () => number;
  readonly #changed: () => void;
  readonly #members = new Map<string, GroupMember>();
  readonly #ranges: (Lease | undefined)[] = Array(RANGE_COUNT).fill(undefined);
  /** The uids of the holders in these Leases, or `""` for none. */
  readonly #holders: string[] = Array(RANGE_COUNT).fill("");
  /** `true` once the first list has been received. */
  hasSynced = false;

  /** Knows nothing yet. Calls `changed` after each change. */
  constructor(name: string, now: () => number, changed: () => void) {
    this.#name = name;
    this.#now = now;
    this.#changed = changed;
  }

  /** The processes by their Leases' uids. */
  get members(): ReadonlyMap<string, GroupMember> {
    return this.#members;
  }

  /** Each range's Lease, or `undefined` if there is none. */
  get ranges(): readonly (Lease | undefined)[] {
    return this.#ranges;
  }

  /** The name of a range's Lease. */
  rangeName(range: number): string {
    return `${this.#name}-range-${range}`;
  }

  /** The uid of a range's holder, or `undefined` if that is gone. */
  holderOf(range: number): string | undefined {
    const uid = this.#holders[range];
    return this.#members.has(uid) ? uid : undefined;
  }

  /** The value of `holderIdentity` in ranges that a member holds. */
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

  /** Forgets a Lease that was deleted, unless a range's Lease was created again since. */
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
