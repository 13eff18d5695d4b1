import type { DynamicObject } from "./object.ts";
import type { Resource } from "./resource.ts";

/** A kind that the server has, as discovery describes it. */
export interface ApiResource extends Resource<DynamicObject> {
  /** The singular name in lower case: `"pod"`. */
  readonly singular: string;
  /** Short names: `["po"]`. */
  readonly shortNames: readonly string[];
  /** The groups of resources that it belongs to: `["all"]`. */
  readonly categories: readonly string[];
  /** The verbs that the server supports: `["get", "list", "watch", …]`. */
  readonly verbs: readonly string[];
  /** The subresources: `["status", "scale"]`. */
  readonly subresources: readonly string[];
  /** True if its version is the one of its group that the server prefers. */
  readonly preferred: boolean;
}
