import type { WriteStep } from "@kube/informer/testing";
import type { InformerPlan, ListenerPlan, Script, ScriptStep } from "./script.ts";

/** A history that was written by hand. */
export interface Scenario {
  readonly name: string;
  readonly script: Script;
}

const PLAN: InformerPlan = {
  metadataOnly: false,
  streamingList: "auto",
  pageSize: 500,
  watchTimeoutMs: 120_000,
  parse: "lazy",
};
const READS: ListenerPlan = { kind: "reads", resyncMs: 0 };

function informer(plan: Partial<InformerPlan> = {}, ...listeners: ListenerPlan[]): ScriptStep {
  return { do: "informer", plan: { ...PLAN, ...plan }, listeners: listeners.length === 0 ? [READS] : listeners };
}

function write(name: string, value: number, again = false): WriteStep {
  return { do: "write", namespace: "a", name, tier: value % 2 === 0 ? "web" : "db", value, again };
}

function remove(name: string): WriteStep {
  return { do: "delete", namespace: "a", name };
}

function wait(ms: number): ScriptStep {
  return { do: "wait", ms };
}

function script(steps: readonly ScriptStep[], options: Partial<Script> = {}): Script {
  return { seed: 1, faults: "all", history: 10_000, chunkBytes: 65_536, streamingList: true, steps, ...options };
}

const THREE = [write("n0", 0), write("n1", 1), write("n2", 2)];

const STOP: ScriptStep = { do: "stopProcess", crash: false };
const START: ScriptStep & { readonly do: "startProcess" } = { do: "startProcess", listenFirst: false };

/** Sequences that random histories contain too seldom. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "lists at a version always expire: the newest state is listed instead",
    script: script([
      ...THREE,
      informer({ streamingList: "off" }),
      wait(100),
      { do: "refuseVersioned", code: 410, times: 1_000 },
      { do: "failWatches", code: 410 },
      write("n1", 5),
      { do: "expectWithin", ms: 2_000 },
    ]),
  },
  {
    name: "after failures and a long healthy watch the next failure is retried quickly",
    script: script([
      ...THREE,
      informer(),
      wait(100),
      ...Array.from(
        { length: 8 },
        (): ScriptStep[] => [{ do: "drop" }, { do: "refuse", code: 503, times: 1, verb: "watch" }, wait(30_000)],
      ).flat(),
      wait(600_000),
      { do: "drop" },
      { do: "refuse", code: 503, times: 1, verb: "watch" },
      write("n1", 5),
      { do: "expectWithin", ms: 5_000 },
    ], { faults: "harmless" }),
  },
  {
    name: "watches that end at once are backed off",
    script: script([
      ...THREE,
      informer({ streamingList: "off" }),
      wait(100),
      { do: "end" },
      { do: "shortWatches", ms: 60_000 },
      { do: "expectWithin", ms: 60_000, requests: 20 },
    ], { faults: "harmless" }),
  },
  {
    name: "a server that stops answering is detected",
    script: script([
      ...THREE,
      informer({ watchTimeoutMs: 20_000 }),
      wait(100),
      { do: "stall", ms: 100_000_000 },
      write("n1", 5),
      { do: "expectWithin", ms: 60_000 },
    ], { faults: "harmless" }),
  },
  {
    name: "a bookmark that is not the end of a streaming list does not end it",
    script: script([...THREE, { do: "earlyBookmark" }, informer(), { do: "expectWithin", ms: 1_000 }], {
      chunkBytes: 40,
    }),
  },
  {
    name: "a token that expires between two pages: the list starts again, without the objects deleted since",
    script: script([
      ...THREE,
      write("n3", 3),
      informer({ streamingList: "off", pageSize: 1 }),
      wait(2_000),
      { do: "latency", ms: 900 },
      { do: "failWatches", code: 500 },
      wait(2_550), // 0.8 to 1.6 s of back-off, 0.9 s for the first page; the second is not answered before 2.6 s
      remove("n0"),
      { do: "compact" },
      wait(10_000),
    ], { relists: [1, 1] }),
  },
  {
    name: "the deletion of an object is sent again after its name has been reused",
    script: script([
      ...THREE,
      informer(),
      wait(1_000),
      write("n1", 5, true),
      wait(1_000),
      { do: "lateDeletion" },
      { do: "end" },
      { do: "expectWithin", ms: 5_000 },
    ], { faults: "harmless", outdated: 1 }),
  },
  {
    name: "objects are created and deleted between a list and its watch",
    script: script([
      ...THREE,
      { do: "writeAt", moment: "listed", writes: [remove("n0"), write("n3", 3), remove("n3"), write("n1", 5, true)] },
      informer({ streamingList: "off" }),
      { do: "expectWithin", ms: 1_000 },
    ], { faults: "none" }),
  },
  {
    name: "writes in the turn in which a streaming list is answered",
    script: script([
      ...THREE,
      informer(),
      wait(0),
      write("n1", 5),
      write("n1", 7),
      remove("n2"),
      write("n3", 3),
      { do: "expectWithin", ms: 1_000 },
    ], { faults: "none" }),
  },
  {
    name: "many changes of one object in one turn are all delivered, in order",
    script: script([
      ...THREE,
      informer(),
      wait(1_000),
      ...Array.from({ length: 6 }, (_, i) => write("n1", i)),
      remove("n1"),
      write("n1", 9),
      write("n2", 4, true),
      { do: "expectWithin", ms: 1_000 },
    ], { faults: "none" }),
  },
  {
    name: "changes of several objects in one turn are delivered in the server's order",
    script: script([
      ...THREE,
      informer({}, READS, { kind: "slow", resyncMs: 0 }),
      wait(1_000),
      ...Array.from({ length: 9 }, (_, i) => write(`n${i % 3}`, i)),
      { do: "expectWithin", ms: 1_000 },
    ], { faults: "none" }),
  },
  {
    name: "an informer that resumes is paused again and checked: the check ends with the pause",
    script: script([
      ...THREE,
      informer(),
      wait(1_000),
      { do: "pauseInformer", which: 0 },
      wait(1_000),
      { do: "resumeInformer", which: 0 },
      { do: "pauseInformer", which: 0 },
      { do: "checkInformer", which: 0 },
      write("n3", 3),
      wait(140_000),
    ], { faults: "none", checks: true }),
  },
  {
    name: "a process that starts again receives what happened meanwhile, in the server's order and without a list",
    script: script([
      ...THREE,
      informer({}, READS, { kind: "slow", resyncMs: 0 }),
      informer({ factory: true, transform: true }),
      wait(1_000),
      STOP,
      remove("n0"),
      write("n1", 5),
      write("n1", 7, true),
      write("n3", 3),
      wait(100_000),
      START,
      write("n3", 5),
      { do: "expectWithin", ms: 1_000 },
    ], { faults: "none" }),
  },
  {
    name: "all objects that were oldest are deleted while the process is down: an informer of a factory lists once",
    script: script([
      ...THREE,
      informer(),
      informer({ factory: true }),
      wait(1_000),
      write("n3", 3),
      wait(1_000),
      STOP,
      remove("n0"),
      remove("n1"),
      remove("n2"),
      START,
      { do: "expectWithin", ms: 1_000 },
    ], { faults: "none" }),
  },
  {
    name: "a cluster made anew has objects of the same names at the same versions",
    script: script([
      ...THREE,
      informer({ factory: true }),
      informer(), // finds it by a check
      wait(1_000),
      STOP,
      { ...START, server: { share: 0, writes: THREE, jump: 0 } },
      STOP,
      START,
      { do: "expectWithin", ms: 1_000 },
    ], { faults: "none" }),
  },
  {
    name: "a cluster restored from a backup has not reached the version of the snapshot",
    script: script([
      ...THREE,
      informer({ factory: true }),
      informer(), // finds it by a check
      wait(1_000),
      write("n1", 5),
      write("n2", 6),
      wait(1_000),
      STOP,
      { ...START, server: { share: 0.6, writes: [], jump: 0 } },
      { do: "expectWithin", ms: 1_000 },
    ], { faults: "none" }),
  },
];
