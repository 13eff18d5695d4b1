import { UsageError } from "../errors/usage_error.ts";

/** One kind to get, as it is named on the command line. */
export interface GetTarget {
  /** The name of the kind. */
  readonly kind: string;
  /** The names of objects; empty for all. */
  readonly names: readonly string[];
}

/**
 * Returns what the arguments of `get` name, by the rules of kubectl: `pods,deploy` are kinds, `pods web-0 web-1` objects
 * of one kind, or of each of several, and `pod/web-0 deploy/web` objects of several kinds.
 *
 * @throws {UsageError} when a name is empty, or both forms are mixed.
 */
export function getTargets(args: readonly string[]): GetTarget[] {
  const [kinds, ...names] = args;
  const single = args.find((arg) => !arg.includes("/"));
  if (args.some((arg) => arg.includes("/"))) {
    if (single !== undefined) {
      throw new UsageError(`"${single}" names no kind; write each object as kind/name, or all names behind one kind`);
    }
    const found = new Map<string, string[]>();
    for (const arg of args) {
      const [kind, name, ...rest] = arg.split("/");
      if (rest.length > 0) throw new UsageError(`"${arg}" is not the kind and the name of one object`);
      if (kind === "") throw new UsageError(`"${arg}" names no kind; write kind/name`);
      if (name === "") throw new UsageError(`the name in "${arg}" is empty; leave the slash out to list all`);
      found.set(kind, [...found.get(kind) ?? [], name]);
    }
    return Array.from(found, ([kind, names]) => ({ kind, names }));
  }
  const named = kinds.split(",").filter((kind) => kind !== "");
  if (named.length === 0) throw new UsageError("name at least one resource, such as pods");
  return [...new Set(named)].map((kind) => ({ kind, names }));
}
