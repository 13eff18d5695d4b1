/**
 * Whether two values of an option mean the same: equal, or plain objects whose members do. Functions, and all else that is
 * an object, are the same only as themselves; a member that is `undefined` is as good as none.
 */
export function sameOption(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isPlain(a) || !isPlain(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => sameOption(a[name], b[name]));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
