/**
 * Keeps large integers exact in conversions, and says which could not be kept.
 *
 * {@linkcode LostIntegers} is the entry point. It does not convert, and refuses nothing.
 *
 * @module
 */
import { withLiterals } from "../api/large_integers.ts";
import { quoted } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { JsonObject } from "../schema/values/json.ts";

/** The most paths that are remembered. Their names may come from strangers. */
const MOST = 1_000;

/** The paths of one kind whose integers were rounded. Each is reported once. */
export class LostIntegers {
  readonly #reported = new Set<string>();
  readonly #new: string[] = [];

  /** Returns a converted object with the large integers of the `given` one. */
  without(given: JsonObject, converted: JsonObject): JsonObject {
    return withLiterals(given, converted, (path, value) => {
      if (this.#reported.size === MOST) return;
      const field = quoted(path.replaceAll(/\[\d+\]/g, "[]"));
      if (this.#reported.has(field)) return;
      this.#reported.add(field);
      this.#new.push(`${field} is ${value}`);
    });
  }

  /** Returns an error that names the new paths, if there are any. */
  failure(): InformerError | undefined {
    const found = this.#new.splice(0);
    if (found.length === 0) return undefined;
    return new InformerError(
      `Cannot keep a large integer exact in a conversion: ${quoted(found.join(", "), 500)}, which JavaScript has ` +
        `rounded. Copy such integers, and do not compute with them`,
    );
  }
}
