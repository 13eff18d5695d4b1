import type { Abortable } from "../api/options.ts";
import type { ApiResource } from "../api/api_resource.ts";
import { isNotFound } from "../api/errors.ts";
import { apiVersionOf } from "../api/resource.ts";

/** Options for `Client.discover()`. */
export interface DiscoverOptions extends Abortable {
  /** The largest age of a cached answer, in milliseconds; 0 always asks the server, `Infinity` accepts any age. @default {60_000} */
  readonly maxAgeMs?: number;
  /** Called for each group version that could not be read, `"metrics.k8s.io/v1beta1"`; the others are returned nevertheless. */
  readonly onError?: (error: unknown, groupVersion: string) => void;
}

/** Requests the JSON value of a path, in the form that `accept` names. */
export type GetJson = (path: string, accept: string) => Promise<unknown>;

const JSON_TYPE = "application/json";

/** Newest form first: one answer with everything (Kubernetes 1.30, and 1.27 as a beta), or else a table of contents. */
const AGGREGATED = ["v2", "v2beta1"]
  .map((version) => `${JSON_TYPE};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat(JSON_TYPE).join(",");

/** The number of concurrent requests where each group version needs one. */
const CONCURRENCY = 8;

/**
 * Returns the resources that a server has: the core group first, then the groups in the server's order, and of each group the
 * preferred version first. Two requests, or on servers before 1.27 one more for each group version.
 *
 * @throws {Error} the error of the first request, when nothing could be read.
 */
export async function discover(get: GetJson, options: DiscoverOptions): Promise<ApiResource[]> {
  return await settle(["/api", "/apis"], (root) => rootOf(get, root, options), (root) => root.slice(1), options);
}

/** Returns `true` if a server has no core group, as those of aggregated APIs, asked directly: that is no failure. */
function isAbsent(error: unknown, place: unknown): boolean {
  return place === "/api" && isNotFound(error);
}

async function rootOf(get: GetJson, root: string, options: DiscoverOptions): Promise<ApiResource[]> {
  const answer = await get(root, AGGREGATED) as Root;
  if (answer.kind === "APIGroupDiscoveryList") return aggregated(answer, options);
  const groups = answer.kind === "APIVersions" ? [{ name: "", versions: answer.versions }] : answer.groups ?? [];
  return await settle(groups.flatMap(versionsOf), (version) => askOne(get, version), apiVersionOf, options);
}

/** Asks for each of `places`, a few at a time, and skips those that fail, unless all fail. */
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
  if (errors.length > 0 && errors.length === places.length) throw errors[0];
  return found.flat();
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

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly freshness?: string;
    readonly resources?: readonly {
      readonly resource: string;
      readonly responseKind?: { readonly kind?: string };
      readonly scope?: string;
      readonly singularResource?: string;
      readonly verbs?: readonly string[];
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
      readonly subresources?: readonly { readonly subresource: string }[];
    }[];
  }[];
}

function aggregated(list: Root, { onError }: DiscoverOptions): ApiResource[] {
  const found: ApiResource[] = [];
  for (const { metadata, versions = [] } of list.items ?? []) {
    const group = metadata?.name ?? "";
    for (const [i, { version, freshness, resources = [] }] of versions.entries()) {
      if (freshness === "Stale") {
        const name = apiVersionOf({ group, version });
        onError?.(new Error(`Cannot discover "${name}": the server behind it does not answer the API server`), name);
      }
      for (const entry of resources) {
        found.push({
          group,
          version,
          plural: entry.resource,
          kind: entry.responseKind?.kind ?? "",
          scope: entry.scope === "Cluster" ? "Cluster" : "Namespaced",
          singular: entry.singularResource || (entry.responseKind?.kind ?? "").toLowerCase(),
          shortNames: entry.shortNames ?? [],
          categories: entry.categories ?? [],
          verbs: entry.verbs ?? [],
          subresources: (entry.subresources ?? []).map(({ subresource }) => subresource),
          preferred: i === 0,
        });
      }
    }
  }
  return found;
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly preferred: boolean;
}

function versionsOf(group: NonNullable<Root["groups"]>[number]): GroupVersion[] {
  const versions = (group.versions ?? []).map((version) => typeof version === "string" ? version : version.version);
  const preferred = group.preferredVersion?.version ?? versions[0];
  // The preferred version first, as in the aggregated form; the others keep their order.
  return [...new Set([preferred, ...versions])].filter((version) => version !== undefined)
    .map((version) => ({ group: group.name ?? "", version, preferred: version === preferred }));
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly singularName?: string;
    readonly namespaced?: boolean;
    readonly kind: string;
    readonly verbs?: readonly string[];
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
}

async function askOne(get: GetJson, place: GroupVersion): Promise<ApiResource[]> {
  const { group, version, preferred } = place;
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const { resources = [] } = await get(path, JSON_TYPE) as ResourceList;
  return resources.filter(({ name }) => !name.includes("/")).map((entry) => ({
    group,
    version,
    plural: entry.name,
    kind: entry.kind,
    scope: entry.namespaced ? "Namespaced" : "Cluster",
    singular: entry.singularName || entry.kind.toLowerCase(),
    shortNames: entry.shortNames ?? [],
    categories: entry.categories ?? [],
    verbs: entry.verbs ?? [],
    subresources: resources.filter(({ name }) => name.startsWith(`${entry.name}/`))
      .map(({ name }) => name.slice(entry.name.length + 1)),
    preferred,
  }));
}
