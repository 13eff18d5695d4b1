import { copyOf, type Mutable } from "../../api/mutable.ts";
import type { ObjectMeta } from "../../api/object.ts";
import type { NamespacedBuildOptions } from "./build_options.ts";
import { Random } from "./random.ts";

/** Creation timestamp: constant, so that equal options give equal objects. */
const CREATED = "2026-01-01T00:00:00Z";

/** Builds the metadata of an object; `cluster` omits the namespace. */
export function builtMetadata(
  kind: string,
  options: NamespacedBuildOptions,
  cluster = false,
): Mutable<ObjectMeta> {
  const { name, namespace = "default", resourceVersion = "1", labels, annotations, ownerReferences, finalizers } =
    options;
  return copyOf<ObjectMeta>({
    name,
    ...(cluster ? {} : { namespace }),
    uid: builtUid(kind, options),
    resourceVersion,
    creationTimestamp: CREATED,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(finalizers === undefined ? {} : { finalizers }),
    ...options.metadata,
  });
}

/** Returns the uid of an object, derived from kind, namespace and name unless it is given. */
export function builtUid(kind: string, { uid, namespace = "default", name }: NamespacedBuildOptions): string {
  return uid ?? new Random(hash(`${kind}/${namespace}/${name}`)).uid();
}

/** FNV-1a hash. */
function hash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
