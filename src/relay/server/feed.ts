/**
 * Follows one informer and distributes its changes to channels.
 *
 * {@linkcode Feed} is the entry point. It decides where a stream of events begins: at the position of a
 * `Last-Event-ID`, at the versions that another replica has named, or with a snapshot. Bytes are made by `channel.ts`.
 *
 * @module
 */
import { encoder, type KubernetesObject, type ObjectKey } from "../../engine/api/object.ts";
import { hashOf } from "../../engine/api/shard.ts";
import { isOlder, isResourceVersion } from "../../engine/api/status.ts";
import { nextTurn } from "../../engine/async/turns.ts";
import { monotonicMs, timedController } from "../../engine/async/time.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { internals } from "../../engine/errors/internals.ts";
import type { AcquiredInformer } from "../../engine/informer/acquired_informer.ts";
import { type DeletedEvent, entryOfEvent, type ObjectEvent } from "../../engine/informer/events/event.ts";
import type { InformerStatus } from "../../engine/informer/status.ts";
import { type Batch, Channel, type FeedChange, type PositionedChange, PresentObjects } from "./channel.ts";
import { eventText, stateOf, withId } from "./format.ts";
import type { Access, OpenRequest } from "./http.ts";
import { type ObjectSelection, type Show, ShownObject } from "./objects.ts";
import type { RelaySettings } from "./options.ts";
import { RelayStream } from "./stream.ts";
import { CacheFeed, changeBytes, isSeen, VersionLog, type VersionRange } from "./version_log.ts";

/** A position in the changes of one selection of one cache. */
interface ResumeToken {
  /** The feed that the position belongs to: another one counts from another beginning. */
  readonly feed: string;
  /** As that of a channel. */
  readonly scope: string;
  /** The position in the feed. */
  readonly position: number;
  /** The versions of the cache at that position, as `versionsText` writes them. */
  readonly versions: string;
}

/** The longest text of a token. */
const MAX_LENGTH = 1_000;

/** The text of a token: feed, scope, position and versions. */
const PATTERN = /^([\w-]+)\.([\w-]+)\.(\d{1,15})\.([\w~-]*)$/;

/** Returns a token as text, which has no character that headers or addresses would have to escape. */
export function tokenText({ feed, scope, position, versions }: ResumeToken): string {
  const text = `${feed}.${scope}.${position}.${versions}`;
  return text.length <= MAX_LENGTH && PATTERN.test(text) ? text : `${feed}.${scope}.${position}.`;
}

/** Reads the text of a token; `undefined` if it is none. */
export function parseToken(text: string): ResumeToken | undefined {
  const match = text.length > MAX_LENGTH ? null : PATTERN.exec(text);
  if (match === null) return undefined;
  const [, feed, scope, position, versions] = match;
  return { feed, scope, position: Number(position), versions };
}

/** Returns the text of the versions of a cache, one range for each namespace of its own; `""` if one is not known. */
function versionsText(ranges: readonly VersionRange[]): string {
  const isKnown = ranges.every(({ first }) => isResourceVersion(first));
  return isKnown ? ranges.map(({ first, last }) => `${first}-${last}`).join("~") : "";
}

/** Reads the text of versions; none where they are not known. */
function parseVersions(text: string): VersionRange[] {
  const ranges = text.split("~").map((range) => {
    const [first, last = ""] = range.split("-");
    return { first, last };
  });
  const isKnown = ranges.every(({ first, last }) =>
    isResourceVersion(first) && (last === "" || isResourceVersion(last))
  );
  return isKnown ? ranges : [];
}

/** Returns an id without a position, whose versions no later snapshot may be older than; `""` if they are not known. */
function boundOf({ scope }: Channel, id: string): string {
  const token = parseToken(id);
  const ranges = token?.scope === scope ? parseVersions(token.versions) : [];
  if (ranges.length === 0) return "";
  const versions = versionsText(ranges.map(({ first }) => ({ first, last: "" })));
  return tokenText({ feed: "0", scope, position: 0, versions });
}

/** Yields the changes, which come from the last one back, that are behind a position. */
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

/** The number of channels without streams that a feed keeps. */
const IDLE_CHANNELS = 64;

/** The time after which browsers reconnect, in milliseconds. */
const RETRY_MS = 2_000;

/** A request for a stream. */
interface StreamRequest {
  /** The request, which lasts as long as the stream. */
  readonly open: OpenRequest;
  /** Returns the objects that it asks for, and may see by `access`. */
  readonly selectionFor: (access: Access) => ObjectSelection;
  /** The token to resume at; `undefined` without one. */
  readonly lastEventId: string | undefined;
}

/** The changes between the positions of a client in several namespaces, of which it has some. */
interface MixedChanges {
  /** The position from which on it has none. */
  readonly to: number;
  /** The id behind each change that the client does not have, by its position. */
  readonly ids: ReadonlyMap<number, string>;
}

/** The place at which the changes of a stream begin. */
interface StreamBeginning {
  /** The position in the feed behind which they begin. */
  readonly position: number;
  /** The changes behind it of which the client has some. @default {it has none} */
  readonly mixed?: MixedChanges;
  /** The events that precede the objects, as text. @default {none: the stream is resumed, and no objects come first} */
  readonly prelude?: string;
}

/**
 * Follows one informer, and distributes its changes to channels: those of one turn as one batch.
 *
 * A relay that has replicas keeps changes for their clients: its feed lasts without streams, too.
 */
export class Feed extends CacheFeed {
  /** Tells the positions of this feed apart from those of others. */
  readonly #id: string = crypto.randomUUID().slice(0, 13);
  readonly #show: Show;
  readonly #identity: string;
  /** The objects at `#position`, and those of `#changes`. */
  readonly #objects = new PresentObjects();
  readonly #channels = new Map<string, Channel>();
  /** The changes by the namespaces that have versions of their own, or by `""`; none where versions say nothing. */
  readonly #logs: ReadonlyMap<string, VersionLog<PositionedChange>>;
  /** The changes behind `#position`, which have the positions that follow. */
  #changes: FeedChange[] = [];
  /** The number of changes and heartbeats that channels have. */
  #position = 0;
  /** The position behind which the logs have all changes, once they have begun. */
  #base = 0;
  /** The last comparison of the cache with the server, the time of its beginning, and the version that it was for. */
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
    super(held, settings, onOver, "relay", settings.isReplica ? Infinity : settings.lingerMs);
    this.#show = show;
    this.#identity = identity;
    this.#state = JSON.stringify(stateOf(held.informer.status()));
    const { selections, [internals]: { sync: { followsVersions } } } = held.informer;
    const namespaces = !followsVersions ? [] : selections.length > 1 ? selections.map((it) => it.namespace!) : [""];
    this.#logs = new Map(namespaces.map((namespace) => [namespace, this.#logOf(namespace)]));
  }

  /** The position behind the last changes that were written. */
  get position(): number {
    return this.#position;
  }

  /** Opens a stream of what `access` grants. */
  open(request: StreamRequest, access: Access): ClientStream {
    this.flush();
    const prelude = `retry:${RETRY_MS}\n${eventText("state", this.#state)}`;
    return new ClientStream(this, this.channelOf(request.selectionFor(access)), request, prelude);
  }

  /** Writes the changes so far to the channels. */
  override flush(): void {
    const changes = this.#changes;
    if (changes.length === 0) return;
    this.#changes = [];
    this.#position += changes.length;
    this.settle();
    for (const channel of this.#channels.values()) {
      try {
        channel.write(changes, (change) => this.#token(channel, change));
      } catch (cause) {
        this.#drop(channel, cause);
      }
    }
    for (const change of changes) if ("texts" in change) change.texts.clear();
  }

  /** Forgets a channel that lacks changes, which cannot be written; others have them. */
  #drop(channel: Channel, cause: unknown): void {
    this.settings.onError(new InformerError("Cannot send a change to open streams, so they were closed", { cause }));
    this.#channels.delete(channel.selection.id);
    for (const stream of [...channel.streams]) stream.break();
    channel[Symbol.dispose]();
  }

  /** Ends all streams, and gives the informer back. */
  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    for (const channel of this.#channels.values()) channel[Symbol.dispose]();
  }

  /** The open streams. */
  override get streams(): readonly RelayStream[] {
    return [...this.#channels.values()].flatMap(({ streams }) => [...streams]);
  }

  protected override get logs(): readonly VersionLog<PositionedChange>[] {
    return [...this.#logs.values()];
  }

  #logOf(namespace: string): VersionLog<PositionedChange> {
    return new VersionLog<PositionedChange>(this.held, this.settings.budget, {
      flush: () => {
        this.flush();
        this.settle();
      },
      onBegin: () => this.#base = this.#position,
      onDrop: ({ position }) => this.#base = Math.max(this.#base, position),
    }, namespace || undefined);
  }

  protected override put(event: ObjectEvent<KubernetesObject>): void {
    const after = new ShownObject(event, this.#show, entryOfEvent(event).textBytes);
    this.#put(event, this.#objects.set(event.key, after), after);
  }

  protected override delete(event: DeletedEvent<KubernetesObject>): void {
    this.#put(event, this.#objects.delete(event.key), undefined);
  }

  /** An object has changed from one state to another. */
  #put(event: ObjectEvent<KubernetesObject>, before: ShownObject | undefined, after: ShownObject | undefined): void {
    if (!this.isSynced) return; // the snapshot will have it
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
    this.flushLater();
  }

  protected override beat(): void {
    this.flush();
    this.#position++;
    this.settle();
    for (const channel of this.#channels.values()) {
      channel.beat(this.#position, () => this.#token(channel));
      for (const stream of channel.streams) stream.check(this.settings);
    }
  }

  /** Returns the id behind a change, or behind all of them, where streams of a channel may be resumed there. */
  #token({ scope }: Channel, change?: FeedChange): string | undefined {
    if (!this.isSynced) return undefined;
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

  /** Returns the id of the present position, where streams of a channel may be resumed there. */
  idFor(channel: Channel): string | undefined {
    return this.#token(channel);
  }

  /**
   * Returns where a stream begins that resumes at `lastEventId`: `undefined` until the cache has synced, and `"behind"`
   * where its client has changes that this cache does not have, unless that was waited for.
   */
  begin(channel: Channel, lastEventId: string | undefined, hasWaited: boolean): StreamBeginning | "behind" | undefined {
    if (!this.isSynced) return undefined;
    this.flush();
    this.settle();
    const resumed = lastEventId === undefined ? "" : this.#resume(channel, lastEventId, hasWaited);
    if (typeof resumed !== "string" || resumed === "behind") return resumed;
    const reset = resumed === ""
      ? ""
      : eventText("reset", JSON.stringify({ reason: resumed }), boundOf(channel, lastEventId!));
    const isHidden = this.settings.redact !== undefined || channel.isLimited;
    const objects = isHidden ? undefined : this.#objects.size;
    return { position: this.#position, prelude: reset + eventText("snapshot", JSON.stringify({ objects })) };
  }

  /** Returns the beginning that a token stands for, `"behind"`, or the reason why there is none. */
  #resume(channel: Channel, text: string, hasWaited: boolean): StreamBeginning | string {
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

  /** Returns the beginning for a state of another cache; `undefined` where changes behind it are not known. */
  #find({ scope, versions }: ResumeToken, hasWaited: boolean): StreamBeginning | "behind" | undefined {
    const ranges = parseVersions(versions);
    const { logs } = this;
    if (ranges.length === 0 || ranges.length !== logs.length) return undefined;
    if (!hasWaited && !logs.every((log, index) => log.has(ranges[index].first))) return "behind";
    const numbers = logs.map((log, index) => log.after(ranges[index]));
    if (numbers.includes(undefined)) return undefined;
    const next = (number: number | undefined, { ring }: VersionLog<PositionedChange>): number =>
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
  #extend(channel: Channel, position: number): boolean {
    const { logs } = this;
    if (channel.has(position)) return true;
    if (logs.length === 0 || logs.some(({ version }) => version === "") || position < this.#base) return false;
    const changes = logs.flatMap(({ ring }) => [...changesBehind(position, ring.before(ring.end))])
      .filter((change) => change.position <= channel.base).sort((a, b) => a.position - b.position);
    channel.extend(position, changes, (change) => this.#token(channel, change));
    for (const { texts } of changes) texts.clear();
    return channel.has(position);
  }

  /**
   * Waits until the cache has what a token says that its client has, for 3 s at most, and then for a comparison with
   * the server; returns `true` once the cache is not behind the client.
   */
  async catchUp(lastEventId: string, signal: AbortSignal): Promise<boolean> {
    const beganMs = monotonicMs();
    const versions = parseVersions(parseToken(lastEventId)!.versions).map(({ first }) => first);
    const newest = versions.reduce((a, b) => isOlder(a, b) ? b : a);
    if (isOlder(this.#awaited, newest)) this.#awaited = newest;
    const waits = this.logs.map((log, index) => log.reach(versions[index], signal));
    if (!(await Promise.all(waits)).includes(false)) return true;
    return !signal.aborted && !this.isOver && await this.#isEqual(newest, beganMs);
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
    using wait = timedController(CHECK_MS, "The comparison takes too long", this.held.signal);
    try {
      const { repair } = await this.held.informer.checkConsistency({ resourceVersion, signal: wait.signal });
      while (this.registration.pending > 0 && !wait.signal.aborted) await nextTurn();
      return (repair === "none" || repair === "objects") && !wait.signal.aborted;
    } catch (cause) {
      if (this.isOver) return false;
      const message =
        "Cannot compare the cache with the server, although clients of other relays have seen newer changes";
      this.settings.onError(new InformerError(message, { cause }));
      return false;
    }
  }

  /** Returns the channel of a selection. */
  channelOf(selection: ObjectSelection): Channel {
    const known = this.#channels.get(selection.id);
    if (known !== undefined) return known;
    const idle = [...this.#channels.values()].filter(({ streams }) => streams.size === 0);
    for (const channel of idle.slice(0, Math.max(0, idle.length - IDLE_CHANNELS + 1))) {
      this.#channels.delete(channel.selection.id);
      channel[Symbol.dispose]();
    }
    const { budget } = this.settings;
    const scope = hashOf(JSON.stringify([this.#identity, selection.id])).toString(36);
    const channel = new Channel(selection, scope, { position: this.#position, objects: this.#objects, budget });
    this.#channels.set(selection.id, channel);
    return channel;
  }

  protected override statusChanged(status: InformerStatus): void {
    const state = JSON.stringify(stateOf(status));
    if (state === this.#state) return;
    this.#state = state;
    this.#changed({ position: this.#nextPosition, state });
  }
}

/**
 * The events of a channel for one client.
 *
 * It keeps no bytes of its own: it has a position, and writes what is behind it when the client asks for more. A client
 * that has fallen behind what the channel keeps is disconnected with the reason `slow`.
 *
 * A snapshot is the present objects, part by part, and each part comes behind the changes so far: so no old state is
 * kept for a client, and the client has the state of the cache when the last part was written. Changes between parts
 * have no ids, at which a stream without the other parts would be resumed.
 */
class ClientStream extends RelayStream {
  readonly #feed: Feed;
  readonly #use: Disposable;
  readonly #selectionFor: StreamRequest["selectionFor"];
  #channel: Channel;
  #lastEventId: string | undefined;
  /** Until the stream has begun, nothing is read behind it: the cache has not synced, so there are no objects yet. */
  #position: number;
  /** Set until it was written. */
  #prelude: string | undefined;
  #hasBegun = false;
  /** `true` while the cache is behind the client, which is written nothing. */
  #isBehind = false;
  /** `true` once it has waited for the cache. */
  #hasWaited = false;
  /** Set until the changes that it has some of were read. */
  #mixed: MixedChanges | undefined;
  /** Aborts with the end. */
  readonly #job = new AbortController();
  /** The key from which on the next part of the snapshot is; `undefined` unless a snapshot is being read. */
  #from: ObjectKey | undefined;
  /** The number of objects of its parts so far. */
  #objects = 0;

  /** The channel writes to it from now on. `prelude` are the events that come first, as text. */
  constructor(feed: Feed, channel: Channel, { open, lastEventId, selectionFor }: StreamRequest, prelude: string) {
    super(open);
    this.#feed = feed;
    this.#use = feed.use();
    this.#channel = channel;
    this.#selectionFor = selectionFor;
    this.#lastEventId = lastEventId;
    this.#prelude = prelude;
    this.#position = feed.position;
    channel.streams.add(this);
  }

  protected override finish(): void {
    this.#job.abort();
    this.#endParts();
    this.#channel.streams.delete(this);
    this.#use[Symbol.dispose]();
  }

  protected override change(access: Access): void {
    const next = this.#selectionFor(access);
    if (next.id === this.#channel.selection.id) return;
    this.#endParts();
    this.#channel.streams.delete(this);
    if (this.#hasBegun) this.#lastEventId = this.#feed.idFor(this.#channel); // one that is reset
    this.#hasBegun = false;
    this.#channel = this.#feed.channelOf(next);
    this.#channel.streams.add(this);
    this.write();
  }

  protected override next(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#prelude === undefined) this.#tryToBegin();
    if (this.#prelude !== undefined) {
      const text = this.#prelude;
      this.#prelude = undefined;
      return encoder.encode(text);
    }
    if (this.#isBehind) return undefined;
    if (this.#from !== undefined) return this.#nextOfSnapshot(this.#from);
    if (!this.#channel.has(this.#position)) return void this.end("slow");
    const batch = this.#mixed === undefined ? this.#channel.after(this.#position) : this.#nextOf(this.#mixed);
    if (batch === undefined) return undefined;
    this.#position = batch.position;
    return batch.bytes;
  }

  /** Returns the next change that the client does not have, with an id that says which others it has. */
  #nextOf({ to, ids }: MixedChanges): Batch | undefined {
    while (this.#position < to) {
      const batch = this.#channel.next(this.#position);
      if (batch === undefined || batch.position > to) break;
      const id = ids.get(batch.position);
      if (id !== undefined) return { ...batch, bytes: withId(batch.bytes, id) };
      this.#position = batch.position;
    }
    this.#position = Math.max(this.#position, to);
    this.#mixed = undefined;
    return this.#channel.after(this.#position);
  }

  #nextOfSnapshot(from: ObjectKey): Uint8Array<ArrayBuffer> | undefined {
    this.#feed.flush();
    const { position } = this.#feed;
    if (!this.#channel.has(this.#position)) return void this.end("slow");
    const batch = this.#channel.next(this.#position);
    if (batch !== undefined) {
      this.#position = batch.position;
      return batch.bytes;
    }
    this.#position = position;
    const part = this.#channel.part(from);
    if (part === undefined) {
      this.#endParts();
      return encoder.encode(
        eventText("synced", JSON.stringify({ objects: this.#objects }), this.#feed.idFor(this.#channel)),
      );
    }
    this.#from = part.to;
    this.#objects += part.objects;
    return part.bytes;
  }

  /** Waits for the cache, and ends if that stays behind what the client has. */
  async #catchUp(lastEventId: string): Promise<void> {
    this.#isBehind = true;
    const isCurrent = await this.#feed.catchUp(lastEventId, this.#job.signal);
    if (this.isOver) return;
    if (!isCurrent) return this.end("behind");
    this.#isBehind = false;
    this.#hasWaited = true;
    this.write();
  }

  #endParts(): void {
    if (this.#from === undefined) return;
    this.#from = undefined;
    this.#channel.endParts();
  }

  #tryToBegin(): void {
    if (this.#hasBegun || this.#isBehind) return;
    const beginning = this.#feed.begin(this.#channel, this.#lastEventId, this.#hasWaited);
    if (beginning === undefined) return;
    if (beginning === "behind") return void this.#catchUp(this.#lastEventId!);
    this.#hasBegun = true;
    this.#position = beginning.position;
    this.#mixed = beginning.mixed;
    this.#prelude = beginning.prelude;
    if (beginning.prelude === undefined) return;
    this.#from = "";
    this.#objects = 0;
    this.#channel.beginParts();
  }
}
