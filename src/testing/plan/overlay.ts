/**
 * The cluster as a plan sees it: a fake API server with the objects of a cluster, which takes all writes.
 *
 * {@linkcode Overlay} is the entry point: a transport. Before it answers the first request about a kind, it lists the
 * kind from the cluster. {@linkcode planRefusal} decides what may be sent there. It knows nothing about reconcilers.
 *
 * @module
 */
import { DEFINITIONS, parseResourcePath, resourceName, type ResourcePlace } from "../../engine/api/resource.ts";
import type { JsonObject } from "../../engine/api/json.ts";
import type { Transport } from "../../engine/api/lister_watcher.ts";
import { listOr, objectOr, textOf } from "../../engine/api/members.ts";
import { isForbidden, isNotFound, StatusError } from "../../engine/api/status.ts";
import type { DerivedController } from "../../engine/async/signals.ts";
import type { Client } from "../../engine/client/client.ts";
import { internals } from "../../engine/errors/internals.ts";
import type { FakeApiServer } from "../fake/fake_api_server.ts";
import { crdResources, resourceId } from "../fake/storage/definition.ts";
import { type Store, type StoredCollection, storedKey, toStoredObject } from "../fake/storage/store.ts";
import type { PlannedFact } from "./report.ts";

/** The overlay's first resourceVersion. No cluster has one as high, so objects keep the cluster's versions. */
export const FIRST_VERSION = 1_000_000_000_000_000;

/** Resources whose writes are not part of a report. */
export const UNREPORTED = /^(leases\.coordination\.k8s\.io|events(\.events\.k8s\.io)?)$/;

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

/** Sends a read to the cluster, or a dry run if there may be any. Everything else gets the answer 403. */
export async function sendPlanned(
  client: Client,
  path: string,
  init: RequestInit & { readonly method: string },
  mayDryRun: boolean,
): Promise<Response> {
  const message = planRefusal(init.method, path, mayDryRun, init.body != null);
  if (message === undefined) return await client.fetch(path, init).catch(responseOf);
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", code: 403, reason: "Forbidden", message };
  return Response.json(status, { status: 403 });
}

/** Returns the response that an error stands for. */
function responseOf(error: unknown): Response {
  if (!(error instanceof StatusError)) throw error;
  return Response.json({ kind: "Status", apiVersion: "v1", ...error.status }, { status: error.status.code });
}

/** Options of an {@linkcode Overlay}. */
interface OverlayOptions {
  /** The cluster; undefined if the server plays a recording. */
  readonly client: Client | undefined;
  /** The only namespace that is listed. */
  readonly namespace: string | undefined;
  readonly serverDryRun: boolean;
  /** Aborts at the end of the plan. It is aborted if a kind cannot be listed, other than for its name or the rights. */
  readonly limit: DerivedController;
  /** Called with what the report has to name. */
  readonly add: (is: PlannedFact["is"], message: string, by?: string) => void;
}

/** Answers requests from a fake server that has the objects of a cluster. */
export class Overlay implements Transport {
  /** The number of requests without a response. */
  open = 0;
  readonly #server: FakeApiServer;
  readonly #store: Store;
  readonly #options: OverlayOptions;
  /** The lists so far, by resource. */
  readonly #lists = new Map<string, Promise<void>>();
  /** The objects whose first write was sent in a dry run. */
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
      return await this.#answer(request);
    } catch (error) {
      return responseOf(error);
    } finally {
      this.open--;
    }
  }

  async #answer(request: Request): Promise<Response> {
    const { client, add, serverDryRun, limit: { signal } } = this.#options;
    const { method, headers } = request;
    const { pathname, search } = new URL(request.url);
    const place = parseResourcePath(pathname);
    const isRead = method === "GET" || method === "HEAD";
    if (client !== undefined && isRead && (place === undefined || place.subresource === "log")) {
      return await sendPlanned(client, pathname + search, { method, headers, signal }, false);
    }
    if (place !== undefined) await this.#load(place, isRead);
    const body = serverDryRun && !isRead ? await request.clone().text() : "";
    const response = await this.#server.fetch(request);
    if (place === undefined || isRead) return response;
    // A text that is no JSON names no object. The caller gets it unchanged.
    const { metadata, details, message } = objectOr(await response.clone().json().catch(() => undefined));
    const name = place.name ?? (textOf(objectOr(metadata).name) || textOf(objectOr(details).name));
    const object = `${resourceName(place)} ${storedKey({ namespace: place.namespace, name })}`;
    if (listOr(objectOr(details).causes).some((cause) => objectOr(cause).reason === "FieldManagerConflict")) {
      add("conflict", `${object}: ${textOf(message)}`);
    }
    if (client !== undefined && serverDryRun) await this.#dryRun(client, request, place, object, body);
    return response;
  }

  /** Lists the kind of a place once. */
  async #load(place: ResourcePlace, isRead: boolean): Promise<void> {
    const { client, add, limit } = this.#options;
    const isReview = /^auth(entic|oriz)ation\.k8s\.io$/.test(place.group);
    // Without other Leases, the plan leads. New Events need no old ones.
    if (isReview || (UNREPORTED.test(resourceName(place)) && !(isRead && place.plural === "events"))) return;
    const id = resourceId(place);
    if (client === undefined) {
      if (this.#server[internals].recorded()?.some((kind) => resourceId(kind) === id)) return;
      return add(
        "note",
        `The recording has no ${resourceName(place)}: the plan takes it for an empty kind`,
        "the plan",
      );
    }
    const list = this.#lists.get(id) ?? this.#list(client, place);
    this.#lists.set(id, list);
    await list.catch((error) => {
      this.#lists.delete(id);
      if (!isNotFound(error) && !isForbidden(error)) limit.abort(error);
      throw error;
    });
  }

  async #list(client: Client, place: ResourcePlace): Promise<void> {
    const { namespace, limit: { signal } } = this.#options;
    const known = this.#store.collection(place);
    if (known === undefined) {
      const crd = await client.resource(DEFINITIONS).get(`${place.plural}.${place.group}`, { signal });
      for (const kind of crdResources(crd as unknown as JsonObject)) this.#server.define(kind);
    }
    const collection = this.#store.collection(place);
    if (collection === undefined) {
      const what = `${resourceName(place)} at ${place.version}`;
      return this.#options.add("note", `The cluster does not serve ${what}: install its CRD first`, "the plan");
    }
    const { group, version, plural, kind, scope } = collection.definition;
    const inside = scope === "Cluster" || namespace === undefined ? {} : { namespace };
    try {
      const pages = client.resource({ group, version, plural, kind, scope }, inside).pages({ signal });
      for await (const { items } of pages) {
        for (const item of items) this.#put(collection, item as unknown as JsonObject);
      }
    } catch (error) {
      if (!isNotFound(error) || known?.definition.custom !== true) throw error; // the plan has created its CRD
    }
  }

  /** Puts an object of the cluster under its own version, unless the plan has written it already. */
  #put(collection: StoredCollection, object: JsonObject): void {
    const metadata = objectOr(object.metadata);
    if ((collection.newest(storedKey(metadata))?.revision ?? 0) > FIRST_VERSION) return;
    collection.put(toStoredObject(collection.definition, object, Number(metadata.resourceVersion) || 1));
  }

  /** Asks the cluster about the first write of an object, in a dry run. */
  async #dryRun(client: Client, request: Request, place: ResourcePlace, object: string, text: string): Promise<void> {
    const { method, headers, url } = request;
    const { pathname, searchParams } = new URL(url);
    searchParams.set("dryRun", "All");
    const path = `${pathname}?${searchParams}`;
    const isUnasked = UNREPORTED.test(resourceName(place)) || planRefusal(method, path, true) !== undefined;
    if (isUnasked || this.#asked.has(object)) return;
    this.#asked.add(object);
    const written = { body: text, headers: { "content-type": headers.get("content-type") ?? "application/json" } };
    const init = { method, signal: this.#options.limit.signal, ...method !== "DELETE" && written };
    const response = await sendPlanned(client, path, init, true);
    const { reason, message } = objectOr(await response.json());
    if (response.ok) return;
    // Messages about a Secret may quote its data.
    const why = place.plural === "secrets" ? "" : `: ${textOf(message)}`;
    this.#options.add("refused", `${method} ${object}: ${response.status} ${textOf(reason)}${why}`);
  }
}
