/**
 * The options of a relay, and their defaults.
 *
 * {@linkcode RelayOptions} is the entry point. Nothing is served here.
 *
 * @module
 */
import type { KubernetesObject } from "../../api/object.ts";
import type { Selection } from "../../api/options.ts";
import type { Resource } from "../../api/resource.ts";
import { checkCounts, checkDurations } from "../../async/checks.ts";
import { callObserver } from "../../async/signals.ts";
import { ConsoleReporter } from "../../errors/errors.ts";
import { checkNames } from "../../errors/option_names.ts";
import type { DerivedCollection, DerivedObject } from "../../informer/derived_collection.ts";
import type { SharedIndexInformerOptions } from "../../informer/options.ts";
import { ByteBudget } from "./budget.ts";

/** The names of options that are limits. */
const LIMITS = "maxConnections maxBytes heartbeatMs stallMs syncMs lingerMs maxStaleMs hosts origins";

/** The names of this machine on itself. */
export const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * One collection that a relay serves: its resource, and the options of its informer. The data of Secrets is served if
 * `secretData: "keep"` asks for it.
 */
export interface RelayedCollection extends Selection, SharedIndexInformerOptions<KubernetesObject> {
  /** The kind, or the table of it: then views have its rows, and lists and event streams the objects in them. */
  readonly resource: Resource;
}

/** The objects of a collection that a user may see: those for which all members hold that are given. */
export interface ObjectRight {
  /** The namespaces of the objects. @default {all} */
  readonly namespaces?: readonly string[];
  /** The names of the objects. @default {all} */
  readonly names?: readonly string[];
  /**
   * Predicates of the relay that hold, by their names, each with the text that it receives: `{ team: "cart" }`. Users
   * with the same names and texts share their answers.
   *
   * @default {all}
   */
  readonly where?: Readonly<Record<string, string>>;
}

/**
 * Returns true for the objects that a user may see, as `redact` leaves them; of a table, for the objects in its rows.
 * Only `text`, which {@linkcode ObjectRight.where} gives, depends on the user, and the answer is the same for the same
 * object and text: it is shared. An object for which it throws is not seen, and the error is reported.
 */
export type ObjectPredicate = { matches(object: KubernetesObject, text: string): boolean }["matches"];

/** The rights of a request, and their times. */
export interface Grant {
  /**
   * The right to each collection, by their names; `{}` has all of its objects. A request for a collection that is not
   * among them is refused by 403. Clients with the same right to a collection share all that is made for them.
   *
   * @default {all objects}
   */
  readonly rights?: Readonly<Record<string, ObjectRight>>;
  /** The time at which an open stream ends; its client asks again. @default {never} */
  readonly expiresAt?: Date;
  /**
   * The time at which `authorize` is asked again while a stream is open, a second later at the earliest, by a request
   * with the same address and headers. The stream continues with the rights of that answer: where they are others, an
   * event stream has a new snapshot, and views have new rows. It ends as `expired` where that is a refusal or an error.
   *
   * @default {never}
   */
  readonly askAgainAt?: Date;
}

/** An answer of `authorize`: whether the request is answered, and what it may see; a response is sent as it is. */
export type Authorization = boolean | Response | Grant;

/** The objects of one collection that a request asks for. */
export interface RequestedPart {
  /** The name of the collection. */
  readonly collection: string;
  /** The kind, or the table of it. */
  readonly resource: Resource;
  /** The namespaces of the objects; `"all"` where it asks for all that the relay serves. */
  readonly namespaces: readonly string[] | "all";
}

/** The objects that a request asks for, as `authorize` sees them. */
export interface RequestedData {
  /** The objects of each collection; a request for views has a part for each of them. */
  readonly parts: readonly RequestedPart[];
  /**
   * The names of the collections whose objects it asks for; none for `/api`, probes, metrics, and requests that are
   * refused anyway.
   */
  readonly collections: readonly string[];
  /**
   * The namespaces of these objects, of all collections together; `"all"` where it asks for all that the relay serves
   * of one. Those of a collection that is limited to some are named.
   */
  readonly namespaces: readonly string[] | "all";
  /** `true` if it follows the objects, by events, views or a watch: RBAC has a verb of its own for that, `watch`. */
  readonly follows: boolean;
}

/** The connection of a request, which servers pass beside it. */
export interface ConnectionInfo {
  /** The address of the other end. */
  readonly remoteAddr: { readonly transport?: string; readonly hostname?: string };
}

/** Decides about a request, whose body has been read. The connection is what the server has passed to `fetch`. */
export type AuthorizeRequest = (
  request: Request,
  requested: RequestedData,
  connection: ConnectionInfo | undefined,
) => Authorization | Promise<Authorization>;

/** The longest time between two heartbeats, in milliseconds: clients give up a stream that is silent for 70 s. */
const MAX_HEARTBEAT_MS = 30_000;

/** Options of an `InformerRelay`. */
export interface RelayOptions {
  /**
   * The collections by the names that they have in addresses: `{ pods: Pod }` is `/api/pods` and `/events/pods`. A
   * derived collection has this name as its kind, and as the `plural` that `redact` receives. It has no version: lists
   * have `""`, its streams are continued by this relay alone, and the Kubernetes API of the relay lacks it. The caller
   * disposes it, behind the relay.
   */
  readonly collections: Readonly<
    Record<string, Resource | RelayedCollection | DerivedCollection<DerivedObject, string>>
  >;
  /**
   * Decides whether a request is answered, from its headers and the collections and namespaces that it asks for; its
   * body has been read. A request that replaces the views of a stream may set other rights and times. All clients that
   * may see an object see the same of it. An error that it throws is reported, and answered by 500.
   *
   * An object that the `rights` of a client do not have does not show in numbers, orders, views, entity tags, resumes
   * and errors, and its changes send no byte. Versions and ids move with all changes of the collection, and times and
   * chunks of answers depend on them. A request for `/metrics` that is granted rights is refused by 403.
   *
   * `({ headers }, { namespaces }) => namespaces !== "all" && namespaces.every((name) => isAllowed(headers, name))`
   * lets clients see their namespaces.
   *
   * @default {clients on the same machine alone are answered, by servers that pass their address, as `Deno.serve` does}
   */
  readonly authorize?: AuthorizeRequest;
  /**
   * The predicates that rights name: `{ team: ({ metadata }, team) => metadata.labels?.team === team }`. The relay has
   * them once for all users, so that no user is shown what another one's predicate lets through.
   *
   * @default {none}
   */
  readonly predicates?: Readonly<Record<string, ObjectPredicate>>;
  /**
   * Returns what clients may see of an object, or `undefined` where that is nothing. It returns the same for the same
   * object, and changes nothing. Selectors and `fields` see its result alone. Secrets have no data, unless their
   * collection keeps it. An object for which it throws is left out, and the error is reported.
   *
   * @default {the object}
   */
  readonly redact?: (object: KubernetesObject, resource: Resource) => KubernetesObject | undefined;
  /**
   * The names under which this server is reached, without ports; `*.example.com` stands for all names that end so.
   * Requests to other names are refused, because a page of another site could make its name point here.
   *
   * @default {localhost, 127.0.0.1 and [::1]}
   */
  readonly hosts?: readonly string[];
  /**
   * The origins of other sites whose pages may ask and read answers, such as `"https://dash.example.com"`.
   *
   * @default {none}
   */
  readonly origins?: readonly string[];
  /**
   * The name of the cluster, of a relay that has replicas: relays of the same name and options, on the same cluster,
   * continue each other's event streams by the versions of the server; give another name to a cluster that was made
   * anew. Such a relay follows its collections from its construction on, with clients or without, so that `/readyz`
   * waits for them, and it knows the changes that a client of another relay has missed: those since its own first list,
   * as far as `maxBytes` has room. `lingerMs` does not apply.
   *
   * @default {streams are continued by the relay that they came from}
   */
  readonly cluster?: string;
  /**
   * The largest number of requests that are answered at one time, with answers that are not read to their end; others
   * are answered by
   * 503. Each of `Deno.serve` takes some 65 kB of memory, up to one part of its answer that is not read (64 kB, or one
   *   object), and an
   * open file. Connections without a request are bounded by the open files of the process alone.
   *
   * @default {2_000}
   */
  readonly maxConnections?: number;
  /**
   * The number of bytes that the relay keeps for its clients, beside one copy of its collections: a quarter for
   * changes, by which clients resume, and parts of snapshots that are being read; three quarters for the rows of views,
   * and the versions of objects that unread lists hold. Where they are used up, the oldest changes are forgotten, the
   * oldest unread list is cut, views without readers are closed, and then views are refused by 503.
   *
   * @default {134_217_728}
   */
  readonly maxBytes?: number;
  /** The time between two heartbeats of a stream, in milliseconds, 30 s at most. @default {15_000} */
  readonly heartbeatMs?: number;
  /**
   * The time for which a client may leave unread what there is to read of a stream or a list, in milliseconds;
   * `Infinity` is for ever.
   *
   * @default {30_000}
   */
  readonly stallMs?: number;
  /** The time for which a list waits for the first sync, in milliseconds; `Infinity` is for ever. @default {10_000} */
  readonly syncMs?: number;
  /**
   * The time from the end of the last stream of a collection to the release of its informer, in milliseconds, so that
   * clients that reconnect can resume; `Infinity` keeps it. The informer's own `idleTimeoutMs` follows.
   *
   * @default {10_000}
   */
  readonly lingerMs?: number;
  /**
   * The age from which a cache that is not live makes `/readyz` fail, in milliseconds; `Infinity` is never.
   *
   * @default {60_000}
   */
  readonly maxStaleMs?: number;
  /**
   * Called with errors of `authorize` and `redact`, and with the reason of each answer by 500.
   *
   * @default {written to the console}
   */
  readonly onError?: (error: unknown) => unknown;
}

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
  checkNames("create a relay", options, `${LIMITS} collections authorize predicates redact cluster onError`);
  if (Object.keys(options?.collections ?? {}).length === 0) {
    throw new TypeError(
      'Cannot create a relay: "collections" is empty. Add at least one, for example { collections: { pods: Pod } }',
    );
  }
  const { hosts = LOOPBACK_HOSTS, origins = [], predicates = {}, cluster = crypto.randomUUID() } = options;
  const { maxConnections = 2_000, maxBytes = 134_217_728, heartbeatMs = 15_000 } = options;
  const { stallMs = 30_000, syncMs = 10_000, lingerMs = 10_000, maxStaleMs } = options;
  checkDurations("create a relay", { stallMs, syncMs, lingerMs, maxStaleMs });
  checkDurations("create a relay", { heartbeatMs }, { min: 1, finite: true });
  if (heartbeatMs > MAX_HEARTBEAT_MS) {
    throw new RangeError(
      `Cannot create a relay: heartbeatMs must be at most ${MAX_HEARTBEAT_MS} milliseconds, but it is ${heartbeatMs}`,
    );
  }
  checkCounts("create a relay", { maxBytes }, { infinite: true });
  checkCounts("create a relay", { maxConnections }, { min: 1, infinite: true });
  const reporter = new ConsoleReporter();
  const { onError = (error) => reporter.report("relay", error) } = options;
  return {
    ...options,
    hosts,
    origins,
    predicates,
    cluster,
    maxConnections,
    maxBytes,
    heartbeatMs,
    stallMs,
    syncMs,
    lingerMs,
    onError: (error) => callObserver(() => onError(error)),
    isReplica: options.cluster !== undefined,
    budget: new ByteBudget(maxBytes),
  };
}
