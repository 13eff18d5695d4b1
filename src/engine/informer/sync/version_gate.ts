/**
 * Waits for a version of a cache.
 *
 * {@linkcode VersionGate} is the entry point. It is given each version that the cache has reached, and sends no
 * requests.
 *
 * @module
 */
import type { Abortable } from "../../api/call_options.ts";
import { cannotOrder, compareResourceVersions, isOlder, isResourceVersion } from "../../api/status.ts";
import { PassingMap } from "../../async/passing_map.ts";
import { Latch } from "../../async/signals.ts";

/** Resolves waits for a resource version once the store has reached it. */
export class VersionGate {
  /**
   * The version last passed to {@linkcode reached}: the store has every change up to it; `""` before the first list.
   */
  version = "";
  /** `#over` is `undefined` if and only if {@linkcode end} was not called. */
  #over: unknown;
  /** No pending wait is for an older version; `undefined` only if there is none. */
  #nearest: string | undefined;
  /** Has a waiter if and only if its wait is pending. */
  readonly #waiting = new PassingMap<number, { readonly version: string; readonly latch: Latch }>();
  /** The number of waits that had to wait. */
  #waits = 0;

  /** Records that the store has every change up to `version`. If that is older than before, pending waits reject. */
  reached(version: string): void {
    const before = this.version;
    this.version = version;
    const back = before !== "" && isOlder(version, before);
    if (this.#nearest === undefined) return;
    if (!back && isOlder(version, this.#nearest)) return;
    const isOrdered = isResourceVersion(version);
    this.#nearest = undefined;
    this.#waiting.forEach(({ version: awaited, latch }) => {
      if (!isOrdered) latch.fail(cannotOrder(version));
      else if (back) {
        latch.fail(new Error(`Cannot wait for version ${awaited}: the server went back from ${before} to ${version}`));
      } else if (!isOlder(version, awaited)) latch.open();
      else this.#await(awaited);
    });
  }

  /**
   * Resolves once the store has `version`.
   *
   * @throws {RangeError} if it or the store's version is not a decimal number.
   */
  async wait(version: string, options: Abortable): Promise<void> {
    if (this.version === "") compareResourceVersions(version, version);
    else if (compareResourceVersions(this.version, version) >= 0) return;
    if (this.#over !== undefined) throw this.#over;
    const id = this.#waits++;
    const latch = new Latch();
    this.#waiting.set(id, { version, latch });
    this.#await(version);
    try {
      await latch.wait(options);
    } finally {
      this.#waiting.delete(id);
    }
  }

  /** Rejects pending and later waits with `error`. */
  end(error: Error): void {
    this.#over = error;
    this.#waiting.forEach(({ latch }) => latch.fail(error));
  }

  #await(version: string): void {
    if (this.#nearest === undefined || isOlder(version, this.#nearest)) this.#nearest = version;
  }
}
