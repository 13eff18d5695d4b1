/**
 * The logs of many containers as one sequence of lines.
 *
 * {@linkcode followLogs} is the entry point. It opens a stream for each container that an informer's pods have, and
 * merges the lines by time. `client/logs.ts` reads each log.
 *
 * @module
 */
import type { ObjectKey } from "../api/object.ts";
import { type Abortable, defined } from "../api/options.ts";
import { checkCounts, checkDurations } from "../async/checks.ts";
import { PolledIterator } from "../async/iterate.ts";
import { callObserver } from "../async/signals.ts";
import { LongTimer, monotonicMs } from "../async/time.ts";
import { checkLogOptions, type LogLine, type LogOptions } from "../client/logs.ts";
import type { ResourceClients } from "../client/resource_client.ts";
import { ConsoleReporter } from "../errors/errors.ts";
import { checkNames } from "../errors/option_names.ts";
import type { AddedEvent, HandlerOptions, InformerEvent, UpdatedEvent } from "../informer/events/event.ts";
import { Pod } from "../kinds/core/v1.ts";

/** A line in the log of one of several pods. */
export interface PodLogLine extends LogLine {
  /** The pod's key, e.g. `"shop/web-0"`. */
  readonly pod: ObjectKey;
}

/** A change to one container's stream of lines. */
export interface LogStreamEvent {
  /**
   * What has happened:
   *
   * - `"waiting"`: the limit {@linkcode FollowLogsOptions.maxStreams} is reached, so the stream begins later.
   * - `"began"`: the log is read from now on.
   * - `"interrupted"`: reading has failed, and continues after `delayMs` milliseconds.
   * - `"ended"`: the container is over, or the pod is gone.
   * - `"failed"`: the log cannot be read.
   */
  readonly type: "waiting" | "began" | "interrupted" | "ended" | "failed";
  /** The pod's key. */
  readonly pod: ObjectKey;
  /** The container's name. */
  readonly container: string;
  /** The error, if something has failed. */
  readonly error?: unknown;
  /** The wait before the next attempt, after an interruption. */
  readonly delayMs?: number;
}

/** Options for {@linkcode followLogs}. */
export interface FollowLogsOptions
  extends Abortable, Pick<LogOptions, "since" | "sinceMs" | "previous" | "maxLineBytes" | "backoff"> {
  /** Selects pods, like the filter of an informer's handler. @default {all pods} */
  readonly filter?: (pod: Pod) => boolean;
  /** Selects containers by their names. @default {all, with init and ephemeral containers} */
  readonly containers?: (name: string, pod: Pod) => boolean;
  /**
   * With how many of the last lines to begin in each container that exists at the start. Containers that come later
   * begin with their first line. @default {all lines}
   */
  readonly tailLines?: number;
  /** If `false`, it ends after the present lines of the present pods, in exact order. @default {true} */
  readonly follow?: boolean;
  /**
   * How long a line is held, in milliseconds, so that earlier lines from other pods can come before it. With 0, lines
   * come in the order in which they arrive. @default {1_000}
   */
  readonly windowMs?: number;
  /** The largest number of streams that are open at the same time. Further containers wait. @default {100} */
  readonly maxStreams?: number;
  /** Called for each change to a stream. By default, errors are written to the console. */
  readonly onStream?: (event: LogStreamEvent) => void;
}

/** An informer of pods, or what delivers events like it. */
export interface FollowedPods {
  /** See `SharedIndexInformer.events`. */
  events(options?: HandlerOptions<Pod>): AsyncIterable<InformerEvent<Pod>>;
}

/**
 * Yields the lines from all containers in an informer's pods, merged by time. Pods may come and go: each container's
 * log is read as soon as it has started. Lost connections, rotations and restarts are handled as `logs` does, so
 * watch for `gap`.
 *
 * - **Order.** Lines are held for up to `windowMs`, and then come in the order of their times. The lines from one
 *   container always keep their order.
 * - **Failures.** If one log cannot be read, the others continue. Set `onStream` to hear of it.
 * - **Memory.** Each stream holds about 64 kB, and at least one line. It reads only as fast as you do.
 * - **End.** It ends when the signal aborts or the informer stops, without an error.
 *
 * The client needs the verb `get` for `pods` and `pods/log`. The informer must have complete pods, with their status.
 *
 * @throws {RangeError} if a number or a time is invalid.
 * @throws {TypeError} if an option does not exist.
 *
 * @example
 * ```ts
 * import { Client, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { followLogs } from "@kube/informer/logs";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using server = new FakeApiServer();
 * for (const [name, second] of [["web-0", 2], ["web-1", 1]] as const) {
 *   server.create(Pod, pod({ name, namespace: "shop" }));
 *   server.writeLog(`shop/${name}`, "ready", { time: `2026-01-01T00:00:0${second}Z` });
 * }
 * using client = new Client({ server: server.url, transport: server });
 * await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop" }));
 * pods.run();
 * const seen: string[] = [];
 * for await (const { pod, text } of followLogs(client, pods, { follow: false })) seen.push(`${pod} ${text}`);
 * assertEquals(seen, ["shop/web-1 ready", "shop/web-0 ready"]);
 * ```
 */
export function followLogs(
  client: ResourceClients,
  pods: FollowedPods,
  options: FollowLogsOptions = {},
): AsyncIterableIterator<PodLogLine> {
  const { windowMs, maxStreams } = options;
  checkNames("follow logs", options, `${NAMES} backoff windowMs maxStreams onStream`);
  checkLogOptions("follow logs", { follow: true, ...options });
  checkDurations("follow logs", { windowMs });
  checkCounts("follow logs", { maxStreams }, { min: 1 });
  return new MergedLogs(client, pods, options);
}

const NAMES = "signal filter containers follow since sinceMs tailLines previous maxLineBytes";

/** How much text a stream holds, in characters, before it stops reading. */
const MAX_HELD = 65_536;

/** A pod whose containers have streams. */
interface KnownPod {
  /** The containers whose streams have begun or wait. */
  readonly containers: Set<string>;
  /** True if the informer no longer has the pod. */
  isGone: boolean;
}

/** One container's log. */
interface LogStream {
  readonly pod: ObjectKey;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  /** With how many lines it begins. */
  readonly tailLines: number | undefined;
  /** The lines that were read and not yielded yet, with the monotonic times at which they came. */
  readonly held: { readonly line: PodLogLine; readonly atMs: number }[];
  /** The length of their texts. */
  length: number;
  hasEnded: boolean;
  /** Continues reading. Set while the stream holds too much. */
  resume: (() => void) | undefined;
}

/** The lines from many streams, the earliest first. */
class MergedLogs extends PolledIterator<PodLogLine> {
  readonly #client: ResourceClients;
  readonly #pods: FollowedPods;
  readonly #options: FollowLogsOptions;
  readonly #isFollowing: boolean;
  readonly #reporter = new ConsoleReporter();
  /** Ends the streams. */
  readonly #job = new AbortController();
  readonly #timer = new LongTimer(() => this.wake());
  readonly #beganMs = monotonicMs();
  /** Has a stream until it has ended and all its lines were yielded. */
  readonly #streams = new Set<LogStream>();
  readonly #waiting: LogStream[] = [];
  /** By uid. Has a pod until it is gone, and its streams are over. */
  readonly #known = new Map<string, KnownPod>();
  #hasSynced = false;

  constructor(client: ResourceClients, pods: FollowedPods, options: FollowLogsOptions) {
    super(options.signal);
    this.#client = client;
    this.#pods = pods;
    this.#options = options;
    this.#isFollowing = options.follow ?? true;
  }

  protected override begin(): void {
    void this.#followPods();
  }

  protected override finish(): void {
    this.#job.abort(new DOMException("The logs are no longer followed", "AbortError"));
    this.#timer[Symbol.dispose]();
    this.#waiting.length = 0;
  }

  protected override poll(): PodLogLine | undefined {
    let first: LogStream | undefined;
    let oldestMs = Infinity;
    let isFull = false;
    // The next line from a stream without a line may be the earliest.
    let isIncomplete = !this.#hasSynced;
    for (const stream of this.#streams) {
      const head = stream.held[0];
      isIncomplete ||= head === undefined;
      if (head === undefined) continue;
      if (first === undefined || head.line.time < first.held[0].line.time) first = stream;
      oldestMs = Math.min(oldestMs, head.atMs);
      isFull ||= stream.length >= MAX_HELD;
    }
    if (first === undefined) {
      if (!this.#isFollowing && this.#hasSynced && this.#streams.size === 0) this.end();
      return undefined;
    }
    if (!isIncomplete) return this.#take(first);
    if (!this.#isFollowing) return undefined;
    const leftMs = oldestMs + (this.#options.windowMs ?? 1_000) - monotonicMs();
    if (isFull || leftMs <= 0) return this.#take(first);
    // The oldest line never becomes older, so an armed timer is not too late.
    if (!this.#timer.isArmed) this.#timer.arm(leftMs);
    return undefined;
  }

  #take(stream: LogStream): PodLogLine {
    const { line } = stream.held.shift()!;
    stream.length -= line.text.length;
    if (stream.length < MAX_HELD) stream.resume?.();
    this.#release(stream);
    return line;
  }

  /** Makes room for a waiting stream, if this one is over. */
  #release(stream: LogStream): void {
    if (!stream.hasEnded || stream.held.length > 0) return;
    this.#streams.delete(stream);
    this.#forget(stream.uid);
    const next = this.#waiting.shift();
    if (next !== undefined) void this.#read(next);
    this.wake();
  }

  #forget(uid: string): void {
    const hasStream = [...this.#streams, ...this.#waiting].some((stream) => stream.uid === uid);
    if (!hasStream && this.#known.get(uid)?.isGone) this.#known.delete(uid);
  }

  async #followPods(): Promise<void> {
    const { filter } = this.#options;
    try {
      const events = this.#pods.events({ name: "logs", signal: this.#job.signal, ...defined({ filter }) });
      for await (const event of events) {
        if (event.type === "deleted") {
          const known = this.#known.get(event.uid);
          if (known !== undefined) known.isGone = true;
          this.#forget(event.uid);
        } else if (event.type !== "synced") this.#see(event);
        else {
          this.#hasSynced = true;
          this.wake();
          if (!this.#isFollowing) return;
        }
      }
      this.end();
    } catch (error) {
      this.end({ error });
    }
  }

  /** Opens streams for the containers that have started. */
  #see(event: AddedEvent<Pod> | UpdatedEvent<Pod>): void {
    const { uid, key: pod, name, namespace, object } = event;
    const { tailLines, containers } = this.#options;
    const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = object.status ?? {};
    const known = this.#known.get(uid) ?? { containers: new Set(), isGone: false };
    known.isGone = false; // it has left the filter, and is back
    this.#known.set(uid, known);
    for (const status of [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]) {
      const { name: container, state, lastState } = status;
      const hasStarted = state?.running ?? state?.terminated ?? lastState?.terminated;
      if (!hasStarted || known.containers.has(container) || containers?.(container, object) === false) continue;
      known.containers.add(container);
      const isInitial = event.type === "added" && event.initial;
      const stream = { pod, uid, namespace, name, container, tailLines: isInitial ? tailLines : undefined };
      this.#add({ ...stream, held: [], length: 0, hasEnded: false, resume: undefined });
    }
  }

  #add(stream: LogStream): void {
    if (this.#streams.size < (this.#options.maxStreams ?? 100)) return void this.#read(stream);
    this.#waiting.push(stream);
    this.#report(stream, "waiting");
  }

  /** Reads one log. It never rejects. */
  async #read(stream: LogStream): Promise<void> {
    const { pod, uid, namespace, name, container, tailLines } = stream;
    const { since, sinceMs, previous, maxLineBytes, backoff } = this.#options;
    const { signal } = this.#job;
    this.#streams.add(stream);
    this.#report(stream, "began");
    try {
      const lines = this.#client.resource(Pod, { namespace }).logs(name, {
        container,
        uid,
        follow: this.#isFollowing,
        signal,
        onInterrupted: (error, delayMs) => this.#report(stream, "interrupted", { error, delayMs }),
        ...defined({ since, tailLines, previous, maxLineBytes, backoff }),
        // A later container may have written lines since the beginning.
        ...(sinceMs === undefined ? {} : { sinceMs: sinceMs + monotonicMs() - this.#beganMs }),
      });
      for await (const line of lines) {
        stream.held.push({ line: { ...line, pod }, atMs: monotonicMs() });
        stream.length += line.text.length;
        const isFull = stream.length >= MAX_HELD;
        if (isFull || stream.held.length === 1) this.wake();
        if (!isFull) continue;
        await new Promise<void>((resolve) => stream.resume = resolve);
        stream.resume = undefined;
      }
      if (!signal.aborted) this.#report(stream, "ended");
    } catch (error) {
      if (!signal.aborted) this.#report(stream, "failed", { error });
    }
    stream.hasEnded = true;
    this.#release(stream);
  }

  #report(
    { pod, container }: LogStream,
    type: LogStreamEvent["type"],
    failure: Pick<LogStreamEvent, "error" | "delayMs"> = {},
  ): void {
    const { onStream } = this.#options;
    if (onStream !== undefined) callObserver(() => onStream({ type, pod, container, ...failure }));
    else if ("error" in failure) this.#reporter.report(`log of "${pod}" (${container})`, failure.error);
  }
}
