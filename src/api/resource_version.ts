/**
 * Orders two versions of one collection: negative when `a` is older, positive when it is newer, 0 when equal.
 *
 * Versions are strings of digits without leading zeros, of any length, so the longer is the newer.
 * (Kubernetes promises the order since 1.35, KEP-5504.)
 *
 * @throws {RangeError} when one is not such a string.
 */
export function compareResourceVersions(a: string, b: string): number {
  for (const version of [a, b]) {
    if (!isResourceVersion(version)) throw cannotOrder(version);
  }
  return order(a, b);
}

/** The error about a version that has no order. */
export function cannotOrder(version: string): RangeError {
  return new RangeError(`Cannot order resource version "${version}": it is not a decimal number without leading zeros`);
}

/** Whether versions can be ordered by this one: a decimal number without leading zeros. */
export function isResourceVersion(version: string): boolean {
  return /^(0|[1-9][0-9]*)$/.test(version);
}

/** Whether `a` is certainly older than `b`; false when one of them cannot be ordered. */
export function isOlder(a: string, b: string): boolean {
  return a !== b && order(a, b) < 0 && isResourceVersion(a) && isResourceVersion(b);
}

/**
 * The oldest of several versions; `""` when one of them is, or when they differ and one cannot be ordered: then nobody knows
 * what all of them have.
 */
export function oldestVersion(versions: readonly string[]): string {
  let oldest = versions[0] ?? "";
  for (const version of versions) {
    if (version === oldest) continue;
    if (!isResourceVersion(version) || !isResourceVersion(oldest)) return "";
    if (order(version, oldest) < 0) oldest = version;
  }
  return oldest;
}

function order(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
