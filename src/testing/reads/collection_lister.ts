/**
 * Reads of several objects: lists, watches, and tables.
 *
 * {@linkcode CollectionLister} produces pages of lists, and `Watches` opens watches. Selectors, continue tokens, and the
 * serialization of lists, tables and events belong here. Reads of a single object do not: they only look up the
 * collection.
 *
 * @module
 */
import { badRequest, expired, tooLarge } from "../http/refusal.ts";
import { parseRevision, type ServerListOptions } from "../http/server_list_options.ts";
import type { WaitForRevision } from "../storage/revisions.ts";
import type { Store } from "../storage/store.ts";
import type { CollectionSlice, StoredCollection } from "../storage/stored_collection.ts";
import type { StoredObject } from "../storage/stored_object.ts";
import { formatContinueToken, parseContinueToken } from "./continue_token.ts";
import type { ListPage } from "./list_page.ts";
import type { StoredSelection } from "./stored_selection.ts";

const CONTINUE_EXPIRED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
  "deleted between the time the first chunk was returned and now may show up in the list.";

/**
 * Lists collections with the semantics of kube-apiserver.
 *
 * - No version, `"0"` and NotOlderThan return the current state; NotOlderThan waits for a future version.
 * - Exact, and a limit with a version but without a match, return the state at that version.
 * - With version `"0"` a limit is ignored, as by the watch cache.
 * - Pages keep the version of the first page until it is compacted: then 410, with a token for the inconsistent
 *   remainder.
 */
export class CollectionLister {
  readonly #store: Store;
  readonly #until: WaitForRevision;
  /** Number of objects after the last page of each collection, so that the next page need not count again. */
  readonly #left = new WeakMap<StoredCollection, Required<CollectionSlice> & { readonly count: number }>();

  /** Lists the collections of `store`. */
  constructor(store: Store, until: WaitForRevision) {
    this.#store = store;
    this.#until = until;
  }

  /**
   * Returns the page that the options request.
   *
   * @throws {StatusError} 400, 410 or 504, like kube-apiserver.
   */
  async list(collection: StoredCollection, selection: StoredSelection, options: ServerListOptions): Promise<ListPage> {
    const { namespace } = selection;
    if (options.continue !== "") {
      if (options.resourceVersion !== "" && options.resourceVersion !== "0") {
        throw badRequest("specifying resource version is not allowed when using continue");
      }
      const token = parseContinueToken(options.continue);
      if (token.revision > 0) await this.reach(token.revision);
      if (token.revision > 0 && token.revision < this.#store.compacted) {
        throw expired(CONTINUE_EXPIRED, formatContinueToken({ revision: -1, start: token.start }));
      }
      const revision = token.revision > 0 ? token.revision : this.#store.revision;
      const from = namespace === "" ? token.start : `${namespace}/${token.start}`;
      return this.#page(collection, selection, { namespace, revision, from }, options.limit);
    }
    const asked = parseRevision(options.resourceVersion, false);
    if (asked === 0) {
      const limit = options.resourceVersion === "" ? options.limit : 0;
      return this.#page(collection, selection, { namespace, revision: this.#store.revision }, limit);
    }
    await this.reach(asked);
    const exact = options.resourceVersionMatch === "Exact" ||
      (options.resourceVersionMatch === "" && options.limit > 0);
    if (exact && asked < this.#store.compacted) {
      throw expired("The resourceVersion for the provided list is too old.");
    }
    const revision = exact ? asked : this.#store.revision;
    return this.#page(collection, selection, { namespace, revision }, options.limit);
  }

  /** Waits until the store has reached a revision. @throws {StatusError} 504 if that takes too long, like kube-apiserver. */
  async reach(revision: number): Promise<void> {
    if (revision > this.#store.revision && !(await this.#until(revision))) {
      throw tooLarge(revision, this.#store.revision);
    }
  }

  #page(collection: StoredCollection, selection: StoredSelection, slice: CollectionSlice, limit: number): ListPage {
    const objects: StoredObject[] = [];
    let passed = 0;
    let more = false;
    for (const stored of collection.slice(slice)) {
      // Objects count against the limit whether they match or not, so a last page may be empty, as on the server.
      if (limit > 0 && objects.length === limit) {
        more = true;
        break;
      }
      passed++;
      if (selection.matches(stored)) objects.push(stored);
    }
    const { namespace, revision, from = "" } = slice;
    if (!more) return { objects, revision, continue: undefined, remaining: undefined };
    const last = objects[objects.length - 1].key;
    const next = `${last}\0`;
    const start = `/${namespace === "" ? next : next.slice(namespace.length + 1)}`;
    const token = formatContinueToken({ revision, start });
    if (selection.selects) return { objects, revision, continue: token, remaining: undefined };
    const left = this.#left.get(collection);
    const known = left?.namespace === namespace && left.revision === revision && left.from === from;
    const count = known ? left.count - passed : collection.count({ namespace, revision, from: next });
    this.#left.set(collection, { namespace, revision, from: next, count });
    return { objects, revision, continue: token, remaining: count };
  }
}
