/**
 * The logs of many containers as one sequence of lines.
 *
 * {@linkcode followLogs} is the entry point. It opens a stream for each container that an informer's pods have, and
 * merges the lines by time. `client/logs.ts` reads each log, and `log_places.ts` keeps the places in a checkpoint.
 *
 * @module
 */
import type { Abortable } from "../../engine/api/call_options.ts";
import { defined } from "../../engine/api/json.ts";
import type { ObjectKey } from "../../engine/api/object.ts";
import { WatchRenewal } from "../../engine/api/watch_timeout.ts";
import { PolledIterator } from "../../engine/async/iterate.ts";
import { callObserver } from "../../engine/async/signals.ts";
import { LongTimer, monotonicMs } from "../../engine/async/time.ts";
import {
  checkLogOptions,
  containerNames,
  type ControlledLogOptions,
  type LogControl,
  type LogLine,
  type LogOptions,
} from "../../engine/client/logs.ts";
import type { ResourceClients } from "../../engine/client/resource_client.ts";
import { checkCounts, checkDurations } from "../../engine/errors/checks.ts";
import { ConsoleReporter } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { internals } from "../../engine/errors/internals.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { Checkpoint } from "../../engine/informer/events/checkpoint.ts";
import type { AddedEvent, HandlerOptions, InformerEvent, UpdatedEvent } from "../../engine/informer/events/event.ts";
import { Pod } from "../../engine/kinds/core/v1.ts";
import { type ContainerName, LogPlaces } from "./log_places.ts";

/** A line in the log of one of several pods. */
export interface PodLogLine extends LogLine {
  /** The pod's key, e.g. `"shop/web-0"`. */
  readonly pod: ObjectKey;
  /** The pod's uid, because another pod can have the same key later. */
  readonly uid: string;
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
  /**
   * The names of the containers, or a function that selects them. A name that no pod of the informer has when it is
   * synced is an error, unless there are no pods. @default {all, with init and ephemeral containers}
   */
  readonly containers?: readonly string[] | ((name: string, pod: Pod) => boolean);
  /**
   * Continues where a program before has ended. You receive each line at least once that a kubelet can still send, and
   * `gap` wherever lines may be missing: after two restarts, a rotation, or if a pod is gone with its log. For such a
   * pod you receive an item with the gap and an empty text.
   *
   * A line counts as taken when you ask for the next one, so a crash repeats at least the last line. With `intervalMs`
   * of the checkpoint it repeats the lines of this time, and without it each line waits until the place is written.
   * So set `intervalMs`, e.g. to 1,000, unless lines are rare.
   *
   * The checkpoint has an entry of about 200 bytes for each container, until its pod is gone. `tailLines` and `sinceMs`
   * only apply to the very first start, to logs that have no place yet. It cannot be combined with `previous`.
   */
  readonly checkpoint?: Checkpoint;
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
 * - **Restarts of your program.** Set `checkpoint` to continue after the last line that you have handled.
 * - **Deleted pods.** A kubelet ends their logs. If it does not within 10 s, the stream ends, with `gap`.
 * - **End.** It ends when the signal aborts or the informer stops, without an error.
 *
 * The client needs the verb `get` for `pods` and `pods/log`. The informer must have complete pods, with their status.
 *
 * @throws {RangeError} if a number or a time is invalid.
 * @throws {TypeError} if an option does not exist, or two contradict each other.
 * @throws {CheckpointError} while you read, if the checkpoint has another reader, or was opened again.
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
  const { windowMs, maxStreams, checkpoint, previous } = options;
  checkNames("follow logs", options, `${NAMES} checkpoint backoff windowMs maxStreams onStream`);
  checkLogOptions("follow logs", { follow: true, ...options });
  checkDurations("follow logs", { windowMs });
  checkCounts("follow logs", { maxStreams }, { min: 1 });
  if (checkpoint && previous) {
    throw new TypeError("Cannot follow logs: a previous container is over, so it has no checkpoint. Remove previous");
  }
  return new MergedLogs(client, pods, options);
}

const NAMES = "signal filter containers follow since sinceMs tailLines previous maxLineBytes";

/** How much text a stream holds, in characters, before it stops reading. */
const MAX_HELD = 65_536;

/** How long a kubelet has to end the logs of a pod that is gone. */
const GRACE_MS = 10_000;

/** A pod whose containers have streams. */
interface KnownPod {
  readonly pod: ObjectKey;
  /** The containers whose streams have begun or wait. */
  readonly containers: Set<string>;
  /** True if the informer no longer has the pod. */
  isGone: boolean;
}

/** One container's log. */
interface LogStream extends ContainerName, LogControl {
  /** True if it begins as the options say, and not with the first line. */
  readonly isInitial: boolean;
  /** The lines that were read and not yielded yet, their monotonic times of arrival, and the places after them. */
  readonly held: { readonly line: PodLogLine; readonly atMs: number; readonly place: string | undefined }[];
  /** The length of their texts. */
  length: number;
  hasEnded: boolean;
  /** True if nothing more can come from this container. */
  isOver: boolean;
  /** Continues reading. Set while the stream holds too much. */
  resume: (() => void) | undefined;
  /** Armed while the pod is gone. */
  readonly grace: LongTimer;
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
  /** The names of containers that were there at the sync. */
  readonly #names = new Set<string>();
  #hasSynced = false;
  /** Set if there is a checkpoint, and the iterator has begun. */
  #places: LogPlaces | undefined;
  /** The line that was taken last, until the next one is asked for. Only set with a checkpoint. */
  #taken: { readonly stream: LogStream; readonly place: string | undefined } | undefined;
  /** Set while a place is written that the next line waits for. */
  #saving: Promise<void> | undefined;
  /** The sizes of what grows with pods, for tests. @internal */
  readonly [internals] = (): { readonly pods: number; readonly streams: number } => {
    return { pods: this.#known.size, streams: this.#streams.size + this.#waiting.length };
  };

  constructor(client: ResourceClients, pods: FollowedPods, options: FollowLogsOptions) {
    super(options.signal);
    this.#client = client;
    this.#pods = pods;
    this.#options = options;
    this.#isFollowing = options.follow ?? true;
  }

  /** Returns the next line, for which the last one counts as taken. */
  override next(): Promise<IteratorResult<PodLogLine, undefined>> {
    this.#settle();
    return super.next();
  }

  protected override begin(): void {
    const { checkpoint } = this.#options;
    if (checkpoint !== undefined) {
      const report = (error: unknown): void => this.#reporter.report("logs", error);
      const onLost = (error: Error): void => this.end({ error });
      this.#places = new LogPlaces(checkpoint, { report, onLost, signal: this.#job.signal });
    }
    void this.#followPods();
  }

  protected override finish(): void {
    this.#job.abort(new DOMException("The logs are no longer followed", "AbortError"));
    this.#timer[Symbol.dispose]();
    for (const { grace } of this.#streams) grace[Symbol.dispose]();
    this.#waiting.length = 0;
    void this.#places?.writer.end();
  }

  protected override poll(): PodLogLine | undefined {
    this.#settle();
    if (this.#saving !== undefined) return undefined;
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
    const { line, place } = stream.held.shift()!;
    stream.length -= line.text.length;
    if (stream.length < MAX_HELD) stream.resume?.();
    if (this.#places !== undefined) this.#taken = { stream, place };
    this.#release(stream);
    return line;
  }

  /** Records that the last line was taken. */
  #settle(): void {
    if (this.#taken === undefined) return;
    const { stream, place } = this.#taken;
    this.#taken = undefined;
    if (place) this.#places?.record(stream, place);
    this.#release(stream);
    this.#save();
  }

  #save(): void {
    this.#saving ??= this.#places?.writer.save()?.then(() => {
      this.#saving = undefined;
      this.wake();
    });
  }

  /** Makes room for a waiting stream, if this one is over, and its lines were taken. */
  #release(stream: LogStream): void {
    if (!stream.hasEnded || stream.held.length > 0 || this.#taken?.stream === stream) return;
    this.#streams.delete(stream);
    if (stream.isOver) this.#places?.record(stream, stream.place?.() ?? "", "over");
    this.#forget(stream.uid);
    const next = this.#streams.size < (this.#options.maxStreams ?? 100) ? this.#waiting.shift() : undefined;
    if (next !== undefined) void this.#read(next);
    this.wake();
  }

  #forget(uid: string): void {
    const known = this.#known.get(uid);
    const hasStream = [...this.#streams, ...this.#waiting].some((stream) => stream.uid === uid);
    if (hasStream || !known?.isGone) return;
    this.#known.delete(uid);
    for (const container of known.containers) this.#places?.record({ pod: known.pod, uid, container }, undefined);
    this.#save();
  }

  /** Tells of the logs that were not taken to their end, and whose pods are gone. */
  #endGone(): void {
    for (const name of this.#places?.all() ?? []) {
      const { pod, uid, container } = name;
      const known = this.#known.get(uid) ?? { pod, containers: new Set(), isGone: true };
      if (!known.isGone) continue;
      this.#known.set(uid, known);
      known.containers.add(container);
      const [place, isOver] = this.#places!.of(name)!;
      const stream = this.#streamOf(name, place, false);
      if (!isOver) this.#hold(stream, { time: place.split(" ")[1], text: "", container, gap: true });
      stream.hasEnded = true;
      this.#streams.add(stream);
      this.#release(stream);
    }
  }

  /** @throws {InformerError} if a name of a container does not occur in any pod. */
  #checkNames(): void {
    const { containers } = this.#options;
    if (this.#names.size === 0 || !Array.isArray(containers)) return;
    const missing = containers.find((name) => !this.#names.has(name));
    if (missing === undefined) return;
    const found = [...this.#names].sort().join(", ");
    throw new InformerError(`Cannot follow logs: no pod has a container "${missing}". The pods have ${found}`);
  }

  async #followPods(): Promise<void> {
    const { filter } = this.#options;
    try {
      if (this.#places?.isFirst) await this.#places.begin();
      const events = this.#pods.events({ name: "logs", signal: this.#job.signal, ...defined({ filter }) });
      for await (const event of events) {
        if (event.type === "deleted") {
          const known = this.#known.get(event.uid);
          if (known !== undefined) known.isGone = true;
          for (const { uid, hasEnded, grace } of this.#streams) if (uid === event.uid && !hasEnded) grace.arm(GRACE_MS);
          this.#forget(event.uid);
        } else if (event.type !== "synced") this.#see(event);
        else {
          this.#checkNames();
          this.#endGone();
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
    const { uid, key: pod, object } = event;
    const { containers } = this.#options;
    const isSelected = typeof containers === "function" ? containers : (name: string) => containers?.includes(name);
    const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = object.status ?? {};
    const known = this.#known.get(uid) ?? { pod, containers: new Set(), isGone: false };
    if (known.isGone) { // it has left the filter, and is back
      known.isGone = false;
      for (const stream of this.#streams) if (stream.uid === uid) stream.grace[Symbol.dispose]();
    }
    this.#known.set(uid, known);
    if (!this.#hasSynced) { for (const name of containerNames(object)) this.#names.add(name); }
    for (const status of [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]) {
      const { name: container, state, lastState } = status;
      const hasStarted = state?.running ?? state?.terminated ?? lastState?.terminated;
      if (!hasStarted || known.containers.has(container) || isSelected(container, object) === false) continue;
      known.containers.add(container);
      const place = this.#places?.of({ pod, uid, container });
      if (place?.[1]) continue; // it is over
      const isInitial = event.type === "added" && event.initial;
      const isNew = this.#places === undefined || (this.#places.isFirst && isInitial);
      this.#add(this.#streamOf({ pod, uid, container }, place?.[0] ?? (isNew ? undefined : ""), isInitial));
    }
  }

  #streamOf({ pod, uid, container }: ContainerName, from: string | undefined, isInitial: boolean): LogStream {
    const stream: LogStream = {
      pod,
      uid,
      container,
      from,
      isInitial,
      isStored: this.#places !== undefined,
      held: [],
      length: 0,
      hasEnded: false,
      isOver: false,
      resume: undefined,
      renewal: new AbortController(),
      grace: new LongTimer(() => this.#renew(stream)),
    };
    return stream;
  }

  /** Ends the response, so that the log ends if the pod is gone. A reader that is slow gets its lines first. */
  #renew(stream: LogStream): void {
    const { renewal, resume, grace } = stream;
    grace.arm(GRACE_MS * (resume === undefined ? 6 : 1)); // again if a pod only left the filter
    if (resume !== undefined) return;
    stream.renewal = new AbortController();
    renewal.abort(new WatchRenewal("Cannot continue the log: the pod was deleted"));
  }

  #hold(stream: LogStream, line: LogLine): void {
    const { pod, uid, held, place } = stream;
    held.push({ line: { ...line, pod, uid }, atMs: monotonicMs(), place: this.#places && place?.() });
    stream.length += line.text.length;
  }

  #add(stream: LogStream): void {
    if (this.#streams.size < (this.#options.maxStreams ?? 100)) return void this.#read(stream);
    this.#waiting.push(stream);
    this.#report(stream, "waiting");
  }

  /** Reads one log. It never rejects. */
  async #read(stream: LogStream): Promise<void> {
    const { pod, uid, container, from, isInitial } = stream;
    const [namespace, name] = pod.split("/");
    const { since, sinceMs, previous, maxLineBytes, backoff } = this.#options;
    const { signal } = this.#job;
    const tailLines = isInitial && from === undefined ? this.#options.tailLines : undefined;
    this.#streams.add(stream);
    this.#report(stream, "began");
    try {
      const options: ControlledLogOptions = {
        [internals]: stream,
        container,
        uid,
        follow: this.#isFollowing,
        signal,
        onInterrupted: (error, delayMs) => this.#report(stream, "interrupted", { error, delayMs }),
        ...defined({ since, tailLines, previous, maxLineBytes, backoff }),
        // A later container may have written lines since the beginning.
        ...(sinceMs === undefined || from !== undefined ? {} : { sinceMs: sinceMs + monotonicMs() - this.#beganMs }),
      };
      for await (const line of this.#client.resource(Pod, { namespace }).logs(name, options)) {
        this.#hold(stream, line);
        const isFull = stream.length >= MAX_HELD;
        if (isFull || stream.held.length === 1) this.wake();
        if (!isFull) continue;
        await new Promise<void>((resolve) => stream.resume = resolve);
        stream.resume = undefined;
      }
      stream.isOver = this.#isFollowing && !signal.aborted;
      if (!signal.aborted) this.#report(stream, "ended");
    } catch (error) {
      if (!signal.aborted) this.#report(stream, "failed", { error });
    }
    stream.hasEnded = true;
    stream.grace[Symbol.dispose]();
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
