/**
 * The command `informer serve`: a page and a relay on loopback.
 *
 * {@linkcode serve} is the entry point. A relay for each cluster answers all requests for objects. This file adds the
 * page and the names of clusters.
 *
 * @module
 */
import type { KubernetesObject } from "../engine/api/object.ts";
import type { Selection } from "../engine/api/call_options.ts";
import { isSecret, type Resource, resourceName } from "../engine/api/resource.ts";
import { sleep } from "../engine/async/time.ts";
import { FileSnapshots } from "../host/connect/file_stores.ts";
import { errorLine } from "../engine/errors/errors.ts";
import { SharedInformerFactory } from "../engine/informer/shared_informer_factory.ts";
import { RequestGuard } from "../relay/server/guard.ts";
import { InformerRelay } from "../relay/server/informer_relay.ts";
import { LOOPBACK_HOSTS, type RelayedCollection } from "../relay/server/options.ts";
import { listen, type LoopbackHandler } from "./loopback.ts";
import { checkOutputFile } from "./output_file.ts";
import { PAGE_HTML, PAGE_POLICY } from "./page_html.ts";
import { clientsFor, type ClusterClient, type ClustersFlags, refuseFlags } from "./shared/connect.ts";
import { EXIT_CODE, UsageError } from "./shared/usage.ts";
import { checkNumbers, sizeInBytes } from "./shared/flag_values.ts";
import {
  byShortName,
  checkSelection,
  POLL_MS,
  readableSelection,
  resourcesFor,
  type SelectionFlags,
  selectionFor,
} from "./shared/targets.ts";
import { type CommandContext, FailureReporter, type Terminal } from "./terminal/terminal.ts";

/** Headers of the page. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy": PAGE_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Returns the page, which is at `/`; `undefined` for other requests. */
export function answerPage(request: Request): Response | undefined {
  if (URL.parse(request.url)?.pathname !== "/") return undefined; // its host may be none
  if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
  return request.method === "GET" ? new Response(PAGE_HTML, { headers: HEADERS }) : undefined;
}

interface ServeFlags extends ClustersFlags, SelectionFlags {
  /** The port; 0 is any free one. */
  readonly port: number;
  /** Host names that clients may use for this server, besides the names of this machine. */
  readonly host?: readonly string[];
  /** If `true`, serves the data of Secrets. */
  readonly secretData?: boolean;
  /** The file from which caches begin, and to which they are written. */
  readonly snapshot?: string;
  /** The bytes that the caches of a cluster may hold. */
  readonly maxBytes?: string;
}

/** Serves caches of resources over HTTP on loopback until the signal aborts. Returns the exit code. */
export async function serve(flags: ServeFlags, names: readonly string[], context: CommandContext): Promise<number> {
  const { terminal, signal } = context;
  checkSelection(flags, names);
  checkNumbers({ port: flags.port });
  const maxBytes = flags.maxBytes === undefined ? undefined : sizeInBytes(flags.maxBytes, "max-bytes");
  await checkSnapshot(flags);
  using clients = await clientsFor(flags, terminal);
  const polled = new Set<Resource<KubernetesObject>>();
  const options = { form: "table", terminal, polled } as const;
  const resources = await clients.ask((...asked) => resourcesFor(names, "watch", options, ...asked), signal);
  const store = flags.snapshot === undefined ? undefined : new ServedSnapshots(flags.snapshot, resources.length);
  // Of several clusters, one that does not answer is not waited for.
  const [{ cluster, client }] = clients.all;
  const readable = cluster === undefined
    ? await readableSelection(flags, client, resources, { terminal, signal })
    : undefined;
  const served = clients.all.map((member) => {
    const selection = readable ?? selectionFor(flags, member.client);
    return new ServedCluster(member, { resources, polled }, { ...flags, selection, maxBytes }, store, terminal);
  });
  const http = await listen(flags.port, handlerOf(served, hostsOf(flags)), terminal);
  const address = `http://127.0.0.1:${http.port}`;
  try {
    terminal.result(address);
    const plurals = served[0].collections;
    const stream = `${address}${clusterPath(served[0])}events/${plurals[0]}`;
    terminal.say(`serving ${plurals.join(", ")} on ${address}; open it in a browser, or try: curl -N ${stream}`);
    await sleep(Infinity, { signal }).catch(() => {}); // it is interrupted
  } finally {
    for (const { relay } of served) await relay[Symbol.asyncDispose]();
    await http[Symbol.asyncDispose]();
    // It writes the last snapshots.
    await Promise.all(served.map((it) => it[Symbol.asyncDispose]()));
  }
  return store !== undefined && store.unwritten.size > 0 ? EXIT_CODE.failed : EXIT_CODE.done;
}

/** The caches of one cluster, and their relay. */
class ServedCluster implements AsyncDisposable {
  readonly cluster: string | undefined;
  readonly collections: readonly string[];
  readonly relay: InformerRelay;
  readonly #informers: SharedInformerFactory;

  constructor(
    { cluster, client }: ClusterClient,
    { resources, polled }: {
      readonly resources: readonly Resource<KubernetesObject>[];
      readonly polled: ReadonlySet<Resource<KubernetesObject>>;
    },
    flags: Omit<ServeFlags, "maxBytes"> & { readonly selection: Selection; readonly maxBytes: number | undefined },
    store: ServedSnapshots | undefined,
    terminal: Terminal,
  ) {
    this.cluster = cluster;
    const place = cluster === undefined ? "" : `${cluster}: `;
    const say = (line: string): void => terminal.say(place + line);
    this.#informers = new SharedInformerFactory(client, {
      ...flags.selection,
      maxBytes: flags.maxBytes,
      snapshots: store && { store },
      onError: (error, resource) => terminal.say(`error: ${place}${resourceName(resource)}: ${errorLine(error)}`),
    });
    const collections = collectionsOf(resources, polled, flags.secretData ?? false, say);
    this.collections = Object.keys(collections);
    this.relay = new InformerRelay(this.#informers, {
      collections,
      hosts: hostsOf(flags),
      onError: (error) => terminal.say(`error: ${place}${errorLine(error)}`),
    });
  }

  /** Ends the relay, and then the informers. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay[Symbol.asyncDispose]();
    await this.#informers.shutdown();
  }
}

/** Returns the path below which a cluster is served. */
function clusterPath({ cluster }: Pick<ServedCluster, "cluster">): string {
  return cluster === undefined ? "/" : `/clusters/${encodeURIComponent(cluster)}/`;
}

/** Returns the host names that clients may use: the names of this machine, and the flag's. */
function hostsOf({ host = [] }: Pick<ServeFlags, "host">): readonly string[] {
  return [...LOOPBACK_HOSTS, ...host];
}

/**
 * Returns the handler of pages and relays. A single cluster has its page at `/`, and its relay has all other paths.
 * Several clusters have both below a path for each; then `/clusters` has their names, and `/` leads to the first.
 */
function handlerOf(served: readonly ServedCluster[], hosts: readonly string[]): LoopbackHandler {
  const guard = new RequestGuard({ hosts, origins: [], authorize: undefined });
  return async (request, info) => {
    const url = URL.parse(request.url);
    const found = served.find((it) =>
      url === null || it.cluster === undefined || url.pathname.startsWith(clusterPath(it))
    );
    const isPlaced = url !== null && found?.cluster !== undefined;
    if (isPlaced) url.pathname = url.pathname.slice(clusterPath(found).length - 1);
    const own = isPlaced ? new Request(url, request) : request;
    const answer = found === undefined ? answerPlaces(request, served) : answerPage(own);
    if (found !== undefined && answer === undefined) return await found.relay.fetch(own, info); // it has a guard, too
    const refusal = guard.check(own, info);
    if (refusal === undefined && answer !== undefined) return answer;
    const reason = "pages are at /clusters/NAME/, and /clusters has the names";
    void request.body?.cancel().catch(() => {}); // the answer does not depend on it
    const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
    const text = `Cannot answer ${request.method.slice(0, 20)}: ${refusal?.reason ?? reason}\n`;
    return new Response(text, { status: refusal?.status ?? 404, headers });
  };
}

/** Returns the names of several clusters, or the way to the first; `undefined` for other requests. */
function answerPlaces({ url, method }: Request, served: readonly ServedCluster[]): Response | undefined {
  const { pathname } = new URL(url);
  if (method !== "GET" && method !== "HEAD") return undefined;
  if (pathname === "/") return new Response(null, { status: 302, headers: { location: clusterPath(served[0]) } });
  if (pathname !== "/clusters") return undefined;
  return Response.json(served.map(({ cluster }) => cluster), { headers: { "cache-control": "no-store" } });
}

/** @throws {UsageError} when the file for snapshots cannot be written, or is of no use. */
async function checkSnapshot(flags: ServeFlags): Promise<void> {
  const { snapshot, fake } = flags;
  if (snapshot === undefined) return;
  refuseFlags("--snapshot works with one cluster only", {
    contexts: flags.contexts,
    "all-contexts": flags.allContexts,
  });
  if (fake) {
    throw new UsageError(
      "--snapshot and --fake cannot be combined, because fake objects end with this program; leave one out",
    );
  }
  await checkOutputFile("--snapshot", snapshot);
}

/** The files of the caches, and which of them could not be written. They never have the data of Secrets. */
class ServedSnapshots extends FileSnapshots {
  /** The names of snapshots whose last write has failed. */
  readonly unwritten = new Set<string>();

  /** One file for one resource; for several, a file for each. */
  constructor(file: string, resources: number) {
    super((name) => resources === 1 ? file : `${file}.${name.split("/", 1)[0]}`);
  }

  /** Writes a snapshot. @throws as its base. */
  override async set(...args: Parameters<FileSnapshots["set"]>): Promise<boolean> {
    this.unwritten.add(args[0]);
    const isWritten = await super.set(...args);
    this.unwritten.delete(args[0]);
    return isWritten;
  }
}

/** Returns the collections by their short names. */
function collectionsOf(
  resources: readonly Resource<KubernetesObject>[],
  polled: ReadonlySet<Resource<KubernetesObject>>,
  keepsData: boolean,
  say: (line: string) => void,
): Record<string, RelayedCollection> {
  const collections: Record<string, RelayedCollection> = {};
  for (const [name, resource] of byShortName(resources)) {
    const failures = new FailureReporter(resourceName(resource), say);
    collections[name] = {
      resource,
      pollMs: polled.has(resource) ? POLL_MS : undefined,
      secretData: keepsData && isSecret(resource) ? "keep" : undefined,
      reflector: { onPhase: (phase): void => failures.onPhase(phase) },
      onError: (error): void => failures.report(error, true),
    };
  }
  return collections;
}
