/**
 * Events that repeat: one object on the server, with a count.
 *
 * {@linkcode EventSeries} is the entry point. It checks an event as the server does. `event_recorder.ts` writes the
 * series.
 *
 * @module
 */
import { encoder, type KubernetesObject } from "../../../engine/api/object.ts";
import type { ObjectDraft } from "../../../engine/api/written.ts";
import type { ObjectReference } from "../../../engine/kinds/core/v1_shared.ts";
import type { Event, EventSeries as SeriesCount } from "../../../engine/kinds/events/v1.ts";
import { microTimestampNow } from "./objects.ts";

/** Returns a reference to `object`. @throws {TypeError} when it lacks apiVersion, kind or name. */
function objectReferenceTo(object: KubernetesObject): ObjectReference & { readonly name: string } {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid, resourceVersion } = metadata;
  if (!apiVersion || !kind || !name) {
    const found = JSON.stringify({ apiVersion, kind, name });
    throw new TypeError(`Cannot refer to an object: it needs apiVersion, kind and name, but it has ${found}`);
  }
  return {
    apiVersion,
    kind,
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
}

/** The facts about an event that you record. */
export interface EventDetails {
  /** Use `"Warning"` if somebody should look at it. @default {"Normal"} */
  readonly type?: "Normal" | "Warning";
  /**
   * The cause in CamelCase, at most 128 characters, such as `"BackOff"`. Use few different reasons: events are grouped
   * by them.
   */
  readonly reason: string;
  /** The action that you took or that failed, in CamelCase, at most 128 characters, such as `"CreateJob"`. */
  readonly action: string;
  /** A description for people, cut to 1,024 bytes. In a series the server keeps the first note. @default {""} */
  readonly note?: string;
  /** Another object that the action affects. */
  readonly related?: KubernetesObject;
}

/** The component that records events. */
export interface EventReporter {
  /** The controller's name. */
  readonly controller: string;
  /** This process's name. */
  readonly instance: string;
}

const NOTE_BYTES = 1_024;

const WORD_CHARACTERS = 128;

/** A name that fits an event's name, with any suffix: a subdomain by RFC 1123. */
const EVENT_NAME = /^(?=.{1,202}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Events that differ only in time, note and their object's version. They are one object on the server, with a count.
 */
export class EventSeries {
  /** Equal for events of one series. */
  readonly key: string;
  /** The object that the event is about. */
  readonly regarding: ObjectReference & { readonly name: string };
  /** The event's namespace: its object's namespace, or `"default"`. */
  readonly namespace: string;
  /** The event's name. It stays the same at each attempt, so a lost response makes no second event. */
  readonly name: string;
  /** The event as it was first recorded. */
  readonly #first: Omit<ObjectDraft<Event>, "metadata" | "series">;
  /** True once the server has the event. */
  isCreated = false;
  /** The number of events so far. */
  count = 1;
  /** The number of events that the server counts, at most `count`. */
  writtenCount = 0;
  /** The monotonic time of the last event. */
  seenMs: number;
  /** The monotonic time of the last write. */
  writtenMs: number;
  /** The time of day of the last event. */
  #lastObservedTime: string;

  /** Begins a series. @throws {TypeError} if the server would refuse the event. */
  constructor(reporter: EventReporter, object: KubernetesObject, details: EventDetails, nowMs: number) {
    const { type = "Normal", reason, action, note = "", related } = details;
    if (type !== "Normal" && type !== "Warning") {
      throw new TypeError(
        `Cannot record an event: type must be "Normal" or "Warning", but it is ${JSON.stringify(type)}`,
      );
    }
    for (const [field, value] of Object.entries({ reason, action })) {
      if (typeof value !== "string" || value === "" || value.length > WORD_CHARACTERS) {
        const problem = `must have 1 to ${WORD_CHARACTERS} characters, but it is ${JSON.stringify(value)}`;
        throw new TypeError(`Cannot record an event: ${field} ${problem}`);
      }
    }
    this.regarding = objectReferenceTo(object);
    this.namespace = this.regarding.namespace ?? "default";
    const unique = crypto.randomUUID();
    this.name = EVENT_NAME.test(this.regarding.name) ? `${this.regarding.name}.${unique.slice(0, 18)}` : unique;
    this.#lastObservedTime = microTimestampNow();
    this.#first = {
      eventTime: this.#lastObservedTime,
      reportingController: reporter.controller,
      reportingInstance: reporter.instance,
      action,
      reason,
      regarding: this.regarding,
      ...(related && { related: objectReferenceTo(related) }),
      note: cut(String(note)),
      type,
    };
    const other = this.#first.related;
    this.key = JSON.stringify([type, reason, action, identityOf(this.regarding), other && identityOf(other)]);
    this.seenMs = this.writtenMs = nowMs;
  }

  /** Counts another event. */
  add(nowMs: number): void {
    this.count++;
    this.seenMs = nowMs;
    this.#lastObservedTime = microTimestampNow();
  }

  /** The event to create. */
  body(): ObjectDraft<Event> {
    return { metadata: { name: this.name, namespace: this.namespace }, ...this.#first, ...this.seriesBody() };
  }

  /** The part of the event that changes, or nothing for a single event. */
  seriesBody(): { readonly series?: SeriesCount } {
    if (this.count === 1) return {};
    return { series: { count: this.count, lastObservedTime: this.#lastObservedTime } };
  }
}

/** Returns a reference without the version, because an object that changes has one series. */
export function identityOf({ apiVersion, kind, namespace, name, uid }: ObjectReference): readonly unknown[] {
  return [apiVersion, kind, namespace, name, uid];
}

/** Shortens a note to the bytes that the server allows, at a character. */
function cut(note: string): string {
  const ellipsis = "…";
  if (note.length * 3 <= NOTE_BYTES || encoder.encode(note).length <= NOTE_BYTES) return note;
  const { read } = encoder.encodeInto(note, new Uint8Array(NOTE_BYTES - 3));
  return note.slice(0, read) + ellipsis;
}
