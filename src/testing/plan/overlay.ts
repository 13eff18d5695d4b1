/**
 * The cluster as a plan sees it: a fake API server with the objects of a cluster, which takes all writes.
 *
 * {@linkcode Overlay} is the entry point: a transport. Before it answers the first request about a kind, it lists the
 * kind from the cluster. {@linkcode planRefusal} decides what may be sent there. It knows nothing about reconcilers.
 *
 * @module
 */
import { isObject, type JsonObject } from "../../engine/api/json.ts";
import type { Transport } from "../../engine/api/lister_watcher.ts";
import { listOr, objectOr, textOf } from "../../engine/api/members.ts";
import { parseResourcePath, resourceName, type ResourcePlace } from "../../engine/api/resource.ts";
import { StatusError } from "../../engine/api/status.ts";
import type { Client } from "../../engine/client/client.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { internals } from "../../engine/errors/internals.ts";
import type { FakeApiServer } from "../fake/fake_api_server.ts";
import { crdResources, resourceId } from "../fake/storage/definition.ts";
import { type Store, type StoredCollection, storedKey, toStoredObject } from "../fake/storage/store.ts";

/** The overlay's first resourceVersion. No cluster has one as high, so objects keep the cluster's versions. */
export const FIRST_VERSION = 1_000_000_000_000;

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Returns why a plan does not send a request to the cluster, or `undefined` if it only reads, or is a dry run. */
export function planRefusal(method: string, path: string, mayDryRun: boolean, hasBody = false): string | undefined {
  const { pathname, searchParams } = new URL(path, "http://cluster");
  const place = parseResourcePath(pathname);
  const part = place?.subresource?.split("/")[0];
  const isRead = (method === "GET" || method === "HEAD") && !/^(attach|exec|portforward|proxy)$/.test(part ?? "");
  // A server ignores the query of a deletion that has a body.
  const isDryRun = mayDryRun && place !== undefined && (part === undefined || part === "status" || part === "scale") &&
    searchParams.getAll("dryRun").join() === "All" && !(method === "DELETE" && hasBody);
  return isRead || isDryRun ? undefined : `Cannot send ${method} ${pathname} to the cluster: a plan only reads it`;
}

/** What a server refused in a dry run. */
export interface RefusedWrite {
  readonly method: string;
  readonly object: string;
  readonly message: string;
}

/** Options of an {@linkcode Overlay}. */
interface OverlayOptions {
  /** The cluster; undefined if the server plays a recording. */
  readonly client: Client | undefined;
  /** The only namespace that is listed. */
  readonly namespace: string | undefined;
  readonly serverDryRun: boolean;
  readonly signal: AbortSignal;
  /** Called with each response to a write. */
  readonly answered: (place: ResourcePlace, response: Response) => Promise<void>;
  /** Called with what the cluster refuses in a dry run. */
  readonly refused: (write: RefusedWrite) => void;
}

/** Answers requests from a fake server that has the objects of a cluster. */
export class Overlay implements Transport {
  /** What the plan could not see. */
  readonly notes: Set<string> = new Set();
  /** The number of requests without a response. */
  open = 0;
  readonly #server: FakeApiServer;
  readonly #store: Store;
  readonly #options: OverlayOptions;
  /** The lists so far, by resource and namespace. The response is a refusal. */
  readonly #lists = new Map<string, Promise<Response | undefined>>();
  /** The objects that were written in a dry run, or belong to a kind without it. */
  readonly #asked = new Set<string>();

  constructor(server: FakeApiServer, options: OverlayOptions) {
    this.#server = server;
    this.#store = server[internals].store();
    this.#store.jump(FIRST_VERSION);
    this.#options = options;
  }

  /** Answers a request. */
  async fetch(request: Request): Promise<Response> {
    this.open++;
    try {
      const { pathname, search } = new URL(request.url);
      const place = parseResourcePath(pathname);
      const isRead = request.method === "GET" || request.method === "HEAD";
      if (this.#options.client !== undefined && isRead && (place === undefined || place.subresource === "log")) {
        return await this.#send(request.method, pathname + search, { headers: request.headers });
      }
      const refused = place && await this.#load(place, isRead);
      if (refused !== undefined) return refused;
      if (place !== undefined && !isRead) await this.#dryRun(request.clone(), place);
      const response = await this.#server.fetch(request);
      if (place !== undefined && !isRead) await this.#options.answered(place, response);
      return response;
    } finally {
      this.open--;
    }
  }

  async #send(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const { client, serverDryRun, signal } = this.#options;
    const refusal = planRefusal(method, path, serverDryRun, init.body != null);
    if (refusal !== undefined) throw new InformerError(refusal);
    try {
      return await client!.fetch(path, { ...init, method, signal });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return Response.json(error.status, { status: error.status.code });
    }
  }

  /** Lists the kind of a place once. Returns the cluster's refusal, if it refuses. */
  async #load(place: ResourcePlace, isRead: boolean): Promise<Response | undefined> {
    const { client, namespace } = this.#options;
    const isReview = /^auth(entic|oriz)ation\.k8s\.io$/.test(place.group);
    // Without other Leases, the plan leads. New events need no old ones.
    if (isReview || place.plural === "leases" || (place.plural === "events" && !isRead)) return undefined;
    if (client === undefined) {
      if (this.#server[internals].recorded()?.some((kind) => resourceId(kind) === resourceId(place))) return undefined;
      this.notes.add(`The recording has no ${resourceName(place)}: the plan takes it for an empty kind`);
      return undefined;
    }
    const all = await this.#listOnce(place, namespace ?? "");
    if (all?.status !== 403 || place.namespace === "" || namespace !== undefined) return all?.clone();
    return (await this.#listOnce(place, place.namespace))?.clone();
  }

  #listOnce(place: ResourcePlace, namespace: string): Promise<Response | undefined> {
    const id = `${resourceId(place)} ${namespace}`;
    const known = this.#lists.get(id);
    if (known !== undefined) return known;
    const list = this.#list(place, namespace);
    this.#lists.set(id, list);
    const forget = (refused?: Response): unknown => refused?.status !== 403 && this.#lists.delete(id);
    list.then((refused) => refused && forget(refused), () => forget());
    return list;
  }

  async #list(place: ResourcePlace, namespace: string): Promise<Response | undefined> {
    const collection = this.#store.collection(place) ?? await this.#define(place);
    const { group, version, plural } = place;
    const start = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const inside = namespace === "" || collection?.definition.scope === "Cluster" ? "" : `/namespaces/${namespace}`;
    for (let token = "";;) {
      const page = `limit=500&continue=${encodeURIComponent(token)}`;
      const response = await this.#send("GET", `${start}${inside}/${plural}?${page}`);
      if (response.status === 410 && token !== "") {
        await response.body?.cancel();
        token = "";
        continue;
      }
      // A kind that the plan has defined is new.
      if (response.status === 404 && collection?.definition.custom) return void await response.body?.cancel();
      if (!response.ok) return response;
      const { items, metadata } = objectOr(await response.json());
      for (const item of listOr(items)) this.#put(collection!, objectOr(item) as JsonObject);
      token = textOf(objectOr(metadata).continue);
      if (token === "") return undefined;
    }
  }

  /** Puts an object of the cluster under its own version, unless the plan has written it already. */
  #put(collection: StoredCollection, object: JsonObject): void {
    const metadata = objectOr(object.metadata);
    if ((collection.newest(storedKey(metadata))?.revision ?? 0) > FIRST_VERSION) return;
    collection.put(toStoredObject(collection.definition, object, Number(metadata.resourceVersion) || 1));
  }

  /** Defines a kind by its CRD, or without a schema if only discovery has it. */
  async #define(place: ResourcePlace): Promise<StoredCollection | undefined> {
    const crd = await this.#send("GET", `${CRDS}/${place.plural}.${place.group}`);
    const definition = objectOr(await crd.json());
    if (crd.ok) { for (const kind of crdResources(definition as JsonObject)) this.#server.define(kind); }
    const own = this.#store.collection(place);
    if (own !== undefined || place.group === "") return own;
    const found = await this.#send("GET", `/apis/${place.group}/${place.version}`);
    const { resources } = found.ok ? objectOr(await found.json()) : {};
    const known = listOr(resources).map(objectOr).find(({ name }) => name === place.plural);
    if (known === undefined) return undefined;
    const { group, version, plural } = place;
    const scope = known.namespaced === true ? "Namespaced" : "Cluster";
    this.#server.define({ group, version, plural, kind: textOf(known.kind), scope });
    this.#asked.add(resourceId(place)); // an aggregated server may ignore that a write is a dry run
    this.notes.add(
      `No CRD of ${resourceName(place)} can be read (${crd.status}): the plan knows no defaults and checks`,
    );
    return this.#store.collection(place);
  }

  /** Asks the cluster about the first write of an object, in a dry run. */
  async #dryRun(request: Request, place: ResourcePlace): Promise<void> {
    const { client, serverDryRun, refused } = this.#options;
    const { pathname, searchParams } = new URL(request.url);
    searchParams.set("dryRun", "All");
    const { method } = request;
    const path = `${pathname}?${searchParams}`;
    const isKnown = !this.#asked.has(resourceId(place)) && planRefusal(method, path, true) === undefined;
    if (client === undefined || !serverDryRun || !isKnown || place.plural === "leases") return;
    const text = await request.text();
    const name = place.name ?? nameOf(text);
    const object = `${resourceName(place)} ${storedKey({ namespace: place.namespace, name: name ?? "*" })}`;
    if (this.#asked.has(object)) return;
    if (name !== undefined) this.#asked.add(object);
    const headers = { "content-type": request.headers.get("content-type") ?? "application/json" };
    const response = await this.#send(method, path, method === "DELETE" ? {} : { body: text, headers });
    const status = response.ok ? undefined : objectOr(await response.json());
    if (status === undefined) return void await response.body?.cancel();
    // Messages about a Secret may quote its data.
    const message = place.plural === "secrets" ? "" : `: ${textOf(status.message)}`;
    refused({ method, object, message: `${response.status} ${textOf(status.reason)}${message}` });
  }
}

function nameOf(body: string): string | undefined {
  try {
    const { metadata } = objectOr(JSON.parse(body));
    return isObject(metadata) && textOf(metadata.name) !== "" ? textOf(metadata.name) : undefined;
  } catch {
    return undefined; // an apply in YAML has its name in the path
  }
}
