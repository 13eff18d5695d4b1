import type { Client } from "@kube/informer";
import type { Lease } from "@kube/informer/kinds/coordination/v1";
import { ShardGroup } from "@kube/informer/reconcile";
import type { HashRange } from "../../../src/engine/api/shard.ts";
import type { LeaseFeed } from "../../../src/operator/controllers/reconcile/group_leases.ts";
import {
  DEADLINE_MS,
  LEASE_MS,
  type LeaseBug,
  LeaseHistory,
  type Participant,
  RATES,
  type SharedOptions,
} from "./history.ts";
import { MemoryLeases } from "./servers.ts";

/** A range is held again so long after its holder has crashed, by the slowest clock. */
const CRASH_MS = (LEASE_MS + 2_000) / RATES[0];

/** One process of the group. */
interface Member extends Participant {
  readonly group: ShardGroup;
  /** The ranges whose work ends, by their starts. */
  readonly ending: Set<number>;
  /** The number of changes of Leases that its watch has shown. */
  readonly feed: { shown: number };
  /** The numbers of the ranges that it holds, while it holds any. */
  held: readonly number[];
  /** The same at the last check: another array after each change. */
  checked: readonly HashRange[];
}

/** Several processes of a group. */
export class GroupHistory extends LeaseHistory<Member, MemoryLeases> {
  /** The number of changes of Leases up to the last one by hand. */
  #changesByHand = 0;

  constructor(seed: number, bug?: LeaseBug) {
    super(seed, new MemoryLeases(), bug);
  }

  /** The number of changes of Leases of ranges. */
  override get acts(): number {
    return this.server.log.filter(({ lease }) => lease.metadata.name.includes("-range-")).length;
  }

  protected override begin(
    own: Participant,
    client: Client,
    options: SharedOptions,
  ): { readonly participant: Member; readonly ended: Promise<void> } {
    const { name, process, stop: { signal } } = own;
    const feed = { shown: 0 };
    const group = new ShardGroup(client, options, this.#feedOf(own, feed));
    const ending = new Set<number>();
    const member: Member = { ...own, group, feed, ending, held: [], checked: [] };
    group.onChange(() => {
      member.held = group.status().ranges;
      this.say(`${name} holds ${member.held}`);
    });
    group.onRelease(async ({ start }) => {
      const range = Number(start >> 58n);
      ending.add(range);
      const ended = process.clock.sleep(this.isCalm ? 100 : this.random.below(4_000));
      const end = ended.then(() => void ending.delete(range));
      if (!this.bug.skipsHooks) await end;
    });
    return { participant: member, ended: group.run({ signal }) };
  }

  protected override holds({ group }: Member): boolean {
    return group.ranges().length > 0;
  }

  protected override changing(): void {
    super.changing();
    this.#changesByHand = this.server.log.length + 1;
  }

  /** A change of a range by hand is no matter of a deadline: its holder renews another Lease. */
  protected override haveNoticed(): boolean {
    return this.alive.every(({ feed }) => feed.shown >= this.#changesByHand);
  }

  /** By the clocks at most one process has work on a range, paused or not. */
  protected override check(): void {
    // Two may have come to hold one only where somebody holds others than at the last check.
    const changed = this.alive.filter((member) => member.checked !== (member.checked = member.group.ranges()));
    if (changed.length === 0) return;
    const holders: (string | undefined)[] = [];
    for (const { name, group, ending, held, checked } of this.alive) {
      const isEnding = ending.size > 0 && (group.status().sinceRenewalMs ?? Infinity) < DEADLINE_MS;
      for (const range of [...(checked.length > 0 ? held : []), ...(isEnding ? ending : [])]) {
        if (holders[range] !== undefined && holders[range] !== name) {
          this.problems.push(`${holders[range]} and ${name} hold ${range} at ${this.timeline.nowMs}`);
        }
        holders[range] = name;
      }
    }
  }

  /** Every range is held soon, in even shares, and again after a crash and a stop. */
  protected override async calm(): Promise<void> {
    for (let count = 3; count > 0; count--) this.start();
    await this.timeline.pass(LEASE_MS / RATES[0] + 30_000);
    this.#expectAll("in the end");
    const [crashed, stopped] = this.alive;
    crashed.process.kill();
    this.say(`${crashed.name} crashes`);
    await this.timeline.pass(CRASH_MS);
    this.#expectAll(`after ${crashed.name} has crashed`);
    if (stopped.stop.signal.aborted) return;
    stopped.stop.abort(new Error("stopped"));
    this.say(`${stopped.name} stops`);
    await this.timeline.pass(2_000 + 100 / RATES[0]);
    this.#expectAll(`after ${stopped.name} was stopped`);
  }

  /** No Lease of a process is left. */
  protected override left(leases: readonly Lease[]): readonly Lease[] {
    return leases.filter(({ metadata }) => metadata.name.includes("-member-"));
  }

  protected override reconnected(): void {
    for (const see of this.server.watching) see();
  }

  #expectAll(when: string): void {
    const alive = this.alive.filter(({ stop }) => !stop.signal.aborted);
    const shares = alive.map(({ group }) => group.status().ranges.length);
    const held = new Set(alive.flatMap(({ group }) => group.status().ranges));
    if (held.size !== 64) this.problems.push(`${held.size} ranges are held ${when}`);
    if (Math.max(...shares) - Math.min(...shares) > 1) this.problems.push(`the shares are ${shares} ${when}`);
    const named = this.left(this.server.list().items).map(({ metadata }) => metadata.name);
    if (named.length !== alive.length) this.problems.push(`the Leases are of ${named} ${when}`);
  }

  /**
   * A watch of all changes in order, late by the latency; changes that occur while others are on their way come after
   * them, together. One that is cut off resumes.
   */
  #feedOf({ name, process }: Participant, feed: Member["feed"]): LeaseFeed {
    const { log, watching } = this.server;
    return (leases, { signal }) => {
      let isOnItsWay = false;
      const see = (): void => {
        if (isOnItsWay || process.isDead) return;
        isOnItsWay = true;
        const upTo = log.length;
        this.timeline.after(this.random.next() * this.latencyMs, () => {
          isOnItsWay = false;
          if (this.cutOff.has(name)) return;
          process.run(() => {
            for (; feed.shown < upTo && !signal.aborted; feed.shown++) {
              const { type, lease } = log[feed.shown];
              leases[type](lease);
            }
            if (!leases.hasSynced) leases.synced();
          });
          if (upTo < log.length && !signal.aborted) see();
        });
      };
      watching.add(see);
      see();
      return new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          watching.delete(see);
          resolve();
        }, { once: true });
      });
    };
  }
}
