import {
  type AddedEvent,
  compareResourceVersions,
  type DeletedEvent,
  type HandlerRegistration,
  type KubernetesObject,
  type ResourceEventHandler,
  type SharedIndexInformer,
  type UpdatedEvent,
} from "@kube/informer";
import { nextTurn } from "../../../src/engine/async/turns.ts";

/**
 * A handler that checks its events: for each key a sequence without gaps, added, updated with rising versions, deleted,
 * and added again.
 */
export class EventChecker<T extends KubernetesObject> implements ResourceEventHandler<T> {
  /** The events that contradict earlier ones. */
  readonly problems: string[] = [];
  /** The number of events of each kind. */
  readonly counts = { added: 0, updated: 0, deleted: 0 };
  /** The number of deletions whose final state is unknown. */
  unknownFinalStates = 0;
  readonly #informer: SharedIndexInformer<T, string>;
  readonly #registration: HandlerRegistration;
  readonly #present = new Map<string, { readonly uid: string; readonly resourceVersion: string }>();

  /** Begins to listen; by `adder`, if it is not the informer that adds the handler. */
  constructor(
    informer: SharedIndexInformer<T, string>,
    adder: Pick<SharedIndexInformer<T, string>, "addEventHandler"> = informer,
  ) {
    this.#informer = informer;
    this.#registration = adder.addEventHandler(this);
  }

  /** All in one line. */
  get summary(): string {
    const { added, updated, deleted } = this.counts;
    return `${added} added, ${updated} updated, ${deleted} deleted`;
  }

  /** There must be none of that key. */
  onAdd({ key, uid, resourceVersion }: AddedEvent<T>): void {
    this.counts.added++;
    if (this.#present.has(key)) this.problems.push(`"${key}" was added twice, the second time at ${resourceVersion}`);
    this.#present.set(key, { uid, resourceVersion });
  }

  /** It must be the same object, newer. */
  onUpdate({ key, uid, resourceVersion, previous }: UpdatedEvent<T>): void {
    this.counts.updated++;
    const before = this.#present.get(key);
    if (before === undefined) this.problems.push(`"${key}" was updated at ${resourceVersion} while it was not there`);
    else {
      if (before.uid !== uid) this.problems.push(`"${key}" became another object at ${resourceVersion}, by an update`);
      if (compareResourceVersions(before.resourceVersion, resourceVersion) >= 0) {
        this.problems.push(`"${key}" went from ${before.resourceVersion} to ${resourceVersion}`);
      }
      const { resourceVersion: delivered } = previous.metadata;
      if (before.resourceVersion !== delivered) {
        this.problems.push(
          `"${key}" was updated with a previous version of ${delivered}, after ${before.resourceVersion}`,
        );
      }
    }
    this.#present.set(key, { uid, resourceVersion });
  }

  /** It must be there. */
  onDelete({ key, uid, resourceVersion, finalStateUnknown }: DeletedEvent<T>): void {
    this.counts.deleted++;
    if (finalStateUnknown) this.unknownFinalStates++;
    const before = this.#present.get(key);
    if (before === undefined) this.problems.push(`"${key}" was deleted while it was not there`);
    else if (before.uid !== uid) this.problems.push(`"${key}" was deleted as another object than it was`);
    else if (compareResourceVersions(before.resourceVersion, resourceVersion) > 0) {
      this.problems.push(`"${key}" was deleted at ${resourceVersion}, before it was at ${before.resourceVersion}`);
    }
    this.#present.delete(key);
  }

  /** Waits for pending events, and returns what is wrong with them, or differs from the cache; empty if nothing is. */
  async end(): Promise<readonly string[]> {
    while (this.#registration.pending > 0) await nextTurn();
    const { entries } = this.#informer;
    const missing = entries.list().filter(({ key, resourceVersion }) =>
      this.#present.get(key)?.resourceVersion !== resourceVersion
    ).map(({ key, resourceVersion }) => `"${key}" is cached at ${resourceVersion}, which was not delivered`);
    const extra = [...this.#present.keys()].filter((key) => entries.getByKey(key) === undefined)
      .map((key) => `"${key}" is not cached, and its deletion was not delivered`);
    return [...this.problems, ...missing, ...extra].slice(0, 20);
  }
}
