/**
 * Follows one informer, and passes its changes to the event streams of each selection.
 *
 * {@linkcode EventFeed} is the entry point. It decides where a stream of events begins: at the position of a
 * `Last-Event-ID`, at the versions that another replica has named, or with a snapshot. `selection_events.ts` makes
 * the bytes, and `client_stream.ts` sends them.
 *
 * @module
 */
import type { KubernetesObject } from "../../engine/api/object.ts";
import { hashOf } from "../../engine/api/shard.ts";
import { isOlder } from "../../engine/api/status.ts";
import { monotonicMs, timedController } from "../../engine/async/time.ts";
import { nextTurn } from "../../engine/async/turns.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { internals } from "../../engine/errors/internals.ts";
import type { AcquiredInformer } from "../../engine/informer/acquired_informer.ts";
import { type DeletedEvent, entryOfEvent, type ObjectEvent } from "../../engine/informer/events/event.ts";
import type { InformerStatus } from "../../engine/informer/status.ts";
import { changeBytes, ChangeLog, isSeen } from "./change_log.ts";
import { FollowedCache } from "./followed_cache.ts";
import { eventText, stateOf } from "./format.ts";
import { type ObjectSelection, type Show, ShownObject } from "./objects.ts";
import type { RelaySettings } from "./options.ts";
import { PresentObjects } from "./present_objects.ts";
import { boundOf, parseToken, parseVersions, type ResumeToken, tokenText, versionsText } from "./resume_token.ts";
import { type FeedChange, type PositionedChange, SelectionEvents } from "./selection_events.ts";
import type { StreamedResponse } from "./streamed_response.ts";

/** Yields the changes after a position. They are given, and come, from the newest to the oldest. */
function* changesBehind(position: number, changes: Iterable<PositionedChange>): Generator<PositionedChange> {
  for (const change of changes) {
    if (change.position <= position) return;
    yield change;
  }
}

/**
 * The longest comparison of a cache with the server, and the shortest time from one to the next, in milliseconds.
 */
const CHECK_MS = 10_000;

/** The number of selections without streams whose events a feed keeps. */
const IDLE_CHANNELS = 64;

/** The time after which browsers reconnect, in milliseconds. */
const RETRY_MS = 2_000;

/** The changes of which a client has some: between its positions in several namespaces. */
export interface MixedChanges {
  /** The position after which it has none. */
  readonly to: number;
  /** The id after each change that the client does not have, by the change's position. */
  readonly ids: ReadonlyMap<number, string>;
}

/** The beginning of a stream's changes. */
interface StreamBeginning {
  /** The position in the feed after which they begin. */
  readonly position: number;
  /** The later changes of which the client has some. @default {it has none} */
  readonly mixed?: MixedChanges;
  /** The events that precede the objects, as text. @default {none: the stream is resumed, and no objects come first} */
  readonly prelude?: string;
}

/**
 * Follows one informer, and passes each turn's changes as one batch to the events of each selection.
 *
 * A relay with replicas keeps changes for the replicas' clients, so its feed lasts without streams, too.
 */
export class EventFeed implements Disposable {
  /** The cache that it follows. */
  readonly cache: FollowedCache;
  readonly #settings: RelaySettings;
  /** Distinguishes this feed's positions from another feed's. */
  readonly #id: string = crypto.randomUUID().slice(0, 13);
  readonly #show: Show;
  readonly #identity: string;
  /** The objects after all changes, `#changes` included. */
  readonly #objects = new PresentObjects();
  readonly #channels = new Map<string, SelectionEvents>();
  /** The changes by the namespaces with versions of their own, or by `""`. Empty if versions say nothing. */
  readonly #logs: ReadonlyMap<string, ChangeLog<PositionedChange>>;
  /** The same, in the informer's order of namespaces. */
  readonly logs: readonly ChangeLog<PositionedChange>[];
  /** The changes after `#position`, which get the next positions. */
  #changes: FeedChange[] = [];
  /** The number of changes and heartbeats that were written. */
  #position = 0;
  /** The position after which the logs have all changes, once they have begun. */
  #base = 0;
  /** The last comparison of the cache with the server, when it began, and the version that it was for. */
  #check: { readonly beganMs: number; readonly version: string; readonly isEqual: Promise<boolean> } | undefined;
  /** The newest version that was waited for since. */
  #awaited = "0";
  /** The data of the last `state`, as JSON. */
  #state: string;

  /**
   * Follows the informer of `held`, which it disposes in the end. `identity` is equal for feeds of the same objects in
   * all relays; `onOver` is called once, with its disposal.
   */
  constructor(
    held: AcquiredInformer<KubernetesObject>,
    show: Show,
    identity: string,
    settings: RelaySettings,
    onOver: () => void,
  ) {
    this.#settings = settings;
    this.#show = show;
    this.#identity = identity;
    this.#state = JSON.stringify(stateOf(held.informer.status()));
    const { selections, [internals]: { sync: { followsVersions } } } = held.informer;
    const namespaces = !followsVersions ? [] : selections.length > 1 ? selections.map((it) => it.namespace!) : [""];
    this.#logs = new Map(namespaces.map((namespace) => [namespace, this.#logOf(held, namespace)]));
    this.logs = [...this.#logs.values()];
    const lingerMs = settings.isReplica ? Infinity : settings.lingerMs;
    this.cache = new FollowedCache(held, this, settings, { name: "relay", lingerMs, onOver });
  }

  /** The position after the last changes that were written. */
  get position(): number {
    return this.#position;
  }

  /** The text with which each stream begins. */
  get prelude(): string {
    return `retry:${RETRY_MS}\n${eventText("state", this.#state)}`;
  }

  /** Passes the changes so far to the streams. */
  flush(): void {
    const changes = this.#changes;
    if (changes.length === 0) return;
    this.#changes = [];
    this.#position += changes.length;
    this.cache.settle();
    for (const channel of this.#channels.values()) {
      try {
        channel.write(changes, (change) => this.idFor(channel, change));
      } catch (cause) {
        this.#drop(channel, cause);
      }
    }
    for (const change of changes) if ("texts" in change) change.texts.clear();
  }

  /** Forgets the events of a selection that a change could not be added to, and closes their streams. */
  #drop(channel: SelectionEvents, cause: unknown): void {
    this.#settings.onError(new InformerError("Cannot send a change to open streams, so they were closed", { cause }));
    this.#channels.delete(channel.selection.id);
    for (const stream of [...channel.streams]) stream.break();
    channel[Symbol.dispose]();
  }

  /** Ends all streams, and gives the informer back. */
  [Symbol.dispose](): void {
    this.cache[Symbol.dispose]();
    for (const channel of this.#channels.values()) channel[Symbol.dispose]();
  }

  /** The open streams. */
  get streams(): readonly StreamedResponse[] {
    return [...this.#channels.values()].flatMap(({ streams }) => [...streams]);
  }

  #logOf(held: AcquiredInformer<KubernetesObject>, namespace: string): ChangeLog<PositionedChange> {
    return new ChangeLog<PositionedChange>(held, this.#settings.budget, {
      flush: () => {
        this.flush();
        this.cache.settle();
      },
      onBegin: () => this.#base = this.#position,
      onDrop: ({ position }) => this.#base = Math.max(this.#base, position),
    }, namespace || undefined);
  }

  /** Takes over a new or changed object. */
  put(event: ObjectEvent<KubernetesObject>): void {
    const after = new ShownObject(event, this.#show, entryOfEvent(event).textBytes);
    this.#put(event, this.#objects.set(event.key, after), after);
  }

  /** Takes over a deleted object. */
  delete(event: DeletedEvent<KubernetesObject>): void {
    this.#put(event, this.#objects.delete(event.key), undefined);
  }

  /** An object has changed from one state to another. */
  #put(event: ObjectEvent<KubernetesObject>, before: ShownObject | undefined, after: ShownObject | undefined): void {
    if (!this.cache.isSynced) return; // the snapshot will have it
    const { key, uid, resourceVersion: version, namespace } = event;
    const position = this.#nextPosition;
    const bytes = changeBytes(before, after);
    const change = {
      position,
      version: isSeen(event) ? version : "",
      bytes,
      key,
      uid,
      before,
      after,
      texts: new Map(),
    };
    (this.#logs.get(namespace) ?? this.#logs.get(""))?.add(change.version === "" ? undefined : change);
    this.#changed(change);
  }

  get #nextPosition(): number {
    return this.#position + this.#changes.length + 1;
  }

  #changed(change: FeedChange): void {
    this.#changes.push(change);
    this.cache.flushLater();
  }

  /** Writes heartbeats, and checks that clients read. */
  beat(): void {
    this.flush();
    this.#position++;
    this.cache.settle();
    for (const channel of this.#channels.values()) {
      channel.beat(this.#position, () => this.idFor(channel));
      for (const stream of channel.streams) stream.check(this.#settings);
    }
  }

  /** Returns the id after a change, or after all changes, if streams of a selection can resume there. */
  idFor({ scope }: SelectionEvents, change?: FeedChange): string | undefined {
    if (!this.cache.isSynced) return undefined;
    const position = change?.position ?? this.#position;
    return tokenText({ feed: this.#id, scope, position, versions: this.#versionsBehind(change) });
  }

  #versionsBehind(change: FeedChange | undefined): string {
    const { logs } = this;
    if (change === undefined) return versionsText(logs.map(({ range }) => range));
    const isExact = logs.length === 1 && logs[0].version !== "" && "version" in change && change.position > this.#base;
    if (!isExact) return versionsText(logs.map(({ bound }) => bound));
    return versionsText([{ first: change.version, last: change.version }]);
  }

  /**
   * Returns where a stream that resumes at `lastEventId` begins: `undefined` until the cache has synced, and `"behind"`
   * if its client has changes that this cache does not have, unless the stream has waited for them.
   */
  begin(
    channel: SelectionEvents,
    lastEventId: string | undefined,
    hasWaited: boolean,
  ): StreamBeginning | "behind" | undefined {
    if (!this.cache.isSynced) return undefined;
    this.flush();
    this.cache.settle();
    const resumed = lastEventId === undefined ? "" : this.#resume(channel, lastEventId, hasWaited);
    if (typeof resumed !== "string" || resumed === "behind") return resumed;
    const reset = resumed === ""
      ? ""
      : eventText("reset", JSON.stringify({ reason: resumed }), boundOf(channel.scope, lastEventId!));
    const isHidden = this.#settings.redact !== undefined || channel.isLimited;
    const objects = isHidden ? undefined : this.#objects.size;
    return { position: this.#position, prelude: reset + eventText("snapshot", JSON.stringify({ objects })) };
  }

  /** Returns the beginning for a token, `"behind"`, or the reason why there is none. */
  #resume(channel: SelectionEvents, text: string, hasWaited: boolean): StreamBeginning | string {
    const token = parseToken(text);
    if (token === undefined) return "Last-Event-ID is not an id of a relay";
    if (token.scope !== channel.scope) {
      return "Last-Event-ID belongs to a different selection, a user with other rights, or an unrelated relay";
    }
    const isOwn = token.feed === this.#id;
    const found = isOwn ? { position: token.position } : this.#find(token, hasWaited);
    if (found === undefined) {
      return "Another relay issued Last-Event-ID, and this relay does not know the changes since then";
    }
    if (found === "behind") return found;
    if (found.position > this.#position) return "This relay did not issue that Last-Event-ID";
    return this.#extend(channel, found.position) ? found : "This relay no longer keeps the changes since Last-Event-ID";
  }

  /** Returns the beginning for a state of another cache; `undefined` if the later changes are not known. */
  #find({ scope, versions }: ResumeToken, hasWaited: boolean): StreamBeginning | "behind" | undefined {
    const ranges = parseVersions(versions);
    const { logs } = this;
    if (ranges.length === 0 || ranges.length !== logs.length) return undefined;
    if (!hasWaited && !logs.every((log, index) => log.has(ranges[index].first))) return "behind";
    const numbers = logs.map((log, index) => log.after(ranges[index]));
    if (numbers.includes(undefined)) return undefined;
    const next = (number: number | undefined, { ring }: ChangeLog<PositionedChange>): number =>
      (ring.at(number!)?.position ?? this.#position + 1) - 1;
    const positions = logs.map((log, index) => next(numbers[index], log));
    const [position, to] = [Math.min(...positions), Math.max(...positions)];
    if (position === to) return { position };
    const missed = logs.flatMap(({ ring }, index) =>
      Array.from(changesBehind(positions[index], ring.before(ring.end)), (change) => ({ change, index }))
    ).sort((a, b) => a.change.position - b.change.position);
    const ids = new Map<number, string>();
    for (const { change: { version, position }, index } of missed) {
      ranges[index] = { first: version, last: version };
      ids.set(position, tokenText({ feed: "0", scope, position: 0, versions: versionsText(ranges) }));
    }
    return { position, mixed: { to, ids } };
  }

  /** Returns `true` if streams of a channel can begin at a position, for which the logs may extend it. */
  #extend(channel: SelectionEvents, position: number): boolean {
    const { logs } = this;
    if (channel.has(position)) return true;
    if (logs.length === 0 || logs.some(({ version }) => version === "") || position < this.#base) return false;
    const changes = logs.flatMap(({ ring }) => [...changesBehind(position, ring.before(ring.end))])
      .filter((change) => change.position <= channel.base).sort((a, b) => a.position - b.position);
    channel.extend(position, changes, (change) => this.idFor(channel, change));
    for (const { texts } of changes) texts.clear();
    return channel.has(position);
  }

  /**
   * Waits up to 3 s until the cache has the changes that a token's client has, and then for a comparison with the
   * server. Returns `true` once the client has no newer changes than the cache.
   */
  async catchUp(lastEventId: string, signal: AbortSignal): Promise<boolean> {
    const beganMs = monotonicMs();
    const versions = parseVersions(parseToken(lastEventId)!.versions).map(({ first }) => first);
    const newest = versions.reduce((a, b) => isOlder(a, b) ? b : a);
    if (isOlder(this.#awaited, newest)) this.#awaited = newest;
    const waits = this.logs.map((log, index) => log.reach(versions[index], signal));
    if (!(await Promise.all(waits)).includes(false)) return true;
    return !signal.aborted && !this.cache.isOver && await this.#isEqual(newest, beganMs);
  }

  /**
   * Compares the cache with a list at a version or a newer one, once for all streams that wait; returns whether
   * they are equal.
   */
  #isEqual(version: string, sinceMs: number): Promise<boolean> {
    const check = this.#check;
    if (check !== undefined && check.beganMs >= sinceMs && !isOlder(check.version, version)) return check.isEqual;
    const beganMs = monotonicMs();
    if (check !== undefined && beganMs - check.beganMs < CHECK_MS) return Promise.resolve(false);
    const awaited = this.#awaited;
    this.#awaited = "0";
    const isEqual = this.#compare(awaited);
    this.#check = { beganMs, version: awaited, isEqual };
    return isEqual;
  }

  async #compare(resourceVersion: string): Promise<boolean> {
    using wait = timedController(CHECK_MS, "The comparison takes too long", this.cache.held.signal);
    try {
      const { repair } = await this.cache.held.informer.checkConsistency({ resourceVersion, signal: wait.signal });
      while (this.cache.registration.pending > 0 && !wait.signal.aborted) await nextTurn();
      return (repair === "none" || repair === "objects") && !wait.signal.aborted;
    } catch (cause) {
      if (this.cache.isOver) return false;
      const message =
        "Cannot compare the cache with the server, although clients of other relays have seen newer changes";
      this.#settings.onError(new InformerError(message, { cause }));
      return false;
    }
  }

  /** Returns the channel of a selection. */
  channelOf(selection: ObjectSelection): SelectionEvents {
    const known = this.#channels.get(selection.id);
    if (known !== undefined) return known;
    const idle = [...this.#channels.values()].filter(({ streams }) => streams.size === 0);
    for (const channel of idle.slice(0, Math.max(0, idle.length - IDLE_CHANNELS + 1))) {
      this.#channels.delete(channel.selection.id);
      channel[Symbol.dispose]();
    }
    const { budget } = this.#settings;
    const scope = hashOf(JSON.stringify([this.#identity, selection.id])).toString(36);
    const channel = new SelectionEvents(selection, scope, { position: this.#position, objects: this.#objects, budget });
    this.#channels.set(selection.id, channel);
    return channel;
  }

  /** Sends the state, if it has changed. */
  statusChanged(status: InformerStatus): void {
    const state = JSON.stringify(stateOf(status));
    if (state === this.#state) return;
    this.#state = state;
    this.#changed({ position: this.#nextPosition, state });
  }
}
