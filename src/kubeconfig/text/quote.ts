/**
 * Texts for messages: quoted names, suggestions, types of values, and secrets that are never printed.
 *
 * {@linkcode quote} is used by each message. This folder knows nothing about kubeconfigs.
 *
 * @module
 */

/** Quotes a name for a message, shortened to 80 characters. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
}

/** Quotes names for a message, `"a", "b"`: the first ten, in their order. */
export function quoteAll(names: Iterable<string>): string {
  const all = [...names];
  const shown = all.slice(0, 10).map(quote).join(", ");
  return all.length > 10 ? `${shown} and ${all.length - 10} more` : shown;
}
