import type { KubernetesObject } from "../../api/object.ts";
import type { InformerState } from "../../informer/sync/state.ts";

/**
 * The answer to `GET /api/<name>`, as JSON with an entity tag: a request with `If-None-Match` of a list that has not changed is
 * answered by 304, without a body. Its parameters are those of {@linkcode RelayEvents}, but for `lastEventId`.
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
   * Of `snapshot`, the number of objects of the collection, selected or not; unset where `redact` may hide some. Of `synced`, the number
   * of objects that the snapshot had.
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
   * - `slow`: the client did not read for too long, or fell too far behind. It should reconnect, and may have to take a snapshot.
   * - `expired`: the time for which the request was authorized is over. It should reconnect, and is asked again.
   * - `closed`: the relay or its informer was stopped. It should reconnect later.
   */
  readonly reason: "slow" | "expired" | "closed";
}

/**
 * The events of `GET /events/<name>`: server-sent events, each with a name and one line of JSON as data. The parameters of a
 * request, whose query has at most 4,096 characters, are
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
 * | `reset` | {@linkcode ResetData} | the stream cannot be resumed at `Last-Event-ID`, which is to be forgotten; a snapshot follows |
 * | `snapshot` | {@linkcode SnapshotData} | a snapshot begins: it replaces everything that the client knows |
 * | `added` | the object | an object of the snapshot, or one that was created, or begins to match the selectors |
 * | `synced` | {@linkcode SnapshotData} | the snapshot is complete: the client has the state of the relay's cache of this moment |
 * | `updated` | the object | the new state of an object |
 * | `deleted` | {@linkcode DeletedData} | an object was deleted, or no longer matches |
 * | `end` | {@linkcode EndData} | the relay ends the stream, for that reason |
 *
 * A snapshot is read from the present cache while the client reads it, so changes come between `snapshot` and `synced` too, also of
 * objects that the client does not have yet.
 *
 * **Resuming.** An `id` names a position in the changes of one selection of one cache; it is opaque, and has at most 1,000
 * characters. A stream that is opened with it, by the same address, continues behind it, without a snapshot, while the relay holds
 * the changes since then. Only the last change of a batch has one, and so have `synced` and the heartbeats, which are comments; before `synced` nothing has. So
 * changes may come again after a connection was cut within a batch: `added` and `updated` say what the object is now, and `deleted`
 * of an object that the client does not have says nothing.
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
