/**
 * A source that lists regularly, for kinds without a watch.
 *
 * {@linkcode PolledSource} is the entry point. It stands between client and reflector, and yields the difference of two
 * lists as changes. It gives versions of its own where the server has none.
 *
 * @module
 */
import type { ListOptions, Selection, WatchOptions } from "../../api/call_options.ts";
import type { CacheEntry } from "../../api/entry.ts";
import type { IdentitySource, ListerWatcher, ListPart, WatchChange } from "../../api/lister_watcher.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import type { Resource, TableRow } from "../../api/resource.ts";
import { StatusError } from "../../api/status.ts";
import { monotonicMs, sleep } from "../../async/time.ts";
import { jsonOf } from "../../entry/entry_json.ts";
import { readPageList } from "../../reflector/requests.ts";
import { objectOf } from "../cache/entry_transform.ts";
import { writerOfLists } from "./changing_shard.ts";

/** The longest wait of a list for its first or next object, in milliseconds. */
const LIST_IDLE_MS = 70_000;

/** An object as the last list had it. */
interface Polled<T> {
  readonly entry: CacheEntry<T>;
  /** The content of an object without a version, for comparison; `undefined` of one with a version. */
  readonly content: string | undefined;
}

/**
 * A collection that is listed regularly in place of a watch: `watchChanges` yields what differs from the list before,
 * and then a bookmark.
 *
 * Objects are compared by key, uid and version, and those without a version by their content without the times of the
 * measurement. A list without a version gets its time as one, and an object without a version that of the list which
 * has first shown its content.
 */
export class PolledSource<T extends KubernetesObject> implements ListerWatcher<T> {
  /** As `ListerWatcher.identities`. */
  readonly identities: IdentitySource | undefined;
  /** As `ListerWatcher.resource`. */
  readonly resource: Resource | undefined;
  /** As `ListerWatcher.selection`. */
  readonly selection: Selection | undefined;
  readonly #source: ListerWatcher<T>;
  readonly #pollMs: number;
  readonly #pageSize: number;
  /** The version of the latest list: its time, in milliseconds since 1970, or one more than that of the list before. */
  #version = 0;
  /** The objects of the list that is being read. */
  #staged = new Map<ObjectKey, Polled<T>>();
  /** The objects of the last complete list. */
  #known = new Map<ObjectKey, Polled<T>>();
  /** Those of the last list that the reader has taken: a pause may come between a list and its changes. */
  #taken: ReadonlyMap<ObjectKey, Polled<T>> = this.#known;
  /** The time of the last complete list. */
  #listedMs = -Infinity;

  /** Lists `source` every `pollMs` milliseconds, in pages of `pageSize` objects. */
  constructor(source: ListerWatcher<T>, pollMs: number, pageSize = 500) {
    this.identities = source.identities;
    this.resource = source.resource;
    this.selection = source.selection;
    this.#source = source;
    this.#pollMs = pollMs;
    this.#pageSize = pageSize;
  }

  /** As `ListerWatcher.listEntries`, of the newest state. An unchanged object has the entry of the list before. */
  async *listEntries(options: ListOptions = {}): AsyncGenerator<ListPart<T>, void, undefined> {
    yield* this.#list(options);
    this.#taken = this.#known;
  }

  /** As `ListerWatcher.watchChanges`: lists again and again, until its time is over. */
  async *watchChanges(options: WatchOptions = {}): AsyncGenerator<readonly WatchChange<T>[], void, undefined> {
    const { resourceVersion: _from, allowBookmarks: _always, sendInitialEvents: _never, ...rest } = options;
    const { timeoutSeconds = Infinity, signal = new AbortController().signal, ...list } = rest;
    const endsMs = monotonicMs() + timeoutSeconds * 1_000;
    const source: ListerWatcher<T> = {
      listEntries: (page) => this.#list({ ...list, ...page }),
      watchChanges: (watch) => this.watchChanges(watch),
    };
    const writer = writerOfLists<T>(() => {}, () => {}); // the changes have what cannot be stored, too
    const request = { version: "", signal, pageSize: this.#pageSize, listIdleMs: LIST_IDLE_MS };
    if (this.#listedMs === -Infinity) throw neverListed();
    let changes = monotonicMs() < this.#listedMs + this.#pollMs ? this.#changes() : undefined;
    for (;;) {
      if (changes !== undefined) {
        yield changes;
        this.#taken = this.#known;
      }
      const dueMs = this.#listedMs + this.#pollMs;
      await sleep(Math.max(0, Math.min(dueMs, endsMs) - monotonicMs()), { signal });
      if (dueMs > endsMs) return;
      const resourceVersion = await readPageList(source, writer, request);
      changes = [...this.#changes(), { type: "BOOKMARK", resourceVersion, initialEventsEnd: false }];
    }
  }

  async *#list(options: ListOptions): AsyncGenerator<ListPart<T>, void, undefined> {
    const { resourceVersion: _any, resourceVersionMatch: _match, known: _known, knownNext: _next, ...list } = options;
    if (options.continue === undefined) {
      this.#staged = new Map();
      this.#version = Math.max(this.#version + 1, Date.now());
    }
    let [isLast, hasVersion] = [true, false];
    for await (const part of this.#source.listEntries(list)) {
      isLast &&= part.continue === undefined;
      hasVersion ||= Boolean(part.resourceVersion);
      const { resourceVersion, ...rest } = part;
      const entries = part.entries.map((entry) => this.#stage(entry));
      yield { ...rest, entries, ...resourceVersion ? { resourceVersion } : {} };
    }
    if (!hasVersion) yield { entries: [], resourceVersion: String(this.#version) };
    if (!isLast) return;
    this.#known = this.#staged;
    this.#listedMs = monotonicMs();
  }

  #stage(entry: CacheEntry<T>): CacheEntry<T> {
    const before = this.#known.get(entry.key);
    const polled = { entry, content: entry.resourceVersion === "" ? contentOf(entry) : undefined };
    const isSame = before !== undefined && before.content === polled.content &&
      (polled.content !== undefined || before.entry.resourceVersion === entry.resourceVersion) &&
      before.entry.uid === entry.uid;
    const kept = isSame ? before : polled;
    // The entry was made for this list, so that nobody else has it.
    if (kept === polled && polled.content !== undefined) {
      Object.assign(entry, { resourceVersion: String(this.#version) });
    }
    this.#staged.set(entry.key, kept);
    return kept.entry;
  }

  /** The differences between the objects that the reader has and those of the last list. */
  #changes(): WatchChange<T>[] {
    const changes: WatchChange<T>[] = [];
    for (const [key, { entry }] of this.#taken) if (!this.#known.has(key)) changes.push({ type: "DELETED", entry });
    for (const [key, { entry }] of this.#known) {
      const taken = this.#taken.get(key);
      if (taken?.entry !== entry) changes.push({ type: taken === undefined ? "ADDED" : "MODIFIED", entry });
    }
    return changes;
  }
}

/** A watch without a list before it, of a restored cache, leads to a list. */
function neverListed(): StatusError {
  const message = "Cannot poll a collection that has not been listed";
  return new StatusError(message, { code: 410, reason: "Expired", message });
}

/** Returns the content of an object as text, without the times of its measurement; `""` if it cannot be read. */
function contentOf<T extends KubernetesObject>(entry: CacheEntry<T>): string {
  const row = objectOf(entry) as (KubernetesObject & Partial<TableRow<KubernetesObject>>) | undefined;
  if (row === undefined) return "";
  const { timestamp: _at, window: _window, metadata, ...content } = (row.cells === undefined ? row : row.object) as
    & KubernetesObject
    & { readonly timestamp?: unknown; readonly window?: unknown };
  // A server that makes the objects as it lists them creates them then.
  return jsonOf({ ...content, metadata: { ...metadata, creationTimestamp: undefined } }, entry.key);
}
