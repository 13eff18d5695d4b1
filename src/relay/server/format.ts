/**
 * The events and lists that a relay sends, as types and text.
 *
 * {@linkcode RelayEvents} is the entry point. Clients import the types from here, so the file has no part of the
 * server.
 *
 * @module
 */
import { defined } from "../../engine/api/json.ts";
import { encoder, type KubernetesObject } from "../../engine/api/object.ts";
import type { ViewUpdate } from "../../engine/informer/cache_view.ts";
import type { InformerStatus } from "../../engine/informer/status.ts";
import type { InformerState } from "../../engine/informer/sync/state_keeper.ts";

const LINE_END = 10;
const ID: readonly number[] = [..."id:"].map((character) => character.charCodeAt(0));

/**
 * Returns an event as text. `ServerSentEventStream` of `@std/http` would write the same bytes, but for one stream
 * alone; these are shared by all clients.
 *
 * @param json The data, as JSON text without line ends.
 * @param id What the client sends as `Last-Event-ID` when it reconnects. `""` makes it forget an earlier one.
 */
export function eventText(event: string, json: string, id?: string): string {
  return id === undefined ? `event:${event}\ndata:${json}\n\n` : `event:${event}\ndata:${json}\nid:${id}\n\n`;
}

/** Returns the bytes of events without the id of the last one, if that has one. */
export function withoutId(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const line = bytes.lastIndexOf(LINE_END, bytes.length - 3) + 1;
  if (!ID.every((code, index) => bytes[line + index] === code)) return bytes;
  const rest = bytes.slice(0, line + 1);
  rest[line] = LINE_END;
  return rest;
}

/** Returns the bytes of an event that has no id with this one. */
export function withId(bytes: Uint8Array<ArrayBuffer>, id: string): Uint8Array<ArrayBuffer> {
  const line = encoder.encode(`id:${id}\n\n`);
  const text = new Uint8Array(bytes.length - 1 + line.length);
  text.set(bytes.subarray(0, -1));
  text.set(line, bytes.length - 1);
  return text;
}

/** Returns a comment, and an id if there is one: browsers remember it, and dispatch no event. */
export function heartbeatText(id?: string): string {
  return id === undefined ? ":\n\n" : `:\nid:${id}\n\n`;
}

/**
 * The response to `GET /api/<name>`: JSON with an ETag. If you send the ETag as `If-None-Match` and the list has not
 * changed, the response is 304 without a body. The parameters are the same as for {@linkcode RelayEvents}, without
 * `lastEventId`.
 */
export interface RelayList<T extends KubernetesObject = KubernetesObject> extends StateData {
  /** The collection's name, as in the path. */
  readonly name: string;
  /** The version up to which the list has every change. With several namespaces, it is the oldest version. */
  readonly resourceVersion: string;
  /** The objects, in no particular order. */
  readonly items: readonly T[];
}

/** The data in a `state` event. */
export interface StateData {
  /** The informer's state. If it is not `"live"`, the objects may be out of date. */
  readonly state: InformerState;
  /** Since when the informer is not live, as an ISO 8601 text. Unset while it is live. */
  readonly notLiveSince?: string;
}

/** The data in a `reset` event. */
export interface ResetData {
  /** The reason, as a sentence. */
  readonly reason: string;
}

/** The data in a `snapshot` or `synced` event. */
export interface SnapshotData {
  /**
   * In `snapshot`, how many objects the collection has, selected or not. It is unset if `redact` or limited rights may
   * hide objects. In `synced`, how many objects the snapshot had.
   */
  readonly objects?: number;
}

/** The data in a `deleted` event. */
export interface DeletedData {
  /** `"namespace/name"`, or `"name"` for a cluster-scoped object. */
  readonly key: string;
  /** The object's UID. */
  readonly uid: string;
}

/** The data in an `end` event. */
export interface EndData {
  /**
   * Why the relay ends the stream. Reconnect with your last event id in each case.
   *
   * - `slow`: the client did not read for too long, or missed too many changes. It may get a snapshot.
   * - `expired`: the authorization has ended. The relay calls `authorize` again for the next request.
   * - `closed`: the relay or its informer was stopped. Reconnect later.
   * - `behind`: the client has newer changes from another relay, and this relay's cache does not have them.
   */
  readonly reason: "slow" | "expired" | "closed" | "behind";
}

/**
 * The server-sent events of `GET /events/<name>`. Each has a name and one line of JSON as its data. You rarely parse
 * them yourself: `subscribe()` in `./relay/client` does it, and reconnects.
 *
 * A request can have these parameters, in a query with at most 4,096 characters:
 *
 * | parameter | value |
 * | --- | --- |
 * | `namespace` | one namespace; without it, everything that the relay serves |
 * | `labelSelector`, `fieldSelector` | as in Kubernetes, but a field selector may name any field |
 * | `fields` | the fields to send, as `parseFieldPath` paths, separated by commas or repeated |
 * | `lastEventId` | the same as the header `Last-Event-ID`, which takes precedence |
 *
 * A stream has these events:
 *
 * | event | data | meaning |
 * | --- | --- | --- |
 * | `state` | {@linkcode StateData} | the informer's state, first of all and whenever it changes |
 * | `reset` | {@linkcode ResetData} | the relay cannot resume at your `Last-Event-ID`; replace it by this event's id; a snapshot follows |
 * | `snapshot` | {@linkcode SnapshotData} | a snapshot begins: it replaces everything that you know |
 * | `added` | the object | an object in the snapshot, a new object, or an object that starts to match |
 * | `synced` | {@linkcode SnapshotData} | the snapshot is complete: you have the cache's current state |
 * | `updated` | the object | an object's new state |
 * | `deleted` | {@linkcode DeletedData} | an object was deleted, or stops matching |
 * | `end` | {@linkcode EndData} | the relay ends the stream for this reason |
 *
 * If the client's rights change while the stream is open, `reset` and another snapshot follow.
 *
 * The relay reads a snapshot from the current cache while the client reads it. So changes can arrive between `snapshot`
 * and `synced`, even for objects that the client does not have yet.
 *
 * **Resuming.** If you reconnect to the same address with the last id, the stream continues after it, without a
 * snapshot, as long as the relay still has the later changes.
 *
 * - An id is opaque, has at most 1,000 characters, and belongs to one selection in one cache.
 * - Changes, `synced` and heartbeats have an id. Nothing before `synced` has one. Heartbeats are comments.
 * - The id of `reset` cannot be resumed. It is `""` if no snapshot can be older than the client's state.
 *
 * **Other relays.** An id holds the server's versions up to which the client is complete, so every relay with the same
 * `cluster` can continue the stream. If a relay's cache is older, it waits up to 3 s to catch up. Then it compares its
 * cache with the server, at most every 10 s. If nothing differs, it sends a snapshot. If something differs, it ends the
 * stream with `behind`. So a client never sees an older state.
 *
 * Some clients, such as `launchdarkly-eventsource`, emit their own `end` event without data after each cut. A listener
 * for `end` must expect both.
 */
export interface RelayEvents<T extends KubernetesObject = KubernetesObject> {
  /** See {@linkcode StateData}. */
  readonly state: StateData;
  /** See {@linkcode ResetData}. */
  readonly reset: ResetData;
  /** See {@linkcode SnapshotData}. */
  readonly snapshot: SnapshotData;
  /** The object. */
  readonly added: T;
  /** See {@linkcode SnapshotData}. */
  readonly synced: SnapshotData;
  /** The object. */
  readonly updated: T;
  /** See {@linkcode DeletedData}. */
  readonly deleted: DeletedData;
  /** See {@linkcode EndData}. */
  readonly end: EndData;
}

/** Returns the state of an informer as relays report it. */
export function stateOf({ state, notLiveSince }: InformerStatus): StateData {
  return defined({ state, notLiveSince: notLiveSince?.toISOString() });
}

/** The response to `GET /api`. */
export interface CollectionList {
  /** The collections that the relay serves. */
  readonly collections: readonly {
    /** The name, as in URLs. */
    readonly name: string;
    /** The kind, such as `"Pod"`. */
    readonly kind: string;
    /** Whether the objects are in namespaces. */
    readonly scope: "Namespaced" | "Cluster";
    /** `true` if the views' rows are rows of the server's table. */
    readonly isTable: boolean;
  }[];
}

/** A view that a client asks for: a window into a sorted and filtered collection. */
export interface ViewRequest {
  /** The collection's name. */
  readonly of: string;
  /** One namespace. Without it, the view has everything that the relay serves. */
  readonly namespace?: string;
  /** A label selector, as in Kubernetes. Without it, all labels match. */
  readonly labelSelector?: string;
  /** A field selector, as in Kubernetes, but it may name any field. Without it, all objects match. */
  readonly fieldSelector?: string;
  /**
   * Words to search for, in any case. Each word must be in the namespace, the name, or for a table a cell. Without it,
   * all objects match.
   */
  readonly search?: string;
  /**
   * Up to 100 field paths to sort by, as in `SortKey`, but a text such as `1/2` counts as its fraction. Without it, the
   * order of the object keys.
   */
  readonly sortBy?: readonly string[];
  /** Up to 100 paths of fields to send. Without it, complete objects. */
  readonly fields?: readonly string[];
  /** How many rows precede the window. @default {0} */
  readonly offset?: number;
  /** The largest number of rows in the window, at most 1,000. @default {50} */
  readonly limit?: number;
}

/** The data in a `stream` event. */
export interface StreamData {
  /** The stream's name in `POST /views/<id>`. It is this client's secret. */
  readonly id: string;
}

/** The data in a `collection` event. */
export interface CollectionData extends StateData {
  /** The collection's name. */
  readonly name: string;
  /** How many objects the relay has. Unset if `redact` or limited rights may hide objects. */
  readonly objects?: number;
  /** How many events the relay has received from the server. Unset if the client has limited rights. */
  readonly events?: number;
}

/**
 * The data in a `namespaces` event. The relay sends it for views of all namespaces, unless `redact` or limited rights
 * may hide objects.
 */
export interface NamespacesData {
  /** The collection's name. */
  readonly name: string;
  /** The namespaces that have objects, sorted, at most 1,000. */
  readonly namespaces: readonly string[];
}

/** The data in a `view` event. */
export interface ViewData<T = unknown> extends ViewUpdate<T> {
  /** The view's name in the request. */
  readonly view: string;
}

/**
 * The server-sent events of `GET /views?views=<JSON>`. A request has up to 16 views, as a JSON object that maps a name
 * to each {@linkcode ViewRequest}. You rarely parse these events yourself: `subscribeViews()` in `./relay/client` does
 * it.
 *
 * | event | data | meaning |
 * | --- | --- | --- |
 * | `stream` | {@linkcode StreamData} | the stream's id, first of all |
 * | `collection` | {@linkcode CollectionData} | a collection's state, at first and whenever it changes |
 * | `namespaces` | {@linkcode NamespacesData} | a collection's namespaces, at first and whenever they change |
 * | `view` | {@linkcode ViewData} | all rows in a window, or changes to them |
 * | `end` | {@linkcode EndData} | the relay ends the stream for this reason |
 *
 * To change the views of an open stream, send such an object as the body of `POST /views/<id>`: at most 16,384 bytes,
 * within 5 s. The relay moves a view that differs only in its window, and keeps an unchanged view. It responds with
 *
 * - 204 if the views were replaced,
 * - 404 if this relay does not have the stream: open another one,
 * - 503 if all clients' views would take too much memory. The stream then ends. `GET` gets the same status.
 *
 * These events have no ids. A client that reconnects opens its views again, and receives their rows. A slow client
 * receives fewer updates to a view, and all rows if they are smaller than the changes. Changes arrive at most every 50
 * ms per view, and a collection's state at most every 500 ms.
 */
export interface ViewEvents {
  /** See {@linkcode StreamData}. */
  readonly stream: StreamData;
  /** See {@linkcode CollectionData}. */
  readonly collection: CollectionData;
  /** See {@linkcode NamespacesData}. */
  readonly namespaces: NamespacesData;
  /** See {@linkcode ViewData}. */
  readonly view: ViewData;
  /** See {@linkcode EndData}. */
  readonly end: EndData;
}
