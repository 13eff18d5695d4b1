/**
 * The lines in a container's log, read once, or followed across lost connections, rotations and restarts.
 *
 * {@linkcode logLines} is the entry point. `Collection` sends the requests, and `decode/log_reader.ts` cuts responses
 * into lines. `logs/follow_logs.ts` follows many containers.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import { WatchRenewal } from "../api/watch_timeout.ts";
import { preciseTime } from "../api/precise_time.ts";
import {
  isForbidden,
  isNotFound,
  isRefusedForGood,
  isUnauthorized,
  retryAfterMs,
  StatusError,
  UnreachableError,
} from "../api/status.ts";
import { DerivedController } from "../async/signals.ts";
import { backoffMs, type BackoffOptions, monotonicMs, rfc3339, sleep, unreachableBackoffMs } from "../async/time.ts";
import { ArgumentError, checkCounts, checkDurations, ValueError } from "../errors/checks.ts";
import { ConsoleReporter } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import { checkBackoff } from "../errors/option_names.ts";
import type { ContainerStateTerminated, ContainerStatus, Pod } from "../kinds/core/v1.ts";
import type { ReceivedLine } from "./decode/log_reader.ts";

/** Options for {@linkcode ResourceClient.logs}. */
export interface LogOptions extends Abortable {
  /**
   * The container's name, also the name of an init or ephemeral container.
   * @default {the pod's only container, or its annotation "kubectl.kubernetes.io/default-container"}
   */
  readonly container?: string;
  /** The pod's uid. If the pod is gone, or another pod has its name, there are no lines. @default {any pod} */
  readonly uid?: string;
  /** Whether to wait for more lines, until the container is over. @default {false} */
  readonly follow?: boolean;
  /**
   * The first time from which you want lines, in RFC 3339. Pass the `time` of the last line that you have handled to
   * continue after a restart of your program. You receive the lines of exactly this time again. If the container has
   * started later than this, the log before its last restart is read first. The next line has `gap` if there were more
   * restarts, or if that log cannot be read. A rotation remains unnoticed: `followLogs` with a checkpoint finds it.
   * @default {the start of the container's log}
   */
  readonly since?: string;
  /** How old the first line may be, in milliseconds, by the node's clock. It is rounded up to whole seconds. */
  readonly sinceMs?: number;
  /** With how many of the last lines to begin. With 0, you receive only new lines. @default {all lines} */
  readonly tailLines?: number;
  /** Whether to read the container's log before its last restart. It cannot be followed. @default {false} */
  readonly previous?: boolean;
  /** The longest text for a line, in bytes. The end of a longer line is left out. @default {1_048_576} */
  readonly maxLineBytes?: number;
  /** How long to wait after failures in a row with `follow`, as for {@linkcode FollowOptions.backoff}. */
  readonly backoff?: BackoffOptions;
  /**
   * Called with each failure after which `follow` continues. `delayMs` is the wait before that, in milliseconds. By
   * default, each new cause is written to the console in one line, and again at most once a minute.
   */
  readonly onInterrupted?: (error: unknown, delayMs: number) => void;
}

/** A line in a container's log. */
export interface LogLine {
  /**
   * When the container wrote the line, by the node's clock: RFC 3339 in UTC with nanoseconds, so that texts sort by
   * time. It is `""` if the server does not send times, which no kubelet does.
   */
  readonly time: string;
  /** The text, without a line break. Bytes that are not UTF-8 become U+FFFD. */
  readonly text: string;
  /** The container's name. */
  readonly container: string;
  /**
   * `true` if lines may be missing before this one: the log was rotated, or the container restarted, before they were
   * read. If they may be missing at the end, the last item has no text. Otherwise not set.
   */
  readonly gap?: true;
  /** `true` if the end of the text was left out, see {@linkcode LogOptions.maxLineBytes}. Otherwise not set. */
  readonly truncated?: true;
}

/** How `followLogs` steers a log. */
export interface LogControl {
  /** True if the places are kept for another reading, which begins after the last whole line. */
  readonly isStored: boolean;
  /** The place to begin at, as {@linkcode place} has returned it. With `""`, no line of the pod may be missing. */
  readonly from?: string;
  /** Ends the present response, so that the pod is read again. */
  renewal: AbortController;
  /** Returns the place after the last line: the container's ID, a time, and how many lines have it. Set by the log. */
  place?: () => string;
}

/** Options for a log that is steered. */
export interface ControlledLogOptions extends LogOptions {
  /** What `followLogs()` asks of this log, and learns of it. */
  readonly [internals]?: LogControl;
}

/** Requests about one pod. */
export interface LogSource {
  /** The request for the log in words that follow "Cannot" in messages. */
  readonly action: string;
  /** Reads the pod. */
  readonly pod: (signal: AbortSignal) => Promise<Pod>;
  /** Requests the log. The first part is empty, and means that the server has accepted the request. */
  readonly open: (query: URLSearchParams, signal: AbortSignal) => AsyncIterable<readonly ReceivedLine[]>;
}

/** The names of {@linkcode LogOptions}. */
export const LOG_OPTIONS =
  "signal container uid follow since sinceMs tailLines previous maxLineBytes backoff onInterrupted";

/**
 * Checks the options for a log, but not their names.
 *
 * @throws {RangeError} if a number or a time is invalid.
 * @throws {TypeError} if two options contradict each other.
 */
export function checkLogOptions(action: string, options: LogOptions): void {
  const { follow, previous, since, sinceMs, tailLines, maxLineBytes, backoff = {} } = options;
  checkCounts(action, { tailLines });
  checkCounts(action, { maxLineBytes }, { min: 1 });
  checkDurations(action, { sinceMs }, { finite: true });
  checkBackoff(backoff);
  if (since !== undefined && preciseTime(since) === undefined) {
    throw new ValueError(
      `Cannot ${action}: since must be a time such as "2026-01-31T12:00:00Z", but it is ${JSON.stringify(since)}`,
    );
  }
  if (since !== undefined && sinceMs !== undefined) {
    throw new ArgumentError(`Cannot ${action}: since and sinceMs cannot be combined. Remove one of them`);
  }
  if (follow && previous) {
    throw new ArgumentError(
      `Cannot ${action}: the previous container is over, so it cannot be followed. Remove follow`,
    );
  }
}

/** The largest number of different times that identify a position. */
const RUNS = 8;

/** Lines in a row that have the same time. */
interface Run {
  readonly time: string;
  lines: number;
}

/**
 * A position in a log: the last lines before it, known by their times and by how many have the same time. Equal texts
 * are legal. Times that fall are legal too, because two processes write a log, and clocks are set.
 */
class LogPosition {
  /** The number of lines before it. */
  lines = 0;
  /** The latest time, which need not be the last one. */
  latest = "";
  /** The last lines. */
  #runs: Run[] = [];
  /** True if earlier lines than the first one were not requested, but may appear in a later response. */
  readonly #isVague: boolean;

  /** Begins before the first line. */
  constructor(isVague = false) {
    this.#isVague = isVague;
  }

  /** Returns the position from the words of {@linkcode text}. Its distance from the first line is not known. */
  static parse([time, lines, latest = time]: readonly string[]): LogPosition {
    const position = new LogPosition();
    Object.assign(position, { lines: Infinity, latest });
    position.#runs.push({ time, lines: Number(lines) });
    return position;
  }

  /** The last time, the number of lines in a row that have it, and the latest time if it is another one. */
  get text(): string {
    const { time, lines } = this.#runs.at(-1)!;
    return `${time} ${lines}${this.latest === time ? "" : ` ${this.latest}`}`;
  }

  /** True if nothing is known about it. */
  get isUnknown(): boolean {
    return this.#isVague && this.lines === 0;
  }

  /** The time of the last line before it. */
  get time(): string | undefined {
    return this.#runs.at(-1)?.time;
  }

  /** Moves it behind another line. */
  add(time: string): void {
    this.lines++;
    if (time > this.latest) this.latest = time;
    append(this.#runs, { time, lines: 1 });
    if (this.#runs.length > RUNS) this.#runs.shift();
  }

  /** Returns this position as it looks in a response without earlier lines. */
  since(time: string): LogPosition {
    const position = new LogPosition(this.#isVague);
    Object.assign(position, { lines: this.lines, latest: this.latest });
    for (const run of this.#runs) if (run.time >= time) append(position.#runs, { ...run });
    return position;
  }

  /**
   * Returns whether the lines in `seen` end at this position. It is only "perhaps" if they begin later than is known
   * about it, as in a log that was rotated.
   */
  isEndOf(seen: LogPosition): "certainly" | "perhaps" | "no" {
    const [own, other] = [this.#runs, seen.#runs];
    if (this.#isVague && own.length === 1) return "no";
    for (let back = 1; back <= Math.min(own.length, other.length); back++) {
      const [a, b] = [own.at(-back)!, other.at(-back)!];
      // The beginning of the first run may be missing, unless it is the last run, too.
      const isFirst = back > 1 && back === (a.lines < b.lines ? own : other).length;
      const isEqual = a.lines === b.lines || isFirst;
      if (a.time !== b.time || !isEqual) return "no";
    }
    return own.length <= other.length && own[0].lines <= other.at(-own.length)!.lines ? "certainly" : "perhaps";
  }

  /** Returns true if the last line in `seen` must be after this position. */
  isBefore(seen: LogPosition): boolean {
    return seen.time! > this.latest || (!this.#isVague && seen.lines > this.lines);
  }
}

function append(runs: Run[], { time, lines }: Run): void {
  const last = runs.at(-1);
  if (last?.time === time) last.lines += lines;
  else runs.push({ time, lines });
}

/** What a pod says about a container. */
interface ContainerFacts {
  /** The ID of the container whose log a kubelet sends. Not set before it has started. */
  readonly id: string | undefined;
  /** When it has run. */
  readonly run: ContainerRun;
  /** The ID of the container before it. */
  readonly previousId: string | undefined;
  /** When that one has run. */
  readonly previousRun: ContainerRun;
  /** How often the container has restarted. */
  readonly restarts: number;
  /** True if the pod has a container with this name. */
  readonly isKnown: boolean;
  /** True if the pod is on a node. */
  readonly isPlaced: boolean;
  /** True if the container has ended, perhaps until it is restarted. */
  readonly hasEnded: boolean;
  /** True if it has ended, and will not be restarted. */
  readonly isOver: boolean;
}

/** The start and the end of a container, as far as they are known. */
type ContainerRun = Pick<ContainerStateTerminated, "startedAt" | "finishedAt">;

/** Returns the name of the container that is meant, or `undefined` if the server must say what is wrong. */
function containerOf({ metadata, spec }: Pod, name: string | undefined): string | undefined {
  const wanted = name ?? metadata.annotations?.["kubectl.kubernetes.io/default-container"];
  return wanted ?? (spec.containers.length === 1 ? spec.containers[0].name : undefined);
}

/** Returns the names of a pod's containers. */
export function containerNames({ spec: { containers, initContainers = [], ephemeralContainers = [] } }: Pod): string[] {
  return [...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name);
}

function factsOf(pod: Pod, name: string): ContainerFacts {
  const { spec: { nodeName }, status = {} } = pod;
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const statuses = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  const found = statuses.find((status) => status.name === name);
  const { state, lastState, containerID, restartCount = 0 } = found ?? {} as Partial<ContainerStatus>;
  const previousRun = lastState?.terminated ?? {};
  const previousId = lastState?.terminated?.containerID;
  // The kubelet's rule (`validateContainerLogStatus`). Other programs that run pods may set no IDs.
  const id = (state?.running ? containerID || "unknown" : state?.terminated?.containerID) || previousId;
  return {
    id,
    run: state?.running ?? state?.terminated ?? previousRun,
    previousId,
    previousRun,
    restarts: restartCount,
    isKnown: containerNames(pod).includes(name),
    isPlaced: Boolean(nodeName),
    hasEnded: !state?.running,
    isOver: status.phase === "Succeeded" || status.phase === "Failed" || isOver(pod, name, found),
  };
}

/** Returns true if the container has ended, and the rules of its pod never restart it. */
function isOver({ metadata, spec }: Pod, name: string, status: ContainerStatus | undefined): boolean {
  const ended = status?.state?.terminated;
  if (ended === undefined) return false;
  if (metadata.deletionTimestamp !== undefined) return true;
  const isNamed = (container: { readonly name: string }): boolean => container.name === name;
  const init = spec.initContainers?.find(isNamed);
  const container = init ?? spec.containers.find(isNamed);
  if (container === undefined) return true; // ephemeral
  if (container.restartPolicyRules?.length) return false;
  const policy = container.restartPolicy ?? (init && spec.restartPolicy !== "Never" ? "OnFailure" : spec.restartPolicy);
  return policy === "Never" || (policy === "OnFailure" && ended.exitCode === 0);
}

/** The error that a kubelet writes into a response that it has begun. */
class KubeletError extends InformerError {}

/** Returns true if a kubelet does not have a log. */
function isUnreadable(error: unknown): boolean {
  return error instanceof KubeletError || (error instanceof StatusError && [400, 404].includes(error.status.code));
}

/** The beginning of a time, at the end of a response that broke off. */
const HALF_TIME = /^[-\d:.TZ+]*$/;

/** A stream that stayed open this long was healthy, even without a line. */
const HEALTHY_MS = 10_000;

/** How often a kubelet looks for large logs to rotate: a younger log is complete (`containerLogMonitorInterval`). */
const ROTATION_MS = 10_000;

/** How much earlier than the last line a request begins: processes that write a log are not in order. */
const OVERLAP_MS = 1_000;

/**
 * Returns the monotonic time that is as long ago as a container has run. A log is no longer rotated when its container
 * has ended.
 */
function startMs({ startedAt = "", finishedAt }: ContainerRun): number {
  const ranMs = (finishedAt ? Date.parse(finishedAt) : Date.now()) - Date.parse(startedAt);
  return Number.isNaN(ranMs) ? -Infinity : monotonicMs() - ranMs;
}

/** Returns the time until which a container's log cannot have been rotated, or `""` if its start is not known. */
function completeUntil({ startedAt = "" }: ContainerRun): string {
  const ms = Date.parse(startedAt) + ROTATION_MS;
  return Number.isNaN(ms) ? "" : rfc3339(ms);
}

/** Yields the lines in a container's log, as `ResourceClient.logs` promises. */
export function logLines(
  source: LogSource,
  options: ControlledLogOptions,
  signal: AbortSignal,
): AsyncGenerator<LogLine, void> {
  const log = new ContainerLog(source, options, signal);
  return options.follow ? log.follow() : log.read();
}

/**
 * Says what a response has of the position up to which lines were delivered: the position, only later lines, or
 * neither. "other" means that it was given up: it comes from another container, or does not have a stored place.
 */
type ResponseEnd = "found" | "missed" | "absent" | "other";

/** When a last line without a line break is delivered: never, when two responses end with it, or immediately. */
type OpenEnd = "never" | "twice" | "once";

/** The log of one container, and what was delivered of it. */
class ContainerLog {
  readonly #source: LogSource;
  readonly #options: LogOptions;
  readonly #control: LogControl | undefined;
  readonly #signal: AbortSignal;
  readonly #beganMs = monotonicMs();
  /** The first time that is delivered, or `""`. */
  #since: string;
  /** True if no line from there on may be missing without a gap. */
  readonly #isComplete: boolean;
  /** The container's name, from the first look at the pod on, or from the beginning. */
  #name: string;
  /** The pod's uid, from the first look on, or from the beginning. */
  #uid: string | undefined;
  /** The ID of the container whose lines are delivered. */
  #id: string | undefined;
  /** The position up to which the lines of this container are delivered. */
  #position: LogPosition;
  /** True until a place that was stored is found. */
  #isStored = false;
  /** With how many lines to begin, if there is no position yet. */
  #tailLines: number | undefined;
  /** The last line without a line break. */
  #openLine = "";
  /** True if nothing more can come from this container. */
  #isRead = false;
  /** True if lines may be missing before the next one. */
  #isGap = false;
  /** True if the last response broke off, or a log that has lines was not read yet. */
  #isCut: boolean;
  /** The monotonic time at which the log was last known to be of this container. */
  #knownMs = Infinity;
  /** The monotonic time at which this container had not written anything yet. */
  #emptyMs = Infinity;
  /** Set if the first lines of this container may be missing, unless one comes that is not later than this time. */
  #completeUntil: string | undefined;
  /** Grows with each line. */
  #progress = 0;

  constructor(source: LogSource, options: ControlledLogOptions, signal: AbortSignal) {
    const { uid, container = "", since, sinceMs, tailLines, previous, [internals]: control } = options;
    this.#source = source;
    this.#options = options;
    this.#control = control;
    this.#signal = signal;
    this.#uid = uid;
    this.#name = container;
    this.#isCut = control?.from !== undefined;
    this.#since = since === undefined ? "" : preciseTime(since)!;
    this.#isComplete = (since ?? control?.from) !== undefined && tailLines === undefined && !previous;
    this.#tailLines = tailLines;
    this.#position = new LogPosition(tailLines !== undefined || sinceMs !== undefined);
    if (control === undefined) return;
    control.place = () => this.#position.time === undefined ? "" : `${this.#id} ${this.#position.text}`;
    if (!control.from) return;
    const [id, ...place] = control.from.split(" ");
    this.#id = id;
    this.#position = LogPosition.parse(place);
    this.#isStored = true;
  }

  /** Yields the lines that exist. */
  async *read(): AsyncGenerator<LogLine, void> {
    const { previous } = this.#options;
    let end: ResponseEnd = "other";
    while (end === "other") {
      const facts = await this.#look();
      if (facts === undefined) return yield* this.#finish(this.#isCut);
      if (!facts.isPlaced) throw new InformerError(`Cannot ${this.#source.action}: the pod is not on a node yet`);
      if (!previous && facts.id !== undefined && !(yield* this.#reach(facts))) continue;
      // The next reading begins after the last whole line.
      const openEnd = this.#control?.isStored && !facts.hasEnded ? "never" : "once";
      end = yield* this.#receive(this.#query(previous ? "previous" : "now"), openEnd, this.#isComplete);
    }
    yield* this.#finish(end === "absent");
  }

  /** Yields all lines until the container is over. */
  async *follow(): AsyncGenerator<LogLine, void> {
    const reporter = new ConsoleReporter();
    const report = (error: unknown): void => reporter.report(this.#source.action, error);
    const { backoff = {}, onInterrupted = report } = this.#options;
    for (let failures = 0;; failures++) {
      const [startedMs, before] = [monotonicMs(), this.#progress];
      let facts: ContainerFacts | undefined;
      let delayMs = 0;
      try {
        facts = await this.#look();
        if (facts !== undefined) yield* this.#continue(facts);
        if (facts === undefined || (facts.isOver && this.#isRead)) {
          return yield* this.#finish(this.#isCut || this.#completeUntil !== undefined);
        }
        // An ended container is read again immediately, until nothing follows.
        if (this.#progress === before || !facts.hasEnded) delayMs = unreachableBackoffMs(failures, backoff);
      } catch (error) {
        this.#signal.throwIfAborted();
        if (isFinal(error, facts)) throw error;
        this.#isCut ||= facts !== undefined;
        const askedMs = error instanceof StatusError ? retryAfterMs(error.status) ?? 0 : 0;
        const waitMs = error instanceof UnreachableError ? unreachableBackoffMs : backoffMs;
        if (!(error instanceof WatchRenewal)) {
          delayMs = Math.max(waitMs(failures, backoff), askedMs);
          onInterrupted(error, delayMs);
        }
      }
      if (this.#progress > before || monotonicMs() - startedMs >= HEALTHY_MS) failures = -1;
      if (delayMs > 0) await sleep(delayMs, { signal: this.#signal });
    }
  }

  /** Reads the pod. Returns `undefined` if the pod with the known uid is gone. */
  async #look(): Promise<ContainerFacts | undefined> {
    let pod: Pod;
    try {
      pod = await this.#source.pod(this.#signal);
    } catch (error) {
      if (this.#uid !== undefined && isNotFound(error)) return undefined;
      throw error;
    }
    const { uid } = pod.metadata;
    if (uid !== (this.#uid ??= uid)) return undefined;
    this.#name = containerOf(pod, this.#options.container) ?? "";
    const facts = factsOf(pod, this.#name);
    if (this.#name !== "" && !facts.isKnown) {
      const found = containerNames(pod).join(", ");
      throw new ValueError(`Cannot ${this.#source.action}: the pod has no container "${this.#name}". It has ${found}`);
    }
    if (facts.id === this.#id) this.#knownMs = monotonicMs();
    return facts;
  }

  /** Yields an item that marks a gap at the end, if there is one. */
  *#finish(isGap: boolean): Generator<LogLine, void> {
    this.#isGap ||= isGap;
    if (this.#isGap) yield this.#deliver({ time: this.#position.time ?? "", text: "", isTruncated: false });
  }

  /** Yields what is left from containers before the present one. Returns `false` if it was replaced meanwhile. */
  async *#reach(facts: ContainerFacts): AsyncGenerator<LogLine, boolean> {
    if (this.#id === undefined) this.#goBack(facts);
    if (this.#id !== facts.id && !(yield* this.#change(facts))) return false;
    this.#id = facts.id;
    return true;
  }

  /** Chooses the container to begin with: the one before the present one, if lines from it are wanted. */
  #goBack({ id, run, previousId, previousRun, restarts }: ContainerFacts): void {
    this.#id = id;
    // Starts have whole seconds.
    const isWanted = ({ startedAt = "" }: ContainerRun): boolean =>
      this.#isComplete && !(Date.parse(startedAt) + 1_000 <= Date.parse(this.#since));
    if (!isWanted(run)) return;
    if (previousId === undefined || previousId === id) {
      this.#emptyMs = startMs(run);
      this.#isGap ||= restarts > 0;
      return;
    }
    this.#id = previousId;
    if (!isWanted(previousRun)) return;
    this.#isGap ||= restarts > 1;
    if (monotonicMs() - startMs(previousRun) > ROTATION_MS) this.#completeUntil = completeUntil(previousRun);
  }

  /** Yields what is new, until the response ends. */
  async *#continue(facts: ContainerFacts): AsyncGenerator<LogLine, void> {
    const { id, hasEnded, isKnown } = facts;
    if (isKnown && id === undefined) {
      this.#isRead = facts.isOver; // it has not started yet, or never will
      return;
    }
    if (!(yield* this.#reach(facts)) || this.#isRead) return;
    const before = this.#progress;
    // Later lines than those at the first request are not told from earlier ones.
    this.#isGap ||= this.#emptyMs < Infinity && this.#position.lines === 0 && this.#tailLines !== undefined;
    const end = yield* this.#receive(this.#query("follow"), hasEnded ? "twice" : "never", true);
    this.#isGap ||= end === "absent";
    this.#isRead = hasEnded && end !== "other" && this.#progress === before;
  }

  /**
   * Yields the rest from the present container, which another one has replaced. Returns `false` if that container was
   * replaced meanwhile too: then the lines may have come from either.
   */
  async *#change({ id, run, previousId }: ContainerFacts): AsyncGenerator<LogLine, boolean> {
    let end: ResponseEnd = this.#isRead ? "found" : "absent";
    let mayBeOther = this.#position.lines === 0;
    this.#isGap ||= previousId !== this.#id;
    // A response may end early without an error, so that only one without a new line is complete.
    for (let before = -1; !this.#isRead && !this.#position.isUnknown && before < this.#progress;) {
      before = this.#progress;
      try {
        end = yield* this.#receive(this.#query("previous"), "twice");
        mayBeOther ||= end === "missed";
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        end = "absent";
      }
    }
    const isSettled = !mayBeOther || this.#position.lines === 0 || (await this.#look())?.id === id;
    if (isSettled) {
      this.#position = new LogPosition();
      this.#isGap ||= end === "absent" || this.#completeUntil !== undefined;
      this.#isCut = true;
    }
    this.#isRead = false;
    this.#tailLines = undefined;
    this.#id = id;
    this.#emptyMs = this.#knownMs === Infinity && this.#isComplete ? startMs(run) : this.#knownMs;
    return isSettled;
  }

  /** Yields the lines in a response after the present position. A response that is not `live` is about the past. */
  async *#receive(query: URLSearchParams, openEnd: OpenEnd, live = false): AsyncGenerator<LogLine, ResponseEnd> {
    const position = this.#position.since(query.get("sinceTime")?.slice(0, 19) ?? "");
    const seen = new LogPosition();
    let end: ResponseEnd | undefined = position.lines === 0 ? "found" : undefined;
    let mayBeFound = false;
    let isAccepted = false;
    let isUntimed = false;
    using job = new DerivedController(this.#signal, this.#control?.renewal.signal);
    for await (const lines of this.#source.open(query, job.signal)) {
      if (live && !isAccepted && position.lines === 0 && !(await this.#begin())) return "other";
      isAccepted = true;
      if (live && end !== undefined) this.#knownMs = monotonicMs();
      for (const line of lines) {
        const { time } = line;
        if (line.isOpen && !isUntimed && !this.#isWhole(line, openEnd)) continue;
        if (time !== "" && time < this.#since) continue;
        if (end === undefined) {
          seen.add(time);
          const here = position.isEndOf(seen);
          if (here === "certainly") end = "found";
          const wasFound = mayBeFound;
          mayBeFound = here === "perhaps";
          if (end !== undefined || !position.isBefore(seen)) continue;
          end = wasFound ? "found" : "missed";
          if (live && !wasFound && (await this.#look())?.id !== this.#id) return "other";
          this.#isGap ||= !wasFound;
          if (!wasFound && this.#isStored) return this.#readAgain();
        }
        isUntimed = time === "";
        this.#isStored = false;
        this.#isGap ||= this.#completeUntil !== undefined && !(time <= this.#completeUntil);
        this.#completeUntil = undefined;
        if (isUntimed) this.#tailLines = 0; // only new lines can be requested
        else this.#position.add(time);
        yield this.#deliver(line);
      }
    }
    if (mayBeFound) end ??= "found";
    if (end === undefined && this.#isStored && seen.lines > 0) return this.#readAgain();
    if (live && end !== undefined) this.#knownMs = monotonicMs();
    this.#isCut = false;
    return end ?? "absent";
  }

  /** Forgets a stored place that the log does not have. Any line since the second before it may be a new one. */
  #readAgain(): "other" {
    const ms = Date.parse(`${this.#position.time!.slice(0, 19)}Z`) - OVERLAP_MS; // as it was requested
    this.#since = `${rfc3339(ms).slice(0, 19)}.`;
    this.#position = new LogPosition();
    this.#isStored = false;
    this.#isGap = true;
    this.#progress++;
    return "other";
  }

  /** Returns true if a line without a line break is delivered. @throws {KubeletError} if it is an error. */
  #isWhole({ time, text }: ReceivedLine, openEnd: OpenEnd): boolean {
    if (time === "" && !HALF_TIME.test(text)) {
      throw new KubeletError(`Cannot ${this.#source.action}: the kubelet says ${JSON.stringify(text)}`);
    }
    const line = `${time} ${text}`;
    if (time !== "" && (openEnd === "once" || (openEnd === "twice" && line === this.#openLine))) return true;
    if (line !== this.#openLine) this.#progress++;
    this.#openLine = line;
    return false;
  }

  /** Begins a log. Returns `false` if the response may come from another container than the present one. */
  async #begin(): Promise<boolean> {
    const facts = await this.#look();
    if (facts?.id !== this.#id) return false;
    const nowMs = monotonicMs();
    // Its first lines may have been rotated away.
    if (nowMs - this.#emptyMs > ROTATION_MS) this.#completeUntil = completeUntil(facts!.run);
    this.#emptyMs = nowMs;
    return true;
  }

  #deliver({ time, text, isTruncated }: Omit<ReceivedLine, "isOpen">): LogLine {
    const gap = this.#isGap;
    this.#isGap = false;
    this.#progress++;
    const line = { time, text, container: this.#name };
    return { ...line, ...(gap ? { gap } : {}), ...(isTruncated ? { truncated: isTruncated } : {}) };
  }

  /** The parameters of a request that begins before the present position. */
  #query(mode: "now" | "follow" | "previous"): URLSearchParams {
    const { sinceMs } = this.#options;
    const query = new URLSearchParams({ timestamps: "true" });
    if (this.#name !== "") query.set("container", this.#name);
    if (mode !== "now") query.set(mode, "true");
    const from = this.#position.time ?? this.#since;
    if (from !== "") {
      const overlapMs = this.#position.time === undefined ? 0 : OVERLAP_MS;
      query.set("sinceTime", rfc3339(Date.parse(`${from.slice(0, 19)}Z`) - overlapMs));
    } else if (sinceMs !== undefined) {
      query.set("sinceSeconds", String(Math.max(1, Math.ceil((sinceMs + monotonicMs() - this.#beganMs) / 1_000))));
    }
    if (this.#position.lines === 0 && this.#tailLines !== undefined) query.set("tailLines", String(this.#tailLines));
    return query;
  }
}

/** Returns true if another attempt would fail too. Without facts, the pod could not be read. */
function isFinal(error: unknown, facts: ContainerFacts | undefined): boolean {
  if (!(error instanceof InformerError) || isUnauthorized(error) || isForbidden(error)) return true;
  return facts?.isKnown ? facts.isOver && isUnreadable(error) : isRefusedForGood(error);
}
