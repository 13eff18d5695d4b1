import type { KubernetesObject } from "../api/object.ts";
import type { Lister } from "./cache/lister.ts";
import type { HandlerOptions, HandlerRegistration, InformerEvent, ResourceEventHandler } from "./events/event.ts";
import type { InformerStatus } from "./status.ts";
import type { OrderedView, ViewOptions } from "./view/cache_view.ts";

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
