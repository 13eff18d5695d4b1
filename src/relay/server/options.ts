/**
 * The options of a relay, and their defaults.
 *
 * {@linkcode RelayOptions} is the entry point. Nothing is served here.
 *
 * @module
 */
import type { Selection } from "../../engine/api/call_options.ts";
import type { KubernetesObject } from "../../engine/api/object.ts";
import type { Resource } from "../../engine/api/resource.ts";
import { callObserver } from "../../engine/async/signals.ts";
import { ConsoleReporter } from "../../engine/errors/errors.ts";
import { plainRows, readOptions } from "../../engine/errors/option_table.ts";
import type { DerivedCollection, DerivedObject } from "../../engine/informer/derived_collection.ts";
import type { SharedIndexInformerOptions } from "../../engine/informer/options.ts";
import { ByteBudget } from "./budget.ts";

/** The names of this machine on itself. */
export const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * A collection that a relay serves, as its resource and its informer's options. The relay leaves out the data of
 * Secrets, unless you set `secretData: "keep"`.
 */
export interface RelayedCollection extends Selection, SharedIndexInformerOptions<KubernetesObject> {
  /** The kind, or its table. Views of a table have the table's rows. Its lists and event streams have the objects. */
  readonly resource: Resource;
}

/** Which objects of a collection a user may see. An object must match every property that is set. */
export interface ObjectRight {
  /** The allowed namespaces. Without it, all are allowed. */
  readonly namespaces?: readonly string[];
  /** The allowed object names. Without it, all are allowed. */
  readonly names?: readonly string[];
  /**
   * The predicates that must return true, as their names in {@linkcode RelayOptions.predicates}, each with the text
   * that it receives for this user: `{ team: "cart" }`. Users with the same names and texts share one selection, its
   * streams and its views.
   */
  readonly where?: Readonly<Record<string, string>>;
}

/**
 * Decides whether a user may see an object. The result may depend only on the object and on `text`, because users with
 * the same text share it. `text` comes from {@linkcode ObjectRight.where}. The object is as `redact` returns it. For a
 * table, it is the object in the row. If the predicate throws, the object stays hidden, and `onError` receives the
 * error.
 */
export type ObjectPredicate = { matches(object: KubernetesObject, text: string): boolean }["matches"];

/** The rights that `authorize` gives to a request, and how long they last. */
export interface Grant {
  /**
   * The right to each collection, by the collection's name. `{}` allows all objects. A request for a collection that is
   * missing here gets 403. A name that no collection has is an error: `onError` receives it, and the request gets 500.
   * Without `rights`, the request may see everything. Users with the same right share one selection, its streams and
   * its views.
   */
  readonly rights?: Readonly<Record<string, ObjectRight>>;
  /** When the relay ends an open stream. Its client then asks again. Without it, the stream has no such end. */
  readonly expiresAt?: Date;
  /**
   * When the relay calls `authorize` again for an open stream, at least one second ahead. The new request has the same
   * address and headers.
   *
   * - **The same rights:** the stream continues.
   * - **Other rights:** an event stream gets a new snapshot, views get new rows, and a watch under `/kubernetes` ends
   *   with 410.
   * - **A refusal or an error:** the stream ends as `expired`.
   *
   * A revoked right lasts until then. Without `askAgainAt` or `expiresAt`, it lasts as long as the stream.
   */
  readonly askAgainAt?: Date;
}

/**
 * The decision of `authorize`. `true` serves everything that the request asks for, and `false` responds with 403. The
 * relay sends a `Response` as it is, and serves only the objects that a {@linkcode Grant} allows.
 */
export type Authorization = boolean | Response | Grant;

/** The objects that a request asks for in one collection. */
export interface RequestedPart {
  /** The collection's name. */
  readonly collection: string;
  /** The kind, or its table. */
  readonly resource: Resource;
  /** The namespaces that the request asks for. `"all"` means every namespace, if the collection itself has no limit. */
  readonly namespaces: readonly string[] | "all";
}

/** The objects that a request asks for. `authorize` receives it. */
export interface RequestedData {
  /** The objects in each collection. A request for views has one part per view. */
  readonly parts: readonly RequestedPart[];
  /**
   * The names of the requested collections. The list is empty for `/api`, probes, metrics, and requests that the relay
   * refuses anyway.
   */
  readonly collections: readonly string[];
  /**
   * The namespaces that the request asks for, across all its collections. `"all"` means every namespace of at least one
   * collection. For a collection that is limited to some namespaces, these are listed instead.
   */
  readonly namespaces: readonly string[] | "all";
  /**
   * `true` if the request follows changes, as an event stream, a view or a watch does. RBAC has a verb for it, `watch`.
   */
  readonly follows: boolean;
}

/** The connection of a request, which `Deno.serve` and `FetchServer` pass as the second argument of `relay.fetch`. */
export interface ConnectionInfo {
  /** The address of the other end: the client, or a proxy in front of the relay. */
  readonly remoteAddr: { readonly transport?: string; readonly hostname?: string };
}

/**
 * Decides whether the relay may serve a request. The relay has read the request's body before. `connection` is the
 * second argument of `relay.fetch`.
 */
export type AuthorizeRequest = (
  request: Request,
  requested: RequestedData,
  connection: ConnectionInfo | undefined,
) => Authorization | Promise<Authorization>;

/** The longest time between two heartbeats, in milliseconds: clients give up a stream that is silent for 70 s. */
const MAX_HEARTBEAT_MS = 30_000;

/** Options for {@linkcode InformerRelay}. */
export interface RelayOptions {
  /**
   * The collections, by their names in URLs: `{ pods: Pod }` gives `/api/pods` and `/events/pods`.
   *
   * You can also serve a derived collection, which you dispose yourself after the relay. Its name here is its kind, and
   * the `plural` that `redact` receives. It has no version. Its lists therefore have the `resourceVersion` `""`, only
   * this relay can resume its streams, and `/kubernetes` does not serve it.
   */
  readonly collections: Readonly<
    Record<string, Resource | RelayedCollection | DerivedCollection<DerivedObject, string>>
  >;
  /**
   * Decides for each request whether the user may see the requested objects, from the headers, collections and
   * namespaces. For example, this lets users see their own namespaces:
   * `({ headers }, { namespaces }) => namespaces !== "all" && namespaces.every((name) => isAllowed(headers, name))`
   *
   * Without `authorize`, the relay answers only clients on the same machine, needs their address from your server, and
   * refuses requests that carry a proxy's headers.
   *
   * - The relay calls it for each list, event stream, view and watch, and again when a client changes its views.
   * - If it throws, the relay responds with 500, and passes the error to `onError`.
   * - Every user who may see an object sees the same fields.
   * - Hidden objects do not show in objects, counts, orders, views, ETags, resumed streams or errors, and a change to
   *   one sends no byte. A user can still notice versions and event ids, which move with every change, and timing.
   * - A user with limited `rights` gets 403 for `/metrics`. See the guide:
   *   [Decide who may see what](../../../docs/relay/authorize.md).
   */
  readonly authorize?: AuthorizeRequest;
  /**
   * The predicates that rights can name: `{ team: ({ metadata }, team) => metadata.labels?.team === team }`. They
   * belong to the relay, because users with the same rights share one selection.
   * @default {{}}
   */
  readonly predicates?: Readonly<Record<string, ObjectPredicate>>;
  /**
   * Returns the object as clients may see it, or `undefined` to hide it from everybody. Selectors, `fields` and views
   * see only its result, so nobody can guess a hidden value by filtering.
   *
   * It must return the same result for the same object, and must not change the object. If it throws, the relay leaves
   * the object out, and passes the error to `onError`. Secrets come without data, unless their collection keeps it.
   */
  readonly redact?: (object: KubernetesObject, resource: Resource) => KubernetesObject | undefined;
  /**
   * The host names under which clients reach this server, without ports. `*.example.com` allows every name with that
   * ending. The relay refuses other names, because a page of another site could point its own name at your relay.
   * @default {["localhost", "127.0.0.1", "[::1]"]}
   */
  readonly hosts?: readonly string[];
  /**
   * The origins of other sites whose pages may send requests and read responses, such as `"https://dash.example.com"`.
   * @default {[]}
   */
  readonly origins?: readonly string[];
  /**
   * A name for the cluster, if you run several relays behind a load balancer. Relays with the same name and options
   * continue each other's event streams by the server's versions. Give a rebuilt cluster a new name.
   *
   * A relay with this name follows its collections from the start, even without clients, so `lingerMs` does not apply.
   * `/readyz` waits for these caches. The relay knows the changes since its own first list, as far as `maxBytes` has
   * room. Without `cluster`, only the relay that started a stream can resume it. See the guide:
   * [Replicas](../../../docs/relay/replicas.md).
   */
  readonly cluster?: string;
  /**
   * The largest number of open requests, unread responses included. Others get 503.
   *
   * With `Deno.serve`, an open request takes about 65 kB, up to 64 kB or one object that is not read yet, and an open
   * file. Connections without a request are limited only by the process's open files.
   * @default {2_000}
   */
  readonly maxConnections?: number;
  /**
   * The memory in bytes that the relay may use for its clients, in addition to one copy of its collections:
   *
   * - A quarter holds changes, from which clients resume, and parts of snapshots that are being read.
   * - Three quarters hold the rows of views, and the old object versions that unread lists still need.
   *
   * At the limit, the relay drops the oldest changes, cuts the oldest unread list, closes views without readers, and
   * then refuses views with 503.
   * @default {134_217_728}
   */
  readonly maxBytes?: number;
  /** How often a silent stream sends a heartbeat, in milliseconds, at most 30,000. @default {15_000} */
  readonly heartbeatMs?: number;
  /**
   * How long a client may leave a stream or a list unread, in milliseconds. `Infinity` means forever.
   * @default {30_000}
   */
  readonly stallMs?: number;
  /** How long a list waits for the first sync, in milliseconds. `Infinity` means forever. @default {10_000} */
  readonly syncMs?: number;
  /**
   * How long the relay keeps an informer after the collection's last stream has ended, in milliseconds, so that clients
   * that reconnect can resume. `Infinity` keeps it. After that, the informer's own `idleTimeoutMs` begins.
   * @default {10_000}
   */
  readonly lingerMs?: number;
  /**
   * The longest time in milliseconds for which a cache may be out of date before `/readyz` fails. `Infinity` means
   * never.
   * @default {60_000}
   */
  readonly maxStaleMs?: number;
  /**
   * Called with errors from `authorize` and `redact`, and with the reason for each response with status 500. By
   * default, the relay writes them to the console.
   */
  readonly onError?: (error: unknown) => unknown;
}

const OPTIONS = {
  maxConnections: { default: 2_000, count: { min: 1, infinite: true } },
  maxBytes: { default: 134_217_728, count: { infinite: true } },
  heartbeatMs: { default: 15_000, ms: { min: 1, finite: true } },
  stallMs: { default: 30_000, ms: {} },
  syncMs: { default: 10_000, ms: {} },
  lingerMs: { default: 10_000, ms: {} },
  maxStaleMs: { ms: {} },
  hosts: { default: LOOPBACK_HOSTS },
  origins: { default: [] },
  predicates: { default: {} },
  ...plainRows("collections authorize redact cluster onError"),
} as const; // readOptions() asks for a row for each option

/** The options of a relay with their defaults, and what its parts share. */
export type RelaySettings =
  & Required<Omit<RelayOptions, "authorize" | "redact" | "maxStaleMs">>
  & Pick<RelayOptions, "authorize" | "redact" | "maxStaleMs">
  & {
    /** `true` if the cluster has a name. */
    readonly isReplica: boolean;
    /** The bytes that the parts keep and hold. */
    readonly budget: ByteBudget;
  };

/**
 * Returns the options with their defaults.
 *
 * @throws {TypeError} when there is no collection.
 * @throws {RangeError} when a number is out of range.
 */
export function relaySettings(options: RelayOptions): RelaySettings {
  const settings = readOptions("create a relay", options, OPTIONS);
  if (Object.keys(options?.collections ?? {}).length === 0) {
    throw new TypeError(
      'Cannot create a relay: "collections" is empty. Add at least one, for example { collections: { pods: Pod } }',
    );
  }
  const { heartbeatMs, maxBytes, cluster = crypto.randomUUID() } = settings;
  if (heartbeatMs > MAX_HEARTBEAT_MS) {
    throw new RangeError(
      `Cannot create a relay: heartbeatMs must be at most ${MAX_HEARTBEAT_MS} milliseconds, but it is ${heartbeatMs}`,
    );
  }
  const reporter = new ConsoleReporter();
  const { onError = (error) => reporter.report("relay", error) } = options;
  return {
    ...settings,
    cluster,
    onError: (error) => callObserver(() => onError(error)),
    isReplica: options.cluster !== undefined,
    budget: new ByteBudget(maxBytes),
  };
}
