/**
 * Predicates: they decide which events lead to a reconcile.
 *
 * {@linkcode Predicate} is the entry point, and {@linkcode generationChanged} the usual one. They read events, and
 * `reconciler.ts` calls them.
 *
 * @module
 */
import type { KubernetesObject, ObjectMeta } from "../../../engine/api/object.ts";
import { membersAt, parseFieldPath, sameValue } from "../../../engine/api/selector.ts";
import type { AddedEvent, DeletedEvent, UpdatedEvent } from "../../../engine/informer/events/event.ts";

/** An event about an object. Its fields are parsed when you first read them. */
export type ObjectChange<T> = AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T>;

/**
 * Decides whether an event leads to a reconcile. Return `false` or an empty list to ignore the event. Paths that you
 * return appear in the reconcile's triggers. If the function throws, the error is reported and the event is ignored.
 *
 * Your function is called for every event, including added, deleted and resynced objects.
 */
export type Predicate<T> = (event: ObjectChange<T>) => boolean | readonly string[];

/**
 * Passes updates that change the desired state: `metadata.generation` differs, or a deletion began. If the kind has no
 * generations, every update passes. Added, deleted and resynced objects always pass.
 */
export function generationChanged(event: ObjectChange<KubernetesObject>): boolean | readonly string[] {
  return changed(event, (metadata, before) => {
    if (metadata.deletionTimestamp !== before.deletionTimestamp) return ["metadata.deletionTimestamp"];
    if (metadata.generation === undefined) return true;
    return metadata.generation === before.generation ? false : ["metadata.generation"];
  });
}

/** Passes updates that change a label. Added, deleted and resynced objects always pass. */
export function labelsChanged(event: ObjectChange<KubernetesObject>): boolean | readonly string[] {
  return changed(event, ({ labels }, before) => !sameValue(labels, before.labels) && ["metadata.labels"]);
}

/** Passes updates that change an annotation. Added, deleted and resynced objects always pass. */
export function annotationsChanged(event: ObjectChange<KubernetesObject>): boolean | readonly string[] {
  return changed(event, ({ annotations }, before) => {
    return !sameValue(annotations, before.annotations) && ["metadata.annotations"];
  });
}

/**
 * Creates a predicate that passes updates in which the value at a path differs, such as `"spec.replicas"`. Added,
 * deleted and resynced objects always pass. It parses both versions of an updated object.
 *
 * Paths are the same as in the option `fields`. `spec.containers.image` means every container's image. Put a key with
 * special characters in brackets: `metadata.annotations["example.com/owner"]`.
 *
 * @throws {TypeError} if there is no path.
 * @throws {SyntaxError} if a text is not a path.
 *
 * @example
 * ```ts
 * import type { Pod } from "@kube/informer/kinds/core/v1";
 * import { fieldsChanged, type Predicate } from "@kube/informer/reconcile";
 *
 * const phaseOrNode: Predicate<Pod> = fieldsChanged("status.phase", "spec.nodeName");
 * ```
 */
export function fieldsChanged(...paths: readonly string[]): Predicate<KubernetesObject> {
  if (paths.length === 0) {
    throw new TypeError('Cannot compare fields: expected paths such as "spec.replicas", found none');
  }
  const keys = paths.map(parseFieldPath);
  return (event) => {
    if (event.type !== "updated" || event.resync) return true;
    const { object, previous } = event;
    return paths.filter((_path, index) => !sameValue(membersAt(object, keys[index]), membersAt(previous, keys[index])));
  };
}

/**
 * Returns the paths of a change that passes one of `predicates`, or an empty list if there are none. Returns undefined
 * if it passes none.
 */
export function passedPaths<T>(
  event: ObjectChange<T>,
  predicates: readonly Predicate<T>[],
): readonly string[] | undefined {
  if (predicates.length === 0) return NONE;
  let passed: readonly string[] | undefined;
  for (const predicate of predicates) {
    const result = predicate(event);
    if (result === true) passed ??= NONE;
    else if (result !== false && result.length > 0) passed = passed === undefined ? result : [...passed, ...result];
  }
  return passed;
}

const NONE: readonly string[] = [];

function changed(
  event: ObjectChange<KubernetesObject>,
  compare: (metadata: ObjectMeta, before: ObjectMeta) => boolean | readonly string[],
): boolean | readonly string[] {
  if (event.type !== "updated" || event.resync) return true;
  return compare(event.metadata, event.before.metadata);
}
