/**
 * A fake API server for tests.
 *
 * {@linkcode FakeApiServer} is the entry point: a transport for clients, with methods to change, read and wait for
 * objects. It inherits its faults from `fault_verbs.ts`. Its `Backend` does everything else.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import { keyOf, type KubernetesObject, type ObjectKey } from "../../engine/api/object.ts";
import type { Abortable, Selection } from "../../engine/api/call_options.ts";
import { preciseTime } from "../../engine/api/precise_time.ts";
import { defineResource, type Resource, resourceName } from "../../engine/api/resource.ts";
import { StatusError, statusMessage } from "../../engine/api/status.ts";
import { Latch } from "../../engine/async/signals.ts";
import { timedController } from "../../engine/async/time.ts";
import { knownRefusal } from "../../engine/protocol/refusal.ts";
import { internals } from "../../engine/errors/internals.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { mergePatch } from "./apply/patches.ts";
import { Backend, type FakeApiServerOptions } from "./backend.ts";
import { FaultVerbs } from "./fault_verbs.ts";
import type { Fixture } from "./objects.ts";
import { StoredSelection } from "./reads/lists.ts";
import type { PodLogs } from "./reads/pod_logs.ts";
import { Playback, readRecording, type ReplayEnd, type ReplayOptions } from "./recording.ts";
import type { WebhookHandler } from "./server/webhook_call.ts";
import { definitionOf, type ResourceDefinition } from "./storage/definition.ts";
import { parseStored, type Store, type StoredCollection, type StoredObject, type StoreEvent } from "./storage/store.ts";
import type { RecordedRequest } from "./wire/exchange.ts";
import type { Json, JsonObject } from "../../engine/api/json.ts";
import { objectOr } from "../../engine/api/members.ts";
import type { AdmissionHook } from "./writes/admission.ts";
import { collectGarbage, finalizeNamespaces } from "./writes/garbage_collection.ts";
import type { WriteMode } from "./writes/steps.ts";
import type { Writer } from "./writes/writer.ts";

const DIRECT_WRITE: WriteMode = { manager: "fake", subresource: "", dryRun: false, direct: true };

/**
 * A fake API server inside your test. Pass it to a client as the transport, or to `Deno.serve` so that any client can
 * reach it.
 *
 * Your test acts directly: {@linkcode create}, {@linkcode update}, {@linkcode patch} and {@linkcode delete} take effect
 * before they return, watches get the event in the same turn, and no authorization or admission applies. Your code acts
 * by requests, which {@linkcode fetch} answers like kube-apiserver 1.37. Faults are the methods in
 * {@linkcode FaultVerbs}.
 *
 * Read the guide: [Test with the fake server](../../../docs/testing/fake-server.md).
 *
 * Requests can use:
 *
 * - lists with pages and versions, and watches with history, bookmarks and streaming lists
 * - conflicts, selectors, patches, server-side apply, subresources and tables
 * - discovery, and OpenAPI v3 (fields without descriptions). `kubectl` works from version 1.29
 *
 * How it differs from a cluster:
 *
 * - **No controllers run.** Pods stay as you write them. {@linkcode collectGarbage} deletes dependents when you call
 *   it. Your test removes the finalizers that protect requested claims and volumes.
 * - **No kubelets run.** Logs have the lines that your test writes by {@linkcode writeLog}. `exec`, `attach`,
 *   `portforward` and `proxy` get 501, or 400 if the pod is on no node.
 * - **Namespaces need not exist** and are deleted at once, unless {@linkcode FakeApiServerOptions.namespaces} is
 *   `"real"`.
 * - **Your test's own writes are neither checked nor completed**, except for pod and namespace phases and a Secret's
 *   type. Mistakes in them may stay in later requests.
 * - Priority classes are not looked up, except for the system's. Limit ranges and quotas do not apply. CEL rules are
 *   not evaluated.
 * - Service account tokens have no signature. A SelfSubjectRulesReview lists no rules, because
 *   {@linkcode FakeApiServerOptions.authorize} has none. Other reviews use that option and
 *   {@linkcode FakeApiServerOptions.tokens}.
 * - Each version of a custom resource is a separate collection, unless its CRD has a conversion webhook and
 *   {@linkcode serveWebhooks} was called. An object is then converted when it is written, not when it is read.
 *
 * How it behaves in detail:
 *
 * - Each write has its own revision, from one counter for all resources, like in etcd. Lists and watches agree on it.
 * - Events in core/v1 and events.k8s.io/v1 are the same objects in two forms. Autoscalers in autoscaling/v1 and v2 are
 *   not: each version is a separate collection.
 * - It responds in JSON without compression: full objects, only metadata, or tables. It accepts JSON, also as an apply
 *   with a YAML media type, and protobuf for built-in kinds. A body has at most 3 MiB.
 * - Requests, patches, applies and managedFields follow the schemas of built-in kinds and CRDs. A custom kind without a
 *   schema keeps all fields, and each of its lists is one field.
 * - `fieldValidation` checks for unknown fields and duplicate members in a body. The last duplicate counts, but the
 *   server merges two objects in a built-in kind.
 * - Objects in requests are completed and checked like by a server with its default admission plugins. A new Service
 *   gets a cluster IP, but no node ports, and a new node is tainted as not ready.
 * - Evictions respect disruption budgets, and bindings assign pods to nodes.
 * - Events that a client has not read yet are queued in memory, without a limit.
 * - All timers are global `setTimeout`s, so fake time controls them. Without an open watch there are none.
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

  /** @internal */
  readonly [internals] = {
    /** Names the open watches, and the requests without a response. */
    open: (): string[] => [
      ...this.#backend.watches.of().map(({ plan }) => `a watch on ${resourceName(plan.collection.definition)} is open`),
      ...this.requests.filter(({ status }) => status === undefined).map((it) =>
        `${it.method} ${it.path} has no response`
      ),
    ],
    /** The storage, into which a plan puts the objects of a cluster. */
    store: (): Store => this.#store,
    /** Called after each write. */
    listeners: (): Set<(event: StoreEvent) => void> => this.#backend.listeners,
    /** The recorded kinds, if the server plays a recording. */
    recorded: (): readonly Resource[] | undefined => this.#playback?.kinds,
  };

  /** Creates an empty server that serves the Kubernetes resources and `options.resources`. */
  constructor(options: FakeApiServerOptions = {}) {
    const backend = new Backend(options);
    super(backend);
    this.#backend = backend;
    this.#store = backend.store;
    this.#writer = backend.writer;
  }

  /**
   * Creates a server that plays a recording from `informer record`, so that an incident becomes a test. Pass a stream
   * of its bytes, such as a file's `readable`.
   *
   * The server starts with the objects from the recording's first lists, at their recorded versions. Then call
   * {@linkcode replay} to play the changes. A file that ends inside a line is played up to that line.
   *
   * - All objects, deletions and bookmarks keep their recorded versions, as long as nobody else writes. Changes to all
   *   kinds come in version order, each at the time at which the recorded server had it.
   * - Watches that failed in the recording fail again with the same status. A lost connection ends a watch inside a
   *   line. Failed lists are not played.
   * - Differences that a relist found are played as one change per object, and as deletions at the list's version.
   * - It needs twice the recording's size in memory.
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
   * @throws {SyntaxError} if a line does not belong to a recording.
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
   * Plays the recording from {@linkcode from}, with the recorded times between its changes. Resolves at its end, or
   * when you dispose the server. After an abort, the next call continues.
   *
   * @throws {TypeError} if the server has no recording, or is playing already.
   * @throws the signal's reason.
   */
  async replay(options: ReplayOptions = {}): Promise<ReplayEnd> {
    checkNames("replay a recording", options, "speed lateStatus signal");
    if (this.#playback === undefined) {
      throw new TypeError("Cannot replay: this server has no recording. Create it with FakeApiServer.from(recording)");
    }
    return await this.#playback.play(options, this.#ended.signal);
  }

  // ── requests ───────────────────────────────────────────────────────────

  /** The address for clients that use this server as their transport, `"http://fake"`. Any other address works too. */
  readonly url: string = "http://fake";

  /**
   * Answers a request. It is a bound function, so you can write
   * `Deno.serve({ hostname: "127.0.0.1", port: 0 }, server.fetch)`. Without a host name, `Deno.serve` listens on all
   * interfaces.
   *
   * With one argument it acts like a network: when the request's signal aborts, the call rejects, or the body errors,
   * with the signal's reason. `Deno.serve` passes a second argument. Then the signal is ignored, and a client that
   * disconnects cancels the body.
   */
  readonly fetch = (request: Request, info?: unknown): Promise<Response> => {
    if (info !== undefined) return this.#backend.handler.answer(request, undefined);
    const { signal } = request;
    return abortable(this.#backend.handler.answer(request, signal), signal);
  };

  /** See `Transport.probe`. It resolves after {@linkcode latency}, and is not recorded in {@linkcode requests}. */
  readonly probe = (signal: AbortSignal): Promise<void> => this.#backend.faults.delay(signal);

  /**
   * The latest requests, oldest first, without their credentials. It keeps at most 10,000 requests, and 64 MiB for
   * their bodies.
   */
  get requests(): readonly RecordedRequest[] {
    return this.#backend.requests;
  }

  /** The number of open watches. */
  get watches(): number {
    return this.#backend.watches.count;
  }

  /** The current resourceVersion, which a list without a version would return. */
  get resourceVersion(): string {
    return String(this.#store.revision);
  }

  // ── objects ────────────────────────────────────────────────────────────

  /**
   * Creates an object. It also starts to serve an unknown resource, as a custom resource.
   *
   * The server fills in missing metadata: namespace `"default"`, a name from `generateName`, uid and timestamps. Unlike
   * a request, it keeps a given status and given timestamps. The uid is always new. You may change the returned object.
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
   * Replaces an object and its status, whatever its resourceVersion. If nothing differs, nothing is written.
   *
   * @throws {StatusError} 404 if the object does not exist.
   */
  update<T extends KubernetesObject>(resource: Resource<T>, object: T): T {
    return this.#existing("update", resource, keyOf(object), (collection, key) => {
      return parsed(this.#writer.update(collection, key, jsonOf(object), DIRECT_WRITE).stored);
    });
  }

  /**
   * Changes an object by a JSON merge patch: `null` removes a member, and a list replaces the whole list.
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
   * Sets an object's annotations, and removes each annotation that is `null`. managedFields stay unchanged.
   *
   * It is the cheapest way to trigger an event: for a 9 KB pod it takes about an eighth of the time that
   * {@linkcode patch} takes.
   *
   * @throws {StatusError} 404 if the object does not exist.
   */
  annotate(resource: Resource, key: ObjectKey, annotations: Readonly<Record<string, string | null>>): void {
    this.#existing("annotate", resource, key, (collection, key) => {
      this.#writer.annotate(collection, key, annotations);
    });
  }

  /**
   * Deletes an object. Like on a server, an object with finalizers gets a deletionTimestamp, and stays until they are
   * removed. Your controller removes its own finalizers, and you remove others with {@linkcode patch}. All other
   * objects are gone at once.
   *
   * - `force` removes the object at once, even if it has finalizers.
   * - `gracePeriodSeconds` gives a pod on a node a deletionTimestamp too. No kubelet removes it later, so delete it
   *   again. It is 0 by default.
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

  /** Returns the object with this key, or `undefined`. You may change it. */
  get<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey): T | undefined {
    const collection = this.#store.collection(resource);
    const stored = collection?.get(this.#key(collection, key));
    return stored && parsed(stored);
  }

  /**
   * Waits until `predicate` returns `true` for the object with this key, and resolves with that object. Use it instead
   * of sleeping.
   *
   * It checks now and after each write. While there is no such object, it calls `predicate` with `undefined`, and if
   * that returns `true` it resolves with `undefined`. You may change the returned object.
   *
   * ```ts
   * import { ConfigMap } from "@kube/informer/kinds/core/v1";
   * import { configMap, FakeApiServer } from "@kube/informer/testing";
   *
   * using server = new FakeApiServer();
   * setTimeout(() => server.create(ConfigMap, configMap({ name: "motd", namespace: "shop" })), 1); // your controller
   * await server.until(ConfigMap, "shop/motd", (map) => map !== undefined);
   * setTimeout(() => server.delete(ConfigMap, "shop/motd"), 1);
   * await server.until(ConfigMap, "shop/motd", (map) => map === undefined); // deleted
   * ```
   *
   * @throws {Error} if that does not happen within `timeoutMs`, 5_000 by default. The message has the current object.
   * @throws the signal's reason, or the error from `predicate`.
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
    const found = new Latch();
    let object: T | undefined;
    const look = (): void => {
      if (found.isOpen) return;
      try {
        object = this.get(resource, key);
        if (predicate(object)) found.open();
      } catch (error) {
        found.fail(error);
      }
    };
    using limit = timedController(timeoutMs, "the time is over", signal);
    listeners.add(look);
    try {
      if (!signal?.aborted) look();
      await found.wait(limit);
      return object;
    } catch (error) {
      if (signal?.aborted || error !== limit.signal.reason) throw error;
      const last = this.get(resource, key);
      const state = last === undefined ? "the object does not exist" : `the object is ${JSON.stringify(last)}`;
      const what = `${resourceName(resource)} "${key}"`;
      throw new Error(`Cannot wait for ${what} longer than ${timeoutMs} ms: ${state}`);
    } finally {
      listeners.delete(look);
    }
  }

  /**
   * Returns a resource's objects, sorted by key. You may change them.
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

  /** Returns the sorted keys of a resource's objects, without parsing the objects. */
  keys(resource: Resource): ObjectKey[] {
    const collection = this.#store.collection(resource);
    if (collection === undefined) return [];
    return [...collection.slice({ namespace: "", revision: this.#store.revision })].map((stored) => stored.key);
  }

  /**
   * Writes a line to a container's log, and starts the container if it does not run. A request for the log gets it like
   * from a kubelet, also with `follow`. The log ends when the pod's status no longer says that the container runs, or
   * when the pod is deleted.
   *
   * ```ts
   * import { Client } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer, pod } from "@kube/informer/testing";
   * import { assertEquals } from "@std/assert";
   *
   * using server = new FakeApiServer();
   * server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
   * server.writeLog("shop/web-0", "ready", { time: "2026-01-01T00:00:00.5Z" });
   * using client = new Client({ server: server.url, transport: server });
   * const log = await client.fetch("/api/v1/namespaces/shop/pods/web-0/log?timestamps=true");
   * assertEquals(await log.text(), "2026-01-01T00:00:00.500000000Z ready\n");
   * ```
   *
   * @throws {StatusError} 404 if the pod does not exist, 400 if the pod has no such container.
   * @throws {RangeError} if `time` is not RFC 3339.
   */
  writeLog(
    pod: ObjectKey,
    line: string,
    options: {
      /** The container's name. @default {the pod's first container} */
      readonly container?: string;
      /** The line's time in RFC 3339, with up to nine digits after the seconds. @default {the server's clock} */
      readonly time?: string;
    } = {},
  ): void {
    checkNames("write a log", options, "container time");
    const { container, time: given = new Date(this.#backend.now()).toISOString() } = options;
    const time = preciseTime(given);
    if (time !== undefined) return this.#log(pod, (key, logs) => logs.running(key, container).write(time, line));
    throw new RangeError(
      `Cannot write a log: time must be RFC 3339, e.g. "2026-01-31T12:00:00.5Z", but it is "${given}"`,
    );
  }

  /**
   * Rotates a container's log, like a kubelet does with a large log: requests no longer get the earlier lines.
   * Responses that follow the log continue. Without a name, it is the pod's first container.
   *
   * @throws {StatusError} 404 if the pod does not exist, 400 if the pod has no such container.
   */
  rotateLog(pod: ObjectKey, container?: string): void {
    this.#log(pod, (key, logs) => logs.running(key, container).rotate());
  }

  /**
   * Restarts a container: its log ends, and can be read with `previous`. A new log begins. The pod's status has a new
   * container ID and one more restart. Without a name, it is the pod's first container.
   *
   * @throws {StatusError} 404 if the pod does not exist, 400 if the pod has no such container.
   */
  restartContainer(pod: ObjectKey, container?: string): void {
    this.#log(pod, (key, logs) => void logs.running(key, container, true));
  }

  /**
   * Registers an admission hook for a resource, like a mutating and validating webhook. Dispose the result to remove
   * it.
   *
   * It sees only writes that arrive as requests, not your test's direct writes. All hooks first mutate, and then all
   * validate, in the order of registration.
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
   * Calls admission and conversion webhooks like a cluster does. Give it the program that serves them: a function, or
   * an object with `fetch`.
   *
   * From then on, requests follow the ValidatingWebhookConfigurations, MutatingWebhookConfigurations, and CRDs with a
   * conversion webhook on the server. Your program gets the reviews to all of them, whatever the `clientConfig` is. A
   * service's webhook has the URL `https://NAME.NAMESPACE.svc:PORT/PATH`. Without this call, the server ignores them.
   * Your test's own writes never reach admission webhooks. They are converted shortly later, before the next request.
   *
   * Timeouts use the global `setTimeout`, so {@linkcode FakeTime} controls them.
   *
   * How it differs from a cluster:
   *
   * - A namespace that does not exist has no labels except for `kubernetes.io/metadata.name`.
   * - `matchPolicy: Equivalent` only finds other versions of custom kinds.
   * - Objects are converted to all served versions when they are written. So a failing conversion refuses the write,
   *   where a cluster may refuse a later read.
   * - Match conditions have no `authorizer`, and a misspelled field of `request` is found when the condition runs.
   * - Reviews about access and tokens do not reach webhooks.
   *
   * ```ts
   * import { ValidatingWebhookConfiguration } from "@kube/informer/kinds/admissionregistration/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   * import { assertEquals } from "@std/assert";
   *
   * using server = new FakeApiServer();
   * server.create(ValidatingWebhookConfiguration, {
   *   metadata: { name: "names" },
   *   webhooks: [{
   *     name: "names.example.com",
   *     clientConfig: { url: "https://hooks.example.com/names" },
   *     rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
   *     sideEffects: "None",
   *     admissionReviewVersions: ["v1"],
   *   }],
   * });
   * server.serveWebhooks(async (request) => {
   *   const review = await request.json();
   *   const allowed = review.request.name !== "bad";
   *   return Response.json({ ...review, response: { uid: review.request.uid, allowed, status: { message: "no" } } });
   * });
   *
   * const init = { method: "POST", headers: { "content-type": "application/json" }, body: `{"metadata":{"name":"bad"}}` };
   * const response = await server.fetch(new Request("http://fake/api/v1/namespaces/shop/configmaps", init));
   * assertEquals((await response.json()).message, 'admission webhook "names.example.com" denied the request: no');
   * ```
   */
  serveWebhooks(handler: WebhookHandler | { readonly fetch: WebhookHandler }): void {
    this.#backend.serveWebhooks(typeof handler === "function" ? handler : (request) => handler.fetch(request));
  }

  /**
   * Runs the garbage collector once, until it has nothing left to do. It deletes objects whose owners are gone, and
   * completes foreground and orphan deletions. Other finalizers stay. Returns the number of changes.
   */
  collectGarbage(): number {
    return collectGarbage(this.#store, this.#writer);
  }

  /**
   * Runs the namespace controller once. It deletes all objects in each terminating namespace, and then the namespace
   * once it is empty. Objects with finalizers, and pods with a grace period, stay until those are gone. Returns the
   * number of changes.
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

  /** Serves a resource, like a CRD does. Call it again to change a custom resource's definition. */
  define(resource: ResourceDefinition): void {
    this.#store.define(definitionOf(resource));
  }

  /**
   * Stops serving a resource: deletes its objects, delivers the deletions to its watches, and ends them. After that,
   * its path gets 404.
   */
  undefine(resource: Resource): void {
    this.#store.undefine(resource);
  }

  /** Ends all watches, and stops playing a recording. The objects stay, and the server still answers requests. */
  [Symbol.dispose](): void {
    this.#ended.abort();
    this.endWatches();
  }

  #log(key: ObjectKey, perform: (key: ObjectKey, logs: PodLogs) => void): void {
    const { logs } = this.#backend;
    this.#explain(`use the log of pod "${key}"`, () => perform(key.includes("/") ? key : `default/${key}`, logs));
  }

  /** Performs an action on an object that exists. */
  #existing<R>(
    verb: string,
    resource: Resource,
    key: ObjectKey,
    perform: (collection: StoredCollection, key: ObjectKey) => R,
  ): R {
    return this.#explain(`${verb} ${resourceName(resource)} "${key}"`, () => {
      const collection = this.#store.collection(resource);
      if (collection === undefined) throw knownRefusal("notFound", resource, key);
      return perform(collection, this.#key(collection, key));
    });
  }

  /** Completes a key: for a namespaced resource, `"name"` without a namespace means the namespace `"default"`. */
  #key({ definition }: StoredCollection, key: ObjectKey): ObjectKey {
    return definition.scope === "Namespaced" && !key.includes("/") ? `default/${key}` : key;
  }

  /** Adds the attempted action to an error's message. */
  #explain<R>(action: string, perform: () => R): R {
    try {
      return perform();
    } catch (cause) {
      if (!(cause instanceof StatusError)) throw cause;
      throw new StatusError(`Cannot ${action}: ${statusMessage(cause.status)}`, cause.status, { cause });
    }
  }
}

/** Returns a stored object, which the caller may change. */
function parsed<T extends KubernetesObject>(stored: StoredObject): T {
  return objectOf(parseStored(stored));
}

/** Returns JSON as an object of its kind: stored objects have the members that all objects have. */
function objectOf<T extends KubernetesObject>(object: JsonObject): T {
  return object as unknown as T;
}

function jsonOf(object: object): JsonObject {
  return object as JsonObject;
}
