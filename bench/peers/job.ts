/**
 * The job of every client: sync `pods` objects, follow `events` changes, get over a relist that brings `changed` more.
 */

/** The names of mixes: which objects there are, and what an event changes. `mixes.ts` has the objects. */
export const MIXES = ["metadata", "status", "heartbeats", "rollout"] as const;

/** The name of a mix. */
export type Mix = (typeof MIXES)[number];

/** A collection that clients follow. */
export type Followed = "pods" | "nodes" | "leases";

/** The job of every client. */
export interface Job {
  /** Objects in the first list, or in the first lists of all collections. */
  readonly pods: number;
  /** Events, one write each, round and round over the objects. */
  readonly events: number;
  /** Objects that have changed when the watch has expired. With 0 it does not expire, and the events are the end. */
  readonly changed: number;
  /** What an event changes. @default {"metadata"} */
  readonly mix?: Mix;
}

/** The resourceVersion that the first object is one newer than: all versions have seven digits. */
export const FIRST_VERSION = 1_000_000;

/** The collections that clients of a mix follow, at the same time. The watch of the first one expires. */
export function followedIn(mix: Mix): readonly Followed[] {
  return mix === "heartbeats" ? ["nodes", "leases"] : ["pods"];
}

/** The arguments that tell a client its job, after the address: PODS EVENTS CHANGED MODE MIX. */
export function clientArgs(job: Job, mode = "-"): string[] {
  return [...[job.pods, job.events, job.changed].map(String), mode, job.mix ?? "metadata"];
}

/** The arguments of a server in JSON: PODS EVENTS CHANGED on|off MIX. */
export function serverArgs(job: Job, streamingLists = false): string[] {
  return clientArgs(job, streamingLists ? "on" : "off");
}

/** The version of the list before, or after, the events and the changes without an event. */
export function listVersion(job: Job, after: boolean): number {
  return FIRST_VERSION + job.pods + (after ? job.events + job.changed : 0);
}

/** The version of event number `event`. */
export function eventVersion(job: Job, event: number): number {
  return FIRST_VERSION + job.pods + event + 1;
}

/** The version of an object that changes without an event: number `index` of them. */
export function changedVersion(job: Job, index: number): number {
  return FIRST_VERSION + job.pods + job.events + index + 1;
}
