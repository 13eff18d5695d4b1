/**
 * Finds a kind by the names that people write, such as `"po"` or `"deployments.apps"`.
 *
 * {@linkcode findResource} is the entry point. It sends nothing: `Client.find` asks the server again for a name that is
 * not among the discovered kinds.
 *
 * @module
 */
import { type ApiResource, apiVersionOf, inBestVersion, resourceName } from "../api/resource.ts";
import { editDistance } from "../errors/errors.ts";

/** The number of suggestions for an unknown name. */
const SUGGESTIONS = 3;

/**
 * Finds the resource that `text` names, by the rules of kubectl. To search on a server directly, use
 * {@linkcode Client.find}.
 *
 * - `text` is a plural, a singular, a short name or a kind, in any case: `"pods"`, `"Pod"`, `"po"`. They take
 *   precedence in this order, so one resource's plural wins over another's singular.
 * - You may append a group or its beginning, and put a version before the group: `"deployments.apps"`,
 *   `"deployments.v1.apps"`. `"pods.v1"` names the core group.
 * - If several groups have the name, the first in `resources` wins. `discover()` returns the core group first.
 * - If several versions have it, the server's preferred version wins.
 *
 * @throws {Error} if no resource matches. The message suggests similar names.
 *
 * @example
 * ```ts
 * import { type ApiResource, findResource } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const pods: ApiResource = {
 *   group: "",
 *   version: "v1",
 *   plural: "pods",
 *   kind: "Pod",
 *   scope: "Namespaced",
 *   singular: "pod",
 *   shortNames: ["po"],
 *   categories: ["all"],
 *   verbs: ["get", "list", "watch"],
 *   subresources: ["status"],
 *   preferred: true,
 * };
 * assertEquals(findResource([pods], "po"), pods); // or the result of `client.discover()`
 * ```
 */
export function findResource(resources: readonly ApiResource[], text: string): ApiResource {
  const wanted = text.trim().toLowerCase();
  const dot = wanted.indexOf(".");
  const name = dot === -1 ? wanted : wanted.slice(0, dot);
  const place = dot === -1 ? undefined : wanted.slice(dot + 1);
  const named = NAMES.flatMap((namesOf) =>
    resources.filter((resource) => name !== "" && namesOf(resource).includes(name))
  );
  for (const belongs of place === undefined ? [() => true] : PLACES) {
    const [found] = inBestVersion(named.filter((resource) => belongs(resource, place ?? "")));
    if (found !== undefined) return found;
  }
  throw new Error(`Cannot find a resource "${text}": ${explain(resources, wanted)}`);
}

const NAMES: readonly ((resource: ApiResource) => readonly string[])[] = [
  ({ plural }) => [plural],
  ({ singular }) => [singular.toLowerCase()],
  ({ shortNames }) => shortNames,
  ({ kind }) => [kind.toLowerCase()],
];

/** How the text after the first dot may match. An exact group wins over a beginning. */
const PLACES: readonly ((resource: ApiResource, place: string) => boolean)[] = [
  ({ group }, place) => group === place,
  ({ group, version }, place) => place === `${version}.${group}` || (group === "" && place === version),
  ({ group }, place) => group.startsWith(place),
];

function explain(resources: readonly ApiResource[], wanted: string): string {
  if (resources.length === 0) return "the server lists no resources. Check what your credentials may discover";
  const members = resources.filter(({ categories }) => categories.includes(wanted));
  if (members.length > 0) {
    return `it is a category of resources. Name one of ${quote([...new Set(members.map(({ plural }) => plural))])}`;
  }
  const nearest = nearestTo(resources, wanted);
  if (nearest.length > 0) return `the server has no such resource. Did you mean ${quote(nearest, "or")}?`;
  const groups = new Set(resources.map(apiVersionOf));
  return `it is not among the server's ${resources.length} resources in ${groups.size} API versions`;
}

/** Returns the names most similar to `wanted`. They differ in at most a third of its characters, or in one. */
function nearestTo(resources: readonly ApiResource[], wanted: string): string[] {
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  const distances = new Map<string, number>();
  for (const resource of resources) {
    const full = resourceName(resource);
    const names = [resource.plural, resource.singular, resource.kind.toLowerCase(), full, ...resource.shortNames];
    const distance = Math.min(...names.filter((name) => name.length > 1).map((name) => editDistance(wanted, name)));
    if (distance <= limit) distances.set(full, Math.min(distance, distances.get(full) ?? Infinity));
  }
  return [...distances].sort(([, a], [, b]) => a - b).slice(0, SUGGESTIONS).map(([name]) => name);
}

function quote(names: readonly string[], word = "and"): string {
  const quoted = names.map((name) => `"${name}"`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} ${word} ${quoted.at(-1)}`;
}
