/**
 * Compares two versions of one collection: negative when `a` is older, positive when it is newer, 0 when equal.
 *
 * Versions are decimal numbers of any length, without leading zeros, so a longer one is newer. (Kubernetes guarantees
 * the order since 1.35, KEP-5504.)
 *
 * @throws {RangeError} when one of them is not such a number.
 */
export function compareResourceVersions(a: string, b: string): number {
  for (const version of [a, b]) {
    if (!isResourceVersion(version)) throw cannotOrder(version);
  }
  return order(a, b);
}

/** Creates the error for a version that has no order. */
export function cannotOrder(version: string): RangeError {
  return new RangeError(`Cannot order resource version "${version}": it is not a decimal number without leading zeros`);
}

/** Returns true when a version can be compared: it is a decimal number without leading zeros. */
export function isResourceVersion(version: string): boolean {
  return /^(0|[1-9][0-9]*)$/.test(version);
}

/** Returns true when `a` is older than `b`; false when one of them cannot be compared. */
export function isOlder(a: string, b: string): boolean {
  return a !== b && order(a, b) < 0 && isResourceVersion(a) && isResourceVersion(b);
}

/**
 * Returns the oldest of several versions; `""` when one of them is `""`, or when they differ and one of them cannot be
 * compared.
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
