import type { StatusError } from "../../api/errors.ts";
import type { Resource } from "../../api/resource.ts";
import { expired, statusJson, tooLarge } from "../http/refusal.ts";
import { parseRevision, type ServerListOptions } from "../http/server_list_options.ts";
import { sameResource } from "../storage/definition.ts";
import type { WaitForRevision } from "../storage/revisions.ts";
import type { Store } from "../storage/store.ts";
import type { StoredCollection } from "../storage/stored_collection.ts";
import type { StoredObject } from "../storage/stored_object.ts";
import type { StoreEvent } from "../storage/watch_history.ts";
import type { ResponseView } from "./response_view.ts";
import type { StoredSelection } from "./stored_selection.ts";
import { Watch, type WatchPlan } from "./watch.ts";

/** Optional features of the server; they may change while it runs. */
export interface ServerFeatures {
  /** Support for streaming lists. A watch from version 0 with bookmarks is one, too. */
  streamingList: boolean;
  /** Automatic bookmarks. */
  bookmarks: boolean;
}

/** Settings of all watches. */
export interface WatchesOptions {
  /** Milliseconds between bookmarks. */
  readonly bookmarkMs: number;
  /** Returns the duration in milliseconds of a watch without a timeout. */
  readonly timeoutMs: () => number;
  /** Maximum bytes per chunk. */
  readonly chunkBytes: number;
  /** Optional features of the server. */
  readonly features: ServerFeatures;
  /** Waits for a revision. */
  readonly until: WaitForRevision;
}

/** All open watches: opens them, delivers writes to them, and finds those that a fault applies to. */
export class Watches {
  readonly #store: Store;
  readonly #options: WatchesOptions;
  readonly #open = new Map<StoredCollection, Set<Watch>>();
  #count = 0;

  /** Starts without a watch. */
  constructor(store: Store, options: WatchesOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Number of open watches. */
  get count(): number {
    return this.#count;
  }

  /**
   * Opens a watch and sends the initial objects, or the events since its version.
   *
   * A compacted version, or a future version of a streaming list, is reported as an ERROR event inside the watch. With
   * `spreadMs`, initial events are sent one at a time, that many milliseconds apart.
   *
   * @throws {StatusError} 500 if the version is not a number, like kube-apiserver.
   */
  async open(
    collection: StoredCollection,
    selection: StoredSelection,
    options: ServerListOptions,
    view: ResponseView,
    spreadMs?: number,
  ): Promise<Watch> {
    const asked = parseRevision(options.resourceVersion, true);
    const { allowWatchBookmarks: bookmarks, sendInitialEvents } = options;
    // The server's rule: send the initial objects unless a version is given or they are declined.
    const initial = sendInitialEvents ?? asked === 0;
    const streaming = sendInitialEvents === true || (initial && this.#options.features.streamingList);
    let failure: StatusError | undefined;
    if (sendInitialEvents === true && asked > this.#store.revision && !(await this.#options.until(asked))) {
      failure = tooLarge(asked, this.#store.revision);
    }
    const from = initial || asked === 0 ? this.#store.revision : asked;
    if (!initial && from < this.#store.compacted) {
      failure = expired(`too old resource version: ${from} (${this.#store.compacted})`);
    }
    const watch = this.#add({
      collection,
      selection,
      view,
      from,
      bookmarks,
      bookmarkMs: this.#options.bookmarkMs,
      sendsBookmarks: () => this.#options.features.bookmarks,
      timeoutMs: options.timeoutSeconds > 0 ? options.timeoutSeconds * 1_000 : this.#options.timeoutMs(),
      chunkBytes: this.#options.chunkBytes,
    });
    if (failure !== undefined) watch.fail(statusJson(failure.status));
    else if (initial) {
      watch.sendInitial(matching(collection, selection, from), streaming && bookmarks, spreadMs);
    } else {
      for (const event of this.#store.after(from)) if (event.collection === collection) watch.deliver(event);
    }
    return watch;
  }

  /** Delivers a write to the watches of its collection. */
  deliver(event: StoreEvent): void {
    const watches = this.#open.get(event.collection);
    if (watches !== undefined) { for (const watch of watches) watch.deliver(event); }
  }

  /** Ends the watches of a collection that is no longer served. */
  endAll(collection: StoredCollection): void {
    for (const watch of [...this.#open.get(collection) ?? []]) watch.end();
  }

  /** Returns the open watches of one resource, or all. */
  of(resource?: Resource): Watch[] {
    return [...this.#open].flatMap(([collection, watches]) =>
      resource === undefined || sameResource(collection.definition, resource) ? [...watches] : []
    );
  }

  #add(plan: WatchPlan): Watch {
    const watch = new Watch(plan, () => this.#store.revision, (watch) => this.#remove(watch));
    let watches = this.#open.get(plan.collection);
    if (watches === undefined) this.#open.set(plan.collection, watches = new Set());
    watches.add(watch);
    this.#count++;
    return watch;
  }

  #remove(watch: Watch): void {
    const { collection } = watch.plan;
    const watches = this.#open.get(collection);
    if (!watches?.delete(watch)) return;
    this.#count--;
    if (watches.size === 0) this.#open.delete(collection);
  }
}

function* matching(
  collection: StoredCollection,
  selection: StoredSelection,
  revision: number,
): Iterable<StoredObject> {
  for (const stored of collection.slice({ namespace: selection.namespace, revision })) {
    if (selection.matches(stored)) yield stored;
  }
}
