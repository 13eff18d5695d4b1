import { compareResourceVersions, isResourceVersion } from "../../api/resource_version.ts";

/** A state of a cache: the versions of the server that it equals, and a position of it in the feed. */
interface CacheState {
  readonly position: number;
  readonly first: string;
  last: string;
}

/** The number of states that are remembered. */
const REMEMBERED = 1_000;

/** The last states of a cache, by which a position is found that equals one of another cache of the same collection. */
export class VersionHistory {
  readonly #states: CacheState[] = [];

  /**
   * Records that the cache is at these versions, and that the feed is at `position`.
   *
   * @param isSame `true` if no object has changed since the last call, in the cache or unseen by it.
   */
  add(versions: string, position: number, isSame: boolean): void {
    const last = this.#states.at(-1);
    if (last?.last === versions) return;
    if (isSame && last !== undefined && isResourceVersion(versions) && isResourceVersion(last.last)) {
      last.last = versions;
      return;
    }
    this.#states.push({ position, first: versions, last: versions });
    if (this.#states.length > REMEMBERED) this.#states.shift();
  }

  /** Returns the first known position at which the cache was at these versions; `undefined` if there is none. */
  positionOf(versions: string): number | undefined {
    if (versions === "") return undefined;
    return this.#states.find(({ first, last }) => isWithin(versions, first, last))?.position;
  }
}

function isWithin(versions: string, first: string, last: string): boolean {
  if (versions === first || versions === last) return true;
  if (![versions, first, last].every(isResourceVersion)) return false;
  return compareResourceVersions(first, versions) < 0 && compareResourceVersions(versions, last) < 0;
}
