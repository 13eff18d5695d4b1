/**
 * Returns `true` if two values of an option mean the same: they are equal, or plain objects or arrays whose members mean the same.
 * Functions and other objects are compared by identity; a member that is `undefined` counts as absent.
 */
export function sameOption(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isPlain(a) || !isPlain(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => sameOption(a[name], b[name]));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null &&
    (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);
}
