import type { KubernetesObject } from "@kube/informer";
import { ServerSentEventParseStream } from "@std/http/server-sent-event-parse-stream";
import { compareResourceVersions } from "../../../src/engine/api/status.ts";
import { sleep } from "../../../src/engine/async/time.ts";

/** The numbers of reconnections with an id. */
export interface Reconnections {
  /** Those that continued without a snapshot. */
  readonly resumed: number;
  /** Those that were answered by a snapshot. */
  readonly snapshots: number;
  /** Those that ended as `behind`. */
  readonly behind: number;
  /** Those that were refused, or broke before anything came. */
  readonly failed: number;
}

/** The result of one connection. */
type Outcome = "nothing" | "resumed" | "snapshots" | "behind";

/** Options of a {@linkcode CheckedCopy}. */
export interface CopyOptions {
  readonly fetch: (address: string, init: RequestInit) => Promise<Response>;
  /** Returns the wait before the next connection, in milliseconds. */
  readonly retryMs: () => number;
}

/**
 * A copy of a collection as a plain client of server-sent events has it, which reconnects with its last id. It notes
 * each version of an object that goes back, or comes twice outside of a snapshot.
 */
export class CheckedCopy implements AsyncDisposable {
  readonly objects = new Map<string, KubernetesObject>();
  readonly problems: string[] = [];
  readonly #address: string;
  readonly #options: CopyOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #counts = { resumed: 0, snapshots: 0, behind: 0, failed: 0 };
  /** The last version of each object, of deleted ones too. */
  readonly #versions = new Map<string, string>();
  #staged: Map<string, KubernetesObject> | undefined;
  #lastEventId = "";
  #connection: AbortController | undefined;
  /** That of the present connection, if it was opened with an id. */
  #outcome: Outcome | undefined;
  #isSynced = false;

  constructor(address: string, options: CopyOptions) {
    this.#address = address;
    this.#options = options;
    this.#running = this.#run();
  }

  /** `true` once the first snapshot is complete. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** The reconnections so far, the present connection included. */
  get reconnections(): Reconnections {
    const counts = { ...this.#counts };
    if (this.#outcome !== undefined && this.#outcome !== "nothing") counts[this.#outcome]++;
    return counts;
  }

  /** Breaks the connection. */
  drop(): void {
    this.#connection?.abort(new TypeError("the connection was broken"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the copy was disposed"));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const connection = this.#connection = new AbortController();
      const broken = (): void => connection.abort(signal.reason);
      signal.addEventListener("abort", broken, { once: true });
      this.#staged = undefined;
      this.#outcome = this.#lastEventId === "" ? undefined : "nothing";
      await this.#read(connection.signal).catch(() => {}); // cut connections are what is tested
      signal.removeEventListener("abort", broken);
      if (this.#outcome === "nothing" && !signal.aborted) this.#counts.failed++;
      else if (this.#outcome !== undefined && this.#outcome !== "nothing") this.#counts[this.#outcome]++;
      this.#outcome = undefined;
      await sleep(this.#options.retryMs(), { signal }).catch(() => {});
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const headers = { accept: "text/event-stream", "last-event-id": this.#lastEventId };
    const response = await this.#options.fetch(this.#address, { headers, signal });
    if (!response.ok) return await response.body?.cancel();
    const reader = response.body!.pipeThrough(new ServerSentEventParseStream()).getReader();
    const onAbort = (): void => void reader.cancel(signal.reason).catch(() => {});
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || signal.aborted) return;
        this.#accept(value.event, value.data, value.id);
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      await reader.cancel().catch(() => {});
    }
  }

  #accept(event: string | undefined, data: string | undefined, id: string | undefined): void {
    if (event !== undefined && data !== undefined) this.#change(event, JSON.parse(data));
    if (id !== undefined) {
      this.#lastEventId = id;
      if (this.#outcome === "nothing" && id !== "") this.#outcome = "resumed";
    }
  }

  // deno-lint-ignore no-explicit-any
  #change(event: string, data: any): void {
    if (event === "end" && data.reason === "behind" && this.#outcome === "nothing") this.#outcome = "behind";
    if (event === "snapshot") {
      this.#staged = new Map();
      if (this.#outcome !== undefined) this.#outcome = "snapshots";
    } else if (event === "added" || event === "updated") this.#put(event, data);
    else if (event === "deleted") this.#delete(data.key);
    else if (event === "synced") {
      this.objects.clear();
      for (const [key, object] of this.#staged!) this.objects.set(key, object);
      this.#staged = undefined;
      this.#isSynced = true;
    }
  }

  #put(event: string, object: KubernetesObject): void {
    const { namespace, name, resourceVersion = "" } = object.metadata;
    const key = `${namespace}/${name}`;
    const before = this.#versions.get(key) ?? "0";
    const order = compareResourceVersions(resourceVersion, before);
    if (order < 0 || (order === 0 && this.#staged === undefined)) {
      this.problems.push(`${event} ${key} at version ${resourceVersion} behind ${before}`);
    }
    this.#versions.set(key, resourceVersion);
    (this.#staged ?? this.objects).set(key, object);
  }

  #delete(key: string): void {
    if (!(this.#staged ?? this.objects).delete(key) && this.#staged === undefined) {
      this.problems.push(`${key} was deleted, and was not there`);
    }
  }
}

/** Adds up the reconnections of several copies. */
export function totalOf(copies: Iterable<CheckedCopy>): Reconnections {
  const total = { resumed: 0, snapshots: 0, behind: 0, failed: 0 };
  for (const { reconnections } of copies) {
    for (const name of ["resumed", "snapshots", "behind", "failed"] as const) total[name] += reconnections[name];
  }
  return total;
}

/** Returns the share of reconnections that continued without a snapshot, of those that were answered. */
export function shareOf({ resumed, snapshots, behind }: Reconnections): number {
  const all = resumed + snapshots + behind;
  return all === 0 ? 1 : resumed / all;
}
