/**
 * The events and lists that a relay sends, as types and text.
 *
 * {@linkcode RelayEvents} is the entry point. Clients import the types from here, so the file has no part of the
 * server.
 *
 * @module
 */
import { encoder, type KubernetesObject } from "../../api/object.ts";
import { defined } from "../../api/options.ts";
import type { ViewUpdate } from "../../informer/cache_view.ts";
import type { InformerStatus } from "../../informer/status.ts";
import type { InformerState } from "../../informer/sync/state.ts";

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
 * The answer to `GET /api/<name>`, as JSON with an entity tag: a request with `If-None-Match` of a list that has not
 * changed is answered by 304, without a body. Its parameters are those of {@linkcode RelayEvents}, but for
 * `lastEventId`.
 */
export interface RelayList<T extends KubernetesObject = KubernetesObject> extends StateData {
  /** The name of the collection, as in the path of the request. */
  readonly name: string;
  /** The version up to which the list has every change; of several namespaces, the oldest. */
  readonly resourceVersion: string;
  /** The objects, in no particular order. */
  readonly items: readonly T[];
}

/** The data of `state`. */
export interface StateData {
  /** The state of the informer; anything but `"live"` says that the objects may be out of date. */
  readonly state: InformerState;
  /** The time since which it is not live, as an ISO text; unset while it is. */
  readonly notLiveSince?: string;
}

/** The data of `reset`. */
export interface ResetData {
  /** A sentence. */
  readonly reason: string;
}

/** The data of `snapshot` and `synced`. */
export interface SnapshotData {
  /**
   * Of `snapshot`, the number of objects of the collection, selected or not; unset where `redact` or the rights of the
   * client may hide some. Of `synced`, the number of objects that the snapshot had.
   */
  readonly objects?: number;
}

/** The data of `deleted`. */
export interface DeletedData {
  /** `"namespace/name"`, or `"name"` of an object without a namespace. */
  readonly key: string;
  /** The uid of the object. */
  readonly uid: string;
}

/** The data of `end`. */
export interface EndData {
  /**
   * - `slow`: the client did not read for too long, or fell too far behind. It should reconnect, and may have to take a
   *   snapshot.
   * - `expired`: the time for which the request was authorized is over. It should reconnect, and is asked again.
   * - `closed`: the relay or its informer was stopped. It should reconnect later.
   * - `behind`: the client has changes of another relay which the cache of this one does not have. It should keep its
   *   id, and reconnect.
   */
  readonly reason: "slow" | "expired" | "closed" | "behind";
}

/**
 * The events of `GET /events/<name>`: server-sent events, each with a name and one line of JSON as data. The parameters
 * of a request, whose query has at most 4,096 characters, are
 *
 * | parameter | value |
 * | --- | --- |
 * | `namespace` | one namespace. Without it: all that the relay serves |
 * | `labelSelector`, `fieldSelector` | as in Kubernetes; a field selector may name any field |
 * | `fields` | the fields that are kept of each object, as paths of `parseFieldPath`, separated by commas or repeated |
 * | `lastEventId` | as the header `Last-Event-ID`, which takes precedence |
 *
 * The events of one stream, in order:
 *
 * | event | data | meaning |
 * | --- | --- | --- |
 * | `state` | {@linkcode StateData} | the state of the informer: first of all, and whenever it changes |
 * | `reset` | {@linkcode ResetData} | the stream cannot be resumed at `Last-Event-ID`, which the id of this event replaces; a snapshot follows |
 * | `snapshot` | {@linkcode SnapshotData} | a snapshot begins: it replaces everything that the client knows |
 * | `added` | the object | an object of the snapshot, or one that was created, or begins to match the selectors |
 * | `synced` | {@linkcode SnapshotData} | the snapshot is complete: the client has the state of the relay's cache of this moment |
 * | `updated` | the object | the new state of an object |
 * | `deleted` | {@linkcode DeletedData} | an object was deleted, or no longer matches |
 * | `end` | {@linkcode EndData} | the relay ends the stream, for that reason |
 *
 * Where the rights of the client change while the stream is open, `reset` and another snapshot follow.
 *
 * A snapshot is read from the present cache while the client reads it, so changes come between `snapshot` and `synced`
 * too, also of objects that the client does not have yet.
 *
 * **Resuming.** An `id` names a position in the changes of one selection of one cache; it is opaque, and has at most
 * 1,000 characters. A stream that is opened with it, by the same address, continues behind it, without a snapshot,
 * while the relay holds the changes since then. Each change has one, and so have `synced` and the heartbeats, which are
 * comments; before `synced` nothing has. The id of `reset` names no position, and is `""` where no snapshot can be
 * older than the state of the client.
 *
 * An id has the versions of the server that the client's state equals, by which other relays of the same `cluster`
 * continue the stream. A relay whose cache has not reached them writes nothing for 3 s, in which it usually does. Then
 * it compares its cache with the server, at most every 10 s: where they are equal a snapshot follows, which is not
 * older than what the client has; otherwise the stream ends as `behind`.
 *
 * Some clients, such as `launchdarkly-eventsource`, emit an event `end` of their own after each cut, which has no data:
 * a listener of `end` must expect both.
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

/** The answer to `GET /api`. */
export interface CollectionList {
  /** The collections that the relay serves. */
  readonly collections: readonly {
    /** The name, as in addresses. */
    readonly name: string;
    /** The kind, `"Pod"`. */
    readonly kind: string;
    /** The scope: in namespaces, or in none. */
    readonly scope: "Namespaced" | "Cluster";
    /** `true` if the rows of views are rows of the server's table. */
    readonly isTable: boolean;
  }[];
}

/** A view that a client asks for. */
export interface ViewRequest {
  /** The name of the collection. */
  readonly of: string;
  /** One namespace. @default {all that the relay serves} */
  readonly namespace?: string;
  /** As in Kubernetes. @default {any} */
  readonly labelSelector?: string;
  /** As in Kubernetes, but of any fields. @default {any} */
  readonly fieldSelector?: string;
  /**
   * Words, each of which must be in the namespace, the name, or a cell where the objects are rows of a table. Case does
   * not matter.
   *
   * @default {none}
   */
  readonly search?: string;
  /** Up to 100 paths of fields, as in `SortKey`. @default {the order of the object keys} */
  readonly sortBy?: readonly string[];
  /** The paths of the fields that are kept of each object, up to 100. @default {all} */
  readonly fields?: readonly string[];
  /** The number of rows before the window. @default {0} */
  readonly offset?: number;
  /** The greatest number of rows in the window, 1,000 at most. @default {50} */
  readonly limit?: number;
}

/** The data of `stream`. */
export interface StreamData {
  /** The name of the stream in `POST /views/<id>`; a secret of this client. */
  readonly id: string;
}

/** The data of `collection`. */
export interface CollectionData extends StateData {
  /** The name of the collection. */
  readonly name: string;
  /** The number of objects that the relay has; unset where `redact` or the rights of the client may hide some. */
  readonly objects?: number;
  /** The number of events that the relay has received from the server; unset where the client has rights to some. */
  readonly events?: number;
}

/**
 * The data of `namespaces`. It is sent where a view is of all namespaces, unless `redact` or the rights of the client
 * may hide some.
 */
export interface NamespacesData {
  /** The name of the collection. */
  readonly name: string;
  /** The namespaces that have objects, in order, 1,000 at most. */
  readonly namespaces: readonly string[];
}

/** The data of `view`. */
export interface ViewData<T = unknown> extends ViewUpdate<T> {
  /** The name of the view. */
  readonly view: string;
}

/**
 * The events of `GET /views?views=<JSON>`: server-sent events about views, which are windows of the objects of a
 * collection, in order. A request names up to 16 views by an object of {@linkcode ViewRequest}s by their names.
 *
 * `POST /views/<id>` with such an object as its body, of at most 16,384 bytes, which come within 5 s, replaces the
 * views of an open stream, whose `id` its first event has: a view that differs in its window alone is moved, and one
 * that is the same is kept. It is answered by 204, and by 404 where the stream is not one of this relay (any more): the
 * client then opens another one. Where the views of all clients would take too much memory, both requests are answered
 * by 503, and the stream ends.
 *
 * | event | data | meaning |
 * | --- | --- | --- |
 * | `stream` | {@linkcode StreamData} | first of all |
 * | `collection` | {@linkcode CollectionData} | the state of a collection that a view is of: at first, and when it has changed |
 * | `namespaces` | {@linkcode NamespacesData} | the namespaces of a collection: at first, and when they have changed |
 * | `view` | {@linkcode ViewData} | all rows of a window, or changes of it |
 * | `end` | {@linkcode EndData} | the relay ends the stream, for that reason |
 *
 * They have no ids: a client that reconnects opens its views again, which costs their windows. A client that reads
 * slowly receives fewer updates of a view, and all rows where they would be less than the changes. Changes come at most
 * every 50 ms for each view, and those of a collection's state at most every 500 ms.
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
