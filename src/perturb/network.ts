import { keyOf, type KubernetesObject } from "../api/object.ts";
import { defineResource, type Resource, resourceName, verbOf } from "../api/resource.ts";
import type { FakeApiServer } from "../testing/fake_api_server.ts";
import { isStreamingList, parseRoute, type RecordedRequest, type ResourceRoute } from "../testing/http/request.ts";
import { Random } from "../testing/random.ts";
import type { PerturbPlan } from "./plan.ts";
import { type ControllerProcess, neverAnswered, type TrialRecord } from "./process.ts";

/** An object, and its kind. */
interface Located {
  /** The kind. */
  readonly resource: Resource;
  /** The object. */
  readonly object: KubernetesObject;
}

type Stateful = KubernetesObject & { readonly status?: unknown };

/**
 * A fake API server with the controllers that every cluster has, and with a record of the objects that users have
 * created.
 */
export class Cluster {
  /** The server. */
  readonly server: FakeApiServer;
  /** The uids of objects that users have created. */
  readonly #roots = new Set<string>();
  /** The names of namespaces that have existed. */
  readonly #namespaces = new Set<string>();

  #lastDeletion: number | undefined;
  /** The deleted objects that users create again. */
  #again: Located[] = [];

  /** Uses this server. */
  constructor(server: FakeApiServer) {
    this.server = server;
  }

  /** Calls `act`; the objects that it creates are those of users. It must be synchronous. */
  change<Value>(act: () => Value): Value {
    const before = new Map(
      this.objects().map(({ object: { metadata } }) => [metadata.uid, metadata.deletionTimestamp]),
    );
    try {
      return act();
    } finally {
      for (const { object: { metadata: { uid, deletionTimestamp } } } of this.objects()) {
        if (!before.has(uid)) this.#roots.add(uid!);
        if (deletionTimestamp !== before.get(uid)) this.#lastDeletion = Number(this.server.resourceVersion);
      }
    }
  }

  /** The version at which users last deleted an object that finalizers keep; before, the present one. */
  get lastDeletion(): number {
    return this.#lastDeletion ?? Number(this.server.resourceVersion);
  }

  /** Returns all objects, except for leases and events. */
  objects(): Located[] {
    return this.server.resources().filter((resource) => !isAuxiliary(resource)).flatMap((resource) =>
      this.server.list(resource).map((object) => ({ resource, object }))
    );
  }

  /** Does the work of the garbage collector, of kubelets that stop pods, and of the namespace controller. */
  tidy(): void {
    const { server } = this;
    const objects = this.objects();
    const namespaces = objects.filter(({ resource }) => resourceName(resource) === "namespaces");
    for (const { object } of namespaces) this.#namespaces.add(object.metadata.name);
    const gone = this.#namespaces.difference(new Set(namespaces.map(({ object }) => object.metadata.name)));
    for (const { resource, object: { metadata } } of objects) {
      const { deletionTimestamp, finalizers = [], namespace } = metadata;
      if (deletionTimestamp === undefined) {
        if (namespace !== undefined && gone.has(namespace)) {
          server.delete(resource, keyOf({ metadata }), { finalize: true });
        }
      } else if (
        resourceName(resource) === "pods" && finalizers.length === 0 && Date.parse(deletionTimestamp) <= Date.now()
      ) {
        server.delete(resource, keyOf({ metadata }));
      }
    }
    server.collectGarbage();
    this.#again = this.#again.filter(({ resource, object }) => {
      const present = server.get(resource, keyOf(object));
      if (present !== undefined) return present.metadata.uid === object.metadata.uid;
      const { status: _status, metadata: { name, namespace, labels, annotations }, ...rest } = object as Stateful;
      this.change(() => server.create(resource, { ...rest, metadata: { name, namespace, labels, annotations } }));
      return false;
    });
  }

  /**
   * Deletes all objects that users have created, and returns their number. With `again`, {@linkcode tidy} creates each
   * of them again when it is gone, without its status.
   */
  deleteRoots(options: { readonly again?: boolean } = {}): number {
    if (!options.again) this.#again = [];
    const roots = this.objects().filter(({ object }) => this.#roots.has(object.metadata.uid!));
    this.change(() => {
      for (const { resource, object } of roots) this.server.delete(resource, keyOf(object), { finalize: true });
    });
    const deleted = roots.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
    if (options.again) this.#again.push(...deleted);
    return roots.length;
  }

  /** Returns a description of an object that is left after {@linkcode deleteRoots}, except for resources in `keeps`. */
  leftover(keeps: readonly string[]): string | undefined {
    const left = this.objects().filter(({ resource }) => !keeps.includes(resource.plural));
    const blocked = left.find(({ object }) => object.metadata.deletionTimestamp !== undefined);
    if (blocked !== undefined) {
      const { finalizers = [] } = blocked.object.metadata;
      return `${nameOf(blocked)} is being deleted, and keeps the finalizers ${JSON.stringify(finalizers)}`;
    }
    const orphan = left.find(({ object }) => !this.#roots.has(object.metadata.uid!));
    if (orphan === undefined) return undefined;
    return `${nameOf(orphan)} is orphaned: the controller has created it, and all objects of users are gone`;
  }
}

/** True for leases and events, which controllers write by themselves. */
export function isAuxiliary({ plural }: { readonly plural: string }): boolean {
  return plural === "leases" || plural === "events";
}

function nameOf({ resource, object }: Located): string {
  return `${resource.kind} "${keyOf(object)}"`;
}

/** Returns a response whose chunks arrive late, each by the milliseconds that `delayMs` returns, and in order. */
function delayedResponse(response: Response, delayMs: () => number): Response {
  const reader = response.body!.getReader();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller): Promise<void> {
      const { done, value } = await reader.read();
      await new Promise((resolve) => setTimeout(resolve, delayMs()));
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return new Response(body, response);
}

/** A fault of one request. */
type RequestFault =
  | { readonly type: "crash"; readonly when: "before" | "during" | "after"; readonly downMs: number }
  | { readonly type: "change"; readonly make: () => void }
  | { readonly type: "conflict" }
  | { readonly type: "loseAnswer" }
  | { readonly type: "loseRequest" }
  | { readonly type: "refuse"; readonly code: number; readonly retryAfterSeconds?: number }
  | { readonly type: "delay"; readonly ms: number };

/** Faults that wait for requests. */
class RequestFaults {
  readonly #armed: { readonly fault: RequestFault; readonly writes: boolean; skip: number }[] = [];

  /** Arms a fault for the first request after `skip` ones; of writes alone, if `writes`. */
  arm(
    fault: RequestFault,
    { writes = true, skip = 0 }: { readonly writes?: boolean; readonly skip?: number } = {},
  ): void {
    this.#armed.push({ fault, writes, skip });
  }

  /** Returns the faults of a request, at most one of each type, and removes them. */
  take(isWrite: boolean): RequestFault[] {
    const taken = new Map<string, RequestFault>();
    for (const armed of [...this.#armed]) {
      const { fault, writes } = armed;
      if ((writes && !isWrite) || taken.has(fault.type) || armed.skip-- > 0) continue;
      taken.set(fault.type, fault);
      this.#armed.splice(this.#armed.indexOf(armed), 1);
    }
    return [...taken.values()];
  }

  /** Removes all faults. */
  clear(): void {
    this.#armed.length = 0;
  }
}

/** The most requests in one moment of fake time, and of one seed. */
const MOST_AT_ONCE = 2_000;
const MOST_REQUESTS = 50_000;

/** The parts of a {@linkcode Network}. */
interface NetworkOptions {
  /** The server at the end of it. */
  readonly server: FakeApiServer;
  /** Has the latencies. */
  readonly plan: PerturbPlan;
  /** Receives writes, faults, and a loop of requests. */
  readonly record: TrialRecord;
  /** Called when a process crashes at its write. */
  readonly onCrash: (process: ControllerProcess, downMs: number, later?: boolean) => void;
  /** Called when the server has accepted a write. */
  readonly onWrite: (route: ResourceRoute) => void;
}

/** The network between processes and server, with faults, latencies and lists that are old. */
export class Network {
  /** The faults of requests to come. */
  readonly faults = new RequestFaults();
  /** The names of resources that the server did not know when they were asked for. */
  readonly unknown: Set<string> = new Set();
  readonly #options: NetworkOptions;
  /** Chooses latencies, which are no part of a step. */
  readonly #random: Random;
  /** Resources that are watched, in the order of their first watch. */
  readonly #watched = new Map<string, ResourceRoute>();
  /** The version of lists that may be old; undefined while the server is not behind. */
  #oldVersion: number | undefined;
  #requests = 0;
  #moment = { at: -1, requests: 0 };

  /** Connects nothing yet. */
  constructor(options: NetworkOptions) {
    this.#options = options;
    this.#random = new Random(options.plan.seed ^ 0x1a7e);
  }

  /** Makes events late until the returned value is disposed: those of all open watches, or of one watched resource. */
  lag(of: number | "all"): Disposable {
    const watched = [...this.#watched.values()];
    const route = of === "all" ? undefined : watched[of % watched.length];
    return this.#options.server.stallWatches(route && defineResource({ ...route, kind: route.plural }));
  }

  /** Until the returned value is disposed, lists that may be old are of `version`, and watches wait. */
  serveOldLists(version: number): Disposable {
    const { server, plan: { streamingList } } = this.#options;
    this.#oldVersion = version;
    server.supportStreamingList(false);
    // A streaming list is refused, at once: the client lists in pages instead, which may be old.
    const lag = server.stallNext(MOST_REQUESTS, (asked) => asked.verb === "watch" && !isStreamingList(asked));
    return {
      [Symbol.dispose]: (): void => {
        this.#oldVersion = undefined;
        server.supportStreamingList(streamingList);
        lag[Symbol.dispose]();
      },
    };
  }

  /** Answers a request. One that its process aborts before it arrives does not arrive. */
  async answer(process: ControllerProcess, request: Request): Promise<Response> {
    const { server, plan: { watchMs }, record, onCrash } = this.#options;
    if (process.hasCrashed || record.failure !== undefined || !this.#mayAsk(process)) {
      return await neverAnswered(request.signal);
    }
    await process.connected();
    // A process that has ended meanwhile sends nothing more.
    request.signal.throwIfAborted();
    if (!process.isRunning) return await neverAnswered(request.signal);
    const url = new URL(request.url);
    const route = parseRoute(url.pathname);
    if (route.type !== "resource") return await server.fetch(request);
    const verb = verbOf(request.method, route, url.searchParams);
    if (verb === "watch") {
      this.#watched.set(url.pathname, route);
      const response = await this.#ask(request, route);
      return watchMs === 0 || !response.ok
        ? response
        : delayedResponse(response, () => this.#random.below(watchMs + 1));
    }
    const isWrite = verb !== "get" && verb !== "list";
    const lost = route.plural === "leases" ? process.lostRenewals : undefined;
    if (lost === "requests") return await neverAnswered(request.signal);
    const faults = isAuxiliary(route) ? [] : this.faults.take(isWrite);
    for (const fault of faults) {
      switch (fault.type) {
        case "change":
          fault.make();
          break;
        case "conflict":
          this.#annotate(route);
          break;
        case "delay":
          await new Promise((resolve) => setTimeout(resolve, fault.ms));
          break;
        case "loseRequest":
          record.note(() => `${process.identity}  ${verb} ${route.plural} does not arrive`);
          throw new TypeError("connection refused");
        case "refuse": {
          const { code, retryAfterSeconds } = fault;
          const failure = { code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
          server.failNext(failure, 1, (asked) => asked.method === request.method && asked.url === request.url);
          break;
        }
        case "crash":
          if (fault.when === "before") onCrash(process, fault.downMs);
          break;
      }
    }
    request.signal.throwIfAborted();
    if (!process.isRunning) return await neverAnswered(request.signal);
    await this.#travel();
    const response = await this.#ask(verb === "list" ? this.#oldList(request, url) : request, route);
    if (isWrite) this.#written(process, request, response, route, verb);
    const crash = faults.find((fault) => fault.type === "crash");
    if (crash?.when === "during") onCrash(process, crash.downMs);
    await this.#travel();
    const isLost = faults.some(({ type }) => type === "loseAnswer");
    if (isLost || lost === "answers" || process.hasCrashed) await response.body?.cancel();
    if (lost === "answers" || process.hasCrashed) return await neverAnswered(request.signal);
    if (crash?.when === "after") onCrash(process, crash.downMs, true);
    if (!isLost) return response;
    record.note(() => `${process.identity}  the answer is lost`);
    throw new TypeError("connection reset before the answer");
  }

  async #ask(request: Request, route: ResourceRoute): Promise<Response> {
    const response = await this.#options.server.fetch(request);
    // An object that is missing has a Status; a kind that is unknown, plain text.
    const isPlain = response.headers.get("content-type")?.startsWith("text/plain") === true;
    if (response.status === 404 && isPlain) this.unknown.add(`${route.plural}.${route.group}`);
    return response;
  }

  /** Counts a request; false when there are so many that the process does not stop by itself. */
  #mayAsk({ identity }: ControllerProcess): boolean {
    const { record } = this.#options;
    const at = performance.now();
    if (at !== this.#moment.at) this.#moment = { at, requests: 0 };
    if (++this.#moment.requests > MOST_AT_ONCE) {
      record.fail(`a hot loop: ${identity} sends more than ${MOST_AT_ONCE} requests without a wait`);
    } else if (++this.#requests > MOST_REQUESTS) {
      record.fail(`a hot loop: the controller sends more than ${MOST_REQUESTS} requests`);
    } else return true;
    return false;
  }

  /** Waits as long as a request, or an answer, takes. */
  async #travel(): Promise<void> {
    const { latencyMs } = this.#options.plan;
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#random.below(latencyMs + 1)));
  }

  /** A list that may be old is one of an old version, while the API server is behind. */
  #oldList(request: Request, url: URL): Request {
    if (this.#oldVersion === undefined || url.searchParams.get("resourceVersion") !== "0") return request;
    url.searchParams.set("resourceVersion", String(this.#oldVersion));
    url.searchParams.set("resourceVersionMatch", "Exact");
    return new Request(url, request);
  }

  #annotate({ group, version, plural, namespace, name }: ResourceRoute): void {
    if (name === undefined) return;
    const { server, record } = this.#options;
    const resource = defineResource({ group, version, plural, kind: plural });
    const key = namespace === "" ? name : `${namespace}/${name}`;
    if (server.get(resource, key) === undefined) return;
    server.annotate(resource, key, { "perturb.example.com/annotated": server.resourceVersion });
    record.note(() => `another writer annotates ${plural} "${key}"`);
  }

  #written(process: ControllerProcess, request: Request, response: Response, route: ResourceRoute, verb: string): void {
    const { server, record, onWrite } = this.#options;
    const { method, url } = request;
    const { status } = response;
    const sent = server.requests.findLast((record) => record.method === method && record.url === url);
    if (!isAuxiliary(route)) {
      record.note(() => `${process.identity}  ${verb} ${describeTarget(route, sent)} → ${status}`);
    }
    if (response.ok) onWrite(route);
  }
}

function describeTarget(
  { plural, namespace, name, subresource }: ResourceRoute,
  record: RecordedRequest | undefined,
): string {
  const body = record?.body ?? "";
  const key = [namespace, name ?? nameIn(body)].filter((part) => part !== "").join("/");
  const part = subresource === undefined ? "" : `/${subresource}`;
  const shown = record?.method === "PATCH" ? ` ${body.length > 100 ? `${body.slice(0, 100)}…` : body}` : "";
  return `${plural}${part} "${key}"${shown}`;
}

function nameIn(body: string): string {
  try {
    const { metadata } = JSON.parse(body) as {
      readonly metadata?: { readonly name?: string; readonly generateName?: string };
    };
    return metadata?.name ?? `${metadata?.generateName ?? ""}*`;
  } catch {
    // A body that is no object is shown without a name.
    return "";
  }
}
