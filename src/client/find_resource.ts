import { editDistance } from "../api/edit_distance.ts";
import { apiVersionOf, resourceName } from "../api/resource.ts";
import type { ApiResource } from "../api/api_resource.ts";

/** The number of names that are suggested for an unknown one. */
const SUGGESTIONS = 3;

/**
 * Returns the resource that `text` names, by the rules of kubectl.
 *
 * - `text` is a plural, a singular, a short name or a kind, in any case: `"pods"`, `"Pod"`, `"po"`. A plural
 *   of one resource takes precedence over a singular of another, and so on in this order.
 * - A group, or the beginning of one, may follow, and a version before it: `"deployments.apps"`, `"deployments.v1.apps"`;
 *   `"pods.v1"` is of the core group.
 * - Of several resources the first is returned: the core group's, then in the order of `resources`; of several versions the
 *   one that the server prefers, if that has the resource.
 *
 * @throws {Error} when there is none; the message suggests similar names.
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
    const [first, ...others] = named.filter((resource) => belongs(resource, place ?? ""));
    if (first === undefined) continue;
    const same = others.filter(({ group, plural }) => group === first.group && plural === first.plural);
    return [first, ...same].find(({ preferred }) => preferred) ?? first;
  }
  throw new Error(`Cannot find a resource "${text}": ${explain(resources, wanted)}`);
}

const NAMES: readonly ((resource: ApiResource) => readonly string[])[] = [
  ({ plural }) => [plural],
  ({ singular }) => [singular.toLowerCase()],
  ({ shortNames }) => shortNames,
  ({ kind }) => [kind.toLowerCase()],
];

/** The text after the first dot may match in these ways; an exact group comes before the beginning of one. */
const PLACES: readonly ((resource: ApiResource, place: string) => boolean)[] = [
  ({ group }, place) => group === place,
  ({ group, version }, place) => place === `${version}.${group}` || (group === "" && place === version),
  ({ group }, place) => group.startsWith(place),
];

function explain(resources: readonly ApiResource[], wanted: string): string {
  if (resources.length === 0) return "the server has listed none; check what the credentials allow";
  const members = resources.filter(({ categories }) => categories.includes(wanted));
  if (members.length > 0) {
    return `it is a category; name one of ${quote([...new Set(members.map(({ plural }) => plural))])}`;
  }
  const nearest = nearestTo(resources, wanted);
  if (nearest.length > 0) return `the server has no such name; did you mean ${quote(nearest, "or")}?`;
  const groups = new Set(resources.map(apiVersionOf));
  return `the server has no such name in its ${resources.length} resources of ${groups.size} API versions`;
}

/** Returns the names most similar to `wanted`: they differ in at most a third of its characters, or in one. */
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
