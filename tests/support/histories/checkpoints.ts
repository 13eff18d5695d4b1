import {
  Checkpoint,
  type CheckpointRecord,
  type CheckpointStore,
  Client,
  type InformerEvent,
  type KubernetesObject,
  MemoryCheckpoints,
  type ResourceEventHandler,
  SharedIndexInformer,
} from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, history, type HistoryStep, perform, type WriteStep } from "@kube/informer/testing";
import { assert, assertEquals } from "@std/assert";
import { onceAt, shrink } from "../../../src/testing/fake/history.ts";
import { Random, seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeTime } from "../times/fake_time.ts";
import { bytesOf, chunksOf } from "./snapshot.ts";

/** The behaviour of a process, each time it is started. */
interface PositionPlan {
  /** The namespaces that are listed and watched, each separately; none for all of them in one watch. */
  readonly namespaces?: readonly string[];
  /** If true, the handler asks for objects of one tier. */
  readonly filtered: boolean;
  readonly kind: "sync" | "async" | "events";
  /** If true, some calls throw, and some writes of the checkpoint fail, half of them after they have been done. */
  readonly fails: boolean;
  readonly backlog: "keep" | "latestPerKey";
  readonly intervalMs: number;
  readonly streamingList: "auto" | "off";
  readonly pageSize: number;
}

/** A step of the history of a process that is killed and started again. */
export type PositionStep =
  | HistoryStep
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "keepSnapshot" }
  | {
    /** The process ends at once, or as it should, and is started again, perhaps from a snapshot. */
    readonly do: "crash" | "stop";
    readonly awayMs: number;
    readonly restores: boolean;
    /** If true, the handler is added once the informer has synced. */
    readonly late: boolean;
  };

/** A history of a process that reads from a checkpoint. */
export interface PositionScript {
  readonly seed: number;
  readonly plan: PositionPlan;
  readonly history: number;
  readonly steps: readonly PositionStep[];
}

/** Returns the script of a seed. */
export function positionScriptOf(seed: number): PositionScript {
  const random = new Random(seed ^ 0x9051);
  const faults = random.pick(["none", "harmless", "all"] as const);
  const steps: PositionStep[] = [];
  for (const step of history(seed, { steps: 20 + random.below(30), faults, names: 4 })) {
    // An event that never comes is not delivered, and one that is out of order is older.
    if (step.do === "lose" || step.do === "corrupt" || step.do === "reorder") continue;
    steps.push(step);
    if (random.next() < 0.5) steps.push({ do: "wait", ms: random.pick([0, 1, 30, 700, 5_000, 70_000]) });
    if (random.next() < 0.06) steps.push({ do: "keepSnapshot" });
    if (random.next() < 0.12) {
      steps.push({
        do: random.pick(["crash", "crash", "stop"]),
        awayMs: random.pick([0, 0, 100, 20_000]),
        restores: random.next() < 0.4,
        late: random.next() < 0.2,
      });
    }
    if (random.next() < 0.1) steps.push({ do: "compact" });
  }
  return {
    seed,
    history: random.pick([3, 20, 10_000]),
    plan: {
      ...random.pick([{}, {}, { namespaces: ["a"] }, { namespaces: ["a", "b"] }]),
      filtered: random.next() < 0.3,
      kind: random.pick(["sync", "async", "async", "events"]),
      fails: random.next() < 0.25,
      backlog: random.pick(["keep", "keep", "latestPerKey"]),
      intervalMs: random.pick([0, 0, 500]),
      streamingList: random.pick(["auto", "off"]),
      pageSize: random.pick([2, 500]),
    },
    steps,
  };
}

/** Returns the first broken promise of a script; `undefined` if it keeps all. */
export async function positionFailureOf(script: PositionScript): Promise<Error | undefined> {
  try {
    await playPosition(script);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Returns what a script that fails breaks, and the steps that are needed for that, each on a line. */
export async function shrunkPosition(script: PositionScript): Promise<string> {
  const failure = await positionFailureOf(script);
  if (failure === undefined) throw new Error(`The history of seed ${script.seed} breaks nothing`);
  const left = await shrink({ steps: script.steps, failure }, (steps) => positionFailureOf({ ...script, steps }), 400);
  return [left.failure.message, JSON.stringify(script.plan), ...left.steps.map((step) => JSON.stringify(step))].join(
    "\n",
  );
}

/** Plays a script under fake time, and throws an error that names the promise that was broken. */
export async function playPosition(
  script: PositionScript,
): Promise<{ readonly events: number; readonly repeats: number }> {
  using _random = seedGlobals(script.seed);
  using time = new FakeTime();
  const played = new PlayedPosition(script, time);
  try {
    await played.start({ restores: false, late: false });
    for (const step of script.steps) await played.step(step);
    await played.settle();
  } finally {
    await played.stop();
  }
  assertEquals(time.timers, 0, "a timer is left");
  const { events, repeats } = played.receiver;
  return { events, repeats };
}

/** A state of an object on the server; without a uid it does not exist, or the reader does not ask for it. */
interface ServerState {
  readonly version: number;
  readonly uid?: string;
}

/** Outlives the processes: it receives the deliveries, and checks them. */
class Receiver {
  readonly #states = new Map<string, ServerState[]>();
  /** The newest state of which a call has begun, and of which one has returned. */
  readonly #begun = new Map<string, ServerState>();
  readonly #done = new Map<string, ServerState>();
  /** The uids of which a deletion was delivered. */
  readonly #ended = new Set<string>();
  /** The uids that were delivered shortly before a crash, so that no checkpoint may have them. */
  readonly #forgotten = new Set<string>();
  events = 0;
  repeats = 0;

  /** Records a state of the server. */
  changed(key: string, state: ServerState): void {
    const states = this.#states.get(key) ?? [];
    this.#states.set(key, states);
    states.push(state);
  }

  /** A call begins. Returns what records that it has returned. */
  begin(event: InformerEvent<KubernetesObject> & { readonly type: "added" | "updated" | "deleted" }): () => void {
    this.events++;
    const { key, uid, type } = event;
    const version = Number(event.resourceVersion);
    const last = this.#begun.get(key);
    const named = JSON.stringify(event);
    if (type === "deleted") {
      // A process was killed when it was about to deliver the addition.
      if (last === undefined && version === 0) return () => {};
      assert(last !== undefined, `${named}: it was never delivered`);
      // A deletion that a list has shown is of any later state.
      const isOfLater = event.finalStateUnknown && (last.uid === uid || last.uid === undefined);
      const end = this.#endOf(key, uid, isOfLater ? Math.max(version, last.version) : version);
      assert(end !== undefined, `${named}: it exists`);
      const isRepeated = this.#ended.has(uid) || last.uid === undefined;
      if (isRepeated) this.repeats++;
      this.#ended.add(uid);
      // Of an earlier object, whose deletion was delivered before: the later one follows again.
      if (isRepeated && end < last.version) return () => {};
      assert(end >= last.version, `${named}: a newer state, of version ${last.version}, was delivered before`);
      return this.#takes(key, { version: end });
    }
    if (last !== undefined) {
      const isSuccessor = last.uid !== undefined && last.uid !== uid && !this.#forgotten.has(last.uid);
      assert(!isSuccessor, `${named}: the object before, ${last.uid}, was not deleted`);
      const isRepeated = last.uid === uid && last.version === version;
      assert(isRepeated || version > last.version, `${named}: version ${last.version} was delivered before`);
      if (isRepeated) this.repeats++;
    }
    this.#ended.delete(uid); // of a filter
    return this.#takes(key, { version, uid });
  }

  /** Forgets what was delivered of objects that a checkpoint does not have: a crash came before its write. */
  forget(known: CheckpointRecord["objects"]): void {
    for (const [key, { uid }] of [...this.#begun, ...this.#done]) {
      if (uid === undefined || known.get(key)?.[0] === uid) continue;
      this.#forgotten.add(uid);
      if (this.#done.get(key)?.uid === uid) this.#done.delete(key);
    }
  }

  /** Fails unless every state at a version, or a later one, was delivered. */
  checkDelivered(version: number, what: string): void {
    for (const [key, states] of this.#states) {
      const state = states.findLast((it) => it.version <= version);
      if (state === undefined) continue;
      const done = this.#done.get(key);
      // An object that came and went may never have been delivered.
      const isOver = state.uid === undefined || states.some((it) => it.version > state.version && it.uid === undefined);
      const isDone = isOver && done?.uid === undefined;
      assert(
        isDone || (done !== undefined && done.version >= state.version),
        `${what}: "${key}" at ${JSON.stringify(state)} is not delivered, but ${JSON.stringify(done)}`,
      );
    }
  }

  #takes(key: string, state: ServerState): () => void {
    this.#begun.set(key, state);
    return () => this.#done.set(key, state);
  }

  /** The version at which the object of a uid has ended that existed at `version`, or was deleted there. */
  #endOf(key: string, uid: string, version: number): number | undefined {
    const states = this.#states.get(key) ?? [];
    const ends = states.filter((state, i) => states[i - 1]?.uid === uid && state.uid !== uid);
    const found = ends.find((end) => end.version >= version);
    return (found ?? (states.at(-1)?.uid === uid ? undefined : ends.at(-1)))?.version;
  }
}

/** A store that is slow, fails, and does nothing more for a process that was killed. */
class ProcessStore implements CheckpointStore {
  readonly #kept: CheckpointStore;
  readonly #process: { readonly isKilled: boolean };
  readonly #random: Random;
  readonly #fails: () => boolean;
  readonly #onWritten: (record: CheckpointRecord) => void;

  constructor(
    kept: CheckpointStore,
    process: { readonly isKilled: boolean },
    random: Random,
    fails: () => boolean,
    onWritten: (record: CheckpointRecord) => void,
  ) {
    this.#kept = kept;
    this.#process = process;
    this.#random = random;
    this.#fails = fails;
    this.#onWritten = onWritten;
  }

  async get(name: string): ReturnType<CheckpointStore["get"]> {
    await this.#delay();
    return await this.#kept.get(name);
  }

  async set(name: string, record: CheckpointRecord, change: Parameters<CheckpointStore["set"]>[2]): Promise<unknown> {
    const copy = { ...record, objects: new Map(record.objects) };
    await this.#delay();
    if (this.#fails()) throw new Error("the write has failed");
    if (this.#process.isKilled) throw new Error("the process was killed");
    const written = this.#kept.set(name, copy, change);
    this.#onWritten(copy); // in the same turn, for the process may be killed in the next one
    const stamp = await written;
    if (this.#fails()) throw new Error("the answer to the write was lost");
    return stamp;
  }

  #delay(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#random.pick([0, 0, 3, 40])));
  }
}

/** A process, which may be killed. */
class Process {
  isKilled = false;
  /** `true` once it has received the differences to its checkpoint. */
  hasCaughtUp = false;
  readonly stop = new AbortController();
  checkpoint: Checkpoint | undefined;
  reading: Promise<unknown> | undefined;
  readonly informer: SharedIndexInformer<KubernetesObject>;

  constructor(informer: SharedIndexInformer<KubernetesObject>) {
    this.informer = informer;
  }
}

class PlayedPosition {
  readonly receiver = new Receiver();
  readonly #script: PositionScript;
  readonly #time: FakeTime;
  readonly #random: Random;
  readonly #server: FakeApiServer;
  readonly #client: Client;
  readonly #kept = new MemoryCheckpoints();
  readonly #lasting: Disposable[] = [];
  /** The processes that were killed: what is left of them is cleaned up. */
  readonly #killed: Promise<void>[] = [];
  #process: Process | undefined;
  #snapshot: Uint8Array<ArrayBuffer> | undefined;
  #isSettling = false;
  /** The number of calls that may have been repeated: that of the ends of processes. */
  #ends = 0;
  /** The first broken promise. */
  #failure: unknown;

  constructor(script: PositionScript, time: FakeTime) {
    const { seed, history } = script;
    this.#script = script;
    this.#time = time;
    this.#random = new Random(seed ^ 0x77);
    this.#server = new FakeApiServer({ history, seed, bookmarkMs: 10_000 });
    this.#client = new Client({ server: "http://fake", transport: this.#server });
  }

  async start({ restores, late }: { readonly restores: boolean; readonly late: boolean }): Promise<void> {
    const { namespaces, streamingList, pageSize, intervalMs } = this.#script.plan;
    const sources = namespaces?.map((namespace) => ({
      namespace,
      source: this.#client.resource(ConfigMap, { namespace }),
    }));
    const compact = this.#script.seed % 2 === 0;
    const options = { compact, reflector: { streamingList, pageSize }, onError: () => {} };
    const process = this.#process = new Process(
      new SharedIndexInformer<KubernetesObject>(sources ?? this.#client.resource(ConfigMap), options),
    );
    const store = new ProcessStore(this.#kept, process, this.#random, () => this.#fails(0.2), (record) => {
      // Calls that throw are left behind.
      if (!this.#script.plan.fails && record.version !== "") {
        this.#check(() => this.receiver.checkDelivered(Number(record.version), `checkpoint at ${record.version}`));
      }
    });
    const { informer } = process;
    for (let tries = 0; process.checkpoint === undefined; tries++) {
      assert(tries < 50, "a checkpoint is opened");
      try {
        process.checkpoint = await this.#pass(Checkpoint.open(store, { name: "read", intervalMs: intervalMs }));
      } catch (error) {
        if (!this.#script.plan.fails) throw error;
      }
    }
    if (restores && this.#snapshot !== undefined) await this.#pass(informer.restore(chunksOf(this.#snapshot)));
    if (late) void informer.run();
    if (late) await this.#time.tickAsync(50);
    this.#read(process);
    if (!late) void informer.run();
    await this.#time.tickAsync(0);
  }

  async step(step: PositionStep): Promise<void> {
    switch (step.do) {
      case "wait":
        await this.#time.tickAsync(step.ms);
        break;
      case "keepSnapshot": {
        const { informer } = this.#process!;
        if (informer.hasSynced) this.#snapshot = await bytesOf(informer.snapshot());
        break;
      }
      case "crash":
      case "stop":
        this.#end(step.do === "crash");
        if (step.do === "stop") await this.#pass(this.#killed.at(-1)!);
        await this.#time.tickAsync(step.awayMs);
        await this.start(step);
        break;
      default:
        this.#perform(step);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Ends all faults, starts the process once more, and waits until it has received everything. */
  async settle(): Promise<void> {
    for (const lasting of this.#lasting.splice(0)) lasting[Symbol.dispose]();
    this.#server.latency(0);
    this.#server.sendBookmarks(true);
    this.#isSettling = true;
    await this.step({ do: "stop", awayMs: 0, restores: false, late: false });
    let isOver = false;
    for (let tries = 0; tries < 60 && !isOver; tries++) {
      this.#server.bookmark();
      await this.#time.tickAsync(10_000);
      const { informer } = this.#process!;
      const { state, handlers } = informer.status();
      isOver = state === "live" && informer.lastSyncResourceVersion === this.#server.resourceVersion &&
        handlers.every(({ pending }) => pending === 0) && this.#process!.hasCaughtUp;
    }
    assert(isOver, `the informer catches up: ${JSON.stringify(this.#process!.informer.status())}`);
    await this.#time.tickAsync(1_000);
    if (this.#failure !== undefined) throw this.#failure;
    this.receiver.checkDelivered(Infinity, "at the end");
    const { intervalMs, fails } = this.#script.plan;
    if (intervalMs > 0 || fails) return;
    const { repeats } = this.receiver;
    assert(repeats <= this.#ends, `${repeats} calls were repeated, and ${this.#ends} were interrupted`);
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    this.#isSettling = true;
    if (this.#process !== undefined) this.#end(false);
    for (const lasting of this.#lasting.splice(0)) lasting[Symbol.dispose]();
    await this.#pass(Promise.all(this.#killed));
    this.#server.disarm();
    this.#client[Symbol.dispose]();
    await this.#time.tickAsync(400_000);
  }

  #end(kills: boolean): void {
    const process = this.#process!;
    this.#process = undefined;
    process.isKilled = kills;
    // Of a stream the event that is at hand when it ends is delivered again.
    if (kills || this.#script.plan.kind === "events") this.#ends++;
    process.stop.abort();
    this.#killed.push((async () => {
      if (kills) await this.#forget();
      await process.informer[Symbol.asyncDispose]();
      await process.reading;
      await process.checkpoint?.[Symbol.asyncDispose]();
      if (!kills && this.#script.plan.fails) await this.#forget(); // its last writes may have failed
    })());
  }

  /** With a time between writes, what was delivered last may be in no checkpoint. */
  async #forget(): Promise<void> {
    const { record } = await this.#kept.get("read") ?? {};
    if (this.#script.plan.intervalMs > 0) this.receiver.forget(record?.objects ?? new Map());
  }

  #read(process: Process): void {
    const { filtered, backlog, kind } = this.#script.plan;
    const { checkpoint, informer } = process;
    const options = { checkpoint, backlog, ...filtered ? { filter: passes } : {}, signal: process.stop.signal };
    if (kind === "events") {
      process.reading = (async () => {
        for await (const event of informer.events(options)) await this.#call(process, event);
      })().catch((error) => this.#failure ??= error);
      return;
    }
    const call = (event: InformerEvent<KubernetesObject>): unknown => this.#call(process, event);
    const handler: ResourceEventHandler<KubernetesObject> = {
      onAdd: call,
      onUpdate: call,
      onDelete: call,
      onSynced: call,
    };
    informer.addEventHandler(handler, options);
  }

  #call(process: Process, event: InformerEvent<KubernetesObject>): Promise<void> | void {
    if (event.type === "synced") process.hasCaughtUp = true;
    if (process.isKilled || event.type === "synced") return;
    const { kind } = this.#script.plan;
    let done: (() => void) | undefined;
    this.#check(() => done = this.receiver.begin(event));
    if (kind === "sync") return this.#return(process, done);
    return new Promise<void>((resolve) => setTimeout(resolve, this.#random.pick([0, 1, 20, 300])))
      .then(() => this.#return(process, done));
  }

  #return(process: Process, done: (() => void) | undefined): void {
    // A stream has no calls that fail: its reader asks for the next event, or not.
    if (this.#script.plan.kind !== "events" && this.#fails(0.2)) throw new Error("the call has failed");
    if (!process.isKilled) done?.();
  }

  #fails(share: number): boolean {
    return this.#script.plan.fails && !this.#isSettling && this.#random.next() < share;
  }

  #check(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  async #pass<R>(promise: Promise<R>): Promise<R> {
    let isOver = false;
    const settled = promise.finally(() => isOver = true);
    settled.catch(() => {}); // awaited below
    for (let tries = 0; !isOver && tries < 1_000; tries++) await this.#time.tickAsync(100);
    assert(isOver, "it ends");
    return await settled;
  }

  #perform(step: HistoryStep): void {
    switch (step.do) {
      case "write":
      case "delete":
        return this.#write(step);
      case "writeAt":
        return void onceAt(this.#server, step.moment, () => {
          for (const write of step.writes) this.#write(write);
        });
      default: {
        const lasting = perform(this.#server, ConfigMap, step);
        if (lasting !== undefined) this.#lasting.push(lasting);
      }
    }
  }

  #write(step: WriteStep): void {
    const { namespaces, filtered } = this.#script.plan;
    const key = `${step.namespace}/${step.name}`;
    const revision = Number(this.#server.resourceVersion);
    const before = this.#server.get(ConfigMap, key);
    perform(this.#server, ConfigMap, step);
    if (namespaces !== undefined && !namespaces.includes(step.namespace)) return;
    const after = this.#server.get(ConfigMap, key);
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid) {
      this.receiver.changed(key, { version: revision + 1 });
    }
    if (after === undefined) return;
    const version = Number(after.metadata.resourceVersion);
    this.receiver.changed(key, { version, ...!filtered || passes(after) ? { uid: after.metadata.uid } : {} });
  }
}

/** The filter of filtering handlers. */
function passes({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.tier === "db";
}
