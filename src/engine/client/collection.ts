/**
 * The calls for one collection: get, list, watch, follow, and writes.
 *
 * {@linkcode Collection} is the entry point. It implements `ResourceClient` with a `Connection`, and keeps no objects.
 * `requests.ts` builds the requests, `pages.ts` reads lists in pages, and `retry_watch.ts` resumes watches.
 *
 * @module
 */
import type {
  Abortable,
  DecodeObserver,
  DecodeOptions,
  KnownEntries,
  ListOptions,
  Projection,
  Selection,
  ShardOption,
  WatchOptions,
} from "../api/call_options.ts";
import { defined } from "../api/json.ts";
import { keepLiterals } from "../api/large_integers.ts";
import type { ConnectionsStatus, IdentitySource, ListPart, WatchChange, WatchEvent } from "../api/lister_watcher.ts";
import { type Complete, type DynamicObject, keyOf, type KubernetesObject } from "../api/object.ts";
import { isCustom, onlyMetadata, type Resource, resourceName } from "../api/resource.ts";
import { type ApiStatus, isNotFound, StatusError, statusFrom } from "../api/status.ts";
import type { Scale, TokenRequest } from "../api/subresources.ts";
import type { Apply, Mutable, ObjectDraft } from "../api/written.ts";
import { CancellableStream, IteratorSource } from "../async/iterate.ts";
import { DerivedController } from "../async/signals.ts";
import { Reduction } from "../entry/reduction.ts";
import { ArgumentError } from "../errors/checks.ts";
import { checkNames } from "../errors/option_names.ts";
import type { Pod } from "../kinds/core/v1.ts";
import { LogReader, type ReceivedLine } from "./decode/log_reader.ts";
import type { ReadOptions } from "./decode/object_reader.ts";
import { ListReader, RowReader, WatchReader } from "./decode/readers.ts";
import type { Connection, RequestSpec } from "./http/connection.ts";
import { WatchHealth, WatchMemory } from "./http/open_watches.ts";
import { isStatus, type JsonAnswer } from "./http/response.ts";
import { checkLogOptions, LOG_OPTIONS, type LogLine, logLines, type LogOptions, type LogSource } from "./logs.ts";
import { keptByUpdate, needToApply } from "./owned_fields.ts";
import { type FetchPage, pagesOf } from "./pages.ts";
import {
  createRequest,
  deleteCollectionRequest,
  deleteRequest,
  getRequest,
  listRequest,
  logRequest,
  patchRequest,
  refuseInvalid,
  type Target,
  updateRequest,
  watchRequest,
} from "./requests.ts";
import type {
  AppliedIfChanged,
  ApplyIfChangedOptions,
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  FollowOptions,
  GetOptions,
  ObjectList,
  ObjectWrite,
  Patch,
  ResourceClient,
  ResourceClientOptions,
  SubresourceDraft,
  WriteOptions,
} from "./resource_client.ts";
import { checkRetryWatch, retryWatch } from "./retry_watch.ts";
import { RequestSource, WatchSource } from "./watch_source.ts";

/** The default limit for a line in a log, in bytes. */
const MAX_LINE_BYTES = 1_048_576;

/** How long the server may take to accept a watch that replaces another one, in milliseconds. */
const REPLACE_MS = 5_000;

/** Returns the server's confirmation in its plain form, or an object unchanged. */
function confirmationOr<A>(answer: A): A | ApiStatus {
  return isStatus(answer) ? statusFrom({ status: "Success", ...answer }, 200) : answer;
}

/** Options for a {@linkcode Collection}. */
interface CollectionOptions extends ResourceClientOptions {
  /** See `ResourceClients.namespace`. */
  readonly namespace: string;
  /** See `ClientOptions.validate`. */
  readonly validate?: boolean;
}

/** Implements {@linkcode ResourceClient} with a {@linkcode Connection}. */
export class Collection<T extends KubernetesObject> implements ResourceClient<T> {
  /** The objects' resource. */
  readonly resource: Resource<T>;
  /** The part of the collection that lists and watches cover. */
  readonly selection: Selection;
  readonly #connection: Connection;
  readonly #options: CollectionOptions;
  readonly #memory = new WatchMemory();
  readonly #reported = { bookmark: false };

  /**
   * Creates a client for the objects in `resource` that match `selection`. If the selection has no namespace, objects
   * that are addressed by name are in `options.namespace`, where `""` means none.
   */
  constructor(connection: Connection, resource: Resource<T>, selection: Selection, options: CollectionOptions) {
    this.resource = resource;
    this.#connection = connection;
    this.selection = selection;
    this.#options = options;
  }

  /** Returns the same selection in another namespace. */
  namespace(namespace: string): Collection<T> {
    return this.selecting({ ...this.selection, namespace });
  }

  /** As `ListerWatcher.selecting`. */
  selecting(selection: Selection): Collection<T> {
    return new Collection(this.#connection, this.resource, selection, this.#options);
  }

  /** As `ListerWatcher.connections`. */
  get connections(): ConnectionsStatus {
    const { probes, failedProbes } = this.#connection.watches;
    const { suspicions, renewals } = this.#memory;
    return { probes, failedProbes, suspicions, renewals };
  }

  /** As `ListerWatcher.identities`. */
  get identities(): IdentitySource {
    const { group, version, plural, kind, scope } = this.resource;
    const resource = onlyMetadata({ group, version, plural, kind, scope });
    const metadata = new Collection(this.#connection, resource, this.selection, this.#options);
    return { server: this.#connection, listEntries: (options) => metadata.listEntries(options) };
  }

  /** As {@linkcode ResourceClient.get}. */
  get(name: string, options: GetOptions & { readonly subresource: "scale" }): Promise<Scale>;
  /** As {@linkcode ResourceClient.get}. */
  get(name: string, options: GetOptions & { readonly subresource: "status" }): Promise<T>;
  /** As {@linkcode ResourceClient.get}. */
  get(name: string, options: GetOptions & { readonly subresource: string }): Promise<DynamicObject>;
  /** As {@linkcode ResourceClient.get}. */
  get(name: string, options?: GetOptions): Promise<T>;
  async get(name: string, options: GetOptions = {}): Promise<unknown> {
    const { value: answer } = await this.#json(getRequest(this.#target, name, options), options);
    if (options.subresource) return answer;
    if (this.resource.representation !== "table") {
      const reduction = Reduction.of(this.resource);
      return reduction === undefined ? answer as T : reduction.of(answer as T);
    }
    return new RowReader<T>(this.#reading({}, "now")).eventOf(answer)!.object;
  }

  /** As {@linkcode ResourceClient.getOrUndefined}. */
  async getOrUndefined(name: string, options: GetOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(name, options);
    } catch (error) {
      // A 404 about the kind, or from a proxy, names no object.
      if (isNotFound(error) && error.status.details?.name === name) return undefined;
      throw error;
    }
  }

  /** As {@linkcode ResourceClient.list}. */
  async list(options: ListOptions = {}): Promise<ObjectList<T>> {
    return await this.#page(options, options.signal);
  }

  /** As {@linkcode ResourceClient.pages}. */
  pages(options: ListOptions = {}): AsyncIterableIterator<ObjectList<T>> {
    listRequest(this.#target, options, true); // throws at once for an invalid option
    const fetchPage: FetchPage<T> = (page, signal, onContinue) => this.#page(page, signal, onContinue);
    return this.#streamOf(options, (signal) => pagesOf(resourceName(this.resource), fetchPage, options, signal));
  }

  /** As {@linkcode ResourceClient.watch}. */
  watch(options: WatchOptions = {}): AsyncIterableIterator<WatchEvent<T>> {
    const spec = watchRequest(this.#target, options);
    return this.#streamOf(options, (signal) => this.#events(spec, options, signal), options.signal);
  }

  /** As {@linkcode ResourceClient.follow}. */
  follow(options: FollowOptions = {}): AsyncIterableIterator<WatchEvent<T>> {
    const name = resourceName(this.resource);
    checkRetryWatch(name, options);
    watchRequest(this.#target, options); // throws at once for an invalid option
    return this.#streamOf(
      options,
      (signal) => retryWatch(name, (options) => this.watchChanges(options), options, signal),
      options.signal,
    );
  }

  /** As {@linkcode ResourceClient.listEntries}. */
  listEntries(options: ListOptions = {}): AsyncIterableIterator<ListPart<T>> {
    const spec = listRequest(this.#target, options, false);
    return this.#parts(spec, this.#reading(options, "later"), options);
  }

  /** As {@linkcode ResourceClient.watchChanges}. */
  watchChanges(options: WatchOptions = {}): AsyncIterableIterator<readonly WatchChange<T>[]> {
    const spec = watchRequest(this.#target, options);
    return this.#changes(spec, this.#reading(options, "later"), options);
  }

  /** As {@linkcode ResourceClient.logs}. */
  logs(name: string, options: LogOptions = {}): AsyncIterableIterator<LogLine> {
    const { group, version, plural, kind, scope } = this.resource;
    const resource: Resource<Pod> = { group, version, plural, kind, scope };
    if (resourceName(resource) !== "pods") {
      throw new ArgumentError(`Cannot read logs of "${resourceName(resource)}": only pods have logs`);
    }
    const { action } = logRequest(this.#target, name, new URLSearchParams());
    checkNames(action, options, LOG_OPTIONS);
    checkLogOptions(action, options);
    const pods = new Collection(this.#connection, resource, this.selection, this.#options);
    const source: LogSource = {
      action,
      pod: (signal) => pods.get(name, { signal }),
      open: (query, signal) => this.#log(logRequest(this.#target, name, query), signal, options),
    };
    const { signal, follow } = options;
    return this.#streamOf(options, (signal) => logLines(source, options, signal), follow ? signal : undefined);
  }

  /** As {@linkcode ResourceClient.create}. */
  create(
    object: SubresourceDraft,
    options: WriteOptions & { readonly subresource: "eviction" | "binding" },
  ): Promise<ApiStatus>;
  /** As {@linkcode ResourceClient.create}. */
  create(object: SubresourceDraft, options: WriteOptions & { readonly subresource: "token" }): Promise<TokenRequest>;
  /** As {@linkcode ResourceClient.create}. */
  create(object: ObjectDraft<T>, options?: WriteOptions): Promise<T>;
  /** As {@linkcode ResourceClient.create}. */
  create(object: SubresourceDraft, options: WriteOptions & { readonly subresource: string }): Promise<DynamicObject>;
  async create(object: ObjectDraft<T> | SubresourceDraft, options: WriteOptions = {}): Promise<unknown> {
    const request = createRequest(this.#target, object as SubresourceDraft, options);
    return confirmationOr(await this.#write(request, options, "create", object));
  }

  /** As {@linkcode ResourceClient.update}. */
  update(scale: Mutable<Scale> & Complete, options: WriteOptions & { readonly subresource: "scale" }): Promise<Scale>;
  /** As {@linkcode ResourceClient.update}. */
  update(object: Mutable<T> & Complete, options?: WriteOptions): Promise<T>;
  async update(object: (Mutable<T> | Mutable<Scale>) & Complete, options: WriteOptions = {}): Promise<unknown> {
    const request = updateRequest(this.#target, object as KubernetesObject, options);
    return await this.#write(request, options, "update", object);
  }

  /** As {@linkcode ResourceClient.apply}. */
  async apply(object: Apply<T>, options: ApplyOptions): Promise<T> {
    const { fieldManager, force, ...rest } = options;
    return await this.patch(object.metadata.name, { type: "apply", body: object, fieldManager, force }, rest);
  }

  /** As {@linkcode ResourceClient.applyIfChanged}. */
  async applyIfChanged(object: Apply<T>, options: ApplyIfChangedOptions<T>): Promise<AppliedIfChanged<T>> {
    const { current: given, fieldManager, force, ...rest } = options;
    const { name } = object.metadata;
    const request = patchRequest(this.#target, name, { type: "apply", body: object, fieldManager, force }, rest);
    const key = keyOf({ metadata: { name, namespace: request.place?.namespace } });
    const current = "current" in options ? given : this.#options.cached?.(this.resource, key) as T | undefined;
    const draft: KubernetesObject = JSON.parse(request.init.body as string);
    const reason = needToApply(this.resource, draft, { key, current, fieldManager });
    const after = reason === undefined ? current! : await this.#write(request, rest, "apply", object);
    const kept = keptByUpdate(draft, after.metadata, [fieldManager, this.#connection.manager]);
    return { object: after, ...defined({ reason, kept }) };
  }

  /** As {@linkcode ResourceClient.patch}. */
  patch(name: string, patch: Patch<Scale>, options: WriteOptions & { readonly subresource: "scale" }): Promise<Scale>;
  /** As {@linkcode ResourceClient.patch}. */
  patch(name: string, patch: Patch<T>, options?: WriteOptions): Promise<T>;
  async patch(name: string, patch: Patch<T> | Patch<Scale>, options: WriteOptions = {}): Promise<unknown> {
    const request = patchRequest(this.#target, name, patch as Patch<T>, options);
    return await this.#write(request, options, patch.type, patch.body);
  }

  /** As {@linkcode ResourceClient.delete}. */
  async delete(name: string, options: DeleteOptions = {}): Promise<T | ApiStatus> {
    const request = deleteRequest(this.#target, name, options);
    const { namespace = "" } = request.place ?? {};
    const answer = await this.#json(request, options);
    // A deletion of a subresource evicts, or says nothing of the object.
    if (!options.subresource) this.#wrote(options, () => deletionOf(this.resource, { namespace, name }, answer));
    return confirmationOr(answer.value as T);
  }

  /** As {@linkcode ResourceClient.deleteCollection}. */
  async deleteCollection(options: DeleteCollectionOptions = {}): Promise<void> {
    const spec = deleteCollectionRequest(this.#target, options);
    if (this.#options.onWrite !== undefined && !options.dryRun) {
      const { items } = (await this.#json(spec, options)).value as { readonly items?: readonly T[] };
      for (const item of items ?? []) this.#wrote(options, () => collectedOf(this.resource, item));
      return;
    }
    using exchange = await this.#connection.open(this.#checked(spec), options.signal, this.#options.signal);
    // The server answers when it has deleted the objects. The answer lists them, and is not needed.
    await exchange.response.body?.cancel();
  }

  async #write(
    spec: RequestSpec,
    options: WriteOptions,
    type: NonNullable<ObjectWrite["sent"]>["type"],
    body: unknown,
  ): Promise<T> {
    const { subresource = "" } = options;
    if (this.#options.validate && (type === "create" || type === "update")) {
      await refuseInvalid(this.resource, spec, subresource, (key) => this.#options.cached?.(this.resource, key));
    }
    const answer = await this.#json(spec, options);
    this.#wrote(options, () => writeOf(this.resource, answer, { type, subresource, body }));
    return answer.value as T;
  }

  /** Reports a write that the server accepted. */
  #wrote({ dryRun }: { readonly dryRun?: boolean }, write: () => ObjectWrite | undefined): void {
    const { onWrite } = this.#options;
    const written = onWrite === undefined || dryRun ? undefined : write();
    if (written !== undefined) onWrite!(written);
  }

  /**
   * Sends a request, which the signal in its options or this client's signal can end. If it is unknown whether a write
   * took effect, this is reported.
   */
  async #json(spec: RequestSpec, { signal, dryRun }: WriteOptions): Promise<JsonAnswer> {
    try {
      const answer = await this.#connection.json(this.#checked(spec), signal, this.#options.signal);
      if (isCustom(this.resource)) keepLiterals(answer.value, answer.text);
      return answer;
    } catch (error) {
      const isRefused = error instanceof StatusError && error.status.code < 500;
      if (spec.init.method !== undefined && !isRefused && !dryRun) this.#options.onUnanswered?.(this.resource);
      throw error;
    }
  }

  #checked(spec: RequestSpec): RequestSpec {
    return { ...spec, beforeSent: this.#options.beforeSent };
  }

  get #target(): Target<T> {
    return { resource: this.resource, selection: this.selection, defaultNamespace: this.#options.namespace };
  }

  async #page(
    options: ListOptions,
    signal: AbortSignal | undefined,
    onContinue?: (token: string) => void,
  ): Promise<ObjectList<T>> {
    const items: T[] = [];
    let last: ListPart<T> = { entries: [] };
    const spec = listRequest(this.#target, options, true);
    for await (const part of this.#parts(spec, this.#reading(options, "now"), { ...options, signal })) {
      for (const entry of part.entries) items.push(entry.object);
      if (part.continue !== undefined) onContinue?.(part.continue);
      last = part;
    }
    const { entries: _entries, resourceVersion = "", ...rest } = last;
    return { items, resourceVersion, ...rest };
  }

  /** Sends a request. It yields a part when the server has accepted it, and then the decoded parts of the body. */
  #parts(
    spec: RequestSpec,
    read: ReadOptions,
    { signal, onDecoded }: Abortable & DecodeObserver,
  ): CancellableStream<ListPart<T>> {
    const checked = this.#checked(spec);
    return new CancellableStream((signal) =>
      new RequestSource<ListPart<T>>({
        open: () => this.#connection.open(checked, signal, this.#options.signal),
        first: { entries: [] },
        decoder: () => new ListReader<T>(read),
        plain: false,
        onDecoded,
      }), signal);
  }

  #changes(spec: RequestSpec, read: ReadOptions, options: WatchOptions): CancellableStream<readonly WatchChange<T>[]> {
    const { signal: all } = this.#options;
    return new CancellableStream((signal) =>
      new WatchSource<T>({
        action: spec.action,
        memory: this.#memory,
        watch: options,
        open: (watch, resumed) => {
          const { sendInitialEvents: _, ...rest } = options;
          const request = resumed === undefined ? spec : watchRequest(this.#target, { ...rest, ...resumed });
          const timeoutMs = resumed === undefined ? undefined : REPLACE_MS;
          return this.#connection.open({ ...request, watch, ...defined({ timeoutMs }) }, signal, all);
        },
        newestVersion: async (signal) => {
          let version: string | undefined;
          for await (const part of this.identities.listEntries({ limit: 1, signal })) version ??= part.resourceVersion;
          return version;
        },
        decoder: () => new WatchReader<T>(read),
        onDecoded: options.onDecoded,
      }), options.signal);
  }

  /** Requests a log. If the connection may be dead, the stream fails, because a new request continues the log. */
  #log(
    spec: RequestSpec,
    signal: AbortSignal,
    { maxLineBytes = MAX_LINE_BYTES }: LogOptions,
  ): CancellableStream<readonly ReceivedLine[]> {
    const cannot = (): Promise<never> => Promise.reject(new Error("A new request continues the log"));
    return new CancellableStream((signal) => {
      const source: RequestSource<readonly ReceivedLine[]> = new RequestSource({
        open: () => this.#connection.open({ ...this.#checked(spec), watch }, signal, this.#options.signal),
        first: [],
        decoder: () => new LogReader(maxLineBytes),
        plain: true,
        type: "text",
        onPart: () => watch.heard([]),
      });
      const connection = {
        get isReading() {
          return source.isReading;
        },
        replace: cannot,
        newestVersion: cannot,
      };
      const facts = { resourceVersion: "", isListing: false, hasBookmarks: false };
      const watch = new WatchHealth(spec.action, this.#memory, connection, facts);
      return source;
    }, signal);
  }

  /**
   * Returns a stream with the items from the iterator that `start` creates. The signal in the options cancels it. If
   * `quiet` cancels it, there is no error.
   */
  #streamOf<I>(
    { signal }: Abortable,
    start: (signal: AbortSignal) => AsyncIterator<I, void>,
    quiet?: AbortSignal,
  ): CancellableStream<I> {
    const { signal: all } = this.#options;
    // The signal aborts at the end of the stream, and so frees the client's signal.
    const both = (signal: AbortSignal): AbortSignal =>
      all === undefined ? signal : new DerivedController(signal, all).signal;
    return new CancellableStream((signal) => new IteratorSource(start(both(signal))), signal, quiet);
  }

  async *#events(
    spec: RequestSpec,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    for await (const batch of this.#changes(spec, this.#reading(options, "now"), { ...options, signal })) {
      for (const change of batch) {
        yield change.type === "BOOKMARK" ? change : { type: change.type, object: change.entry.object };
      }
    }
  }

  #reading(options: DecodeOptions & KnownEntries & Projection & ShardOption, parse: "now" | "later"): ReadOptions {
    const { managedFields = "keep", known, knownNext, fields, secretData, secretAnnotations, shard } = options;
    const { maxObjectBytes } = this.#connection;
    // Entries are stored without a look at their kind, so it is checked here. Metadata is of one kind for all
    // resources.
    const isMetadata = this.resource.representation === "metadata";
    const expectedKind = parse === "later" && !isMetadata ? this.resource.kind : undefined;
    const decoding = { managedFields, known, knownNext, fields, secretData, secretAnnotations, shard };
    const reported = parse === "later" ? this.#reported : undefined;
    return { ...decoding, resource: this.resource, expectedKind, parse, maxObjectBytes, reported };
  }
}

/**
 * Returns the write that the response to a create, update or patch shows, or `undefined` if the response is no object.
 */
function writeOf(resource: Resource, { value, text }: JsonAnswer, sent?: ObjectWrite["sent"]): ObjectWrite | undefined {
  const object = value as KubernetesObject & { readonly metadata?: KubernetesObject["metadata"] };
  const { name, namespace = "", uid, resourceVersion } = object.metadata ?? {};
  if (!name || !uid || !resourceVersion) return undefined;
  return { resource, key: keyOf(object), namespace, uid, resourceVersion, object, text, sent };
}

/** The members in responses to deletions that say whether the object is gone. */
interface DeletionAnswer extends Partial<KubernetesObject> {
  readonly details?: { readonly uid?: string };
  /** Set for a Namespace, which the server keeps until it is empty. */
  readonly spec?: { readonly finalizers?: readonly string[] };
}

/**
 * Returns the write that the response to a deletion shows. If finalizers or a grace period keep the object, it has a
 * new version. Every other response means that the object is gone.
 */
function deletionOf(
  resource: Resource,
  place: { readonly namespace: string; readonly name: string },
  answer: JsonAnswer,
): ObjectWrite | undefined {
  const { metadata, details, spec } = answer.value as DeletionAnswer;
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata ?? {};
  const isKept = deletionGracePeriodSeconds || finalizers?.length || spec?.finalizers?.length;
  if (deletionTimestamp && isKept) return writeOf(resource, answer);
  const uid = metadata?.uid ?? details?.uid ?? "";
  return { resource, key: keyOf({ metadata: place }), namespace: place.namespace, uid, resourceVersion: "" };
}

/**
 * Returns the write for one item in the response to a `deleteCollection`. The item is the object before the deletion.
 * The result is `undefined` if the object was being deleted already, because it may have no later version.
 */
function collectedOf(resource: Resource, item: KubernetesObject): ObjectWrite | undefined {
  const { namespace = "", uid, resourceVersion: after, deletionTimestamp } = item.metadata;
  if (deletionTimestamp !== undefined) return undefined;
  return { resource, key: keyOf(item), namespace, uid, resourceVersion: "", after };
}
