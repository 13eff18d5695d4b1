/**
 * Reads which kinds a server has, in the aggregated format, or group by group from servers before 1.27.
 *
 * {@linkcode discoverResources} is the entry point. `Client` sends the requests and caches the result, and
 * `find_resource.ts` looks for one kind in it.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import { type ApiResource, apiVersionOf } from "../api/resource.ts";
import { DecodeError, isNotFound, StatusError } from "../api/status.ts";

/** Options for {@linkcode Client.discover}. */
export interface DiscoverOptions extends Abortable {
  /**
   * How old a cached result may be, in milliseconds. 0 always asks the server, and `Infinity` accepts any age.
   *
   * @default {60_000}
   */
  readonly maxAgeMs?: number;
  /**
   * Called for each group version that could not be read, e.g. `"metrics.k8s.io/v1beta1"`. The result still has all
   * others. If a whole request failed, the name is `"api"` or `"apis"`. By default, each error is written to the
   * console.
   */
  readonly onError?: (error: unknown, groupVersion: string) => void;
}

/** Requests the JSON value at a path, in the format that `accept` names. */
type GetJson = (path: string, accept: string) => Promise<unknown>;

const JSON_TYPE = "application/json";

/**
 * Newest format first: one response with everything (Kubernetes 1.30, and 1.27 as a beta), or else a table of contents.
 */
const AGGREGATED = ["v2", "v2beta1"]
  .map((version) => `${JSON_TYPE};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat(JSON_TYPE).join(",");

/** The number of concurrent requests if each group version needs its own. */
const CONCURRENCY = 8;

/**
 * Returns the server's resources: the core group first, then the groups in server order, each with its preferred
 * version first. It sends two requests, and on servers before 1.27 one more for each group version.
 *
 * @throws {Error} the first request's error, if nothing could be read.
 */
export async function discoverResources(get: GetJson, options: DiscoverOptions): Promise<ApiResource[]> {
  return await settle(["/api", "/apis"], (root) => rootOf(get, root, options), (root) => root.slice(1), options);
}

/**
 * Returns `true` if a server has no core group. That is no failure: you may ask an aggregated API's server directly.
 */
function isAbsent(error: unknown, place: unknown): boolean {
  return place === "/api" && isNotFound(error);
}

async function rootOf(get: GetJson, root: string, options: DiscoverOptions): Promise<ApiResource[]> {
  const answer = await get(root, AGGREGATED) as Root;
  if (answer.kind === "APIGroupDiscoveryList") return aggregated(answer, options);
  const groups = answer.kind === "APIVersions" ? [{ name: "", versions: answer.versions }] : answer.groups ?? [];
  return await settle(groups.flatMap(versionsOf), (version) => askOne(get, version), apiVersionOf, options);
}

/** Asks for all `places`, a few at a time. It skips failed places, unless all fail. */
async function settle<P>(
  places: readonly P[],
  ask: (place: P) => Promise<ApiResource[]>,
  nameOf: (place: P) => string,
  { signal, onError }: DiscoverOptions,
): Promise<ApiResource[]> {
  const found: ApiResource[][] = [];
  const errors: unknown[] = [];
  const waiting = places.entries();
  const work = async (): Promise<void> => {
    for (const [i, place] of waiting) {
      try {
        found[i] = await ask(place);
      } catch (error) {
        errors.push(error);
        if (!signal?.aborted && !isAbsent(error, place)) onError?.(error, nameOf(place));
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  signal?.throwIfAborted();
  if (errors.length > 0 && errors.length === places.length) throw becauseOfDiscovery(errors[0]);
  return found.flat();
}

/** Gives an error its reason. Without one, it looks like the error of any other request. */
function becauseOfDiscovery(error: unknown): unknown {
  const isRefused = error instanceof StatusError || error instanceof DecodeError;
  return isRefused ? Object.assign(error, { reason: "discovery" }) : error;
}

interface Root {
  readonly kind?: unknown;
  readonly items?: readonly AggregatedGroup[];
  readonly versions?: readonly string[];
  readonly groups?: readonly {
    readonly name?: string;
    readonly versions?: readonly (string | { readonly version: string })[];
    readonly preferredVersion?: { readonly version: string };
  }[];
}

/** What both formats say of a resource. */
type Described = Partial<Pick<ApiResource, "verbs" | "shortNames" | "categories">>;

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly freshness?: string;
    readonly resources?: readonly (Described & {
      readonly resource: string;
      readonly responseKind?: { readonly kind?: string };
      readonly scope?: string;
      readonly singularResource?: string;
      readonly subresources?: readonly { readonly subresource: string }[];
    })[];
  }[];
}

function aggregated(list: Root, { onError }: DiscoverOptions): ApiResource[] {
  const found: ApiResource[] = [];
  for (const { metadata, versions } of list.items ?? []) {
    const group = metadata?.name ?? "";
    for (const [i, { version, freshness, resources }] of (versions ?? []).entries()) {
      if (freshness === "Stale") {
        const name = apiVersionOf({ group, version });
        const problem = "the API server gets no response from the server that provides this group";
        onError?.(new Error(`Cannot discover "${name}": ${problem}`), name);
      }
      for (const entry of resources ?? []) {
        const { resource: plural, responseKind, singularResource: singular } = entry;
        const scope = entry.scope === "Cluster" ? "Cluster" : "Namespaced";
        const subresources = (entry.subresources ?? []).map(({ subresource }) => subresource);
        const names = { plural, kind: responseKind?.kind ?? "", singular };
        found.push(resourceOf({ group, version, preferred: i === 0 }, entry, { ...names, scope, subresources }));
      }
    }
  }
  return found;
}

type GroupVersion = Pick<ApiResource, "group" | "version" | "preferred">;

function versionsOf(group: NonNullable<Root["groups"]>[number]): GroupVersion[] {
  const versions = (group.versions ?? []).map((version) => typeof version === "string" ? version : version.version);
  const preferred = group.preferredVersion?.version ?? versions[0];
  // The preferred version first, like in the aggregated format. The others keep their order.
  return [...new Set([preferred, ...versions])].filter((version) => version !== undefined)
    .map((version) => ({ group: group.name ?? "", version, preferred: version === preferred }));
}

interface ResourceList {
  readonly resources?: readonly (Described & {
    readonly name: string;
    readonly singularName?: string;
    readonly namespaced?: boolean;
    readonly kind: string;
  })[];
}

async function askOne(get: GetJson, place: GroupVersion): Promise<ApiResource[]> {
  const { group, version } = place;
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const list = await get(path, JSON_TYPE) as ResourceList | null;
  if (typeof list !== "object" || list === null) {
    const sent = `the server sent ${JSON.stringify(list)} instead of a list of resources`;
    throw new DecodeError(`Cannot discover "${apiVersionOf(place)}": ${sent}`);
  }
  const resources = list.resources ?? []; // Go writes an empty list as null
  return resources.filter(({ name }) => !name.includes("/")).map((entry) => {
    const { name: plural, kind, singularName: singular, namespaced } = entry;
    const parts = resources.filter(({ name }) => name.startsWith(`${plural}/`));
    const subresources = parts.map(({ name }) => name.slice(plural.length + 1));
    const scope = namespaced ? "Namespaced" : "Cluster";
    return resourceOf(place, entry, { plural, kind, singular, scope, subresources });
  });
}

/** Returns a resource. A server may send `null` for an empty list. */
function resourceOf(
  place: GroupVersion,
  { shortNames, categories, verbs }: Described,
  { singular, ...names }: Pick<ApiResource, "plural" | "kind" | "scope" | "subresources"> & { singular?: string },
): ApiResource {
  const lists = { shortNames: shortNames ?? [], categories: categories ?? [], verbs: verbs ?? [] };
  return { ...place, ...names, singular: singular || names.kind.toLowerCase(), ...lists };
}
