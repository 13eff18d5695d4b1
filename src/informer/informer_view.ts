import type { KubernetesObject } from "../api/object.ts";
import type { Lister } from "./cache/lister.ts";
import type { InformerEvent } from "./events/event.ts";
import type { HandlerOptions, HandlerRegistration, ResourceEventHandler } from "./events/handler.ts";
import type { InformerStatus } from "./status.ts";
import type { ViewOptions } from "./view/cache_view.ts";
import type { OrderedView } from "./view/ordered_view.ts";

/** The reading side of an informer, whatever its indexes: the parameter type of functions over several kinds. */
export interface InformerView<T extends KubernetesObject> {
  /** Reads the cache. */
  readonly lister: Lister<T>;
  /** `true` once the cache has been equal to the server. */
  readonly hasSynced: boolean;
  /** Returns the present status. */
  status(): InformerStatus;
  /** Calls `handler` for the cached objects, then for changes. */
  addEventHandler(handler: ResourceEventHandler<T>, options?: HandlerOptions<T>): HandlerRegistration;
  /** Returns the cached objects as events, then changes. */
  events(options?: HandlerOptions<T>): AsyncIterableIterator<InformerEvent<T>>;
  /** Returns the cached objects in order, for readers of a part of them. */
  view(options?: ViewOptions<T>): OrderedView<T>;
}
