import { type Client, SharedIndexInformer } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals } from "@std/assert";
import { Requests } from "../cluster/requests.ts";
import { withDeadline } from "../cluster/with_deadline.ts";
import { CurrentTimes } from "./current_times.ts";
import type { FaultProxy } from "./fault_proxy.ts";
import { type Fault, playFaults } from "./fault_schedule.ts";
import { MARKER_NAMESPACE, writtenAtOf } from "./marker.ts";

/** After the last fault, a cache has recovered when it is current for so many milliseconds without a gap. */
const STEADY_MS = 3_000;

/**
 * The time for which the tests of the gate let a cache be stale, in milliseconds. Their faults last at most 1.5 s,
 * which is too short for long waits; the rest is for a busy machine.
 */
export const PATIENCE_MS = 5_000;

/** A cache behind a proxy that holds the marker. */
export interface Follower {
  /** The proxy between the cache and the server. */
  readonly proxy: FaultProxy;
  /** When the cache was current. */
  readonly currentTimes: CurrentTimes;
  /** Lists begun, streaming lists too; a list of several pages counts once. */
  readonly lists: number;
  /** Watches begun that are not streaming lists. */
  readonly watches: number;
}

/** The recovery of one cache under a schedule of faults. */
export interface Recovery {
  /**
   * The share of the time from the start of the schedule to the end of its last fault in which the cache was current, 0
   * to 1.
   */
  readonly share: number;
  /**
   * Milliseconds from the end of the last fault until the cache was current, and stayed so; infinite when it did not.
   */
  readonly recoveryMs: number;
  /** The longest time in which it was not current without a gap, in milliseconds, until it had recovered. */
  readonly longestStaleMs: number;
  /** Lists begun, the first one too. */
  readonly lists: number;
  /** Watches begun, the first one too where it is not a streaming list. */
  readonly watches: number;
}

/** One of our informers as a {@linkcode Follower}. It runs until it is disposed, and disposes client and proxy too. */
export class InformerFollower implements Follower, AsyncDisposable {
  readonly proxy: FaultProxy;
  readonly currentTimes = new CurrentTimes();
  readonly #client: Client;
  readonly #requests: Requests<ConfigMap>;
  readonly #informer: SharedIndexInformer<ConfigMap>;

  /** Starts at once. `client` must connect through `proxy`. */
  constructor(proxy: FaultProxy, client: Client) {
    this.proxy = proxy;
    this.#client = client;
    this.#requests = new Requests(client.resource(ConfigMap, { namespace: MARKER_NAMESPACE }));
    this.#informer = new SharedIndexInformer(this.#requests, { onError: () => undefined }); // faults are expected
    const note = ({ object }: { readonly object: ConfigMap }): void => {
      const writtenAt = writtenAtOf(object);
      if (writtenAt !== undefined) this.currentTimes.note(writtenAt, Date.now());
    };
    this.#informer.addEventHandler({ onAdd: note, onUpdate: note });
    this.#informer.run();
  }

  get lists(): number {
    return this.#requests.lists + this.#requests.streamingLists;
  }

  get watches(): number {
    return this.#requests.watches - this.#requests.streamingLists;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer[Symbol.asyncDispose]();
    this.#client[Symbol.dispose]();
    await this.proxy[Symbol.asyncDispose]();
  }
}

/**
 * Waits until every follower is current, plays a schedule on all their proxies at the same time, and waits until each
 * has recovered, at most `patienceMs` after the last fault.
 */
export async function recoveriesOf(
  schedule: readonly Fault[],
  followers: readonly Follower[],
  patienceMs: number,
): Promise<readonly Recovery[]> {
  const proxies = followers.map(({ proxy }) => proxy);
  await withDeadline(
    "the first markers",
    (signal) => Promise.all(followers.map((it) => it.currentTimes.steadyFrom(0, 1, signal))),
  );
  const { startedAt, endedAt } = await withDeadline(
    "the last fault",
    (signal) => playFaults(schedule, proxies, signal),
    schedule.at(-1)!.atMs + 60_000,
  );
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), patienceMs + STEADY_MS);
  const recoveredAt = async ({ currentTimes }: Follower): Promise<number> => {
    try {
      return await currentTimes.steadyFrom(endedAt, STEADY_MS, patience.signal);
    } catch (error) {
      if (!patience.signal.aborted) throw error;
      return Infinity;
    }
  };
  try {
    return await Promise.all(followers.map(async (follower) => {
      const { currentTimes } = follower;
      const at = await recoveredAt(follower);
      return {
        share: currentTimes.share(startedAt, endedAt),
        recoveryMs: at - endedAt,
        longestStaleMs: currentTimes.longestStaleMs(startedAt, at),
        lists: follower.lists,
        watches: follower.watches,
      };
    }));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Fails if the cache was not current for longer than {@linkcode PATIENCE_MS}, or listed again instead of resuming: a
 * server that refuses a streaming list has two attempts at the first one.
 */
export function assertRecovery({ recoveryMs, longestStaleMs, lists }: Recovery, what: string, attempts = 1): void {
  assert(recoveryMs <= PATIENCE_MS, `${what}: recovered in ${recoveryMs} ms, expected ${PATIENCE_MS} at most`);
  assert(longestStaleMs <= PATIENCE_MS, `${what}: stale for ${longestStaleMs} ms, expected ${PATIENCE_MS} at most`);
  assertEquals(lists, attempts, `${what}: lists begun`);
}
