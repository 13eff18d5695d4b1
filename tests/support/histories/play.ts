import { Client, type InformerEvent, type KubernetesObject, SnapshotError, type SyncedEvent } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, type HistoryStep, perform } from "@kube/informer/testing";
import type { CheckResult } from "@kube/informer/types";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { FieldTree } from "../../../src/engine/api/fields.ts";
import { pickFields } from "../../../src/engine/entry/reduction.ts";
import { causesOf } from "../../../src/engine/errors/errors.ts";
import { onceAt, shrink } from "../../../src/testing/fake/history.ts";
import { Random, seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeTime } from "../times/fake_time.ts";
import { FaultyTransport, MOST_REQUESTS } from "./faulty_transport.ts";
import {
  cacheStateOf,
  canonical,
  changed,
  follow,
  type Following,
  type Listening,
  run,
  serverKeyOf,
  skips,
  stop,
} from "./following.ts";
import { ListenerChecker } from "./listener_checker.ts";
import { beginningOf, checkBeginning, checkFirstRequests, otherPlan } from "./restored.ts";
import type { InformerPlan, ListenerPlan, Script, ScriptStep, SnapshotFault, WentBack } from "./script.ts";
import { ServerHistory } from "./server_history.ts";
import { bytesOf, chunksOf, CLUSTER, damaged, type Restored, type SnapshotOfCache } from "./snapshot.ts";

/** The result of a history. */
export interface Outcome {
  /** Events delivered to listeners. */
  readonly events: number;
  /** Lists and watches asked for. */
  readonly requests: number;
  /** The number of lists of informers that had synced. */
  readonly relists: number;
  /** The objects that were held compactly after a wait, summed over all waits. */
  readonly compact: number;
}

/** An informer that has ended, to be started again. */
interface Stopped {
  readonly plan: InformerPlan;
  readonly listeners: readonly ListenerPlan[];
  readonly snapshot: SnapshotOfCache | undefined;
}

const QUIET_MS = 30_000;
const MAX_TRIES = 120;

/** Returns the first broken promise of a script; `undefined` if it keeps all. */
export async function failureOf(script: Script): Promise<Error | undefined> {
  try {
    await play(script);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** A script with as few steps as still break something, and what they break. */
export async function shrunk(script: Script): Promise<{ readonly script: Script; readonly failure: Error }> {
  const broken = await failureOf(script);
  if (broken === undefined) throw new Error(`Cannot shrink the history of seed ${script.seed}: it breaks nothing`);
  const failing = { steps: script.steps, failure: broken };
  const { steps, failure } = await shrink(failing, (steps) => failureOf({ ...script, steps }), 400);
  return { script: { ...script, steps }, failure };
}

/** Plays a script under fake time, and throws an error that names the promise that informers broke. */
export async function play(script: Script): Promise<Outcome> {
  using _random = seedGlobals(script.seed);
  using time = new FakeTime();
  const played = new PlayedHistory(script, time);
  try {
    for (const step of script.steps) {
      await played.step(step);
      played.checkRequests();
    }
    await played.settle();
    played.check();
  } finally {
    await played.stop();
  }
  played.checkNothingLeft();
  return played.outcome;
}

class PlayedHistory {
  readonly #script: Script;
  readonly #time: FakeTime;
  readonly #server: FakeApiServer;
  readonly #client: Client;
  readonly #transport: FaultyTransport;
  readonly #random: Random;
  readonly #serverHistory = new ServerHistory();
  readonly #following: Following[] = [];
  readonly #lasting: Disposable[] = [];
  /** True once the history is over: writes whose moment comes later are left out, so that handlers can catch up. */
  #isSettling = false;
  readonly #timers: ReturnType<typeof setTimeout>[] = [];
  readonly #reading: Promise<void>[] = [];
  readonly #checking: Promise<void>[] = [];
  /** The first failure of a check that no fault explains. */
  #checkFailure: unknown;
  #lastDeleted: KubernetesObject | undefined;
  #relistCauses = 0;
  #interruptions = 0;
  /** `true` if an event may have been lost that no list has repaired. */
  #lost = false;
  /** `true` if any event may have been lost. */
  #lossy = false;
  /** `true` if events may have been sent in another order than that of their versions. */
  #reordered = false;
  /** The informers of the process that has ended; nothing while it runs. */
  #stopped: Stopped[] | undefined;
  /** The oldest version that the server has, as far as steps say. */
  #compacted = 1;
  /** The number of times that the server's history has gone back. */
  #epoch = 0;
  /** True while writes whose moment comes are left out. */
  #isMuted = false;
  /** The objects that were held compactly after a wait, summed over all waits. */
  #compact = 0;

  constructor(script: Script, time: FakeTime) {
    this.#script = script;
    this.#time = time;
    this.#random = new Random(script.seed ^ 0xabcd);
    const { history, chunkBytes, streamingList, seed } = script;
    this.#server = new FakeApiServer({ history, chunkBytes, streamingList, seed, bookmarkMs: 10_000 });
    this.#transport = new FaultyTransport((request) => this.#server.fetch(request));
    this.#client = new Client({ server: "http://fake", transport: this.#transport });
  }

  get outcome(): Outcome {
    const checkers = this.#following.flatMap(({ listening }) => listening.map(({ checker }) => checker));
    return {
      events: checkers.reduce((sum, checker) => sum + checker.events, 0),
      requests: this.#server.requests.length,
      relists: this.#following.reduce((sum, { relists }) => sum + relists, 0),
      compact: this.#compact,
    };
  }

  async step(step: ScriptStep): Promise<void> {
    switch (step.do) {
      case "wait":
        await this.#time.tickAsync(step.ms);
        for (const { informer } of this.#live()) this.#compact += informer.memory().compact.objects;
        return this.#checkPaused();
      case "informer":
        return this.#follow(step.plan, step.listeners);
      case "stopInformer":
        return await this.#stopOne(step.which);
      case "endRun":
        return await this.#endRun(step.which);
      case "runAgain":
        return this.#runAgain();
      case "pauseInformer": {
        const following = this.#pick(step.which);
        if (following === undefined || following.paused) return;
        following.paused = true;
        this.#relistCauses++; // its version may expire meanwhile
        this.#interruptions++;
        return following.informer.pause();
      }
      case "resumeInformer": {
        const following = this.#pick(step.which);
        if (following !== undefined) this.#resume(following);
        return;
      }
      case "checkInformer": {
        const following = this.#pick(step.which);
        if (following !== undefined) this.#checking.push(this.#checkOne(following));
        return;
      }
      case "listener": {
        const following = this.#pick(step.which);
        if (following !== undefined && !following.ended) this.#listen(following, step.plan);
        return;
      }
      case "removeListener": {
        const following = this.#pick(step.which);
        const listening = following?.listening[step.listener % following.listening.length];
        if (listening === undefined || listening.removed) return;
        listening.removed = true;
        listening.registration?.remove();
        listening.stop.abort();
        return;
      }
      case "refuseVersioned":
        this.#relistCauses += step.times;
        return this.#server.failNext(step.code, step.times, ({ url }) => {
          const { searchParams } = new URL(url, "http://fake");
          return !searchParams.has("watch") && (searchParams.get("resourceVersion") ?? "") !== "";
        });
      case "shortWatches":
        this.#interruptions += Math.ceil(Math.log2(1 + step.ms / 800) + step.ms / 15_000); // waits that grow up to 15 s
        this.#transport.short = true;
        await this.#time.tickAsync(step.ms);
        this.#transport.short = false;
        return;
      case "earlyBookmark":
        this.#transport.earlyBookmark = this.#server.resourceVersion;
        return;
      case "lateDeletion":
        this.#transport.lateDeletion = this.#lastDeleted;
        return;
      case "keepSnapshots":
        for (const following of this.#live()) {
          if (following.factory === undefined) following.kept = await this.#snapshot(following);
        }
        return;
      case "stopProcess":
        return await this.#stopProcess(step.crash);
      case "startProcess":
        return await this.#startProcess(step);
      case "expectWithin": {
        const before = this.#transport.requests;
        await this.#time.tickAsync(step.ms);
        this.#server.bookmark();
        await this.#time.tickAsync(10);
        for (const following of this.#live()) {
          assert(
            this.#caughtUp(following),
            `caught up within ${step.ms} ms: ${JSON.stringify(following.informer.status())}`,
          );
        }
        const sent = this.#transport.requests - before;
        assert(
          sent <= (step.requests ?? Infinity),
          `${sent} requests within ${step.ms} ms, at most ${step.requests} expected`,
        );
        return;
      }
      default:
        this.#perform(step);
    }
  }

  /** Ends what lasts, and waits until everybody has caught up. */
  async settle(): Promise<void> {
    this.#server.latency(0);
    // A history that was cut down may have lost its own relist.
    if (this.#lost && !this.#script.checks) this.#perform({ do: "forceRelist" });
    this.#isSettling = true;
    this.#runAgain();
    for (const lasting of this.#lasting.splice(0)) lasting[Symbol.dispose]();
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    for (const following of this.#live()) this.#resume(following);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      this.#server.bookmark();
      await this.#time.tickAsync(QUIET_MS);
      if (this.#live().every((following) => this.#caughtUp(following))) return await this.#checkAll();
    }
    const late = this.#live().filter((following) => !this.#caughtUp(following));
    const said = late.map(({ informer, plan }) => {
      const { cause, state, resourceVersion, handlers } = informer.status();
      return JSON.stringify({ plan, state, resourceVersion, handlers, cause: String(cause) });
    });
    throw new Error(`not caught up with version ${this.#server.resourceVersion}: ${said.join("; ")}`);
  }

  /** One check finds every difference that is left, and the next one finds none. */
  async #checkAll(): Promise<void> {
    if (!this.#script.checks) return;
    await this.#passUntil(Promise.all(this.#checking));
    if (this.#script.faults === "all") await this.#plantLosses();
    for (const following of this.#live()) {
      const before = this.#differing(following);
      const { differences, repair } = await this.#passUntil(this.#untilChecked(following));
      assertEquals(differences, before, "a check finds all differences");
      assertEquals(repair, before === 0 ? "none" : "objects", "objects that differ are read again");
      assertEquals(
        (await this.#passUntil(this.#untilChecked(following))).repair,
        "none",
        "the next check finds nothing",
      );
    }
    await this.#time.tickAsync(QUIET_MS); // handlers receive what was repaired
  }

  /** Writes and deletes objects, of which no watch has an event. */
  async #plantLosses(): Promise<void> {
    for (let writes = 1 + this.#random.below(4); writes > 0; writes--) {
      const object = { namespace: this.#random.pick(["a", "b"]), name: `n${this.#random.below(5)}` };
      const tier = this.#random.pick(["web", "db"] as const);
      this.#perform({ do: "lose" });
      if (this.#random.next() < 0.4) this.#perform({ do: "delete", ...object });
      else this.#perform({ do: "write", ...object, tier, value: writes, again: this.#random.next() < 0.2 });
      await this.#time.tickAsync(100);
    }
    this.#server.bookmark();
    await this.#time.tickAsync(QUIET_MS);
  }

  /** Checks until no fault that is left hits the check. */
  async #untilChecked({ informer }: Following): Promise<CheckResult> {
    for (let tries = 0;; tries++) {
      try {
        return await informer.checkConsistency();
      } catch (error) {
        if (tries === 20) throw error;
      }
    }
  }

  /** The number of objects that are at another version in the cache than on the server. */
  #differing({ informer, plan: { namespace, labelSelector } }: Following): number {
    const left = new Map(
      [...informer.entries].map(({ key, uid, resourceVersion }) => [serverKeyOf(key), `${uid}@${resourceVersion}`]),
    );
    let differing = 0;
    for (const { metadata } of this.#server.list(ConfigMap, { namespace, labelSelector })) {
      const key = `${metadata.namespace}/${metadata.name}`;
      if (left.get(key) !== `${metadata.uid}@${metadata.resourceVersion}`) differing++;
      left.delete(key);
    }
    return differing + left.size;
  }

  /** Checks one informer, while other things happen to it. */
  async #checkOne(following: Following): Promise<void> {
    try {
      const epoch = this.#epoch;
      const result = await following.informer.checkConsistency();
      const { repair } = result;
      if (repair === "list") following.checkLists++;
      const isUndisturbed = this.#script.faults === "none" && following.epoch === epoch && epoch === this.#epoch;
      if (isUndisturbed && repair !== "none" && repair !== "listed") {
        throw new TypeError(`a check of an undisturbed server found a difference: ${JSON.stringify(result)}`);
      }
    } catch (error) {
      // It was paused, disposed or refused, or a fault hit it.
      if (error instanceof TypeError || error instanceof RangeError) this.#checkFailure ??= error;
    }
  }

  async #passUntil<R>(promise: Promise<R>): Promise<R> {
    let over = false;
    const settled = promise.finally(() => over = true);
    settled.catch(() => {}); // awaited below
    for (let tries = 0; !over && tries < 3_000; tries++) await this.#time.tickAsync(100);
    assert(over, "a check ends");
    return await settled;
  }

  /** Checks that no client asks without end. */
  checkRequests(): void {
    assert(this.#transport.requests <= MOST_REQUESTS, `more than ${MOST_REQUESTS} requests were sent`);
  }

  /** Compares all caches and delivered events with the server. */
  check(): void {
    for (const following of this.#live()) {
      this.#checkCache(following);
      for (const listening of following.listening) this.#checkEvents(following, listening);
      const { restored } = following;
      if (restored?.expired) assert(following.lists > 0, "a list follows a version that the server has no longer");
      if (this.#script.faults !== "all") {
        const most = following.checkLists + (restored === undefined || restored.lists === 0 ? 0 : Infinity);
        assert(following.relists <= most, "no list that was not needed");
      } else {
        const most = 4 * this.#relistCauses + 2 + following.interruptedLists + following.checkLists;
        assert(following.relists <= most, `${following.relists} lists after the first, at most ${most} were needed`);
      }
      if (this.#script.faults === "none") {
        const { interruptedLists, lists } = following;
        assertEquals(lists, (restored?.lists ?? 1) + interruptedLists, "one list to a start without a snapshot");
      }
      this.#checkWatches(following);
    }
    const [least, most] = this.#script.relists ?? [0, Infinity];
    const { relists = 0 } = this.#following[0] ?? {};
    if (this.#checkFailure !== undefined) throw this.#checkFailure;
    assert(relists >= least && relists <= most, `${relists} lists after the first, ${least} to ${most} expected`);
    for (const { listening } of this.#following) {
      for (const { checker } of listening) if (checker.failure !== undefined) throw checker.failure;
    }
  }

  /** Stops all informers while time passes. */
  async stop(): Promise<void> {
    const stopping = this.#following.map(stop);
    let over = false;
    const all = Promise.allSettled([...stopping, ...this.#reading, ...this.#checking]).then(() => over = true);
    for (let tries = 0; !over && tries < 50; tries++) await this.#time.tickAsync(100);
    assert(over, "stopping ends");
    await all;
    for (const { running } of this.#following) await running;
    this.#client[Symbol.dispose]();
  }

  checkNothingLeft(): void {
    assertEquals(this.#server.watches, 0, "no watch is left");
    assertEquals(this.#time.timers, 0, "no timer is left");
  }

  #live(): Following[] {
    return this.#following.filter(({ stopped }) => !stopped);
  }

  #pick(which: number): Following | undefined {
    const live = this.#live();
    return live[which % live.length];
  }

  #follow(plan: InformerPlan, listeners: readonly ListenerPlan[]): void {
    if (this.#live().length >= 4 || this.#stopped !== undefined) return;
    const unread = this.#isCompact && this.#script.seed % 4 < 2;
    const followed = unread ? { ...plan, parse: "lazy" as const } : plan;
    const following = this.#add(follow(this.#client, followed, this.#isCompact, this.#epoch, CLUSTER));
    // An object that is read is not compact any more. Listeners that come later read some.
    for (const listener of listeners) this.#listen(following, unread ? { ...listener, kind: "keys" } : listener);
    run(following);
  }

  /** Compact caches and others alternate, by the seed and in each history. */
  get #isCompact(): boolean {
    return (this.#script.seed + this.#following.length) % 2 === 0;
  }

  #add(following: Following): Following {
    this.#following.push(following);
    return following;
  }

  /** Ends all informers, and keeps what they are started with again. */
  async #stopProcess(crash: boolean): Promise<void> {
    const stopped = this.#stopped ??= [];
    for (const following of this.#live()) {
      const { informer, factory, store, listening, plan } = following;
      const listeners = listening.filter(({ removed }) => !removed).map(({ plan }) => plan);
      if (!crash && factory === undefined) following.kept = await this.#snapshot(following) ?? following.kept;
      let snapshot = factory === undefined ? following.kept : store.usable;
      this.#relistCauses++; // its version may expire meanwhile
      for (const each of listening) {
        const isDone = each.registration?.pending === 0 && each.checker.synced;
        if (isDone && !each.removed) this.#checkReceived(following, each);
      }
      await this.#stop(following);
      if (!crash && factory !== undefined) {
        snapshot = store.usable;
        if (informer.hasSynced) {
          const { at, epoch } = snapshot?.cache ?? {};
          assertEquals(snapshot?.cache, { ...cacheStateOf(following), at, epoch }, "the last snapshot is the cache");
        }
      }
      // Of two histories an object may have two states of one version, which cannot be distinguished.
      if (snapshot?.cache.epoch !== this.#epoch) snapshot = undefined;
      stopped.push({ plan, listeners, snapshot });
    }
  }

  /** Starts the informers again, after what happens to the server first. */
  async #startProcess(step: ScriptStep & { readonly do: "startProcess" }): Promise<void> {
    const { listenFirst, fault, server } = step;
    const stopped = this.#stopped ?? [];
    if (stopped.length === 0) return;
    this.#isMuted = true;
    if (server === "compacted") {
      this.#perform({ do: "compact" });
      this.#compacted = Number(this.#server.resourceVersion);
    } else if (server !== undefined) this.#goBack(server);
    for (const [i, each] of stopped.entries()) {
      const own = fault !== undefined && fault.which % stopped.length === i ? fault : undefined;
      await this.#restart(each, listenFirst, own);
    }
    this.#stopped = undefined;
    this.#isMuted = false;
  }

  /** The server continues from an earlier state, in which objects keep their uids. */
  #goBack({ share, writes, jump }: WentBack): void {
    const version = share === 0 ? 1 : this.#compacted +
      Math.floor(share * (Number(this.#server.resourceVersion) - this.#compacted));
    this.#server.restart({ backup: version });
    this.#serverHistory.goBack(version);
    this.#epoch++;
    this.#compacted = version;
    this.#lastDeleted = undefined;
    // The question whose objects these are is not answered by a server that takes longer than 5 s.
    for (const lasting of this.#lasting.splice(0)) lasting[Symbol.dispose]();
    for (const write of writes) this.#perform(write);
    if (jump > 0) this.#perform({ do: "jump", by: jump });
  }

  /** Starts an informer from its snapshot, and holds its beginning to what is promised. */
  async #restart(
    { plan, listeners, snapshot }: Stopped,
    listenFirst: boolean,
    fault: SnapshotFault | undefined,
  ): Promise<void> {
    const { cluster: own = CLUSTER } = snapshot ?? {};
    const cluster = fault?.kind === "cluster" ? `not ${own}` : own;
    const actual = fault === undefined ? plan : otherPlan(plan, fault);
    const following = this.#add(
      follow(this.#client, actual, this.#isCompact, snapshot?.cache.epoch ?? this.#epoch, cluster, snapshot),
    );
    following.store.fault = fault;
    const { informer, factory } = following;
    const isRestored = snapshot !== undefined && fault === undefined;
    if (isRestored) {
      following.restored = beginningOf(following, snapshot.cache, this.#server, this.#compacted, this.#epoch);
    }
    const { restored } = following;
    const listen = (): void => {
      for (const listener of listeners) this.#listen(following, listener, restored);
    };
    if (factory !== undefined || listenFirst) listen();
    if (factory === undefined && snapshot !== undefined) {
      const bytes = chunksOf(fault === undefined ? snapshot.bytes : damaged(snapshot.bytes, fault));
      const restoring = informer.restore(bytes, { cluster });
      if (isRestored) await restoring;
      else await assertRejects(() => restoring, SnapshotError, "Cannot restore");
      checkBeginning(following);
    }
    if (factory === undefined && !listenFirst) listen();
    const asked = this.#server.requests.length;
    run(following);
    await this.#time.tickAsync(0);
    if (fault !== undefined && snapshot !== undefined && factory !== undefined) {
      const refusals = following.errors.flatMap(causesOf).filter((error) => error instanceof SnapshotError);
      assertEquals(refusals.length, 1, "a snapshot that cannot be restored is reported");
    }
    if (restored === undefined) return void (following.epoch = this.#epoch);
    // What is written before the question is answered, whose objects these are, may change the answer.
    for (let tries = 0; !following.watching && !following.listing && tries < 60; tries++) {
      await this.#time.tickAsync(100);
    }
    if (this.#script.faults === "none") checkFirstRequests(restored, this.#server.requests.slice(asked));
    if (restored.wentBack) await this.#checkWentBack(following, restored);
  }

  /**
   * Holds an informer to finding that the server's history went back: by itself, where that is promised, or by a check.
   */
  async #checkWentBack(following: Following, restored: Restored): Promise<void> {
    const { informer } = following;
    const isNew = (): boolean => informer.status().state === "live" && (restored.lists === 0 || following.lists > 0);
    for (let tries = 0; !isNew() && tries < 2_000; tries++) await this.#time.tickAsync(1_000);
    if (restored.lists > 0) assert(following.lists > 0, "a history that went back is found");
    else {
      if (!restored.isAhead) this.#lossy = true; // a check repairs what came before the version, in another order
      const { repair, reason } = await this.#passUntil(this.#untilChecked(following));
      if (restored.isAhead) assertEquals(repair, "list", "a check finds a history that went back");
      if (restored.isAhead) assertMatch(reason ?? "", /history went back/);
      if (repair === "list") {
        following.checkLists++;
        restored.lists++;
      }
      for (let tries = 0; !isNew() && tries < 2_000; tries++) await this.#time.tickAsync(1_000);
    }
    await this.#time.tickAsync(1_000); // slow listeners receive the difference
    following.epoch = this.#epoch;
  }

  /** A snapshot of an informer at this moment, if it has synced. */
  async #snapshot(following: Following): Promise<SnapshotOfCache | undefined> {
    const { informer } = following;
    if (!informer.hasSynced) {
      assertThrows(() => informer.snapshot(), Error, "has not synced");
      return undefined;
    }
    const cache = cacheStateOf(following);
    return { bytes: await bytesOf(informer.snapshot({ cluster: CLUSTER })), cache, cluster: CLUSTER };
  }

  #resume(following: Following): void {
    if (!following.paused) return;
    following.paused = false;
    following.informer.resume();
  }

  /** Once promises have run, a paused informer neither lists nor watches. */
  #checkPaused(): void {
    for (const { informer, paused, ended, watching, listing } of this.#live()) {
      if (!paused && !ended) continue;
      assertEquals(informer.status().state, ended ? "stopped" : "paused");
      assert(!watching && !listing, "a paused informer sends no requests");
    }
  }

  /** The run of an informer ends, and its event streams. Its handlers stay. */
  async #endRun(which: number): Promise<void> {
    const following = this.#pick(which);
    if (following === undefined || following.ended) return;
    following.ended = true;
    this.#relistCauses++; // its version may expire meanwhile
    this.#interruptions++;
    following.ending.abort();
    await this.#passUntil(following.running);
    following.listing = following.watching = false;
    for (const listening of following.listening) listening.removed ||= listening.registration === undefined;
  }

  #runAgain(): void {
    for (const following of this.#live()) if (following.ended) run(following);
  }

  async #stopOne(which: number): Promise<void> {
    const following = this.#pick(which);
    if (following !== undefined) await this.#stop(following);
  }

  async #stop(following: Following): Promise<void> {
    following.stopped = true;
    let over = false;
    const stopping = stop(following).then(() => over = true);
    while (!over) await this.#time.tickAsync(100);
    await stopping;
  }

  /** Adds a listener, which receives the restored objects first if there are any. */
  #listen(following: Following, plan: ListenerPlan, restored?: Restored): void {
    const { kind, resyncMs } = plan;
    const number = following.listening.length;
    const checker = new ListenerChecker({
      name: `listener ${number} (${kind}) of informer ${this.#following.indexOf(following)}`,
      every: kind !== "latestPerKey" && kind !== "filter",
      reads: kind === "reads" || kind === "events" || kind === "throws",
      resyncs: resyncMs > 0,
      serverHistory: kind === "filter" ? undefined : this.#serverHistory, // an object that no longer passes is not deleted
      kept: skips(following.plan) ? this.#serverHistory : undefined,
      restored,
    });
    const stop = new AbortController();
    const options = {
      resyncMs,
      ...(kind === "latestPerKey" ? { backlog: "latestPerKey" as const } : {}),
      ...(kind === "filter" ? { filter: passes } : {}),
    };
    if (kind === "events") {
      const events = following.informer.events({ ...options, signal: stop.signal });
      following.listening.push({ plan, checker, registration: undefined, stop, removed: false });
      this.#reading.push(read(events, checker, stop.signal));
      return;
    }
    const handleSlowly = async (event: InformerEvent<KubernetesObject>): Promise<void> => {
      handle(event);
      if (kind === "slow" || kind === "latestPerKey") await new Promise((resolve) => setTimeout(resolve, 40));
      if (kind === "throws" && this.#random.next() < 0.3) throw new Error("a handler that fails now and then");
    };
    const handle = (event: InformerEvent<KubernetesObject>): void => {
      if (listening.removed) checker.failure ??= new Error(`${JSON.stringify(event)} was delivered after the removal`);
      checker.accept(event);
      if (event.type === "synced") this.#checkCount(following, event, checker);
      else this.#checkSnapshot(following, event.key, checker);
    };
    const on = kind === "keys" || kind === "reads" || kind === "filter" ? handle : handleSlowly;
    const handler = { onAdd: on, onUpdate: on, onDelete: on, onSynced: on };
    const registration = following.informer.addEventHandler(handler, options);
    const listening: Listening = { plan, checker, registration, stop, removed: false };
    following.listening.push(listening);
    if (following.watching) checker.cut(registration.pending, Number(following.informer.lastSyncResourceVersion));
  }

  /** Performs a step on the server, and records the change of the object that it wrote. */
  #perform(step: HistoryStep): void {
    if (step.do === "writeAt") {
      return onceAt(this.#server, step.moment, () => {
        if (!this.#isSettling && !this.#isMuted) step.writes.forEach((write) => this.#perform(write));
      });
    }
    if (step.do === "forceRelist" && this.#script.checks) return;
    this.#relistCauses += relistsCausedBy(step);
    if (step.do !== "write" && step.do !== "delete" && step.do !== "spread") {
      this.#interruptions += "times" in step ? step.times : 1;
    }
    if (step.do === "lose") this.#lost = this.#lossy = true;
    if (step.do === "forceRelist") this.#lost = false;
    if (step.do === "reorder") this.#reordered = true;
    const key = step.do === "write" || step.do === "delete" ? `${step.namespace}/${step.name}` : undefined;
    const before = key === undefined ? undefined : this.#server.get(ConfigMap, key);
    const revision = Number(this.#server.resourceVersion);
    const lasting = perform(this.#server, ConfigMap, step);
    if (lasting !== undefined) {
      this.#lasting.push(lasting);
      if ("ms" in step) this.#timers.push(setTimeout(() => lasting[Symbol.dispose](), step.ms));
    }
    if (key === undefined || Number(this.#server.resourceVersion) === revision) return;
    const after = this.#server.get(ConfigMap, key);
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid) {
      this.#lastDeleted = { ...before, metadata: { ...before.metadata, resourceVersion: String(revision + 1) } };
    }
    this.#serverHistory.record(key, before, after, revision);
  }

  /** Fails unless the first list had all objects that the server had at that version. */
  #checkCount({ plan }: Following, { objects, resourceVersion }: SyncedEvent, checker: ListenerChecker): void {
    if (plan.labelSelector !== undefined || !checker.every || this.#lossy || checker.wentBack) return;
    const expected = this.#serverHistory.countAt(Number(resourceVersion), plan.namespace);
    if (objects !== expected) {
      checker.failure ??= new Error(
        `synced with ${objects} objects at version ${resourceVersion}, the server had ${expected}`,
      );
    }
  }

  /** The cache shows, of this object, what the server had at the version that the cache says it has. */
  #checkSnapshot({ informer, plan, epoch }: Following, key: string, checker: ListenerChecker): void {
    if (epoch < this.#epoch) return;
    const version = informer.lastSyncResourceVersion;
    if (plan.labelSelector !== undefined || version === "" || checker.failure !== undefined) return;
    if (this.#lossy) return; // until the relist, a cache lacks the events that were lost
    const cached = informer.entries.getByKey(key)?.resourceVersion;
    const expected = this.#serverHistory.versionAt(serverKeyOf(key), Number(version));
    if (cached !== expected) {
      checker.failure = new Error(
        `at version ${version} the cache has "${key}" at ${cached}, the server had ${expected}`,
      );
    }
  }

  #expected({ plan }: Following): Map<string, string> {
    const { namespace, labelSelector, metadataOnly } = plan;
    return new Map(
      this.#server.list(ConfigMap, { namespace, labelSelector }).map((object) => {
        const { managedFields: _dropped, ...metadata } = object.metadata;
        const shown = metadataOnly
          ? { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata }
          : { ...object, metadata };
        const kept = plan.fields === undefined || metadataOnly ? shown : pickFields(shown, FieldTree.of(plan.fields));
        const cached = changed(kept as KubernetesObject, plan);
        return [`${metadata.namespace}/${cached.metadata.name}`, canonical(cached)];
      }),
    );
  }

  #caughtUp(following: Following): boolean {
    const { informer, listening } = following;
    if (!informer.hasSynced || informer.status().state !== "live") return false;
    if (informer.lastSyncResourceVersion !== this.#server.resourceVersion) return false;
    const resyncs = listening.some(({ plan }) => plan.resyncMs > 0); // one may be under way at any time
    if (!resyncs && informer.status().handlers.some(({ pending }) => pending > 0)) return false;
    return listening.every(({ removed, registration, checker }) =>
      removed || (registration === undefined ? checker.synced : registration.hasSynced)
    );
  }

  /**
   * A watch lasts as long as was asked for, unless something interrupts it; each interruption costs one or two more.
   */
  #checkWatches({ informer, plan, startedAt, relists }: Following): void {
    const { watches } = informer.status();
    const lapsed = Math.ceil((this.#time.now - startedAt) / plan.watchTimeoutMs);
    const most = 2 + lapsed + 2 * this.#interruptions + relists;
    assert(watches <= most, `${watches} watches were asked for, at most ${most} were needed`);
  }

  #checkCache(following: Following): void {
    const { informer } = following;
    const cached = new Map(
      informer.indexer.list().map((object) => {
        return [`${object.metadata.namespace}/${object.metadata.name}`, canonical(object)];
      }),
    );
    const expected = this.#expected(following);
    assertEquals([...cached.keys()].sort(), [...expected.keys()].sort(), "the cache has the server's objects");
    for (const [key, text] of expected) assertEquals(cached.get(key), text, "the cache equals the server");
    for (const tier of following.plan.indexed === false ? [] : ["web", "db", "none"]) {
      const scanned = informer.indexer.list().filter(({ metadata }) => (metadata.labels?.tier ?? "none") === tier);
      const keys = scanned.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort();
      assertEquals(informer.indexer.indexKeys("tier", tier), keys, "an index finds what a scan finds");
    }
    assertEquals(informer.status().quarantined, 0, "everything can be read");
    assertEquals(informer.status().outdated, this.#script.outdated ?? 0, "what comes in the wrong order is counted");
  }

  /** Between two lists, events come in the order of the server, across objects, and none is missing. */
  #checkOrder({ plan }: Following, { watched }: ListenerChecker): void {
    if (this.#lossy || this.#reordered) return;
    for (const { from, versions } of watched) {
      // Of a selection nobody here knows which versions are in it.
      const expected = plan.labelSelector === undefined
        ? this.#serverHistory.since(from, plan.namespace, skips(plan)).slice(0, versions.length)
        : versions.toSorted((a, b) => a - b);
      assertEquals(versions, expected, `a watch from version ${from} is delivered in the server's order`);
    }
  }

  /** A listener that has received everything knows the objects that are cached. */
  #checkReceived(following: Following, { plan, checker }: Listening): void {
    const cached = [...following.informer.entries].filter((entry) => plan.kind !== "filter" || passes(entry.object));
    const state = (key: string, version: string): string | undefined =>
      skips(following.plan) ? this.#serverHistory.keptAt(key, version) : version;
    assertEquals(
      [...checker.versions].map(([key, version]) => [key, state(key, version)]).sort(byKey),
      cached.map(({ key, resourceVersion }) => [key, state(key, resourceVersion)]).sort(byKey),
      "the objects by the events are those in the cache",
    );
  }

  #checkEvents(following: Following, listening: Listening): void {
    const { checker, removed } = listening;
    if (checker.failure !== undefined) throw checker.failure;
    if (checker.every) this.#checkOrder(following, checker);
    if (removed) return;
    this.#checkReceived(following, listening);
    if (this.#script.faults === "all" || following.plan.labelSelector !== undefined || !checker.every) return;
    // A repair reads the newest state of objects, and no earlier one that a silent watch has not delivered.
    if (following.informer.status().differences > 0) return;
    // Without a list in between, every version there was is delivered.
    const { namespace } = following.plan;
    const { listedAt = 0 } = following.restored ?? {};
    if (checker.wentBack && listedAt === 0) return; // events before its version are not delivered
    const from = checker.wentBack ? listedAt : Math.max(listedAt, checker.syncedAt);
    const undelivered = this.#serverHistory.since(from, namespace, skips(following.plan)).filter((version) =>
      !checker.delivered.has(version)
    );
    assertEquals(undelivered, [], "every version is delivered");
  }
}

/** Returns the number of relists that a step may cause. */
function relistsCausedBy(step: HistoryStep): number {
  switch (step.do) {
    case "refuse":
    case "html":
    case "empty":
    case "gzip":
      return step.times;
    case "compact":
    case "compactAt":
    case "shortenHistory":
    case "failWatches":
    case "break":
    case "corrupt":
    case "lose":
    case "forceRelist":
      return 1;
    case "restart":
      return step.history === "lost" ? 1 : 0;
    default:
      return 0;
  }
}

function byKey([a]: readonly unknown[], [b]: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1;
}

/** The filter of filtering listeners. */
function passes({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.tier === "db";
}

async function read(
  events: AsyncIterableIterator<InformerEvent<KubernetesObject>>,
  checker: ListenerChecker,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const event of events) checker.accept(event);
  } catch (error) {
    if (!signal.aborted && !/has stopped already/.test((error as Error).message)) checker.failure ??= error;
  }
}
