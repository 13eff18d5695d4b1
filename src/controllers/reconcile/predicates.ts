/**
 * Predicates: which events lead to a reconcile.
 *
 * {@linkcode Predicate} is the entry point, and {@linkcode generationChanged} the usual one. They read events, and are
 * called by `reconciler.ts`.
 *
 * @module
 */
import type { KubernetesObject, ObjectMeta } from "../../api/object.ts";
import { membersAt, parseFieldPath, sameValue } from "../../api/selector.ts";
import type { AddedEvent, DeletedEvent, UpdatedEvent } from "../../informer/events/event.ts";

/** An event about an object. Its fields are parsed when they are first read. */
export type ObjectChange<T> = AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T>;

/**
 * Decides whether an event leads to a reconcile: by `false` or an empty list it does not. The paths of a list are in
 * the triggers of the reconcile. When it throws, the error is reported, and the event does not lead to a reconcile.
 *
 * A function of a program is called for every event, also for added, deleted and resynced objects.
 */
export type Predicate<T> = (event: ObjectChange<T>) => boolean | readonly string[];

/**
 * Passes updates of the desired state: those that change `metadata.generation` or begin a deletion. Kinds without
 * generations pass with every update. Added, deleted and resynced objects pass.
 */
export function generationChanged(event: ObjectChange<KubernetesObject>): boolean | readonly string[] {
  return changed(event, (metadata, before) => {
    if (metadata.deletionTimestamp !== before.deletionTimestamp) return ["metadata.deletionTimestamp"];
    if (metadata.generation === undefined) return true;
    return metadata.generation === before.generation ? false : ["metadata.generation"];
  });
}

/** Passes updates that change a label. Added, deleted and resynced objects pass. */
export function labelsChanged(event: ObjectChange<KubernetesObject>): boolean | readonly string[] {
  return changed(event, ({ labels }, before) => !sameValue(labels, before.labels) && ["metadata.labels"]);
}

/** Passes updates that change an annotation. Added, deleted and resynced objects pass. */
export function annotationsChanged(event: ObjectChange<KubernetesObject>): boolean | readonly string[] {
  return changed(event, ({ annotations }, before) => {
    return !sameValue(annotations, before.annotations) && ["metadata.annotations"];
  });
}

/**
 * Creates a predicate that passes updates in which the value at one of `paths` differs, such as `"spec.replicas"`.
 * Added, deleted and resynced objects pass. It parses both versions of an updated object.
 *
 * Paths are those of `fields`: `spec.containers.image` is the image of each container, and a key with other characters
 * stands in brackets, as in `metadata.annotations["example.com/owner"]`.
 *
 * @throws {TypeError} when there is no path.
 * @throws {SyntaxError} when a text is no path.
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
 * Returns the paths of a change that passes one of `predicates`, or that passes because there are none; undefined when
 * it passes none.
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
