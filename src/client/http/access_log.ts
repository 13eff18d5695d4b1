import type { PlacedRule } from "../../api/access_rule.ts";
import type { RequestSpec } from "./request_spec.ts";

/** The number of names that are remembered for one verb on one resource of one namespace. */
const MAX_NAMES = 16;

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** Subresources of a namespace, as opposed to collections in it. */
const NAMESPACE_PARTS = ["status", "finalize"];

/** The place of the resource that a request is about. */
interface Place {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  /** `""` for a collection. */
  readonly name: string;
}

/** Remembers the access that requests need, as the API server derives it from method and path (`RequestInfo`). */
export class AccessLog {
  /** The names by verb and place, as JSON; `undefined` for all names. */
  readonly #names = new Map<string, Set<string> | undefined>();

  /** Records a request. Paths outside of `/api` and `/apis`, and discovery, need no rule and are passed over. */
  record({ path, init }: RequestSpec): void {
    const [pathname, query = ""] = path.split("?", 2);
    const place = placeOf(pathname);
    if (place === undefined) return;
    const method = init.method?.toUpperCase() ?? "GET";
    if (VERBS[method] === undefined) return this.#recordRead(place, new URLSearchParams(query));
    this.#add(method === "DELETE" && place.name === "" ? "deletecollection" : VERBS[method], place);
    // The server asks for this right, too, when the object does not exist.
    if (method === "PATCH" && isApply(init.headers)) this.#add("create", place);
  }

  /** Returns the rules, by namespace, group, resource and verb. */
  rules(): PlacedRule[] {
    return Array.from(this.#names, ([key, names]): PlacedRule => {
      const [namespace, group, resource, verb] = JSON.parse(key) as string[];
      const rule = { verbs: [verb], groups: [group], resources: [resource], namespace };
      return names === undefined ? rule : { ...rule, names: [...names].sort() };
    });
  }

  #recordRead(place: Place, query: URLSearchParams): void {
    if (place.name !== "") return this.#add("get", place);
    const watch = query.get("watch");
    const verb = watch !== null && watch !== "0" && watch.toLowerCase() !== "false" ? "watch" : "list";
    // A rule with names allows a list or watch of exactly one of them.
    const [, name = ""] = /(?:^|,)metadata\.name={1,2}([^,=]+)(?:,|$)/.exec(query.get("fieldSelector") ?? "") ?? [];
    this.#add(verb, { ...place, name });
  }

  #add(verb: string, { namespace, group, resource, name }: Place): void {
    const key = JSON.stringify([namespace, group, resource, verb]);
    if (name === "") return void this.#names.set(key, undefined);
    const names = this.#names.has(key) ? this.#names.get(key) : new Set<string>();
    if (names === undefined) return;
    names.add(name);
    this.#names.set(key, names.size > MAX_NAMES ? undefined : names);
  }
}

/** Returns the place that a path leads to; `undefined` when it is about no resource. */
function placeOf(pathname: string): Place | undefined {
  const parts = pathname.split("/").filter((part) => part !== "");
  const depth = parts[0] === "api" ? 2 : parts[0] === "apis" ? 3 : Infinity;
  if (parts.length <= depth) return undefined;
  const group = depth === 2 ? "" : parts[1];
  const below = parts.slice(depth).map(decoded);
  const isNamespaced = below[0] === "namespaces" && below.length > 2 && !NAMESPACE_PARTS.includes(below[2]);
  const [plural, name = "", subresource] = isNamespaced ? below.slice(2) : below;
  const namespace = isNamespaced ? below[1] : "";
  return { group, resource: subresource === undefined ? plural : `${plural}/${subresource}`, namespace, name };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // the server refuses the path
  }
}

function isApply(headers: HeadersInit | undefined): boolean {
  // Those of this client are plain objects, of which a copy as `Headers` costs more than the rest of the record.
  const own = (headers as Readonly<Record<string, string>> | undefined)?.["content-type"];
  const type = typeof own === "string" ? own : new Headers(headers).get("content-type");
  return type?.startsWith("application/apply-patch") ?? false;
}
