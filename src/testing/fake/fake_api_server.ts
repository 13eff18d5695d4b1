/**
 * A fake API server for tests.
 *
 * {@linkcode FakeApiServer} is the entry point: a transport for clients, with methods to change, read and wait for
 * objects. Faults are methods of `fault_verbs.ts`, from which it inherits. Everything else is done by its `Backend`.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import { keyOf, type KubernetesObject, type ObjectKey } from "../../api/object.ts";
import type { Abortable, Selection } from "../../api/options.ts";
import { defineResource, type Resource, resourceName } from "../../api/resource.ts";
import { StatusError } from "../../api/status.ts";
import { withResolvers } from "../../async/signals.ts";
import { timedController } from "../../async/time.ts";
import { notFound } from "../../client/protocol/refusal.ts";
import { checkNames } from "../../errors/option_names.ts";
import { mergePatch } from "./apply/patches.ts";
import { Backend, type FakeApiServerOptions } from "./backend.ts";
import { FaultVerbs } from "./fault_verbs.ts";
import type { Fixture } from "./objects.ts";
import { StoredSelection } from "./reads/lists.ts";
import { Playback, readRecording, type ReplayEnd, type ReplayOptions } from "./recording.ts";
import { definitionOf, type ResourceDefinition } from "./storage/definition.ts";
import { parseStored, type Store, type StoredCollection, type StoredObject } from "./storage/store.ts";
import type { RecordedRequest } from "./wire/exchange.ts";
import type { Json, JsonObject } from "./wire/json.ts";
import { objectOr } from "./wire/members.ts";
import type { AdmissionHook } from "./writes/admission.ts";
import { collectGarbage, finalizeNamespaces } from "./writes/controllers.ts";
import type { WriteMode } from "./writes/steps.ts";
import type { Writer } from "./writes/writer.ts";

const DIRECT_WRITE: WriteMode = { manager: "fake", subresource: "", dryRun: false, direct: true };

/**
 * An API server in this process: a `Transport` for clients, and a handler for `Deno.serve`.
 *
 * A test changes objects directly with {@linkcode create}, {@linkcode update}, {@linkcode patch} and
 * {@linkcode delete}: the change is committed when the call returns, watches get its event in the same turn, and no
 * authorization or admission applies. Requests arrive through {@linkcode fetch} and are answered like kube-apiserver
 * 1.37: lists with pages and versions, watches with history, bookmarks and streaming lists, conflicts, selectors,
 * patches, server-side apply, subresources, tables, discovery, OpenAPI v3 (fields without
 * descriptions), and errors.
 * `kubectl` from 1.29 on works with it. Faults are injected by the methods of {@linkcode FaultVerbs}.
 *
 * - Each write has its own revision, from one counter for all resources, as in etcd; lists and watches agree on it.
 * - Events of core/v1 and of events.k8s.io/v1 are the same objects, in two forms, and so are autoscalers of
 *   autoscaling/v1 and v2; v1 has the metric of the CPU alone.
 * - There are no controllers: pods stay as they are written, dependents are deleted when {@linkcode collectGarbage} is
 *   called; the finalizers that protect the claims and volumes of requests are removed by the test.
 * - Namespaces need not exist and are deleted at once, unless {@linkcode FakeApiServerOptions.namespaces} is `"real"`.
 * - It responds in JSON: full objects, metadata only, or tables; nothing is compressed. It accepts JSON, in an
 *   apply under a YAML media type too, and for built-in kinds protobuf. A body has at most 3 MiB.
 * - Requests, patches, applies and managedFields follow the schemas of built-in kinds, and those of custom kinds'
 *   definitions. A custom kind without one keeps all fields; its lists are one field each.
 * - `fieldValidation` applies to fields that a type does not have and to members that stand twice in a body. The last
 *   of two members counts; the server merges two objects of a built-in kind.
 * - Objects of requests are completed and checked as by the server and its default admission plugins: Services get
 *   addresses of 10.96.0.0/16 and ports from 30000 to 32767, and a new node is tainted as not ready. Priority classes
 *   are not looked up, but for those of the system; limit ranges and quotas do not apply. Rules in CEL are not
 *   evaluated.
 * - Writes of the test itself are neither checked nor completed, but for phases of pods and namespaces and a secret's
 *   type. Faults in them may stay in later requests.
 * - Each version of a custom resource is a separate collection.
 * - Evictions respect disruption budgets, bindings assign pods to nodes, and tokens of service accounts are signed by
 *   nobody. There are no kubelets: logs are empty, and `exec`, `attach`, `portforward` and `proxy` get 501, or 400
 *   where the pod is on no node.
 * - Reviews are answered from {@linkcode FakeApiServerOptions.tokens} and
 *   {@linkcode FakeApiServerOptions.authorize}; the latter has no rules that a SelfSubjectRulesReview could list.
 * - Events that a watch's client has not read are queued in memory, without a limit.
 * - All timers are global `setTimeout`s, so fake time controls them; without an open watch there are none.
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
  /** Aborted when the server is disposed. */
  readonly #ended = new AbortController();
  /** Defined if and only if the server plays a recording. */
  #playback: Playback | undefined;

  /** Creates an empty server for the resources of Kubernetes itself and those of `options.resources`. */
  constructor(options: FakeApiServerOptions = {}) {
    const backend = new Backend(options);
    super(backend);
    this.#backend = backend;
    this.#store = backend.store;
    this.#writer = backend.writer;
  }

  /**
   * Creates a server that plays a recording of `informer record`: a stream of its bytes, such as a file's `readable`.
   * The server begins with the objects that the recording's first lists had, under their versions; {@linkcode replay}
   * plays what came then. A file that ends in the middle of a line is played up to there.
   *
   * - All objects, deletions and bookmarks have the versions that they had, as long as no one else writes. The changes
   *   of all kinds come in the order of their versions, each at the time at which the recorded server had it.
   * - Watches that failed in the recording fail again, with the same status; that of a lost connection ends in a line.
   *   Failed lists are not played.
   * - What a relist found is played as one change of each object, and deletions at the version of the list.
   * - Memory: twice the size of the recording.
   *
   * ```ts
   * import { Client, SharedIndexInformer } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   * import { assertEquals } from "@std/assert";
   *
   * const lines = [
   *   `{"recording":1,"startedAt":"2026-11-23T12:00:00.000Z","kinds":[{"group":"","version":"v1","plural":"pods",` +
   *   `"kind":"Pod","scope":"Namespaced"}],"redacted":[]}`,
   *   `{"at":2,"kind":0,"type":"LIST"}`,
   *   `{"at":9,"kind":0,"type":"LISTED","resourceVersion":"812"}`,
   *   `{"at":60000,"kind":0,"type":"ADDED","object":{"metadata":{"namespace":"shop","name":"a","uid":"1",` +
   *   `"resourceVersion":"840"}}}`,
   * ];
   * const recording = new Blob([lines.join("\n") + "\n"]).stream();
   * using server = await FakeApiServer.from(recording); // or: (await Deno.open("incident.jsonl")).readable
   * using client = new Client({ server: server.url, transport: server });
   * await using pods = new SharedIndexInformer(client.resource(Pod));
   * pods.run();
   * await pods.waitForCacheSync();
   * await server.replay({ speed: Infinity });
   * await pods.waitForVersion(server.resourceVersion);
   * assertEquals(pods.lister.list().map(({ metadata }) => metadata.resourceVersion), ["840"]);
   * ```
   *
   * @throws {SyntaxError} when a line is not one of a recording.
   */
  static async from(recording: AsyncIterable<Uint8Array>, options: FakeApiServerOptions = {}): Promise<FakeApiServer> {
    const server = new FakeApiServer(options);
    const read = await readRecording(recording);
    for (const kind of read.kinds) if (server.#store.collection(kind) === undefined) server.define(kind);
    server.#playback = new Playback(read, server.#store, (resource, error) => {
      if (error.code === undefined) server.truncateWatches(resource);
      else server.failWatches(error, resource);
    });
    return server;
  }

  /**
   * Plays the recording of {@linkcode from}, with the times between its changes, and resolves at its end, or when the
   * server is disposed. After an abort a second call continues.
   *
   * @throws {TypeError} when the server is not one of `from`, or is playing already. @throws the signal's reason.
   */
  async replay(options: ReplayOptions = {}): Promise<ReplayEnd> {
    checkNames("replay a recording", options, "speed signal");
    if (this.#playback === undefined) {
      throw new TypeError("Cannot replay: this server has no recording. Create it with FakeApiServer.from(recording)");
    }
    return await this.#playback.play(options, this.#ended.signal);
  }

  // ── requests ───────────────────────────────────────────────────────────

  /** The address for clients whose transport it is, `"http://fake"`; any other will do, too. */
  readonly url: string = "http://fake";

  /**
   * Answers a request. It is a bound function:
   * `Deno.serve({ hostname: "127.0.0.1", port: 0 }, server.fetch)`. Without a host name, `Deno.serve` listens on all
   * interfaces.
   *
   * Called with one argument, it acts like a network: when the request's signal aborts, the call rejects, or the body
   * errors, with the signal's reason. `Deno.serve` passes a second argument; the signal is then ignored, and a client
   * that disconnects cancels the body.
   */
  readonly fetch = (request: Request, info?: unknown): Promise<Response> => {
    if (info !== undefined) return this.#backend.handler.answer(request, undefined);
    const { signal } = request;
    return abortable(this.#backend.handler.answer(request, signal), signal);
  };

  /** As `Transport.probe`. Resolves after {@linkcode latency}, and is not among {@linkcode requests}. */
  readonly probe = (signal: AbortSignal): Promise<void> => this.#backend.faults.delay(signal);

  /** The latest requests, up to 10,000 and 64 MiB of their bodies, oldest first, without their credentials. */
  get requests(): readonly RecordedRequest[] {
    return this.#backend.requests;
  }

  /** Number of open watches. */
  get watches(): number {
    return this.#backend.watches.count;
  }

  /** The current resourceVersion, as a list without a version would return it. */
  get resourceVersion(): string {
    return String(this.#store.revision);
  }

  // ── objects ────────────────────────────────────────────────────────────

  /**
   * Creates an object. An unknown resource is defined as a custom resource.
   *
   * The server fills in what is missing: namespace `"default"`, a name from `generateName`, uid, timestamps. Unlike
   * over HTTP, given timestamps and a given status are kept; the uid is always new. The caller owns the returned
   * object.
   *
   * @throws {StatusError} 409 if the name exists, 422 if the name is missing or invalid.
   */
  create<T extends KubernetesObject>(resource: Resource<T>, object: Fixture<T>): T {
    const collection = this.#store.collection(resource) ?? this.#store.define(definitionOf(resource));
    return this.#explain(`create ${resourceName(resource)} "${keyOf(object)}"`, () => {
      return parsed(this.#writer.create(collection, "", jsonOf(object), DIRECT_WRITE));
    });
  }

  /**
   * Replaces an object, including its status, whatever its resourceVersion. A replacement without a change writes
   * nothing.
   *
   * @throws {StatusError} 404 if the object does not exist.
   */
  update<T extends KubernetesObject>(resource: Resource<T>, object: T): T {
    return this.#existing("update", resource, keyOf(object), (collection, key) => {
      return parsed(this.#writer.update(collection, key, jsonOf(object), DIRECT_WRITE).stored);
    });
  }

  /**
   * Applies a JSON merge patch: members that are null are removed, lists are replaced.
   *
   * @throws {StatusError} 404 if the object does not exist.
   */
  patch<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey, patch: unknown): T {
    return this.#existing("patch", resource, key, (collection, key) => {
      const change = (object: JsonObject): JsonObject => objectOr(mergePatch(object, patch as Json));
      return objectOf(this.#writer.change(collection, key, change, DIRECT_WRITE).object);
    });
  }

  /**
   * Sets annotations of an object; null removes one; managedFields stay unchanged. It is the cheapest way to cause an
   * event: for a pod of 9 KB it takes about an eighth of the time of {@linkcode patch}.
   *
   * @throws {StatusError} 404 if the object does not exist.
   */
  annotate(resource: Resource, key: ObjectKey, annotations: Readonly<Record<string, string | null>>): void {
    this.#existing("annotate", resource, key, (collection, key) => {
      this.#writer.annotate(collection, key, annotations);
    });
  }

  /**
   * Deletes an object. As on a server, an object with finalizers gets a deletionTimestamp, and stays until they are
   * gone: your controller removes its own, {@linkcode patch} those of others. All other objects are gone at once.
   *
   * - `force` removes the object at once, whatever finalizers it has.
   * - `gracePeriodSeconds`, 0 unless given, marks a pod on a node in the same way. No kubelet removes it later: delete
   *   it again.
   *
   * @throws {StatusError} 404 if the object does not exist.
   */
  delete<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: { readonly force?: boolean; readonly gracePeriodSeconds?: number } = {},
  ): void {
    checkNames(`delete ${resourceName(resource)} "${key}"`, options, "force gracePeriodSeconds");
    const { force = false, gracePeriodSeconds = 0 } = options;
    this.#existing("delete", resource, key, (collection, key) => {
      this.#writer.delete(collection, key, { force, gracePeriodSeconds, dryRun: false, direct: true });
    });
  }

  /** Returns the resources that have objects. */
  resources(): Resource[] {
    return [...this.#store.collections()].filter((collection) => this.keys(collection.definition).length > 0)
      .map(({ definition }) => defineResource(definition));
  }

  /** Returns the object with that key, or undefined. The caller owns the returned object. */
  get<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey): T | undefined {
    const collection = this.#store.collection(resource);
    const stored = collection?.get(this.#key(collection, key));
    return stored && parsed(stored);
  }

  /**
   * Resolves with the object of that key as soon as `predicate` holds for it, now or after a write; it is called with
   * `undefined` while there is none, and then the result is too. The caller owns the object.
   *
   * ```ts ignore
   * await server.until(Deployment, "shop/web", (web) => web?.spec.replicas === 3);
   * await server.until(Pod, "shop/web-0", (pod) => pod === undefined); // deleted
   * ```
   *
   * @throws {Error} when that does not happen within `timeoutMs`, 5 s unless given; it has the present object.
   * @throws the signal's reason, or what `predicate` throws.
   */
  async until<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    predicate: (object: T | undefined) => boolean,
    options: Abortable & { readonly timeoutMs?: number } = {},
  ): Promise<T | undefined> {
    checkNames("wait for an object", options, "signal timeoutMs");
    const { signal, timeoutMs = 5_000 } = options;
    const { listeners } = this.#backend;
    const { promise, resolve, reject } = withResolvers<T | undefined>();
    const look = (): void => {
      try {
        const object = this.get(resource, key);
        if (predicate(object)) resolve(object);
      } catch (error) {
        reject(error);
      }
    };
    using limit = timedController(timeoutMs, "the time is over", signal);
    listeners.add(look);
    try {
      if (!signal?.aborted) look();
      return await abortable(promise, limit.signal);
    } catch (error) {
      if (signal?.aborted || error !== limit.signal.reason) throw error;
      const object = this.get(resource, key);
      const found = object === undefined ? "the object does not exist" : `the object is ${JSON.stringify(object)}`;
      const what = `${resourceName(resource)} "${key}"`;
      throw new Error(`Cannot wait for ${what} longer than ${timeoutMs} ms: ${found}`);
    } finally {
      listeners.delete(look);
    }
  }

  /**
   * Returns the objects of a resource, sorted by key. The caller owns the returned objects.
   *
   * @throws {StatusError} 400 if a selector is invalid.
   */
  list<T extends KubernetesObject>(resource: Resource<T>, selection: Selection = {}): T[] {
    checkNames("list objects", selection, "namespace namespaces labelSelector fieldSelector");
    const collection = this.#store.collection(resource);
    if (collection === undefined) return [];
    const { namespace = "", labelSelector = "", fieldSelector = "" } = selection;
    const selected = new StoredSelection(collection.definition, namespace, labelSelector, fieldSelector);
    const slice = collection.slice({ namespace, revision: this.#store.revision });
    return [...slice].filter((stored) => selected.matches(stored)).map(parsed<T>);
  }

  /** Returns the keys of a resource's objects, sorted, without parsing the objects. */
  keys(resource: Resource): ObjectKey[] {
    const collection = this.#store.collection(resource);
    if (collection === undefined) return [];
    return [...collection.slice({ namespace: "", revision: this.#store.revision })].map((stored) => stored.key);
  }

  /**
   * Registers an admission hook for a resource, like a mutating and validating webhook. It sees writes that arrive as
   * requests: all hooks mutate first, then all validate, in order of registration. Direct writes of the test bypass
   * it. Disposing the returned value removes the hook.
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
   * Runs the garbage collector once, until it has nothing left to do: it deletes objects whose owners are gone, and
   * completes foreground and orphan deletions. Other finalizers stay. Returns the number of changes.
   */
  collectGarbage(): number {
    return collectGarbage(this.#store, this.#writer);
  }

  /**
   * Runs the namespace controller once: it deletes the objects in the namespaces that are being deleted, and these once
   * nothing is left in them. Objects with finalizers, and pods with a grace period, stay until those are gone. Returns
   * the number of changes.
   *
   * ```ts
   * import { Client } from "@kube/informer";
   * import { ConfigMap, Namespace } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   * import { assertEquals } from "@std/assert";
   *
   * using server = new FakeApiServer({ namespaces: "real" });
   * using client = new Client({ server: server.url, transport: server });
   * await client.resource(Namespace).create({ metadata: { name: "shop" } });
   * await client.resource(ConfigMap).create({ metadata: { namespace: "shop", name: "settings" } });
   * await client.resource(Namespace).delete("shop");
   * assertEquals(server.get(Namespace, "shop")?.status?.phase, "Terminating");
   * server.finalizeNamespaces();
   * assertEquals(server.get(Namespace, "shop"), undefined);
   * ```
   */
  finalizeNamespaces(): number {
    return finalizeNamespaces(this.#store, this.#writer);
  }

  /**
   * Serves a resource, as a CustomResourceDefinition would. A second call may change the definition of a custom
   * resource.
   */
  define(resource: ResourceDefinition): void {
    this.#store.define(definitionOf(resource));
  }

  /**
   * Stops serving a resource: deletes its objects, delivers the deletions to its watches, ends them, and answers its
   * path with 404.
   */
  undefine(resource: Resource): void {
    this.#store.undefine(resource);
  }

  /** Ends all watches, and the play of a recording. The objects stay, and the server still answers requests. */
  [Symbol.dispose](): void {
    this.#ended.abort();
    this.endWatches();
  }

  /** Does something with an object that exists. */
  #existing<R>(
    verb: string,
    resource: Resource,
    key: ObjectKey,
    perform: (collection: StoredCollection, key: ObjectKey) => R,
  ): R {
    return this.#explain(`${verb} ${resourceName(resource)} "${key}"`, () => {
      const collection = this.#store.collection(resource);
      if (collection === undefined) throw notFound(resource, key);
      return perform(collection, this.#key(collection, key));
    });
  }

  /** Completes a key: `"name"` alone means namespace `"default"` for a namespaced resource. */
  #key({ definition }: StoredCollection, key: ObjectKey): ObjectKey {
    return definition.scope === "Namespaced" && !key.includes("/") ? `default/${key}` : key;
  }

  /** Adds the attempted action to the message of an error. */
  #explain<R>(action: string, perform: () => R): R {
    try {
      return perform();
    } catch (cause) {
      if (!(cause instanceof StatusError)) throw cause;
      throw new StatusError(`Cannot ${action}: ${cause.status.message}`, cause.status, { cause });
    }
  }
}

/** Returns a stored object; the caller owns it. */
function parsed<T extends KubernetesObject>(stored: StoredObject): T {
  return objectOf(parseStored(stored));
}

/** Returns JSON as an object of its kind: what is stored has the members of all objects. */
function objectOf<T extends KubernetesObject>(object: JsonObject): T {
  return object as unknown as T;
}

function jsonOf(object: object): JsonObject {
  return object as JsonObject;
}
