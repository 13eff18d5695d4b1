import type { ViewUpdate } from "../../informer/view/view_update.ts";
import type { EndData, StateData } from "./relay_events.ts";

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
   * Words, each of which must be in the namespace, the name, or a cell where the objects are rows of a table. Case does not
   * matter.
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
  /** The number of objects that the relay has; unset where `redact` may hide some. */
  readonly objects?: number;
  /** The number of events that the relay has received from the server. */
  readonly events: number;
}

/** The data of `view`. */
export interface ViewData<T = unknown> extends ViewUpdate<T> {
  /** The name of the view. */
  readonly view: string;
}

/**
 * The events of `GET /views?views=<JSON>`: server-sent events about views, which are windows of the objects of a collection, in
 * order. A request names up to 16 views by an object of {@linkcode ViewRequest}s by their names.
 *
 * `POST /views/<id>` with such an object as its body, of at most 16,384 bytes, which come within 5 s, replaces the views of an open stream, whose `id` its
 * first event has: a view that differs in its window alone is moved, and one that is the same is kept. It is answered by 204, and by
 * 404 where the stream is not one of this relay (any more): the client then opens another one. Where the views of all clients would take
 * too much memory, both requests are answered by 503, and the stream ends.
 *
 * | event | data | meaning |
 * | --- | --- | --- |
 * | `stream` | {@linkcode StreamData} | first of all |
 * | `collection` | {@linkcode CollectionData} | the state of a collection that a view is of: at first, and when it has changed |
 * | `view` | {@linkcode ViewData} | all rows of a window, or changes of it |
 * | `end` | {@linkcode EndData} | the relay ends the stream, for that reason |
 *
 * They have no ids: a client that reconnects opens its views again, which costs their windows. A client that reads slowly receives
 * fewer updates of a view, and all rows where they would be less than the changes. Changes come at most every 50 ms for each view,
 * and those of a collection's state at most every 500 ms.
 */
export interface ViewEvents {
  /** See {@linkcode StreamData}. */
  readonly stream: StreamData;
  /** See {@linkcode CollectionData}. */
  readonly collection: CollectionData;
  /** See {@linkcode ViewData}. */
  readonly view: ViewData;
  /** See {@linkcode EndData}. */
  readonly end: EndData;
}
