import type { Change, ListPart, WatchEvent } from "../api/change.ts";
import type { Draft, KubernetesObject } from "../api/object.ts";
import type { Abortable, DecodeOptions, KnownEntries, ListOptions, Selection, WatchOptions } from "../api/options.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { type Status, statusFrom } from "../api/status.ts";
import { BodyStream } from "./http/body_stream.ts";
import type { Connection } from "./http/connection.ts";
import { checkFollow, followFrom } from "./retry_watch.ts";
import { readList } from "./decode/list_reader.ts";
import type { ReadOptions } from "./decode/object_reader.ts";
import { type FetchPage, pagesOf } from "./pages.ts";
import {
  type Ask,
  createRequest,
  deleteCollectionRequest,
  deleteRequest,
  getRequest,
  listRequest,
  patchRequest,
  type Target,
  updateRequest,
  watchRequest,
} from "./requests.ts";
import type {
  DeleteCollectionOptions,
  DeleteOptions,
  FollowOptions,
  ObjectList,
  Patch,
  ResourceClient,
  WriteOptions,
} from "./resource_client.ts";
import { isStatus } from "./http/response.ts";
import { stoppable } from "./http/stoppable.ts";
import { readChanges } from "./decode/watch_reader.ts";

/** What a collection takes over from its client. */
export interface CollectionOptions {
  /** The namespace of objects by name where the selection has none; `""` for none. */
  readonly namespace: string;
  /** How long one object may be on the wire, in bytes. */
  readonly maxObjectBytes?: number;
}

/** The {@linkcode ResourceClient} of a {@linkcode Connection}. */
export class Collection<T extends KubernetesObject> implements ResourceClient<T> {
  /** What kind the collection is of. */
  readonly resource: Resource<T>;
  readonly #connection: Connection;
  readonly #selection: Selection;
  readonly #options: CollectionOptions;

  /** The part `selection` of a resource. */
  constructor(connection: Connection, resource: Resource<T>, selection: Selection, options: CollectionOptions) {
    this.resource = resource;
    this.#connection = connection;
    this.#selection = selection;
    this.#options = options;
  }

  /** The same selection in another namespace. */
  namespace(namespace: string): Collection<T> {
    return new Collection(this.#connection, this.resource, { ...this.#selection, namespace }, this.#options);
  }

  /** As {@linkcode ResourceClient.get}. */
  async get(name: string, options: Abortable & { readonly subresource?: string } = {}): Promise<T> {
    return await this.#connection.json(getRequest(this.#target, name, options), options.signal) as T;
  }

  /** As {@linkcode ResourceClient.list}. */
  async list(options: ListOptions = {}): Promise<ObjectList<T>> {
    return await this.#page(options, options.signal);
  }

  /** As {@linkcode ResourceClient.pages}. */
  pages(options: ListOptions = {}): AsyncIterableIterator<ObjectList<T>> {
    listRequest(this.#target, options, true); // what is wrong with the options is said now
    const fetchPage: FetchPage<T> = (page, signal, onContinue) => this.#page(page, signal, onContinue);
    return stoppable(options.signal, (signal) => pagesOf(resourceName(this.resource), fetchPage, options, signal));
  }

  /** As {@linkcode ResourceClient.watch}. */
  watch(options: WatchOptions = {}): AsyncIterableIterator<WatchEvent<T>> {
    const ask = watchRequest(this.#target, options);
    return stoppable(options.signal, (signal) => this.#events(ask, options, signal));
  }

  /** As {@linkcode ResourceClient.follow}. */
  follow(options: FollowOptions = {}): AsyncIterableIterator<WatchEvent<T>> {
    const name = resourceName(this.resource);
    checkFollow(name, options);
    watchRequest(this.#target, options);
    return stoppable(
      options.signal,
      (signal) => followFrom(name, (options) => this.watchChanges(options), options, signal),
    );
  }

  /** As {@linkcode ResourceClient.listEntries}. */
  listEntries(options: ListOptions = {}): AsyncIterableIterator<ListPart<T>> {
    const ask = listRequest(this.#target, options, false);
    return stoppable(options.signal, (signal) => this.#parts(ask, this.#reading(options, "later"), signal));
  }

  /** As {@linkcode ResourceClient.watchChanges}. */
  watchChanges(options: WatchOptions = {}): AsyncIterableIterator<readonly Change<T>[]> {
    const ask = watchRequest(this.#target, options);
    return stoppable(options.signal, (signal) => this.#changes(ask, this.#reading(options, "later"), signal));
  }

  /** As {@linkcode ResourceClient.create}. */
  async create(object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    return await this.#connection.json(createRequest(this.#target, object, options), options.signal) as T;
  }

  /** As {@linkcode ResourceClient.update}. */
  async update(object: T, options: WriteOptions = {}): Promise<T> {
    return await this.#connection.json(updateRequest(this.#target, object, options), options.signal) as T;
  }

  /** As {@linkcode ResourceClient.patch}. */
  async patch(name: string, patch: Patch, options: WriteOptions = {}): Promise<T> {
    return await this.#connection.json(patchRequest(this.#target, name, patch, options), options.signal) as T;
  }

  /** As {@linkcode ResourceClient.delete}. */
  async delete(name: string, options: DeleteOptions = {}): Promise<T | Status> {
    const answer = await this.#connection.json(deleteRequest(this.#target, name, options), options.signal);
    return isStatus(answer) ? statusFrom(answer, 200) : answer as T;
  }

  /** As {@linkcode ResourceClient.deleteCollection}. */
  async deleteCollection(options: DeleteCollectionOptions = {}): Promise<void> {
    const ask = deleteCollectionRequest(this.#target, options);
    using exchange = await this.#connection.open(ask, options.signal);
    // The answer lists what was deleted, perhaps all of it at length; it comes when that is done.
    await exchange.response.body?.cancel();
  }

  get #target(): Target<T> {
    return { resource: this.resource, selection: this.#selection, defaultNamespace: this.#options.namespace };
  }

  async #page(
    options: ListOptions,
    signal: AbortSignal | undefined,
    onContinue?: (token: string) => void,
  ): Promise<ObjectList<T>> {
    const items: T[] = [];
    let last: ListPart<T> = { entries: [] };
    const ask = listRequest(this.#target, options, true);
    for await (const part of this.#parts(ask, this.#reading(options, "now"), signal)) {
      for (const entry of part.entries) items.push(entry.object);
      if (part.continue !== undefined) onContinue?.(part.continue);
      last = part;
    }
    const { entries: _entries, resourceVersion = "", ...rest } = last;
    return { items, resourceVersion, ...rest };
  }

  #parts(ask: Ask, read: ReadOptions, signal?: AbortSignal): BodyStream<ListPart<T>> {
    return new BodyStream<ListPart<T>>({
      open: () => this.#connection.open(ask, signal),
      first: { entries: [] },
      read: (body) => readList<T>(body, read),
      plain: false,
    });
  }

  #changes(ask: Ask, read: ReadOptions, signal: AbortSignal): BodyStream<readonly Change<T>[]> {
    return new BodyStream<readonly Change<T>[]>({
      open: () => this.#connection.open(ask, signal),
      first: [],
      read: (body) => readChanges<T>(body, read),
      plain: true,
    });
  }

  async *#events(ask: Ask, options: WatchOptions, signal: AbortSignal): AsyncGenerator<WatchEvent<T>, void, undefined> {
    for await (const batch of this.#changes(ask, this.#reading(options, "now"), signal)) {
      for (const change of batch) {
        yield change.type === "BOOKMARK" ? change : { type: change.type, object: change.entry.object };
      }
    }
  }

  #reading(options: DecodeOptions & KnownEntries, parse: "now" | "later"): ReadOptions {
    const { managedFields = "keep", known, knownNext } = options;
    const { maxObjectBytes } = this.#options;
    // Entries are filed without a look at what is in them; metadata alone is of one kind, whatever it is of.
    const expectedKind = parse === "later" && this.resource.representation !== "metadata"
      ? this.resource.kind
      : undefined;
    return { resource: this.resource, expectedKind, managedFields, known, knownNext, parse, maxObjectBytes };
  }
}
