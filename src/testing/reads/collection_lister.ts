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
 * Makes lists as the server does: which revision is read, what a limit means, where pages go on.
 *
 * - No version, `"0"` and NotOlderThan give the newest state; the latter waits for a version that is still to come.
 * - Exact, and a limit together with a version but no match, give the state at that version.
 * - With version `"0"` a limit is ignored: the watch cache answers with everything.
 * - Pages keep the version of the first one, until it is compacted: 410, with a token for the inconsistent rest.
 */
export class CollectionLister {
  readonly #store: Store;
  readonly #until: WaitForRevision;
  /** How much is left behind the last page of each collection: the next page need not count again. */
  readonly #left = new WeakMap<StoredCollection, Required<CollectionSlice> & { readonly count: number }>();

  /** Lists what is in `store`. */
  constructor(store: Store, until: WaitForRevision) {
    this.#store = store;
    this.#until = until;
  }

  /**
   * The page that the options ask for.
   *
   * @throws {StatusError} 400, 410 or 504 as the server does.
   */
  async list(collection: StoredCollection, selection: StoredSelection, options: ServerListOptions): Promise<ListPage> {
    const { namespace } = selection;
    if (options.continue !== "") {
      if (options.resourceVersion !== "" && options.resourceVersion !== "0") {
        throw badRequest("specifying resource version is not allowed when using continue");
      }
      const token = parseContinueToken(options.continue);
      if (token.revision > 0) await this.#reach(token.revision);
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
    await this.#reach(asked);
    const exact = options.resourceVersionMatch === "Exact" ||
      (options.resourceVersionMatch === "" && options.limit > 0);
    if (exact && asked < this.#store.compacted) {
      throw expired("The resourceVersion for the provided list is too old.");
    }
    const revision = exact ? asked : this.#store.revision;
    return this.#page(collection, selection, { namespace, revision }, options.limit);
  }

  async #reach(revision: number): Promise<void> {
    if (revision > this.#store.revision && !(await this.#until(revision))) {
      throw tooLarge(revision, this.#store.revision);
    }
  }

  #page(collection: StoredCollection, selection: StoredSelection, slice: CollectionSlice, limit: number): ListPage {
    const objects: StoredObject[] = [];
    let passed = 0;
    let more = false;
    for (const stored of collection.slice(slice)) {
      // Only objects that are there count, whether they match or not: so a last page may be empty, as on the server.
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
