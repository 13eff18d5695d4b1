const VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;

/**
 * Compares versions of a group as Kubernetes orders them (apimachinery `version.CompareKubeAwareVersionStrings`): `v2`,
 * `v1`, `v1beta1`, `v1alpha1`, then all others by their text. Returns a negative number if `a` comes first.
 */
export function compareVersionPriority(a: string, b: string): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  const different = rankA.findIndex((rank, i) => rank !== rankB[i]);
  return different === -1 ? (a < b ? -1 : a > b ? 1 : 0) : rankB[different] - rankA[different];
}

/** The maturity, the major version, and the number of the alpha or beta. */
function rankOf(version: string): readonly number[] {
  const match = VERSION.exec(version);
  if (match === null) return [0, 0, 0];
  const [, major, stage, minor] = match;
  return [stage === undefined ? 3 : stage === "beta" ? 2 : 1, Number(major), Number(minor ?? 0)];
}
