import type { KubernetesObject } from "../../api/object.ts";
import { scheduleTurn } from "../../async/next_turn.ts";
import type { AcquiredInformer } from "../../informer/acquired_informer.ts";
import type { ObjectEvent } from "../../informer/events/event.ts";
import type { HandlerRegistration } from "../../informer/events/handler.ts";
import type { ByteBudget } from "../budget/byte_budget.ts";
import { eventText } from "../format/event_text.ts";
import { stateOf } from "../format/state_of.ts";
import type { ObjectSelection } from "../objects/object_selection.ts";
import type { Show } from "../objects/show.ts";
import { ShownObject } from "../objects/shown_object.ts";
import { Channel, type ChannelReader, type FeedChange } from "./channel.ts";
import { ClientStream, type StreamBeginning } from "./client_stream.ts";
import { ObjectSlots } from "./object_slots.ts";
import { parseToken, tokenText } from "./resume_token.ts";
import { VersionHistory } from "./version_history.ts";

/** The number of channels without streams that a feed keeps. */
const IDLE_CHANNELS = 16;

/** The time after which browsers reconnect, in milliseconds. */
const RETRY_MS = 2_000;

/** Options of a {@linkcode Feed}. */
export interface FeedOptions {
  /** Returns what may be shown of an object. */
  readonly show: Show;
  /** `true` if there may be objects of which clients see nothing. */
  readonly hides: boolean;
  /** The bytes that channels may keep. */
  readonly budget: ByteBudget;
  /** The time between two heartbeats, in milliseconds. */
  readonly heartbeatMs: number;
  /** The time for which a client may leave unread what there is to read, in milliseconds. */
  readonly stallMs: number;
  /** Called when the informer has stopped, and its streams have ended. */
  readonly onStop: () => void;
}

/** A request for a stream. */
export interface StreamRequest {
  /** The objects that it asks for. */
  readonly selection: ObjectSelection;
  /** A digest of the cluster, the collection and the selection. */
  readonly scope: string;
  /** The token to resume at; `undefined` without one. */
  readonly lastEventId: string | undefined;
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void;
}

/**
 * Follows one informer, and distributes its changes to channels: those of one turn as one batch.
 *
 * It holds the informer from its construction to its disposal.
 */
export class Feed implements Disposable {
  /** Tells the positions of this feed apart from those of others. */
  readonly #id: string = crypto.randomUUID().slice(0, 13);
  readonly #informer: AcquiredInformer<KubernetesObject>;
  readonly #options: FeedOptions;
  readonly #registration: HandlerRegistration;
  /** The objects at `#position`, and those of `#changes`. */
  readonly #objects = new ObjectSlots();
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

  /** Follows `informer`, which it disposes in the end. */
  constructor(informer: AcquiredInformer<KubernetesObject>, options: FeedOptions) {
    this.#informer = informer;
    this.#options = options;
    this.#state = JSON.stringify(stateOf(informer.status()));
    const put = (event: ObjectEvent<KubernetesObject>): void => {
      const { key, uid } = event;
      const after = new ShownObject(event, options.show);
      const before = this.#objects.set(key, after);
      this.#changed({ key, uid, before, after });
    };
    this.#registration = informer.addEventHandler({
      onAdd: put,
      onUpdate: put,
      onDelete: ({ key, uid }) => {
        const before = this.#objects.delete(key);
        this.#changed({ key, uid, before, after: undefined });
      },
      onSynced: () => {
        this.#isSynced = true;
        this.#hasChanged = true;
        this.flush();
        for (const stream of this.#streams()) stream.write();
      },
    }, { name: "relay", resyncMs: 0, slowMs: Infinity });
    this.#heartbeat = setInterval(() => this.#beat(), options.heartbeatMs);
    void this.#followState();
  }

  /** The number of open streams. */
  get size(): number {
    return [...this.#channels.values()].reduce((sum, { streams }) => sum + streams.size, 0);
  }

  /** Opens a stream. */
  open({ selection, scope, lastEventId, onEnd }: StreamRequest): ClientStream {
    this.flush();
    const channel = this.#channelOf(selection, scope);
    return new ClientStream(channel, {
      prelude: `retry:${RETRY_MS}\n${eventText("state", this.#state)}`,
      position: this.#position,
      begin: () => this.#isSynced ? this.#begin(channel, lastEventId) : undefined,
      here: () => {
        this.flush();
        return { position: this.#position, id: () => this.#token(channel, this.#versions()) };
      },
      onEnd,
    });
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
    clearInterval(this.#heartbeat);
    this.#registration.remove();
    for (const stream of this.#streams()) stream.end("closed");
    for (const channel of this.#channels.values()) channel[Symbol.dispose]();
    this.#informer[Symbol.dispose]();
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
      for (const stream of channel.streams) stream.check(this.#options.stallMs);
    }
  }

  /** Goes to the next position, and returns the versions there, if they are known. */
  #advance(): string {
    this.#position++;
    const versions = this.#versions();
    if (versions === "") return "";
    // A list may have missed objects that were created and deleted between two watches.
    const isSame = !this.#hasChanged && this.#informer.status().recentRelists === 0;
    this.#history.add(versions, this.#position, isSame);
    this.#hasChanged = false;
    return versions;
  }

  /** Returns the versions of the cache; `""` unless all of its changes have been received. */
  #versions(): string {
    if (!this.#isSynced || this.#registration.pending > 0) return "";
    const { resourceVersion, namespaces } = this.#informer.status();
    return namespaces === undefined ? resourceVersion : namespaces.map((it) => it.resourceVersion).join("~");
  }

  #token({ scope }: Channel, versions: string): string | undefined {
    if (!this.#isSynced) return undefined;
    return tokenText({ feed: this.#id, scope, position: this.#position, versions });
  }

  #begin(channel: Channel, lastEventId: string | undefined): StreamBeginning {
    this.flush();
    const resumed = lastEventId === undefined ? undefined : this.#resume(channel, lastEventId);
    if (typeof resumed === "number") return { position: resumed };
    const reset = resumed === undefined ? "" : eventText("reset", JSON.stringify({ reason: resumed }), "");
    const objects = this.#options.hides ? undefined : this.#objects.size;
    return { position: this.#position, prelude: reset + eventText("snapshot", JSON.stringify({ objects })) };
  }

  /** Returns the position that a token stands for, or the reason why there is none. */
  #resume(channel: Channel, text: string): number | string {
    const token = parseToken(text);
    if (token === undefined) return "The id is none of a relay";
    if (token.scope !== channel.scope) return "The id is one of other objects, or of a relay of its own";
    const isOwn = token.feed === this.#id;
    const position = isOwn ? token.position : this.#history.positionOf(token.versions);
    if (position === undefined) return "The id is one of another cache, which was at another version";
    if (position > this.#position) return "The id is none that this relay has given";
    return channel.has(position) ? position : "The changes since then are no longer kept";
  }

  #channelOf(selection: ObjectSelection, scope: string): Channel {
    const known = this.#channels.get(scope);
    if (known !== undefined) return known;
    const idle = [...this.#channels.values()].filter(({ streams }) => streams.size === 0);
    for (const channel of idle.slice(0, Math.max(0, idle.length - IDLE_CHANNELS + 1))) {
      this.#channels.delete(channel.scope);
      channel[Symbol.dispose]();
    }
    const { budget } = this.#options;
    const channel = new Channel(selection, scope, { position: this.#position, objects: this.#objects, budget });
    this.#channels.set(scope, channel);
    return channel;
  }

  #streams(): ChannelReader[] {
    return [...this.#channels.values()].flatMap(({ streams }) => [...streams]);
  }

  async #followState(): Promise<void> {
    try {
      for await (const status of this.#informer.statusChanges()) {
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
    this.#options.onStop();
  }
}
