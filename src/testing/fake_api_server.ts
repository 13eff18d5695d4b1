import { StatusError } from "../api/errors.ts";
import { keyOf, type ObjectKey } from "../api/key.ts";
import type { Draft, KubernetesObject } from "../api/object.ts";
import type { Selection } from "../api/options.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { Backend } from "./backend.ts";
import type { FakeApiServerOptions } from "./fake_api_server_options.ts";
import { FaultVerbs } from "./fault_verbs.ts";
import type { RecordedRequest } from "./http/recorded_request.ts";
import { notFound } from "./http/refusal.ts";
import { mergePatch } from "./patches/merge_patch.ts";
import { StoredSelection } from "./reads/stored_selection.ts";
import { definitionOf } from "./storage/built_in.ts";
import type { ResourceDefinition } from "./storage/definition.ts";
import type { Store } from "./storage/store.ts";
import type { StoredCollection } from "./storage/stored_collection.ts";
import { parseStored } from "./storage/stored_object.ts";
import type { JsonObject } from "./wire/json.ts";
import type { AdmissionHook } from "./writes/admission.ts";
import { collectGarbage } from "./writes/collect_garbage.ts";
import type { WriteMode, Writer } from "./writes/writer.ts";

const DIRECT_WRITE: WriteMode = { manager: "fake", subresource: "", dryRun: false, direct: true };

/**
 * An API server in this process: a `Transport` for clients, and a handler for `Deno.serve`.
 *
 * What a test changes with {@linkcode create}, {@linkcode update}, {@linkcode patch} and {@linkcode delete} is the truth:
 * it is there when the call returns, watches are told in the same turn, and nobody is asked for permission. Requests come
 * in through {@linkcode fetch} and are answered as kube-apiserver 1.36 answers them: lists with pages and versions,
 * watches with history, bookmarks and streaming lists, conflicts, selectors, patches, server-side apply, the paths
 * `status` and `scale`, tables, discovery, OpenAPI v3, and the errors: `kubectl` from 1.29 on works with it. Faults are verbs
 * as well; they are described at {@linkcode FaultVerbs}.
 *
 * - Every write has a revision of its own, one counter for all resources, as in etcd; lists and watches agree on it.
 * - There are no controllers: pods stay as they are written, what an owner leaves behind goes when
 *   {@linkcode collectGarbage} is called, namespaces need not exist and go at once when deleted.
 * - It answers in JSON: as objects, as their metadata alone, or as tables; nothing else, and nothing is compressed. It
 *   reads JSON, also where YAML is announced, and the protobuf of the kinds that `kubectl create` makes.
 * - It fills in and checks metadata, but no more of an object than a pod's phase and a secret's type. It has no schemas: an
 *   apply tells the elements of well-known lists apart by their keys, and takes other lists as a whole.
 * - The scale of a custom resource is `spec.replicas`. Its versions are collections of their own.
 * - What a watch's reader has not read yet waits in memory, without a limit.
 * - All timers are global `setTimeout`s, so fake time governs them; when no watch is open, none is left.
 *
 * @example
 * ```ts
 * import { defineResource } from "@kube/informer";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const ConfigMap = defineResource({ version: "v1", plural: "configmaps", kind: "ConfigMap" });
 * const server = new FakeApiServer();
 * server.create(ConfigMap, { metadata: { namespace: "shop", name: "settings" } });
 *
 * const response = await server.fetch(new Request("http://fake/api/v1/namespaces/shop/configmaps"));
 * assertEquals((await response.json()).items[0].metadata.name, "settings");
 * ```
 */
export class FakeApiServer extends FaultVerbs implements Disposable {
  readonly #backend: Backend;
  readonly #store: Store;
  readonly #writer: Writer;

  /** An empty server that knows the resources of Kubernetes most often used, and those of the options. */
  constructor(options: FakeApiServerOptions = {}) {
    const backend = new Backend(options);
    super(backend);
    this.#backend = backend;
    this.#store = backend.store;
    this.#writer = backend.writer;
  }

  // ── asked ──────────────────────────────────────────────────────────────

  /**
   * Answers a request. A method that may be passed around:
   * `Deno.serve({ hostname: "127.0.0.1", port: 0 }, server.fetch)`. Without a host name, `Deno.serve` listens to the network.
   *
   * Called with one argument, it acts as a network would: when the request's signal aborts, the call rejects, or the body
   * breaks, with the signal's reason. `Deno.serve` passes a second argument; the signal is then left alone, and a client
   * that goes away cancels the body.
   */
  readonly fetch = (request: Request, info?: unknown): Promise<Response> => {
    if (info !== undefined) return this.#backend.handler.answer(request, undefined);
    const { signal } = request;
    return untilAborted(this.#backend.handler.answer(request, signal), signal);
  };

  /** The last requests, up to 10,000, oldest first, without their credentials. */
  get requests(): readonly RecordedRequest[] {
    return this.#backend.requests;
  }

  /** How many watches are open. */
  get watches(): number {
    return this.#backend.watches.count;
  }

  /** The newest version of anything, as a list without a version would give it. */
  get resourceVersion(): string {
    return String(this.#store.revision);
  }

  // ── the truth ──────────────────────────────────────────────────────────

  /**
   * Creates an object. A resource that is not known yet is served from now on, as a custom one.
   *
   * The server fills in what is missing: namespace `"default"`, a name after `generateName`, uid, times. Unlike over
   * HTTP, times and a status that are given are kept; the uid is always a new one. The object returned is yours.
   *
   * @throws {StatusError} 409 when there is one of that name, 422 when it has no name or one that is not allowed.
   */
  create<T extends KubernetesObject>(resource: Resource<T>, object: Draft<T>): T {
    const collection = this.#store.collection(resource) ?? this.#store.define(definitionOf(resource));
    return this.#explain(`create ${resourceName(resource)} "${keyOf(object)}"`, () => {
      const stored = this.#writer.create(collection, "", object as unknown as JsonObject, DIRECT_WRITE);
      return parseStored(stored) as unknown as T;
    });
  }

  /**
   * Replaces an object, its status included, whatever version the new one carries. Nothing happens when nothing changes.
   *
   * @throws {StatusError} 404 when it is not there.
   */
  update<T extends KubernetesObject>(resource: Resource<T>, object: T): T {
    const key = keyOf(object);
    return this.#explain(`update ${resourceName(resource)} "${key}"`, () => {
      const { collection, full } = this.#known(resource, key);
      const stored = this.#writer.update(collection, full, object as unknown as JsonObject, DIRECT_WRITE);
      return parseStored(stored) as unknown as T;
    });
  }

  /**
   * Changes parts of an object by a JSON merge patch: members that are null are removed, lists replaced as a whole.
   *
   * @throws {StatusError} 404 when it is not there.
   */
  patch<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey, patch: unknown): T {
    return this.#explain(`patch ${resourceName(resource)} "${key}"`, () => {
      const { collection, full } = this.#known(resource, key);
      const change = (object: JsonObject): JsonObject => mergePatch(object, patch as JsonObject) as JsonObject;
      return this.#writer.change(collection, full, change, DIRECT_WRITE).object as unknown as T;
    });
  }

  /**
   * Sets annotations of an object; those that are null are removed; managedFields stay as they are. The cheapest way to
   * make an event: of a pod of 9 KB it takes about an eighth of the time that {@linkcode patch} takes.
   *
   * @throws {StatusError} 404 when it is not there.
   */
  annotate(resource: Resource, key: ObjectKey, annotations: Readonly<Record<string, string | null>>): void {
    this.#explain(`annotate ${resourceName(resource)} "${key}"`, () => {
      const { collection, full } = this.#known(resource, key);
      this.#writer.annotate(collection, full, annotations);
    });
  }

  /**
   * Deletes an object at once, whatever finalizers and grace periods say.
   *
   * @throws {StatusError} 404 when it is not there.
   */
  delete<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey): void {
    this.#explain(`delete ${resourceName(resource)} "${key}"`, () => {
      const { collection, full } = this.#known(resource, key);
      this.#writer.delete(collection, full, { dryRun: false, direct: true });
    });
  }

  /** The object of that key; undefined when there is none. The object is yours. */
  get<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey): T | undefined {
    const collection = this.#store.collection(resource);
    const stored = collection?.get(this.#key(collection, key));
    return stored === undefined ? undefined : parseStored(stored) as unknown as T;
  }

  /**
   * The objects of a resource in the order of their keys. They are yours.
   *
   * @throws {StatusError} 400 when a selector cannot be understood.
   */
  list<T extends KubernetesObject>(resource: Resource<T>, selection: Selection = {}): T[] {
    const collection = this.#store.collection(resource);
    if (collection === undefined) return [];
    const { namespace = "", labelSelector = "", fieldSelector = "" } = selection;
    const selected = new StoredSelection(collection.definition, namespace, labelSelector, fieldSelector);
    const slice = collection.slice({ namespace, revision: this.#store.revision });
    return [...slice].filter((stored) => selected.matches(stored)).map((stored) => parseStored(stored) as unknown as T);
  }

  /** The keys of a resource's objects, in order. Costs no parsing. */
  keys(resource: Resource): ObjectKey[] {
    const collection = this.#store.collection(resource);
    if (collection === undefined) return [];
    return [...collection.slice({ namespace: "", revision: this.#store.revision })].map((stored) => stored.key);
  }

  /**
   * Lets a hook change or refuse the writes to a resource that come as requests, as an admission webhook does: all hooks
   * change, then all judge, in the order they came. What the test itself writes passes. Disposing what is returned removes
   * the hook.
   *
   * ```ts
   * import { defineResource } from "@kube/informer";
   * import { FakeApiServer } from "@kube/informer/testing";
   * import { assertEquals } from "@std/assert";
   *
   * const ConfigMap = defineResource({ version: "v1", plural: "configmaps", kind: "ConfigMap" });
   * const server = new FakeApiServer();
   * server.admit(ConfigMap, {
   *   mutate: ({ object }) => object && { ...object, metadata: { ...object.metadata, labels: { seen: "yes" } } },
   *   validate: ({ operation }) => (operation === "DELETE" ? "config maps are here to stay" : undefined),
   * });
   *
   * const maps = "http://fake/api/v1/namespaces/shop/configmaps";
   * const headers = { "content-type": "application/json" };
   * const body = '{"metadata":{"name":"a"}}';
   * const created = await server.fetch(new Request(maps, { method: "POST", headers, body }));
   * assertEquals((await created.json()).metadata.labels, { seen: "yes" });
   * const deleted = await server.fetch(new Request(`${maps}/a`, { method: "DELETE" }));
   * assertEquals(deleted.status, 400);
   * await deleted.body?.cancel();
   * ```
   */
  admit<T extends KubernetesObject>(resource: Resource<T>, hook: AdmissionHook<T>): Disposable {
    return this.#backend.admission.add(resource, hook);
  }

  /**
   * Does at once what the garbage collector of a cluster does in time: deletes objects whose owners are gone, and finishes
   * deletions in the foreground and those that leave orphans. Finalizers of others hold what they hold. Returns how many
   * changes that took; 0 when there was nothing to do.
   */
  collectGarbage(): number {
    return collectGarbage(
      this.#store,
      (collection, { key }) => this.#writer.delete(collection, key, { dryRun: false, direct: false }),
      (collection, { key }, object) => this.#writer.update(collection, key, object, DIRECT_WRITE),
    );
  }

  /** Serves a resource from now on, as a CustomResourceDefinition would. Again, it may say more about it. */
  define(resource: ResourceDefinition): void {
    this.#store.define(definitionOf(resource));
  }

  /** Serves a resource no longer: its objects are deleted, its watches told so and ended, and its path is 404. */
  undefine(resource: Resource): void {
    this.#store.undefine(resource);
  }

  /** Ends all watches and lists that wait. The objects stay, and requests are still answered. */
  [Symbol.dispose](): void {
    this.endWatches();
    this.#backend.revisions.giveUp();
  }

  #known(resource: Resource, key: ObjectKey): { readonly collection: StoredCollection; readonly full: ObjectKey } {
    const collection = this.#store.collection(resource);
    if (collection === undefined) throw notFound(resource, key);
    return { collection, full: this.#key(collection, key) };
  }

  /** A key as it is filed: `"name"` alone means the namespace `"default"` where there are namespaces. */
  #key({ definition }: StoredCollection, key: ObjectKey): ObjectKey {
    return definition.scope === "Namespaced" && !key.includes("/") ? `default/${key}` : key;
  }

  /** Adds to a refusal what was attempted. */
  #explain<R>(action: string, perform: () => R): R {
    try {
      return perform();
    } catch (cause) {
      if (!(cause instanceof StatusError)) throw cause;
      throw new StatusError(`Cannot ${action}: ${cause.status.message}`, cause.status, { cause });
    }
  }
}

/** The promise, or the signal's reason when that aborts first. */
function untilAborted<R>(promise: Promise<R>, signal: AbortSignal): Promise<R> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
