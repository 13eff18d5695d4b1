/**
 * Returns the JSON merge patch (RFC 7386) that turns `before` into `after`; `undefined` when they are equal.
 *
 * - The order of members has no meaning. A member that is `undefined` or `null` is absent: a merge patch cannot express
 *   `null`.
 * - Lists are compared item by item, and replaced.
 */
export function mergeDiff(before: unknown, after: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(after)) {
    const isEqual = before.length === after.length &&
      before.every((item, index) => mergeDiff(item, after[index]) === undefined);
    return isEqual ? undefined : after;
  }
  if (!isMembers(before) || !isMembers(after)) {
    return Object.is(before ?? null, after ?? null) ? undefined : after ?? null;
  }
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const change = mergeDiff(before[name], after[name]);
    if (change !== undefined) patch[name] = change;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
