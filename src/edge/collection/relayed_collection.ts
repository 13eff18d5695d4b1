import type { KubernetesObject } from "../../api/object.ts";
import type { Selection } from "../../api/options.ts";
import type { Resource } from "../../api/resource.ts";
import type { SharedIndexInformerOptions } from "../../informer/options.ts";

/**
 * One collection that a relay serves: its resource, and the options of its informer. The data of Secrets is served if
 * `keep: "data"` asks for it.
 */
export interface RelayedCollection extends Selection, SharedIndexInformerOptions<KubernetesObject> {
  /** The kind, or the table of it: then views have its rows, and lists and event streams the objects in them. */
  readonly resource: Resource;
}
