/**
 * Records events (events.k8s.io/v1) about objects, for `kubectl describe`.
 *
 * {@linkcode EventRecorder} is the entry point. It joins equal events, limits their rate, and never delays or fails the
 * caller. A manager waits for its last writes when it stops.
 *
 * @module
 */
import type { KubernetesObject } from "../../../engine/api/object.ts";
import { isAlreadyExists, isNotFound, StatusError } from "../../../engine/api/status.ts";
import { LeakyBucket } from "../../../engine/async/rates.ts";
import { Latch } from "../../../engine/async/signals.ts";
import { LongTimer, monotonicMs, sleep, timedController } from "../../../engine/async/time.ts";
import type { Abortable } from "../../../engine/api/call_options.ts";
import { type AccessRight, missingRights, rightsTo } from "../../../engine/client/access_reviews.ts";
import type { Client } from "../../../engine/client/client.ts";
import { internals } from "../../../engine/errors/internals.ts";
import type { ResourceClient } from "../../../engine/client/resource_client.ts";
import { checkCounts, checkDurations } from "../../../engine/errors/checks.ts";
import { errorObserver } from "../../../engine/errors/errors.ts";
import { checkNames } from "../../../engine/errors/option_names.ts";
import { Event } from "../../../engine/kinds/events/v1.ts";
import { type EventDetails, type EventReporter, EventSeries, identityOf } from "./event_series.ts";

/** Options for {@linkcode EventRecorder}. */
export interface EventRecorderOptions {
  /**
   * The name of the controller that reports. It must be a qualified name, like a label's: `"crontabs"` or
   * `"example.com/crontabs"`.
   */
  readonly controller: string;
  /** This process's name, at most 128 characters. By default the controller's name and a random part. */
  readonly instance?: string;
  /** The most events that may wait to be written. Further events are dropped. @default {1_000} */
  readonly maxQueued?: number;
  /**
   * The rate of new events about one object. Further events are dropped. Repetitions are counted and not limited. By
   * default 25 at once, and one more every 300 s.
   */
  readonly rate?: { readonly burst: number; readonly intervalMs: number };
  /** How long a stop waits for writes, in milliseconds. @default {5_000} */
  readonly flushMs?: number;
  /**
   * Receives the error when an event is dropped. It is called once for each status code and namespace, until an event
   * is written there again. `status()` counts all dropped events. By default each new cause is written to the console
   * in one line, and again at most once a minute.
   */
  readonly onError?: (error: unknown) => void;
}

/** Counts from an {@linkcode EventRecorder}. */
export interface EventRecorderStatus {
  /** The number of events and series that wait to be written or are being written. */
  readonly queued: number;
  /** The number of created events. */
  readonly created: number;
  /** How often the count in a series was written. */
  readonly updated: number;
  /**
   * The number of dropped events. The server refused them or could not be reached, they exceeded the rate or
   * `maxQueued`, or they came after the stop.
   */
  readonly dropped: number;
  /** The error for which an event was last dropped, or `undefined`. */
  readonly lastError: unknown;
}

/** As in client-go `tools/events`. */
const WORKERS = 8;
const ATTEMPTS = 12;
const RETRY_MS = 10_000;
const RETRY_JITTER = 0.25;
const FINISH_MS = 6 * 60_000;
const REFRESH_MS = 30 * 60_000;

/** The number of series, and of objects with a rate, that are remembered (client-go `tools/record`). */
const REMEMBERED = 4_096;

/** The longest time that a request may take: a silent server must not stop all workers. */
const REQUEST_MS = 30_000;

/**
 * Records events about objects (group events.k8s.io/v1), which `kubectl describe` shows.
 *
 * - **It never gets in your way.** `record()` returns immediately and never throws. Events are written in the
 *   background, 8 at a time. If an event cannot be written, it is dropped, counted and reported.
 * - **Series.** Events with the same object, type, reason and action share one object on the server. The second one
 *   makes it a series. Later ones are counted, and the count is written 30 minutes after the last write, or after 6
 *   minutes of silence (client-go `tools/events`).
 * - **Failures.** If the server refuses an event, the event is dropped. If it cannot be reached or responds with 5xx,
 *   the write is attempted up to 12 times, 10 to 12.5 s apart.
 * - **Namespace.** An event goes to its object's namespace, or to `default` for a cluster-scoped object. You need the
 *   rights to create and patch `events.events.k8s.io` there.
 *
 * When you dispose the recorder, it writes the waiting events within `flushMs`. It holds a timer while it remembers
 * events.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { EventRecorder } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * const map = server.create(ConfigMap, { metadata: { name: "settings", namespace: "shop" } });
 * using client = new Client({ server: "http://fake", transport: server });
 * {
 *   await using events = new EventRecorder(client, { controller: "settings" });
 *   for (const colour of ["red", "blue"]) {
 *     events.record(map, { reason: "Painted", action: "Paint", note: `It is ${colour} now.` });
 *   }
 * }
 * const response = await client.fetch("/apis/events.k8s.io/v1/namespaces/shop/events");
 * const [event] = (await response.json()).items;
 * assertEquals([event.note, event.series.count], ["It is red now.", 2]);
 * ```
 */
export class EventRecorder implements AsyncDisposable {
  readonly #client: Pick<Client, "resource">;
  readonly #reporter: EventReporter;
  readonly #maxQueued: number;
  readonly #rate: NonNullable<EventRecorderOptions["rate"]>;
  readonly #flushMs: number;
  readonly #report: (error: unknown) => void;
  /** The series by their keys. The series that began or was written first comes first. Ended series are removed. */
  readonly #series = new Map<string, EventSeries>();
  /** The rates by the object's identity. The least recently used one comes first. */
  readonly #rates = new Map<string, LeakyBucket>();
  /** The series that wait for a worker, each once. */
  readonly #queue = new Set<EventSeries>();
  /** The codes and namespaces of failures that were reported, and not followed by a success. */
  readonly #reported = new Set<string>();
  readonly #sweep = new LongTimer(() => this.#finishSeries());
  /** Aborts when the recorder stops: no write is repeated then. */
  readonly #stopping = new AbortController();
  /** Aborts when the time for the last writes is over. */
  readonly #ended = new AbortController();
  /** Opens when the recorder has stopped, and nothing waits or is being written. */
  readonly #flushed = new Latch();
  /** The series that workers write. None of them waits in `#queue`. */
  readonly #writing = new Set<EventSeries>();
  readonly #counts = { created: 0, updated: 0, dropped: 0 };
  #lastError: unknown;
  /** Returns the rights that it needs and lacks in these namespaces. @internal */
  readonly [internals] = (namespaces: readonly string[], wait: Abortable): Promise<AccessRight[]> =>
    missingRights(this.#client, rightsTo("create patch", Event, namespaces), wait);

  /**
   * Creates a recorder. It sends no request yet.
   *
   * @throws {TypeError} if `controller` is not a qualified name, or `instance` is empty or longer than 128 characters.
   * The server would refuse each event.
   * @throws {RangeError} if a number is not valid.
   */
  constructor(client: Pick<Client, "resource">, options: EventRecorderOptions) {
    checkNames("create an event recorder", options, "controller instance maxQueued rate flushMs onError");
    const { controller, onError } = options;
    checkName(controller);
    const { instance = `${controller.slice(controller.indexOf("/") + 1)}-${crypto.randomUUID().slice(0, 8)}` } =
      options;
    const { maxQueued = 1_000, rate = { burst: 25, intervalMs: 300_000 }, flushMs = 5_000 } = options;
    if (typeof instance !== "string" || instance === "" || instance.length > 128) {
      throw new TypeError(
        `Cannot record events: instance must have 1 to 128 characters, but it is ${JSON.stringify(instance)}`,
      );
    }
    checkCounts("record events", { maxQueued, "rate.burst": rate.burst }, { min: 1 });
    checkDurations("record events", { flushMs });
    checkDurations("record events", { "rate.intervalMs": rate.intervalMs }, { min: 1, finite: true });
    this.#client = client;
    this.#reporter = { controller, instance };
    this.#maxQueued = maxQueued;
    this.#rate = rate;
    this.#flushMs = flushMs;
    this.#report = errorObserver(onError, () => `event recorder of "${controller}"`);
  }

  /** Records an event about `object`. Returns immediately and never throws. */
  record(object: KubernetesObject, details: EventDetails): void {
    try {
      this.#record(object, details);
    } catch (error) {
      this.#drop(error, "invalid");
    }
  }

  /** Returns the counts so far. */
  status(): EventRecorderStatus {
    return { queued: this.#queue.size + this.#writing.size, ...this.#counts, lastError: this.#lastError };
  }

  /**
   * Stops the recorder: later events are dropped. It writes waiting events, and counts that the server lacks, within
   * `flushMs`. Never rejects.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stopping.signal.aborted) return await this.#flushed.wait();
    this.#sweep[Symbol.dispose]();
    const behind = [...this.#series.values()].filter(({ count, writtenCount }) => count > writtenCount);
    this.#series.clear();
    for (const series of behind) if (!this.#writing.has(series)) this.#queue.add(series);
    this.#stopping.abort();
    using timer = new LongTimer(() => {
      this.#counts.dropped += this.#queue.size;
      this.#queue.clear();
      this.#ended.abort(new Error(`The event was not written within ${this.#flushMs} ms of the stop`));
    });
    timer.arm(this.#flushMs);
    this.#startWorkers();
    await this.#flushed.wait();
  }

  #record(object: KubernetesObject, details: EventDetails): void {
    const nowMs = monotonicMs();
    const series = new EventSeries(this.#reporter, object, details, nowMs);
    const known = this.#series.get(series.key);
    if (known !== undefined) {
      known.add(nowMs);
      // The first repetition makes it a series; later ones wait.
      if (known.count === 2) this.#enqueue(known);
      return;
    }
    if (this.#stopping.signal.aborted || !this.#passes(series)) {
      this.#counts.dropped++;
      return;
    }
    if (this.#enqueue(series)) this.#remember(series);
  }

  /** Applies the rate of the object. */
  #passes({ regarding }: EventSeries): boolean {
    const key = JSON.stringify(identityOf(regarding));
    const bucket = this.#rates.get(key) ?? new LeakyBucket(this.#rate.burst, this.#rate.intervalMs);
    this.#rates.delete(key);
    this.#rates.set(key, bucket);
    if (this.#rates.size > REMEMBERED) this.#rates.delete(firstOf(this.#rates.keys()));
    return bucket.take() === 0;
  }

  #remember(series: EventSeries): void {
    this.#series.set(series.key, series);
    if (this.#series.size > REMEMBERED) {
      const oldest = firstOf(this.#series.values());
      this.#series.delete(oldest.key);
      if (oldest.count > oldest.writtenCount) this.#enqueue(oldest);
    }
    if (!this.#sweep.isArmed) this.#sweep.arm(FINISH_MS);
  }

  /**
   * Hands the series to a worker. Returns false if too many wait. A series that is being written is checked again
   * afterwards.
   */
  #enqueue(series: EventSeries): boolean {
    if (this.#writing.has(series)) return true;
    if (!this.#queue.has(series) && this.#queue.size >= this.#maxQueued) {
      this.#counts.dropped++;
      return false;
    }
    this.#queue.add(series);
    this.#startWorkers();
    return true;
  }

  #startWorkers(): void {
    while (this.#writing.size < WORKERS && this.#queue.size > 0) {
      const series = firstOf(this.#queue);
      this.#queue.delete(series);
      this.#writing.add(series);
      this.#write(series).then((isBehind) => {
        this.#writing.delete(series);
        if (isBehind) this.#queue.add(series);
        this.#startWorkers();
      });
    }
    if (this.#writing.size === 0 && this.#stopping.signal.aborted) this.#flushed.open();
  }

  /** Writes a series as it is now, and resolves with true when it must be written again. Never rejects. */
  async #write(series: EventSeries): Promise<boolean> {
    let { count } = series;
    try {
      const events = this.#client.resource(Event, { namespace: series.namespace });
      for (let attempt = 1;; attempt++) {
        count = series.count;
        try {
          await this.#limited((signal) => this.#send(events, series, signal));
          break;
        } catch (error) {
          if (!isPassing(error) || attempt >= ATTEMPTS || !(await this.#pause())) throw error;
        }
      }
      series.writtenCount = count;
      series.writtenMs = monotonicMs();
      for (const key of this.#reported) if (key.endsWith(`/${series.namespace}`)) this.#reported.delete(key);
      // It has become a series meanwhile, or nobody will look at it again.
      return series.count > count && (count === 1 || this.#series.get(series.key) !== series);
    } catch (error) {
      if (this.#series.get(series.key) === series) this.#series.delete(series.key);
      this.#drop(error, `${error instanceof StatusError ? error.status.code : "unreachable"}/${series.namespace}`);
      return false;
    }
  }

  /** Waits before another attempt. Resolves with false if the recorder stops. */
  #pause(): Promise<boolean> {
    const waitMs = RETRY_MS * (1 + Math.random() * RETRY_JITTER);
    return sleep(waitMs, { signal: this.#stopping.signal }).then(() => true, () => false);
  }

  /** Creates the event, or writes its count. */
  async #send(events: ResourceClient<Event>, series: EventSeries, signal: AbortSignal): Promise<void> {
    if (!series.isCreated) {
      try {
        await events.create(series.body(), { signal });
        this.#counts.created++;
        series.isCreated = true;
        return;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        // The answer to an earlier attempt was lost.
        this.#counts.created++;
        series.isCreated = true;
        if (series.count === 1) return;
      }
    }
    try {
      await events.patch(series.name, { type: "merge", body: series.seriesBody() }, { signal });
      this.#counts.updated++;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The server keeps an event for an hour.
      series.isCreated = false;
      await this.#send(events, series, signal);
    }
  }

  /** Calls `request` with a signal that aborts after the time of a request, and at the end of the recorder. */
  async #limited(request: (signal: AbortSignal) => Promise<void>): Promise<void> {
    using limit = timedController(REQUEST_MS, `The server did not respond within ${REQUEST_MS} ms`, this.#ended.signal);
    await request(limit.signal);
  }

  /** Writes the counts of series that have ended or were not written for long. Forgets ended series. */
  #finishSeries(): void {
    const nowMs = monotonicMs();
    for (const series of [...this.#series.values()]) {
      const hasEnded = nowMs - series.seenMs >= FINISH_MS;
      const isBehind = series.count > series.writtenCount;
      if (hasEnded) this.#series.delete(series.key);
      if (isBehind && (hasEnded || nowMs - series.writtenMs >= REFRESH_MS)) this.#enqueue(series);
    }
    if (this.#series.size > 0) this.#sweep.arm(FINISH_MS);
  }

  #drop(error: unknown, key: string): void {
    this.#counts.dropped++;
    this.#lastError = error;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#report(error);
  }
}

/** The last part of a qualified name, and what may precede it with a slash (apimachinery `IsQualifiedName`). */
const NAME = /^[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

function checkName(controller: unknown): void {
  const [name, prefix = "a", ...more] = String(controller).split("/").reverse();
  if (typeof controller === "string" && NAME.test(name) && PREFIX.test(prefix) && more.length === 0) return;
  throw new TypeError(
    `Cannot record events: controller must be a qualified name of letters, digits, "-", "_" and ".", such as "crontabs" or ` +
      `"example.com/crontabs", but it is ${JSON.stringify(controller)}`,
  );
}

/** True for failures that the next attempt may not have: no response, or a response with 5xx. */
function isPassing(error: unknown): boolean {
  if (error instanceof StatusError) return error.status.code >= 500;
  return !(error instanceof TypeError); // the request itself is not valid
}

function firstOf<V>(values: Iterable<V>): V {
  for (const value of values) return value;
  throw new Error("Internal error: a value was expected, but there is none");
}
