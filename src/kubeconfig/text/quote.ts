/** A name in a message: quoted, and cut when it is very long. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
}

/** Names in a message, in their order: `"a", "b"`, the first ten of them. */
export function quoteAll(names: Iterable<string>): string {
  const all = [...names];
  const shown = all.slice(0, 10).map(quote).join(", ");
  return all.length > 10 ? `${shown} and ${all.length - 10} more` : shown;
}
