/**
 * Events that repeat: one object on the server, with a count.
 *
 * {@linkcode EventSeries} is the entry point. It checks what the server would refuse. Series are written by
 * `event_recorder.ts`.
 *
 * @module
 */
import { encoder, type KubernetesObject } from "../../api/object.ts";
import type { ObjectDraft } from "../../api/written.ts";
import type { ObjectReference } from "../../kinds/core/v1_shared.ts";
import type { Event, EventSeries as SeriesCount } from "../../kinds/events/v1.ts";
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

/** An event to be recorded. */
export interface EventDetails {
  /** `"Warning"` for what somebody should look at. @default {"Normal"} */
  readonly type?: "Normal" | "Warning";
  /** The cause, in CamelCase, at most 128 characters: `"BackOff"`. Few different ones: events are grouped by it. */
  readonly reason: string;
  /** The action that was taken or failed, in CamelCase, at most 128 characters: `"CreateJob"`. */
  readonly action: string;
  /** The description for people; cut to 1,024 bytes. Of a series the server has the first one. @default {""} */
  readonly note?: string;
  /** Another object that the action is about. */
  readonly related?: KubernetesObject;
}

/** The component that records events. */
export interface EventReporter {
  /** The name of the controller. */
  readonly controller: string;
  /** The name of this process. */
  readonly instance: string;
}

const NOTE_BYTES = 1_024;

const WORD_CHARACTERS = 128;

/** A name that can be that of an event, however long its suffix. */
const EVENT_NAME = /^[a-z0-9]([a-z0-9.-]{0,200}[a-z0-9])?$/;

/**
 * Events that differ in nothing but time, note and the version of their object: one object on the server, with a count.
 */
export class EventSeries {
  /** Equal for events of one series. */
  readonly key: string;
  /** The object that the event is about. */
  readonly regarding: ObjectReference & { readonly name: string };
  /** The namespace of the event: that of its object, or `"default"`. */
  readonly namespace: string;
  /** The name of the event: the same at each attempt to create it, so that a lost answer makes no second event. */
  readonly name: string;
  /** The event as it was first recorded. */
  readonly #first: Omit<ObjectDraft<Event>, "metadata" | "series">;
  /** True once the server has the event. */
  isCreated = false;
  /** The number of events so far. */
  count = 1;
  /** The number of events that the server knows of; at most `count`. */
  writtenCount = 0;
  /** The monotonic time of the last event. */
  seenMs: number;
  /** The monotonic time of the last write. */
  writtenMs: number;
  /** The time of day of the last event. */
  #lastObservedTime: string;

  /** Begins a series. @throws {TypeError} when the server would refuse the event. */
  constructor(reporter: EventReporter, object: KubernetesObject, details: EventDetails, nowMs: number) {
    const { type = "Normal", reason, action, note = "", related } = details;
    if (type !== "Normal" && type !== "Warning") {
      throw new TypeError(
        `Cannot record an event: type must be "Normal" or "Warning", but it is ${JSON.stringify(type)}`,
      );
    }
    for (const [field, value] of Object.entries({ reason, action })) {
      if (typeof value !== "string" || value === "" || value.length > WORD_CHARACTERS) {
        throw new TypeError(
          `Cannot record an event: ${field} must have 1 to ${WORD_CHARACTERS} characters, but it is ${
            JSON.stringify(value)
          }`,
        );
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

  /** The event as it is created. */
  body(): ObjectDraft<Event> {
    return { metadata: { name: this.name, namespace: this.namespace }, ...this.#first, ...this.seriesBody() };
  }

  /** The part of the event that changes; empty for a single one. */
  seriesBody(): { readonly series?: SeriesCount } {
    if (this.count === 1) return {};
    return { series: { count: this.count, lastObservedTime: this.#lastObservedTime } };
  }
}

/** All of a reference but the version: an object that changes has one series. */
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
