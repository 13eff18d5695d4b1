/**
 * The calls for one collection: get, list, watch, follow, and writes.
 *
 * {@linkcode Collection} is the entry point. It implements `ResourceClient` with a `Connection`. It keeps no objects.
 * After an expired version `follow()` throws, whereas an informer lists again.
 *
 * @module
 */
import { keepLiterals } from "../api/large_integers.ts";
import {
  type ConnectionsStatus,
  type IdentitySource,
  type ListPart,
  readPages,
  type WatchChange,
  type WatchEvent,
} from "../api/lister_watcher.ts";
import { type Complete, type DynamicObject, keyOf, type KubernetesObject } from "../api/object.ts";
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
import { defined } from "../api/defined.ts";
import { WATCH_GRACE_MS, WatchRenewal, watchTimeoutError, watchTimeoutSeconds } from "../api/watch_timeout.ts";
import { isCustom, onlyMetadata, type Resource, resourceName } from "../api/resource.ts";
import {
  type ApiStatus,
  CredentialsError,
  DecodeError,
  isExpired,
  isForbidden,
  isNotFound,
  isOlder,
  isRefusedForGood,
  isUnauthorized,
  retryAfterMs,
  StatusError,
  statusFrom,
  UnreachableError,
} from "../api/status.ts";
import type { Scale, TokenRequest } from "../api/subresources.ts";
import type { Apply, Mutable, ObjectDraft } from "../api/written.ts";
import { CancellableStream, IteratorSource, ReadAhead } from "../async/iterate.ts";
import { DerivedController, withResolvers } from "../async/signals.ts";
import { backoffMs, monotonicMs, sleep, TimeLimit, unreachableBackoffMs } from "../async/time.ts";
import { Reduction } from "../entry/entry.ts";
import { ConsoleReporter } from "../errors/errors.ts";
import { checkBackoff, checkNames } from "../errors/option_names.ts";
import type { Pod } from "../kinds/core/v1.ts";
import { LogReader, type ReceivedLine } from "./decode/log_reader.ts";
import type { ReadOptions } from "./decode/object_reader.ts";
import { ListReader, RowReader, WatchReader } from "./decode/readers.ts";
import type { Connection, RequestSpec } from "./http/connection.ts";
import { WatchHealth, WatchMemory } from "./http/open_watches.ts";
import { isStatus, type JsonAnswer } from "./http/response.ts";
import { checkLogOptions, LOG_OPTIONS, type LogLine, logLines, type LogOptions, type LogSource } from "./logs.ts";
import { keptByUpdate, needToApply } from "./owned_fields.ts";
import {
  type AppliedIfChanged,
  type ApplyIfChangedOptions,
  type ApplyOptions,
  collectedOf,
  createRequest,
  type DeleteCollectionOptions,
  deleteCollectionRequest,
  type DeleteOptions,
  deleteRequest,
  deletionOf,
  type FollowOptions,
  type GetOptions,
  getRequest,
  listRequest,
  logRequest,
  type ObjectList,
  type ObjectWrite,
  type Patch,
  patchRequest,
  type ResourceClient,
  type ResourceClientOptions,
  type SubresourceDraft,
  type Target,
  updateRequest,
  watchRequest,
  writeOf,
  type WriteOptions,
} from "./resource_client.ts";
import { refuseInvalid } from "./valid_writes.ts";
import { RequestSource, type RequestSourceOptions, WatchSource } from "./watch_source.ts";

/** The shortest time between the starts of two attempts (client-go `tools/watch/retrywatcher.go`). */
const MIN_PERIOD_MS = 1_000;

/** A watch that stayed open this long was healthy, even without an event. */
const HEALTHY_MS = 10_000;

/** The default limit for a line in a log, in bytes. */
const MAX_LINE_BYTES = 1_048_576;

/** How many deleted objects are remembered, to recognize a deletion that is sent again. */
const DELETIONS = 1_000;

/** Opens one watch like `ResourceClient.watchChanges`: its first batch is empty and means that the watch is open. */
type OpenWatch<T> = (options: WatchOptions) => AsyncIterable<readonly WatchChange<T>[]>;

/**
 * Checks the options for a watch that resumes.
 *
 * @throws {TypeError} if `resourceVersion` is missing, or `sendInitialEvents` is given.
 * @throws {RangeError} if no watch can resume from `resourceVersion`.
 */
function checkRetryWatch(what: string, options: FollowOptions): void {
  const { resourceVersion, sendInitialEvents } = options;
  if (resourceVersion === undefined) {
    throw new TypeError(
      `Cannot follow "${what}": resourceVersion is missing. List first, and follow from the version of the list`,
    );
  }
  if (resourceVersion === "" || resourceVersion === "0") {
    throw new RangeError(
      `Cannot follow "${what}": no watch can resume from resourceVersion "${resourceVersion}". List first, and follow ` +
        `from the version of the list`,
    );
  }
  if (sendInitialEvents !== undefined) {
    throw new TypeError(
      `Cannot follow "${what}": sendInitialEvents lists again, but a retried watch has to resume. Use watch()`,
    );
  }
}

/**
 * Yields the events of one watch after the other, as `ResourceClient.follow` promises. When `signal` aborts, the
 * iteration rejects with its reason.
 */
async function* retryWatch<T>(
  what: string,
  open: OpenWatch<T>,
  options: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const reporter = new ConsoleReporter();
  const report = (error: unknown): void => reporter.report(`watch of "${what}"`, error);
  const { backoff = {}, onInterrupted = report, ...watchOptions } = options;
  checkBackoff(backoff);
  /** Failures in a row, without an event between them. */
  let failures = 0;
  const position: Position = { version: options.resourceVersion ?? "", deleted: new Set() };
  /** The last version before something unreadable. */
  let unreadableAt: string | undefined;
  for (;;) {
    const startedMs = monotonicMs();
    let opened = false;
    const periodMs = (): number => MIN_PERIOD_MS - (monotonicMs() - startedMs);
    let delayMs: number;
    try {
      const timeoutSeconds = options.timeoutSeconds ?? watchTimeoutSeconds();
      const attempt = { ...watchOptions, resourceVersion: position.version, allowBookmarks: true, timeoutSeconds };
      for await (const batch of limited(what, open, attempt, signal)) {
        opened = true;
        if (batch.length > 0) failures = 0;
        for (const event of unseen(what, batch, position)) {
          if (event.type !== "BOOKMARK" || options.allowBookmarks) yield event;
        }
      }
      delayMs = periodMs();
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error, opened, position.version === unreadableAt)) throw error;
      if (opened && error instanceof DecodeError) unreadableAt = position.version;
      if (opened && monotonicMs() - startedMs >= HEALTHY_MS) failures = 0;
      const isRenewal = error instanceof WatchRenewal;
      const askedMs = error instanceof StatusError ? retryAfterMs(error.status) ?? 0 : 0;
      const waitMs = error instanceof UnreachableError ? unreachableBackoffMs : backoffMs;
      delayMs = Math.max(isRenewal ? 0 : waitMs(failures++, backoff), askedMs, periodMs());
      if (!isRenewal) onInterrupted(error, delayMs);
    }
    if (delayMs > 0) await sleep(delayMs, { signal });
  }
}

/** The caller's position in the sequence of changes. */
interface Position {
  /** The version at which the next watch resumes. */
  version: string;
  /** The uids (or keys) of the last thousand objects whose last yielded event is a deletion. */
  readonly deleted: Set<string>;
}

/**
 * Yields the events of a batch that are new to the caller. The position moves with each event, before it is yielded.
 */
function* unseen<T>(
  what: string,
  batch: readonly WatchChange<T>[],
  position: Position,
): Generator<WatchEvent<T>, void, undefined> {
  for (const change of batch) {
    if (change.type !== "BOOKMARK" && change.entry.key === "" && change.entry.error !== undefined) {
      throw change.entry.error;
    }
    const { resourceVersion: version, key } = change.type === "BOOKMARK" ? { ...change, key: "" } : change.entry;
    if (version === "") {
      throw new DecodeError(`Cannot follow "${what}": "${key}" came without a resourceVersion`, { key });
    }
    const older = isOlder(version, position.version);
    const known = older || version === position.version;
    if (change.type === "BOOKMARK") {
      if (older) continue;
      position.version = version;
      yield change;
      continue;
    }
    const id = change.entry.uid || key;
    // Not every server gives a deletion a version of its own: it may carry a known version.
    if (known && (change.type !== "DELETED" || position.deleted.has(id))) continue;
    const { object } = change.entry;
    if (!known) position.version = version;
    if (change.type === "DELETED") remember(position.deleted, id);
    else position.deleted.delete(id);
    yield { type: change.type, object };
  }
}

function remember(deleted: Set<string>, id: string): void {
  for (const oldest of deleted) {
    if (deleted.size < DELETIONS) break;
    deleted.delete(oldest);
  }
  deleted.add(id);
}

/**
 * Yields the batches of one watch, and fails when the watch stays open 10 s longer than it was requested: the
 * connection may be dead, which TCP may take hours to notice. The time that the caller takes does not count towards
 * these 10 s.
 */
async function* limited<T>(
  what: string,
  open: OpenWatch<T>,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchChange<T>[], void, undefined> {
  const { timeoutSeconds = 0 } = options;
  // With 0 the server uses its own timeout, which is not known here.
  const limitMs = timeoutSeconds === 0 ? Infinity : timeoutSeconds * 1_000 + WATCH_GRACE_MS;
  using controller = new DerivedController(signal);
  using limit = new TimeLimit(() => controller.abort(watchTimeoutError(`follow "${what}"`, timeoutSeconds)), limitMs);
  for await (const batch of open({ ...options, signal: controller.signal })) {
    limit.pause();
    yield batch;
    limit.resume(WATCH_GRACE_MS);
  }
}

/**
 * Returns true if another attempt would fail too, or would hide something from the caller. An unreadable event may have
 * been damaged on its way; `again` says that it was unreadable twice.
 */
function isFinal(error: unknown, opened: boolean, again: boolean): boolean {
  if (error instanceof UnreachableError || error instanceof CredentialsError) return false;
  if (error instanceof DecodeError) return opened && again;
  if (!(error instanceof StatusError)) return true;
  if (isExpired(error) || isUnauthorized(error) || isForbidden(error) || isNotFound(error)) return true;
  return !opened && isRefusedForGood(error);
}

/**
 * Fetches one page. It calls `onContinue` as soon as the next page's token has arrived, which may be long before the
 * end.
 */
type FetchPage<T> = (
  options: ListOptions,
  signal: AbortSignal,
  onContinue: (token: string) => void,
) => Promise<ObjectList<T>>;

/** How long the server may take to accept a watch that replaces another one, in milliseconds. */
const REPLACE_MS = 5_000;

/** The default page size (client-go `tools/pager`). */
const PAGE_SIZE = 500;

/**
 * Yields a list's pages, and fetches one page ahead. It requests page `n + 1` when the caller waits for page `n`, and
 * the token has arrived. So at most two pages are open or held. After an expired token, the list restarts once, as one
 * page.
 *
 * @throws {DecodeError} if the pages come no closer to an end.
 */
async function* pagesOf<T>(
  what: string,
  fetchPage: FetchPage<T>,
  options: ListOptions,
  signal: AbortSignal,
): AsyncGenerator<ObjectList<T>, void, undefined> {
  const parts = readPages({
    action: `list "${what}"`,
    list: { ...options, limit: options.limit ?? PAGE_SIZE },
    open: (list) => new ReadAhead((signal) => partsOf(fetchPage, list, signal), signal),
    sizeOf: ({ list }) => list?.items.length ?? 0,
    restart: true,
  });
  let isNew = false;
  for await (const { part: { list }, restarted } of parts) {
    isNew ||= restarted;
    if (list === undefined) continue;
    yield isNew ? { ...list, restarted: true } : list;
    isNew = false;
  }
}

/** First the token of the next page, if there is one, then the page. */
interface Part<T> {
  readonly continue?: string;
  readonly list?: ObjectList<T>;
}

/** Fetches a page to its end as soon as its first part is requested. */
async function* partsOf<T>(
  fetchPage: FetchPage<T>,
  options: ListOptions,
  signal: AbortSignal,
): AsyncGenerator<Part<T>, void, undefined> {
  const token = withResolvers<string | undefined>();
  const page = fetchPage(options, signal, token.resolve);
  page.then((list) => token.resolve(list.continue), () => token.resolve(undefined));
  yield { continue: await token.promise };
  yield { list: await page };
}

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
    return new Collection(this.#connection, this.resource, { ...this.selection, namespace }, this.#options);
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
      throw new TypeError(`Cannot read logs of "${resourceName(resource)}": only pods have logs`);
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

  #parts(
    spec: RequestSpec,
    read: ReadOptions,
    { signal, onDecoded }: Abortable & DecodeObserver,
  ): CancellableStream<ListPart<T>> {
    return this.#stream<ListPart<T>>(spec, signal, {
      first: { entries: [] },
      decoder: () => new ListReader<T>(read),
      plain: false,
      onDecoded,
    });
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

  /** Sends a request. It yields an item when the server has accepted it, and then the decoded parts of the body. */
  #stream<P>(
    spec: RequestSpec,
    signal: AbortSignal | undefined,
    options: Omit<RequestSourceOptions<P>, "open">,
  ): CancellableStream<P> {
    const checked = this.#checked(spec);
    return new CancellableStream(
      (signal) =>
        new RequestSource<P>({ open: () => this.#connection.open(checked, signal, this.#options.signal), ...options }),
      signal,
    );
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
    return new CancellableStream(
      (signal) => {
        // The signal aborts at the end of the stream, and so frees the client's signal.
        return new IteratorSource(start(all === undefined ? signal : new DerivedController(signal, all).signal));
      },
      signal,
      quiet,
    );
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
    return {
      resource: this.resource,
      expectedKind,
      managedFields,
      known,
      knownNext,
      fields,
      secretData,
      secretAnnotations,
      shard,
      parse,
      maxObjectBytes,
      ...(parse === "later" ? { reported: this.#reported } : {}),
    };
  }
}
