/**
 * Describes a job: its objects, and how much of an object an event changes, computed from the bytes of consecutive
 * versions.
 *
 * {@linkcode describeJob} is the entry point.
 *
 * @module
 */
import type { Job } from "./job.ts";
import { mixOf, type State } from "./mixes.ts";

/** Describes a job in two lines: what clients do, and how much of an object an event changes. */
export function describeJob(job: Job): string {
  const { bytes, values } = changedBytes(job);
  const shares = Number.isNaN(bytes)
    ? "no object changes"
    : `${events(job)} ${percent(bytes)} of an object's bytes, in values that are ${
      percent(values)
    }, without managedFields`;
  return `${objects(job)}, then ${job.events} events, one write each, then a relist with ${job.changed} changed\n` +
    `mix ${job.mix ?? "metadata"}: ${shares}`;
}

function objects({ pods, mix }: Job): string {
  if (mix !== "heartbeats") return `${pods} pods`;
  const nodes = Math.ceil(pods / 2);
  return `${nodes} nodes and ${pods - nodes} leases`;
}

function events({ mix }: Job): string {
  switch (mix) {
    case "rollout":
      return "a third of the events are ADDED, a third DELETED, and a third MODIFIED, which change";
    case "heartbeats":
      return "of eleven events one is of a lease; an event changes";
    default:
      return "an event changes";
  }
}

function percent(share: number): string {
  return `${(100 * share).toPrecision(2)} %`;
}

/** The share of an object that an event changes, managedFields left out. */
export interface ChangedShare {
  /** Bytes that are different in the version before. */
  readonly bytes: number;
  /** Bytes of values in which at least one byte is different. */
  readonly values: number;
}

/** The objects that are compared, and the most comparisons. */
const [OBJECTS, COMPARISONS] = [50, 1_000];

/** A string with its quotes, a number or a word, or one character between them. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[^",:{}[\]]+|[,:{}[\]]/g;

const decoder = new TextDecoder();

/** What the events of a job change, on average over MODIFIED events of some objects; NaN if there are none. */
export function changedBytes(job: Job): ChangedShare {
  const objects = mixOf(job);
  const stride = Math.max(1, Math.floor(objects.size(0, false) / OBJECTS));
  const texts = new Map<string, string>();
  const textOf = (state: State): string => {
    const object = JSON.parse(decoder.decode(objects.bytes(state).object));
    delete object.metadata.managedFields;
    return JSON.stringify(object);
  };
  let [all, bytes, values, compared] = [0, 0, 0, 0];
  for (let event = 0; event < job.events && compared < COMPARISONS; event++) {
    const step = objects.step(event);
    const { type, collection, index } = step;
    if (index % stride !== 0 || type === "DELETED") continue;
    const key = `${collection}/${index}`;
    const before = texts.get(key) ??
      (type === "ADDED" ? undefined : textOf(objects.listed(collection, index, false)));
    const after = textOf(step);
    texts.set(key, after);
    if (before === undefined) continue;
    const changed = difference(before, after);
    compared++;
    all += after.length;
    bytes += changed.bytes;
    values += changed.values;
  }
  return { bytes: bytes / all, values: values / all };
}

/** The bytes of `after` that are different from `before`, which has the same fields. */
export function difference(before: string, after: string): { readonly bytes: number; readonly values: number } {
  const [old, now] = [before, after].map((text) => text.match(TOKEN) ?? []);
  if (old.length !== now.length) throw new Error("Cannot compare two objects: they have other fields");
  let [bytes, values] = [0, 0];
  now.forEach((token, i) => {
    if (token === old[i]) return;
    values += token.length;
    bytes += changedIn(old[i], token);
  });
  return { bytes, values };
}

/** The bytes of a value that are different: of one with another length, all but its common beginning and end. */
function changedIn(before: string, after: string): number {
  const isSame = (at: number): boolean => before.at(at) === after.at(at);
  if (before.length === after.length) return [...after].filter((_, at) => !isSame(at)).length;
  const most = Math.min(before.length, after.length);
  let [start, end] = [0, 0];
  while (start < most && isSame(start)) start++;
  while (start + end < most && isSame(-end - 1)) end++;
  return after.length - start - end;
}
