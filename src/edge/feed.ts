import { compareResourceVersions, isResourceVersion } from "../api/status.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import { LongTimer } from "../async/time.ts";
import { nextTurn, scheduleTurn } from "../async/turns.ts";
import type { AcquiredInformer } from "../informer/shared_informer_factory.ts";
import type { HandlerRegistration, ObjectEvent } from "../informer/events/event.ts";
import { eventText, stateOf } from "./format.ts";
import { type ObjectSelection, type Show, ShownObject } from "./objects.ts";
import { Channel, type FeedChange, PresentObjects } from "./channel.ts";
import { type Access, type OpenRequest, RelayStream } from "./http.ts";
import type { RelaySettings } from "./options.ts";

/** A position in the changes of one selection of one cache. */
interface ResumeToken {
  /** The feed that the position belongs to: another one counts from another beginning. */
  readonly feed: string;
  /** A digest of the cluster, the collection and the selection. */
  readonly scope: string;
  /** The position in the feed. */
  readonly position: number;
  /** The versions of the cache at that position, one for each namespace of its own; `""` where they are not known. */
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

/** A state of a cache: the versions of the server that it equals, and a position of it in the feed. */
interface CacheState {
  readonly position: number;
  readonly first: string;
  last: string;
}

/** The number of states that are remembered. */
const REMEMBERED = 1_000;

/** The last states of a cache, by which a position is found that equals one of another cache of the same collection. */
export class VersionHistory {
  readonly #states: CacheState[] = [];

  /**
   * Records that the cache is at these versions, and that the feed is at `position`.
   *
   * @param isSame `true` if no object has changed since the last call, in the cache or unseen by it.
   */
  add(versions: string, position: number, isSame: boolean): void {
    const last = this.#states.at(-1);
    if (last?.last === versions) return;
    if (isSame && last !== undefined && isResourceVersion(versions) && isResourceVersion(last.last)) {
      last.last = versions;
      return;
    }
    this.#states.push({ position, first: versions, last: versions });
    if (this.#states.length > REMEMBERED) this.#states.shift();
  }

  /** Returns the first known position at which the cache was at these versions; `undefined` if there is none. */
  positionOf(versions: string): number | undefined {
    if (versions === "") return undefined;
    return this.#states.find(({ first, last }) => isWithin(versions, first, last))?.position;
  }
}

function isWithin(versions: string, first: string, last: string): boolean {
  if (versions === first || versions === last) return true;
  if (![versions, first, last].every(isResourceVersion)) return false;
  return compareResourceVersions(first, versions) < 0 && compareResourceVersions(versions, last) < 0;
}

/** The number of channels without streams that a feed keeps. */
const IDLE_CHANNELS = 64;

/** The time after which browsers reconnect, in milliseconds. */
const RETRY_MS = 2_000;

/** The objects of a stream. */
export interface StreamScope {
  /** The objects that it asks for, and may see. */
  readonly selection: ObjectSelection;
  /** A digest of the cluster, the collection and the selection. */
  readonly scope: string;
}

/** A request for a stream. */
interface StreamRequest extends StreamScope {
  /** The request, which lasts as long as the stream. */
  readonly open: OpenRequest;
  /** Returns those that it asks for where `access` is granted to it. */
  readonly scopeFor: (access: Access) => Promise<StreamScope>;
  /** The token to resume at; `undefined` without one. */
  readonly lastEventId: string | undefined;
}

/** The place at which the changes of a stream begin. */
interface StreamBeginning {
  /** The position in the feed behind which they begin. */
  readonly position: number;
  /** The events that precede the objects, as text. @default {none: the stream is resumed, and no objects come first} */
  readonly prelude?: string;
}

/**
 * Follows one informer, and distributes its changes to channels: those of one turn as one batch.
 *
 * It holds the informer from its construction to its disposal, which comes `lingerMs` after the end of its last stream.
 */
export class Feed implements Disposable {
  /** Tells the positions of this feed apart from those of others. */
  readonly #id: string = crypto.randomUUID().slice(0, 13);
  readonly #held: AcquiredInformer<KubernetesObject>;
  readonly #show: Show;
  readonly #settings: RelaySettings;
  readonly #onOver: () => void;
  readonly #registration: HandlerRegistration;
  /** The objects at `#position`, and those of `#changes`. */
  readonly #objects = new PresentObjects();
  readonly #channels = new Map<string, Channel>();
  readonly #history = new VersionHistory();
  readonly #heartbeat: ReturnType<typeof setInterval>;
  /** The changes behind `#position`. */
  #changes: FeedChange[] = [];
  /** `true` if and only if a flush is scheduled. */
  #isDue = false;
  /** The number of flushes and heartbeats so far. */
  #position = 0;
  /** The data of the last `state`, as JSON. */
  #state: string;
  /** `true` from `synced` on. */
  #isSynced = false;
  /** `true` if an object has changed since the last entry of `#history`. */
  #hasChanged = false;
  #isOver = false;

  readonly #linger = new LongTimer(() => this[Symbol.dispose]());

  /** Follows the informer of `held`, which it disposes in the end. `onOver` is called once, with its disposal. */
  constructor(
    held: AcquiredInformer<KubernetesObject>,
    show: Show,
    settings: RelaySettings,
    onOver: () => void,
  ) {
    this.#held = held;
    this.#show = show;
    this.#settings = settings;
    this.#onOver = onOver;
    this.#state = JSON.stringify(stateOf(held.informer.status()));
    const put = (event: ObjectEvent<KubernetesObject>): void => {
      const { key, uid } = event;
      const after = new ShownObject(event, this.#show);
      const before = this.#objects.set(key, after);
      this.#changed({ key, uid, before, after, texts: new Map() });
    };
    this.#registration = held.addEventHandler({
      onAdd: put,
      onUpdate: put,
      onDelete: ({ key, uid }) => {
        const before = this.#objects.delete(key);
        this.#changed({ key, uid, before, after: undefined, texts: new Map() });
      },
      onSynced: () => {
        this.#isSynced = true;
        this.#hasChanged = true;
        this.flush();
        for (const stream of this.#streams()) stream.write();
      },
    }, { name: "relay", resyncMs: 0, slowMs: Infinity });
    this.#heartbeat = setInterval(() => this.#beat(), settings.heartbeatMs);
    void this.#followState();
  }

  /** The number of open streams. */
  get size(): number {
    return [...this.#channels.values()].reduce((sum, { streams }) => sum + streams.size, 0);
  }

  /** The position behind the last changes that were written. */
  get position(): number {
    return this.#position;
  }

  /** Opens a stream. */
  open(request: StreamRequest): ClientStream {
    this.#linger[Symbol.dispose]();
    this.flush();
    const prelude = `retry:${RETRY_MS}\n${eventText("state", this.#state)}`;
    return new ClientStream(this, this.channelOf(request), request, prelude);
  }

  /** A stream has ended. */
  left(): void {
    if (!this.#isOver && this.size === 0) this.#linger.arm(this.#settings.lingerMs);
  }

  /** Writes the changes so far to the channels. */
  flush(): void {
    const changes = this.#changes;
    if (changes.length === 0 && !this.#hasChanged) return;
    this.#changes = [];
    const versions = this.#advance();
    for (const channel of this.#channels.values()) {
      channel.write(changes, this.#position, this.#token(channel, versions));
    }
  }

  /** Ends all streams, and gives the informer back. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
    this.#linger[Symbol.dispose]();
    clearInterval(this.#heartbeat);
    this.#registration.remove();
    for (const stream of this.#streams()) stream.end("closed");
    for (const channel of this.#channels.values()) channel[Symbol.dispose]();
    this.#held[Symbol.dispose]();
  }

  #changed(change: FeedChange): void {
    if (!("state" in change)) {
      if (!this.#isSynced) return; // the snapshot will have it
      this.#hasChanged = true;
    }
    this.#changes.push(change);
    if (this.#isDue) return;
    this.#isDue = true;
    scheduleTurn(() => {
      this.#isDue = false;
      if (!this.#isOver) this.flush();
    });
  }

  #beat(): void {
    this.flush();
    const versions = this.#advance();
    for (const channel of this.#channels.values()) {
      channel.beat(this.#position, this.#token(channel, versions));
      for (const stream of channel.streams) stream.check(this.#settings);
    }
  }

  /** Goes to the next position, and returns the versions there, if they are known. */
  #advance(): string {
    this.#position++;
    const versions = this.#versions();
    if (versions === "") return "";
    // A list may have missed objects that were created and deleted between two watches.
    const isSame = !this.#hasChanged && this.#held.informer.status().recentRelists === 0;
    this.#history.add(versions, this.#position, isSame);
    this.#hasChanged = false;
    return versions;
  }

  /** Returns the versions of the cache; `""` unless all of its changes have been received. */
  #versions(): string {
    if (!this.#isSynced || this.#registration.pending > 0) return "";
    const { resourceVersion, namespaces } = this.#held.informer.status();
    return namespaces === undefined ? resourceVersion : namespaces.map((it) => it.resourceVersion).join("~");
  }

  #token({ scope }: Channel, versions: string): string | undefined {
    if (!this.#isSynced) return undefined;
    return tokenText({ feed: this.#id, scope, position: this.#position, versions });
  }

  /** Returns the id of the present position, where streams of a channel may be resumed there. */
  idFor(channel: Channel): string | undefined {
    return this.#token(channel, this.#versions());
  }

  /** Returns where a stream begins that resumes at `lastEventId`; `undefined` until the cache has synced. */
  begin(channel: Channel, lastEventId: string | undefined): StreamBeginning | undefined {
    if (!this.#isSynced) return undefined;
    this.flush();
    const resumed = lastEventId === undefined ? undefined : this.#resume(channel, lastEventId);
    if (typeof resumed === "number") return { position: resumed };
    const reset = resumed === undefined ? "" : eventText("reset", JSON.stringify({ reason: resumed }), "");
    const isHidden = this.#settings.redact !== undefined || channel.isLimited;
    const objects = isHidden ? undefined : this.#objects.size;
    return { position: this.#position, prelude: reset + eventText("snapshot", JSON.stringify({ objects })) };
  }

  /** Returns the position that a token stands for, or the reason why there is none. */
  #resume(channel: Channel, text: string): number | string {
    const token = parseToken(text);
    if (token === undefined) return "The id is none of a relay";
    if (token.scope !== channel.scope) return "The id is one of other objects or rights, or of a relay of its own";
    const isOwn = token.feed === this.#id;
    const position = isOwn ? token.position : this.#history.positionOf(token.versions);
    if (position === undefined) return "The id is one of another cache, which was at another version";
    if (position > this.#position) return "The id is none that this relay has given";
    return channel.has(position) ? position : "The changes since then are no longer kept";
  }

  /** Returns the channel of a stream. */
  channelOf({ selection, scope }: StreamScope): Channel {
    const known = this.#channels.get(scope);
    if (known !== undefined) return known;
    const idle = [...this.#channels.values()].filter(({ streams }) => streams.size === 0);
    for (const channel of idle.slice(0, Math.max(0, idle.length - IDLE_CHANNELS + 1))) {
      this.#channels.delete(channel.scope);
      channel[Symbol.dispose]();
    }
    const { budget } = this.#settings;
    const channel = new Channel(selection, scope, { position: this.#position, objects: this.#objects, budget });
    this.#channels.set(scope, channel);
    return channel;
  }

  #streams(): RelayStream[] {
    return [...this.#channels.values()].flatMap(({ streams }) => [...streams]);
  }

  async #followState(): Promise<void> {
    try {
      for await (const status of this.#held.informer.statusChanges({ signal: this.#held.signal })) {
        const state = JSON.stringify(stateOf(status));
        if (state === this.#state) continue;
        this.#state = state;
        this.#changed({ state });
      }
    } catch (error) {
      if (!this.#isOver) throw error;
    }
    if (this.#isOver) return;
    this.flush();
    this[Symbol.dispose]();
  }
}

const encoder = new TextEncoder();

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
  readonly #scopeFor: StreamRequest["scopeFor"];
  #channel: Channel;
  #lastEventId: string | undefined;
  /** Until the stream has begun, nothing is read behind it: the cache has not synced, so there are no objects yet. */
  #position: number;
  /** Set until it was written. */
  #prelude: string | undefined;
  #hasBegun = false;
  /** The key from which on the next part of the snapshot is; `undefined` unless a snapshot is being read. */
  #from: ObjectKey | undefined;
  /** The number of objects of its parts so far. */
  #objects = 0;
  /** `true` while a write is being made, or waits for a later turn. */
  #isPaused = false;

  /** The channel writes to it from now on. `prelude` are the events that come first, as text. */
  constructor(feed: Feed, channel: Channel, { open, lastEventId, scopeFor }: StreamRequest, prelude: string) {
    super(open);
    this.#feed = feed;
    this.#channel = channel;
    this.#scopeFor = scopeFor;
    this.#lastEventId = lastEventId;
    this.#prelude = prelude;
    this.#position = feed.position;
    channel.streams.add(this);
  }

  /** Writes what there is, if the client is reading. */
  override write(): void {
    if (!this.isReading || this.#isPaused) return;
    this.#isPaused = true; // a flush writes to this stream too
    const bytes = this.#next();
    if (bytes?.length === 0) {
      void nextTurn().then(() => {
        this.#isPaused = false;
        this.write();
      });
      return;
    }
    this.#isPaused = false;
    if (bytes !== undefined) this.send(bytes);
  }

  protected override finish(): void {
    this.#endParts();
    this.#channel.streams.delete(this);
    this.#feed.left();
  }

  protected override async change(access: Access): Promise<void> {
    const next = await this.#scopeFor(access);
    if (this.isOver || next.scope === this.#channel.scope) return;
    this.#endParts();
    this.#channel.streams.delete(this);
    if (this.#hasBegun) this.#lastEventId = this.#feed.idFor(this.#channel); // one that is reset
    this.#hasBegun = false;
    this.#channel = this.#feed.channelOf(next);
    this.#channel.streams.add(this);
    this.write();
  }

  /**
   * Returns what comes next: `undefined` if there is nothing, and no bytes if it has to be looked for in a later turn.
   */
  #next(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#prelude === undefined) this.#tryToBegin();
    if (this.#prelude !== undefined) {
      const text = this.#prelude;
      this.#prelude = undefined;
      return encoder.encode(text);
    }
    if (this.#from !== undefined) return this.#nextOfSnapshot(this.#from);
    if (!this.#channel.has(this.#position)) return void this.end("slow");
    const batch = this.#channel.after(this.#position);
    if (batch === undefined) return undefined;
    this.#position = batch.position;
    return batch.bytes;
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

  #endParts(): void {
    if (this.#from === undefined) return;
    this.#from = undefined;
    this.#channel.endParts();
  }

  #tryToBegin(): void {
    const beginning = this.#hasBegun ? undefined : this.#feed.begin(this.#channel, this.#lastEventId);
    if (beginning === undefined) return;
    this.#hasBegun = true;
    this.#position = beginning.position;
    this.#prelude = beginning.prelude;
    if (beginning.prelude === undefined) return;
    this.#from = "";
    this.#objects = 0;
    this.#channel.beginParts();
  }
}
