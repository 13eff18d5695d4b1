/**
 * The job of every client: sync `pods` objects, follow `events` changes, get over a relist that brings `changed` more.
 */
export interface Job {
  /** Objects in the first list. */
  readonly pods: number;
  /** Events, one write each, round and round over the objects. */
  readonly events: number;
  /** Objects that have changed when the watch has expired. */
  readonly changed: number;
}

/** The resourceVersion that the first object is one newer than: all versions have seven digits. */
export const FIRST_VERSION = 1_000_000;

/** The version of the list before, or after, the events and the changes without an event. */
export function listVersion(job: Job, after: boolean): number {
  return FIRST_VERSION + job.pods + (after ? job.events + job.changed : 0);
}

/** The version of event number `event`. */
export function eventVersion(job: Job, event: number): number {
  return FIRST_VERSION + job.pods + event + 1;
}

/** The version of object number `index` in a list before, or after, the events and the changes without an event. */
export function objectVersion(job: Job, index: number, after: boolean): number {
  const { pods, events, changed } = job;
  if (!after) return FIRST_VERSION + index + 1;
  if (index < changed) return FIRST_VERSION + pods + events + index + 1;
  const rounds = Math.max(0, Math.ceil((events - index) / pods));
  return rounds === 0 ? FIRST_VERSION + index + 1 : eventVersion(job, (rounds - 1) * pods + index);
}
