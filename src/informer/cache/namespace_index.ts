import type { Entry } from "../../api/entry.ts";
import type { IndexFunction } from "../../store/index.ts";

/** The number of namespaces, beyond twice those in use, at which unused ones are dropped. */
const SLACK = 64;

/**
 * Returns the index function that files entries by namespace. All objects of a namespace share one array of values, so nothing is
 * kept per object; arrays of namespaces that `inUse` does not return are dropped now and then.
 */
export function namespaceIndex<T>(inUse: () => readonly string[]): IndexFunction<Entry<T>> {
  const shared = new Map<string, readonly string[]>();
  let limit = SLACK;
  return ({ namespace }) => {
    const known = shared.get(namespace);
    if (known !== undefined) return known;
    if (shared.size >= limit) {
      const used = new Set(inUse());
      for (const name of shared.keys()) if (!used.has(name)) shared.delete(name);
      limit = 2 * shared.size + SLACK;
    }
    const values = [namespace];
    shared.set(namespace, values);
    return values;
  };
}
