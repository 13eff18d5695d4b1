import type { Entry } from "../../api/options.ts";
import { DecodeError } from "../../api/status.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import type { CacheSelection, EntrySelector, ObjectCache } from "../cache/lister.ts";
import type { EventLog, LogFollower } from "../events/event_log.ts";
import type { LoggedEvent } from "../events/event.ts";

/** The objects of a collection that a computation reads. */
export type FetchQuery<T, Name extends string = string> =
  | {
    /** The key of one object; without one, there is none. */
    readonly key: ObjectKey | undefined;
  }
  | {
    /** The name of an index of the collection. */
    readonly index: Name | "namespace";
    /** The index value. */
    readonly value: string;
  }
  | (CacheSelection & {
    /** One namespace. @default {all of them} */
    readonly namespace?: string;
  })
  | {
    /** Holds for the objects that are read. */
    readonly where: (object: T) => boolean;
  };

/** One way to read a collection, and the computations that have read it so. */
export class Dependency<C> {
  /** Those that have read it so in their last call. */
  readonly users = new Set<C>();
  /** The call that has read it last. */
  lastCall = 0;
  /** The selectors, of a dependency on what they select. */
  readonly selector: EntrySelector | undefined;
  readonly #home: Map<string, Dependency<C>>;
  readonly #name: string;

  /** It is in `home` under this name while it has users. */
  constructor(home: Map<string, Dependency<C>>, name: string, selector?: EntrySelector) {
    this.#home = home;
    this.#name = name;
    this.selector = selector;
    home.set(name, this);
  }

  /** Forgets a user. */
  leave(user: C): void {
    this.users.delete(user);
    if (this.users.size === 0 && this.#home.get(this.#name) === this) this.#home.delete(this.#name);
  }
}

type Dependencies<C> = Map<string, Dependency<C>>;

/**
 * The computations that have read one collection, by what they have read.
 *
 * It follows the log of the collection, so that it knows each change in the turn in which the cache has it, with the
 * entry that was cached before.
 */
export class Dependents<C> implements LogFollower<KubernetesObject>, Disposable {
  readonly #cache: ObjectCache<KubernetesObject>;
  readonly #onChange: (entry: Entry<KubernetesObject>, before: Entry<KubernetesObject> | undefined) => void;
  readonly #onSynced: () => void;
  readonly #due: (user: C) => void;
  readonly #unfollow: () => void;
  readonly #byKey: Dependencies<C> = new Map();
  /** By the name of the index, and the index value. */
  readonly #byIndex = new Map<string, Dependencies<C>>();
  /** By the namespace, `""` for all, and the selectors. */
  readonly #bySelection = new Map<string, Dependencies<C>>();
  /** Those of predicates, under one name. */
  readonly #byPredicate: Dependencies<C> = new Map();

  /**
   * Follows a log, whose events are changes of `cache`. `due` receives each computation that has read what a change
   * concerns; `onChange` receives the entries of each change, and `onSynced` is called when the collection has synced.
   */
  constructor(
    cache: ObjectCache<KubernetesObject>,
    log: EventLog<KubernetesObject>,
    { due, onChange, onSynced }: {
      readonly due: (user: C) => void;
      readonly onChange: (entry: Entry<KubernetesObject>, before: Entry<KubernetesObject> | undefined) => void;
      readonly onSynced: () => void;
    },
  ) {
    this.#cache = cache;
    this.#due = due;
    this.#onChange = onChange;
    this.#onSynced = onSynced;
    const unfollow = log.follow(this);
    log.readers++;
    this.#unfollow = (): void => {
      log.readers--;
      unfollow();
    };
  }

  logged(event: LoggedEvent<KubernetesObject>): void {
    if (event.type === "synced") return this.#onSynced();
    if (event.type === "deleted") return this.#changed(event.before, undefined);
    this.#changed(event.entry, event.type === "updated" ? event.before : undefined);
  }

  loggedInitial(entries: readonly Entry<KubernetesObject>[]): void {
    for (const entry of entries) this.#changed(entry, undefined);
  }

  /** Reads the collection; each dependency that the result has goes to `add`. */
  read(query: FetchQuery<KubernetesObject>, add: (dependency: Dependency<C>) => void): unknown {
    const { indexer, lister } = this.#cache;
    if ("key" in query) {
      if (query.key === undefined) return undefined;
      add(this.#byKey.get(query.key) ?? new Dependency(this.#byKey, query.key));
      return indexer.getByKey(query.key);
    }
    if ("index" in query) {
      const objects = indexer.byIndex(query.index as "namespace", query.value);
      const values = within(this.#byIndex, query.index);
      add(values.get(query.value) ?? new Dependency(values, query.value));
      return objects;
    }
    if ("where" in query) {
      add(this.#byPredicate.get("") ?? new Dependency(this.#byPredicate, ""));
      return lister.list().filter(query.where);
    }
    const { namespace = "", labelSelector = "", fieldSelector = "" } = query;
    const selector = lister.selector({ labelSelector, fieldSelector });
    const selections = within(this.#bySelection, namespace);
    const name = `${labelSelector}\n${fieldSelector}`;
    add(selections.get(name) ?? new Dependency(selections, name, selector));
    return (namespace === "" ? lister : lister.namespace(namespace)).list({ labelSelector, fieldSelector });
  }

  /** Follows the log no more. */
  [Symbol.dispose](): void {
    this.#unfollow();
  }

  #changed(entry: Entry<KubernetesObject>, before: Entry<KubernetesObject> | undefined): void {
    this.#onChange(entry, before);
    this.#notify(this.#byKey.get(entry.key));
    for (const [name, dependencies] of this.#byIndex) {
      for (const value of this.#cache.store.indexValuesOf(name, entry)) this.#notify(dependencies.get(value));
      if (before === undefined) continue;
      for (const value of this.#cache.store.indexValuesOf(name, before)) this.#notify(dependencies.get(value));
    }
    this.#notifySelecting("", entry, before);
    if (entry.namespace !== "") this.#notifySelecting(entry.namespace, entry, before);
    this.#notify(this.#byPredicate.get(""));
  }

  #notifySelecting(
    namespace: string,
    entry: Entry<KubernetesObject>,
    before: Entry<KubernetesObject> | undefined,
  ): void {
    const selections = this.#bySelection.get(namespace);
    if (selections === undefined) return;
    if (selections.size === 0) this.#bySelection.delete(namespace);
    for (const dependency of selections.values()) {
      const { selector } = dependency;
      if (selects(selector!, entry) || (before !== undefined && selects(selector!, before))) this.#notify(dependency);
    }
  }

  #notify(dependency: Dependency<C> | undefined): void {
    if (dependency === undefined) return;
    for (const user of dependency.users) this.#due(user);
  }
}

/** Lists leave out an object that cannot be read. */
function selects(selector: EntrySelector, entry: Entry<KubernetesObject>): boolean {
  try {
    return selector.matches(entry);
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

function within<C>(all: Map<string, Dependencies<C>>, name: string): Dependencies<C> {
  const known = all.get(name);
  if (known !== undefined) return known;
  const added: Dependencies<C> = new Map();
  all.set(name, added);
  return added;
}
