import { parseFieldPath } from "./field_path.ts";
import { fieldValues } from "./field_values.ts";

/** One condition of a field selector. */
export interface FieldRequirement {
  /** The keys of the field's path. */
  readonly keys: readonly string[];
  /** The value that the field is compared with. */
  readonly value: string;
  /** `true` if the field must equal the value; `false` if it must not. */
  readonly equal: boolean;
}

/**
 * A parsed field selector: equality of fields, all of which must hold.
 *
 * A server accepts only the fields that a kind has for this purpose; {@linkcode FieldSelector.matches} reads any field.
 *
 * @example
 * ```ts
 * import { FieldSelector } from "@kube/informer";
 * import { assert } from "@std/assert";
 *
 * const selector = FieldSelector.parse("spec.nodeName=worker-1,status.phase!=Running");
 * assert(selector.matches({ spec: { nodeName: "worker-1" }, status: { phase: "Pending" } }));
 * ```
 */
export class FieldSelector {
  /** The conditions. */
  readonly requirements: readonly FieldRequirement[];
  readonly #text: string;

  private constructor(text: string, requirements: readonly FieldRequirement[]) {
    this.#text = text;
    this.requirements = requirements;
  }

  /**
   * Parses conditions with `=`, `==` and `!=`, separated by commas; in values, a backslash precedes `,`, `=` and itself
   * (apimachinery `fields.ParseSelector`).
   *
   * @throws {SyntaxError} when the text is no selector; the message names the offending character, counted from 1.
   */
  static parse(text: string): FieldSelector {
    return new FieldSelector(text, parse(text));
  }

  /** Returns true when there is no condition, so that every object matches. */
  get isEmpty(): boolean {
    return this.requirements.length === 0;
  }

  /**
   * Returns true when all conditions hold. A field is a path of names, separated by dots, that passes through arrays: one of
   * its values is equal, or none. A missing field equals `""`.
   */
  matches(object: object): boolean {
    return this.matchesValues((keys) => fieldValues(object, keys));
  }

  /** As {@linkcode matches}, of an object whose values `read` returns by the keys of a path; `undefined` stands for an object. */
  matchesValues(read: (keys: readonly string[]) => readonly (string | undefined)[]): boolean {
    return this.requirements.every(({ keys, value, equal }) => {
      const values = read(keys);
      return (values.includes(value) || (value === "" && values.every((value) => value === undefined))) === equal;
    });
  }

  /** Returns the text that was parsed. */
  toString(): string {
    return this.#text;
  }
}

function parse(text: string): FieldRequirement[] {
  const found: FieldRequirement[] = [];
  const fail = (what: string, at: number, expected: string): never => {
    throw new SyntaxError(
      `Cannot parse field selector "${text}": found ${what} at character ${at + 1}, expected ${expected}`,
    );
  };
  let begin = 0;
  let operator: string | undefined;
  let field = "";
  let value = "";
  for (let at = 0; at <= text.length; at++) {
    const rest = text.slice(at);
    if (rest === "" || rest[0] === ",") {
      const term = text.slice(begin, at);
      if (operator !== undefined) found.push({ keys: keysOf(field), value, equal: operator !== "!=" });
      else if (term !== "") fail(`"${term}"`, begin, `"field=value" or "field!=value"`);
      begin = at + 1;
      operator = undefined;
    } else if (operator === undefined) {
      operator = /^(!=|==?)/.exec(rest)?.[0];
      if (operator === undefined) continue;
      if (at === begin) fail(`"${operator}"`, at, "the name of a field before it");
      [field, value] = [text.slice(begin, at), ""];
      at += operator.length - 1;
    } else if (rest[0] === "=") {
      fail(`"="`, at, `"\\=" in a value`);
    } else if (rest[0] === "\\") {
      if (!/^\\[\\,=]/.test(rest)) fail(`"\\"`, at, `"\\\\" in a value`);
      value += rest[1];
      at++;
    } else value += rest[0];
  }
  return found;
}

function keysOf(field: string): readonly string[] {
  return field.includes('["') ? parseFieldPath(field) : field.split(".");
}
