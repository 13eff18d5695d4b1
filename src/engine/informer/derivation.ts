/**
 * Computes collections from others.
 *
 * {@linkcode Derivation} is the entry point: it calls a function for each input, remembers by `Dependents` what each
 * call has read, and calls it again when that has changed. It writes the outputs to a cache, and appends their changes
 * to a log; it sends no requests, and has no handlers of its own.
 *
 * @module
 */
import type { CacheEntry } from "../api/entry.ts";
import { keyOf, type KubernetesObject, type ObjectKey } from "../api/object.ts";
import { isPlain, sameValue } from "../api/selector.ts";
import { DecodeError } from "../api/status.ts";
import { callObserver } from "../async/signals.ts";
import { monotonicMs } from "../async/time.ts";
import { Pacer } from "../async/turns.ts";
import type { EntrySelector } from "../entry/entry_selector.ts";
import { deepFreeze } from "../entry/shared_parts.ts";
import { InformerError } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import { ObjectEntry } from "./cache/entry_transform.ts";
import type { CacheSelection } from "./cache/lister.ts";
import type { ObjectCache } from "./cache/object_cache.ts";
import { Added, Deleted, type LoggedEvent, Updated } from "./events/event.ts";
import type { LogFollower } from "./events/event_log.ts";
import type { Processor } from "./events/processor.ts";
import type { StateKeeper } from "./sync/state_keeper.ts";

/** Which objects to read from a collection, see {@linkcode ReadObjects}. */
export type ReadQuery<T, Name extends string = string> =
  | {
    /** The object's key. `undefined` reads no object. */
    readonly key: ObjectKey | undefined;
  }
  | {
    /** The name of an index on the collection. */
    readonly index: Name | "namespace";
    /** The index value. */
    readonly value: string;
  }
  | (CacheSelection & {
    /** A namespace. By default, all namespaces. */
    readonly namespace?: string;
  })
  | {
    /** Returns `true` for the objects to read. */
    readonly where: (object: T) => boolean;
  };

/** One way to read a collection, and the computations that have read it so. */
class Dependency {
  /** Those that have read it so in their last call. */
  readonly users = new Set<Computation>();
  /** The call that has read it last. */
  lastCall = 0;
  /** The selectors, of a dependency on what they select. */
  readonly selector: EntrySelector | undefined;
  readonly #home: Dependencies;
  readonly #name: string;

  /** It is in `home` under this name while it has users. */
  constructor(home: Dependencies, name: string, selector?: EntrySelector) {
    this.#home = home;
    this.#name = name;
    this.selector = selector;
    home.set(name, this);
  }

  /** Forgets a user. */
  leave(user: Computation): void {
    this.users.delete(user);
    if (this.users.size === 0 && this.#home.get(this.#name) === this) this.#home.delete(this.#name);
  }
}

/** Ways to read a collection, by name. A group of them leaves the map that it is in with its last one. */
class Dependencies extends Map<string, Dependency> {
  readonly #groups: Map<string, Dependencies> | undefined;
  readonly #group: string;

  /** With `groups`, it is in that map under the name `group`. */
  constructor(groups?: Map<string, Dependencies>, group = "") {
    super();
    this.#groups = groups;
    this.#group = group;
    groups?.set(group, this);
  }

  override delete(name: string): boolean {
    const isDeleted = super.delete(name);
    if (this.size === 0) this.#groups?.delete(this.#group);
    return isDeleted;
  }
}

/**
 * The computations that have read one collection, by what they have read.
 *
 * It follows the log of the collection, so that it knows each change in the turn in which the cache has it, with the
 * entry that was cached before.
 */
class Dependents implements LogFollower<KubernetesObject>, Disposable {
  readonly #source: FollowedCollection;
  readonly #owner: Derivation;
  readonly #unfollow: () => void;
  readonly #byKey = new Dependencies();
  /** By the name of the index, and the index value. */
  readonly #byIndex = new Map<string, Dependencies>();
  /** By the namespace, `""` for all, and the selectors. */
  readonly #bySelection = new Map<string, Dependencies>();
  /** Those of predicates, under one name. */
  readonly #byPredicate = new Dependencies();

  /** Follows the log of a collection. */
  constructor(source: FollowedCollection, owner: Derivation) {
    this.#source = source;
    this.#owner = owner;
    const { log } = source.processor;
    const unfollow = log.follow(this);
    log.readers++;
    this.#unfollow = (): void => {
      log.readers--;
      unfollow();
    };
  }

  logged(event: LoggedEvent<KubernetesObject>): void {
    if (event.type === "synced") return this.#owner.sourceSynced();
    if (event.type === "deleted") this.#changed(undefined, event.before);
    else this.#changed(event.entry, event.type === "updated" ? event.before : undefined);
  }

  loggedInitial(entries: readonly CacheEntry<KubernetesObject>[]): void {
    for (const entry of entries) this.#changed(entry, undefined);
  }

  /** Reads the collection; each dependency that the result has goes to `add`. */
  read(query: ReadQuery<KubernetesObject>, add: (dependency: Dependency) => void): unknown {
    const { indexer, lister } = this.#source.cache;
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

  #changed(entry: CacheEntry<KubernetesObject> | undefined, before: CacheEntry<KubernetesObject> | undefined): void {
    const { store } = this.#source.cache;
    const { key, namespace } = (entry ?? before)!;
    this.#owner.sourceChanged(this.#source, entry, before);
    this.#notify(this.#byKey.get(key));
    for (const [name, dependencies] of this.#byIndex) {
      for (const value of entry === undefined ? NONE : store[internals].filed(name, key)) {
        this.#notify(dependencies.get(value));
      }
      if (before === undefined) continue;
      for (const value of store[internals].filedBefore(name, before)) this.#notify(dependencies.get(value));
    }
    this.#notifySelecting("", entry, before);
    if (namespace !== "") this.#notifySelecting(namespace, entry, before);
    this.#notify(this.#byPredicate.get(""));
  }

  #notifySelecting(namespace: string, ...changed: (CacheEntry<KubernetesObject> | undefined)[]): void {
    for (const dependency of this.#bySelection.get(namespace)?.values() ?? NONE) {
      if (changed.some((entry) => selects(dependency.selector!, entry))) this.#notify(dependency);
    }
  }

  #notify(dependency: Dependency | undefined): void {
    if (dependency === undefined) return;
    for (const user of dependency.users) this.#owner.changed(user);
  }
}

/** Lists leave out an object that cannot be read. Any other error is the next call's, which meets and reports it. */
function selects(selector: EntrySelector, entry: CacheEntry<KubernetesObject> | undefined): boolean {
  try {
    return entry !== undefined && selector.matches(entry);
  } catch (error) {
    return !(error instanceof DecodeError);
  }
}

function within(groups: Map<string, Dependencies>, name: string): Dependencies {
  return groups.get(name) ?? new Dependencies(groups, name);
}

/** A collection whose cache and log others follow. */
export interface FollowedCollection<T extends KubernetesObject = KubernetesObject> {
  /** Its names in messages: as what follows it, quoted, and alone. */
  readonly collection: { readonly informer: string; readonly subject: string; readonly name: string };
  /** Its objects. */
  readonly cache: ObjectCache<T>;
  /** Delivers its events, which are in the log when the cache has changed. */
  readonly processor: Processor<T>;
  /** Its state. */
  readonly state: StateKeeper;
  /** `true` once the cache has had all objects. */
  readonly hasSynced: boolean;
}

/** A collection that derivations read. */
interface DerivationSource {
  readonly [internals]: {
    /** The parts that they follow: a {@linkcode Derivation}, if it is derived itself. */
    readonly sync: FollowedCollection;
  };
}

/** The inputs of a derivation: what its function is called with, by id. */
export interface DerivationInput {
  /** The collections that they are from, at least one. */
  readonly sources: readonly DerivationSource[];
  /**
   * The ids of the inputs that an object of a source belongs to; with `isBefore`, of one that the last change has
   * replaced. `at` is the place of the source.
   */
  idsOf(entry: CacheEntry<KubernetesObject>, isBefore: boolean, at: number): readonly string[];
  /** The input of an id; `undefined` if there is none. */
  get(id: string): unknown;
  /**
   * `true` if the function returns an entry of a source, or `undefined`. The entry is cached as it is, unparsed. No two
   * inputs may have one key. @default {false}
   */
  readonly passesEntries?: true;
}

/** The function of a derivation, and what receives its errors and changes. */
interface DerivationOptions {
  /** The inputs. */
  readonly input: DerivationInput;
  /** Returns the outputs of an input. */
  readonly compute: (input: unknown) => unknown;
  /** Receives each error. */
  readonly report: (error: unknown) => void;
  /** Called for each collection that is read, the inputs first. */
  readonly onSource: (source: DerivationSource) => void;
  /** Called when it has synced. */
  readonly onSynced: () => void;
}

const NONE: readonly never[] = [];

/** The reads of the call in progress; there is one call at a time. */
const READ: Dependency[] = [];

/** An input, and what was computed from it. */
class Computation {
  readonly id: string;
  /** The reads of its last call. */
  dependencies: readonly Dependency[] = NONE;
  /** The results of its last successful call. */
  outputs: readonly DerivedEntry[] = NONE;

  constructor(id: string) {
    this.id = id;
  }
}

/** An output as the cache has it: frozen, without a version, and with the uid of its metadata, if that has one. */
class DerivedEntry extends ObjectEntry<KubernetesObject> {
  readonly of: Computation;

  /** Name and namespace are read once: the store files by them. */
  constructor(of: Computation, object: KubernetesObject, name: string, namespace: string) {
    const key = keyOf({ metadata: { name, namespace } });
    super({ key, namespace, uid: object.metadata.uid ?? "", resourceVersion: "" }, deepFreeze(object));
    this.of = of;
  }
}

/**
 * `derive()` could not compute the result for one input: your function threw, its result cannot be cached, or two
 * inputs returned the same key. Reported to `onError`.
 */
export class DerivationError extends InformerError {
  /** `"DerivationError"`. */
  override readonly name = "DerivationError";
  /** The input's key. */
  readonly input: string;

  /** Creates an error for this input. */
  constructor(message: string, input: string, options?: ErrorOptions) {
    super(message, options);
    this.input = input;
  }
}

/** The longest time that a derivation waits for those that it reads, in milliseconds. */
const LONGEST_WAIT_MS = 1_000;

/**
 * Runs derivations that have something to compute, in later turns: each has the time of one turn, and then the next
 * one. A derivation waits for those that it reads, directly or through others. So what several of them make of one
 * change is complete when a derivation that joins them is computed, once; unless one of them is busy for longer than a
 * second, so that the wait would have no end.
 */
class DerivationQueue {
  /** In the order of their turns, with the times since which they have something to compute. */
  readonly #due = new Map<Derivation, number>();
  /** Few steps between two looks at the clock: a call may take long. */
  readonly #pacer = new Pacer(5, 4);
  /** `true` if and only if a run is scheduled, or in progress. */
  #isBusy = false;

  /** Adds a derivation that has something to compute. */
  add(derivation: Derivation): void {
    if (!this.#due.has(derivation)) this.#due.set(derivation, monotonicMs());
    if (!this.#isBusy) this.#schedule();
  }

  /** Removes a derivation. */
  delete(derivation: Derivation): void {
    this.#due.delete(derivation);
  }

  #schedule(): void {
    this.#isBusy = true;
    this.#pacer.onTurn(this.#run);
  }

  readonly #run = (): void => {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [derivation, sinceMs] = next;
      this.#due.delete(derivation);
      let isDone = false;
      try {
        isDone = derivation.compute(this.#pacer);
      } catch (error) {
        callObserver(() => derivation.report(error)); // it continues with its next input in its next turn
      }
      if (isDone) continue;
      this.#due.set(derivation, sinceMs);
      return this.#schedule();
    }
    this.#isBusy = false;
  };

  /** Returns the first one that waits for no other. */
  #next(): readonly [Derivation, number] | undefined {
    for (const next of this.#due) if (!this.#waits(...next)) return next;
  }

  #waits(derivation: Derivation, sinceMs: number): boolean {
    for (const other of derivation.below) if (this.#due.has(other)) return monotonicMs() - sinceMs < LONGEST_WAIT_MS;
    return false;
  }
}

const queue = new DerivationQueue();

/** The number of calls so far, of all derivations. */
let calls = 0;

/** Computes the objects of one collection from those of others. */
export class Derivation implements FollowedCollection, Disposable {
  readonly collection: FollowedCollection["collection"];
  readonly cache: FollowedCollection["cache"];
  readonly processor: FollowedCollection["processor"];
  readonly state: StateKeeper;
  readonly #options: DerivationOptions;
  /** The collections that are read, the inputs first. */
  readonly #sources = new Map<FollowedCollection, Dependents>();
  /** The derivations that read this one. */
  readonly #readers = new Set<Derivation>();
  /** By the id of the input. */
  readonly #computations = new Map<string, Computation>();
  /** Those whose input, or what they have read, has changed. */
  readonly #due = new Set<Computation>();
  /** Those that have read a collection that had not synced: their result does not count. */
  readonly #early = new Set<Computation>();
  /** Those whose last call has failed. */
  readonly #failed = new Map<Computation, DerivationError>();
  /** By key, the outputs of several computations under one key; there are two at least. */
  readonly #claims = new Map<ObjectKey, Set<DerivedEntry>>();
  /** The dependencies of the call in progress. */
  #read: Dependency[] | undefined;
  /** `true` if the call in progress, or the last one, has read a collection that had not synced. */
  #isEarly = false;
  /** The derivations that it reads, directly or through others. */
  readonly below = new Set<Derivation>();
  /** The time since which `#due` has something. */
  #dueSinceMs = 0;
  /** `true` once all inputs that there were have been computed. */
  hasSynced = false;
  /** The number of changes of objects so far. */
  changes = 0;

  /** Computes in later turns, from {@linkcode begin} on, and writes to the cache of `own`. */
  constructor(own: Omit<FollowedCollection, "hasSynced">, options: DerivationOptions) {
    this.collection = own.collection;
    this.cache = own.cache;
    this.processor = own.processor;
    this.state = own.state;
    this.#options = options;
  }

  /** The number of inputs that are to be computed. */
  get due(): number {
    return this.#due.size;
  }

  /** For how long it, or one that it reads, has had inputs that are to be computed; 0 if there are none. */
  get behindMs(): number {
    const behind = [this, ...this.below].filter((it) => it.#due.size > 0);
    return Math.max(0, ...behind.map((it) => monotonicMs() - it.#dueSinceMs));
  }

  /** Reports an error. */
  report(error: unknown): void {
    this.#options.report(error);
  }

  /** The errors of inputs whose last call has failed. */
  get failures(): Iterable<DerivationError> {
    return this.#failed.values();
  }

  /** The keys that several inputs have an output of. */
  get conflicts(): Iterable<ObjectKey> {
    return this.#claims.keys();
  }

  /** Follows its input. */
  begin(): void {
    const { sources } = this.#options.input;
    for (const source of sources) this.#dependentsOf(source);
    for (const { [internals]: { sync } } of sources) {
      for (const entry of sync.cache.store) this.sourceChanged(sync, entry, undefined);
    }
    queue.add(this);
  }

  /**
   * Computes what is due, until the time of the turn is over. Returns `true` when there is nothing left that can be
   * computed now.
   */
  compute(pacer: Pacer): boolean {
    for (const computation of this.#due) {
      if (!this.hasSynced && !this.#haveSynced) return true; // an event of the source that has not will come
      this.#due.delete(computation);
      this.#perform(computation);
      if (pacer.step()) return false;
    }
    if (!this.hasSynced && this.#haveSynced && this.#early.size === 0) {
      this.hasSynced = true;
      this.processor.synced();
      this.#options.onSynced();
    }
    return true;
  }

  /**
   * Reads a collection for the call in progress.
   *
   * @throws {Error} when there is none.
   * @throws {TypeError} when the collection is computed from this one.
   */
  fetch(source: DerivationSource, query: ReadQuery<KubernetesObject>): unknown {
    const read = this.#read;
    if (read === undefined) {
      const { informer } = source[internals].sync.collection;
      throw new Error(`Cannot fetch from ${informer}: the function that received fetch has already returned`);
    }
    const dependents = this.#dependentsOf(source);
    if (!source[internals].sync.hasSynced) this.#isEarly = true;
    return dependents.read(query, (dependency) => {
      if (dependency.lastCall === calls) return;
      dependency.lastCall = calls;
      read.push(dependency);
    });
  }

  /** Follows its sources no more. */
  [Symbol.dispose](): void {
    queue.delete(this);
    this.#due.clear();
    for (const [source, dependents] of this.#sources) {
      dependents[Symbol.dispose]();
      if (source instanceof Derivation) source.#readers.delete(this);
    }
  }

  get #haveSynced(): boolean {
    for (const { hasSynced } of this.#sources.keys()) if (!hasSynced) return false;
    return true;
  }

  #perform(computation: Computation): void {
    const call = ++calls;
    const read = this.#read = READ;
    read.length = 0;
    this.#isEarly = false;
    this.#early.delete(computation);
    let outputs: readonly DerivedEntry[] | undefined;
    let failure: unknown;
    let isGone = false;
    try {
      const { input, compute } = this.#options;
      const given = input.get(computation.id);
      isGone = given === undefined;
      const result = isGone ? undefined : compute(given);
      outputs = input.passesEntries && result ? [result as DerivedEntry] : entriesOf(computation, result);
    } catch (error) {
      failure = error;
    } finally {
      this.#read = undefined;
    }
    this.#depend(computation, read, call);
    if (this.#isEarly) this.#early.add(computation);
    else if (outputs === undefined) this.#fail(computation, failure);
    else {
      this.#failed.delete(computation);
      this.#replaceOutputs(computation, outputs);
    }
    if (isGone) this.#computations.delete(computation.id);
  }

  /** Replaces the dependencies of a computation, which mostly stay the same. */
  #depend(computation: Computation, read: readonly Dependency[], call: number): void {
    const before = computation.dependencies;
    if (before.length === read.length && before.every((dependency, i) => dependency === read[i])) return;
    for (const dependency of before) if (dependency.lastCall !== call) dependency.leave(computation);
    for (const dependency of read) dependency.users.add(computation);
    computation.dependencies = [...read];
  }

  #fail(computation: Computation, cause: unknown): void {
    const { informer } = this.collection;
    const error = new DerivationError(`Cannot compute ${informer} of "${computation.id}"`, computation.id, { cause });
    this.#failed.set(computation, error);
    this.#options.report(error);
  }

  #dependentsOf(source: DerivationSource): Dependents {
    const { sync: followed } = source[internals];
    const known = this.#sources.get(followed);
    if (known !== undefined) return known;
    const { informer } = followed.collection;
    if (followed instanceof Derivation) {
      if (followed === this || followed.below.has(this)) {
        throw new TypeError(`Cannot fetch from ${informer}: it is itself computed from ${this.collection.informer}`);
      }
      followed.#readers.add(this);
      this.#readsToo([followed, ...followed.below]);
    }
    const added = new Dependents(followed, this);
    this.#sources.set(followed, added);
    this.#options.onSource(source);
    return added;
  }

  #readsToo(others: readonly Derivation[]): void {
    for (const other of others) this.below.add(other);
    for (const reader of this.#readers) reader.#readsToo(others);
  }

  /** A computation has read what a change concerns, or its input has changed. */
  changed(computation: Computation): void {
    if (this.#due.size === 0) this.#dueSinceMs = monotonicMs();
    this.#due.add(computation);
    queue.add(this);
  }

  /** An object of a collection that it reads has changed: the entry now, and the one before; at least one of them. */
  sourceChanged(
    source: FollowedCollection,
    entry: CacheEntry<KubernetesObject> | undefined,
    before: CacheEntry<KubernetesObject> | undefined,
  ): void {
    const { input } = this.#options;
    const at = input.sources.findIndex((it) => it[internals].sync === source);
    if (at === -1) return;
    if (entry !== undefined) { for (const id of input.idsOf(entry, false, at)) this.#inputDue(id); }
    if (before !== undefined) { for (const id of input.idsOf(before, true, at)) this.#inputDue(id); }
  }

  #inputDue(id: string): void {
    let computation = this.#computations.get(id);
    if (computation === undefined) this.#computations.set(id, computation = new Computation(id));
    this.changed(computation);
  }

  /** A collection that it reads has synced. */
  sourceSynced(): void {
    for (const computation of this.#early) this.changed(computation);
    this.#early.clear();
    queue.add(this);
  }

  #replaceOutputs(computation: Computation, outputs: readonly DerivedEntry[]): void {
    if (outputs === computation.outputs) return;
    const { outputs: replaced } = computation;
    computation.outputs = outputs;
    if (replaced.length === 1 && outputs.length === 1 && replaced[0].key === outputs[0].key) {
      return this.#replace(replaced[0], outputs[0]);
    }
    const before = new Map(replaced.map((entry) => [entry.key, entry]));
    const changed = outputs.filter((entry) => before.get(entry.key) !== entry).map((entry) => {
      return [before.get(entry.key), entry] as const;
    });
    for (const { key } of outputs) before.delete(key);
    for (const gone of before.values()) this.#replace(gone, undefined);
    for (const [known, entry] of changed) this.#replace(known, entry);
  }

  /** Replaces the output that one computation has under one key. Where others have one, too, the first id counts. */
  #replace(before: DerivedEntry | undefined, after: DerivedEntry | undefined): void {
    const { key } = (after ?? before)!;
    const known = this.cache.store.lookUp(key) as DerivedEntry | undefined;
    let claims = this.#claims.get(key);
    if (claims === undefined && known !== undefined && after !== undefined && known.of !== after.of) {
      this.#claims.set(key, claims = new Set([known]));
    }
    if (claims === undefined) return this.#show(key, known, after);
    if (before !== undefined) claims.delete(before);
    if (after !== undefined) claims.add(after);
    if (claims.size === 1) this.#claims.delete(key);
    const [counts, ...others] = [...claims].sort((a, b) => a.of.id < b.of.id ? -1 : 1);
    if (before === undefined) this.#reportConflict(key, counts, others);
    this.#show(key, known, counts);
  }

  #reportConflict(key: ObjectKey, counts: DerivedEntry, others: readonly DerivedEntry[]): void {
    const ids = others.map(({ of }) => `"${of.id}"`).join(", ");
    this.#options.report(
      new DerivationError(
        `Cannot keep two objects "${key}" in ${this.collection.informer}: "${counts.of.id}" and ${ids} both returned ` +
          `one, and the object of "${counts.of.id}" is used. Give them different names`,
        counts.of.id,
      ),
    );
  }

  #show(key: ObjectKey, known: DerivedEntry | undefined, entry: DerivedEntry | undefined): void {
    if (known === entry) return;
    const { cache: { store, quarantine }, processor: { log } } = this;
    this.changes++;
    if (entry === undefined) {
      store.deleteByKey(key);
      log.append(new Deleted<KubernetesObject>(known!, quarantine, false));
      return;
    }
    store.set(key, entry);
    const isReplaced = this.#options.input.passesEntries && known !== undefined && known.uid !== entry.uid;
    if (isReplaced) log.append(new Deleted<KubernetesObject>(known, quarantine, false));
    if (known === undefined || isReplaced) log.append(new Added<KubernetesObject>(entry, quarantine, !this.hasSynced));
    else if (known.of === entry.of || !areSame(known, entry)) {
      log.append(new Updated<KubernetesObject>(entry, quarantine, known, false));
    }
  }
}

/** `false` also for two that cannot be compared, as a getter throws: their readers meet the error. */
function areSame(a: DerivedEntry, b: DerivedEntry): boolean {
  try {
    return sameValue(a.object, b.object);
  } catch {
    return false;
  }
}

/** Returns `true` if an object equals an output before. @throws what a getter of the object throws. */
function isUnchanged(before: DerivedEntry, object: unknown): boolean {
  try {
    return sameValue(before.object, object);
  } catch {
    const parts = new Set([object]);
    for (const part of parts) if (isPlain(part)) { for (const member of Object.values(part)) parts.add(member); }
    return false; // a getter of the output before has thrown, which is replaced
  }
}

/**
 * Returns the entries of what a function has returned: the entry before, of an object that is equal.
 *
 * @throws {TypeError} when it cannot be cached. @throws what a getter throws.
 */
function entriesOf(computation: Computation, returned: unknown): readonly DerivedEntry[] {
  if (returned === undefined || returned === null) return NONE;
  const { outputs } = computation;
  const objects: readonly unknown[] = Array.isArray(returned) ? returned : [returned];
  if (objects.length === 1 && outputs.length <= 1) {
    return outputs.length === 1 && isUnchanged(outputs[0], objects[0]) ? outputs : [entryOf(computation, objects[0])];
  }
  for (const object of objects) handlePromise(object);
  const before = new Map(outputs.map((entry) => [entry.key, entry]));
  const entries = objects.map((object) => {
    const entry = entryOf(computation, object);
    const known = before.get(entry.key);
    return known !== undefined && isUnchanged(known, object) ? known : entry;
  });
  if (new Set(entries.map(({ key }) => key)).size < entries.length) {
    throw new TypeError(`two objects have the same name: ${entries.map(({ key }) => `"${key}"`).join(", ")}`);
  }
  return entries;
}

function entryOf(computation: Computation, object: unknown): DerivedEntry {
  const { metadata } = (object ?? {}) as Partial<KubernetesObject>;
  const { name, namespace = "", labels } = metadata ?? {};
  if (typeof name === "string" && name !== "" && typeof namespace === "string" && typeof (labels ?? {}) === "object") {
    return new DerivedEntry(computation, object as KubernetesObject, name, namespace);
  }
  if (handlePromise(object)) {
    throw new TypeError("the function returned a promise. Return the objects themselves, and read others with fetch");
  }
  throw new TypeError(
    `the function returned ${described(object)}. Return an object with a metadata.name, an array of them, or undefined`,
  );
}

/** Returns `true` for a promise, which is refused: its rejection would be nobody's. */
function handlePromise(value: unknown): boolean {
  if (!(value instanceof Promise)) return false;
  value.catch(() => {}); // the caller throws an error that says more
  return true;
}

function described(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 200);
  } catch {
    return "a value that has no JSON"; // it has a cycle, a bigint, or a getter that throws
  }
}
