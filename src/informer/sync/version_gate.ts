import type { Abortable } from "../../api/options.ts";
import { cannotOrder, compareResourceVersions, isOlder, isResourceVersion } from "../../api/resource_version.ts";
import { Latch } from "../../async/latch.ts";

/** Resolves waits for a resource version once the store has reached it. */
export class VersionGate {
  /** `#version` is the version last passed to {@linkcode reached}. */
  #version = "";
  /** `#over` is `undefined` if and only if {@linkcode end} was not called. */
  #over: unknown;
  /** `#waiting` has a waiter if and only if its wait is pending. */
  readonly #waiting = new Set<{ readonly version: string; readonly latch: Latch }>();

  /** The version up to which the store has every change; `""` before the first list. */
  get version(): string {
    return this.#version;
  }

  /** Records that the store has every change up to `version`. If that is older than before, pending waits reject. */
  reached(version: string): void {
    const before = this.#version;
    this.#version = version;
    const back = before !== "" && isOlder(version, before);
    for (const { version: awaited, latch } of this.#waiting) {
      if (!isResourceVersion(version)) latch.fail(cannotOrder(version));
      else if (back) {
        latch.fail(new Error(`Cannot wait for version ${awaited}: the server went back from ${before} to ${version}`));
      } else if (!isOlder(version, awaited)) latch.open();
    }
  }

  /** Resolves once the store has `version`. @throws {RangeError} if it or the store's version is not a decimal number. */
  async wait(version: string, options: Abortable): Promise<void> {
    if (this.#version === "") compareResourceVersions(version, version);
    else if (compareResourceVersions(this.#version, version) >= 0) return;
    if (this.#over !== undefined) throw this.#over;
    const waiter = { version, latch: new Latch() };
    this.#waiting.add(waiter);
    try {
      await waiter.latch.wait(options);
    } finally {
      this.#waiting.delete(waiter); // survives: settled-wait
    }
  }

  /** Rejects pending and later waits with `error`. */
  end(error: Error): void {
    this.#over = error;
    for (const { latch } of this.#waiting) latch.fail(error);
  }
}
