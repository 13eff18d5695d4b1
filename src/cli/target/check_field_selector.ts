import { UsageError } from "../errors/usage_error.ts";

/**
 * Refuses a field selector that no server could read: between its commas there must be `key=value`, `key==value` or
 * `key!=value`, where a backslash before `,`, `=` or itself takes their meaning away (apimachinery `fields.ParseSelector`).
 * Which keys there are, each server decides by itself.
 *
 * @throws {UsageError} that names the character, counted from 1.
 */
export function checkFieldSelector(text: string): void {
  const fail = (found: string, at: number, expected: string): never => {
    throw new UsageError(`--field-selector "${text}": found ${found} at character ${at + 1}, expected ${expected}`);
  };
  let begin = 0;
  let operator: string | undefined;
  for (let at = 0; at <= text.length; at++) {
    const rest = text.slice(at);
    if (rest === "" || rest[0] === ",") {
      const term = text.slice(begin, at);
      if (operator === undefined && term !== "") fail(`"${term}"`, begin, `"key=value" or "key!=value"`);
      begin = at + 1;
      operator = undefined;
    } else if (operator === undefined) {
      operator = /^(!=|==?)/.exec(rest)?.[0];
      if (operator === undefined) continue;
      if (at === begin) fail(`"${operator}"`, at, "the name of a field before it");
      at += operator.length - 1;
    } else if (rest[0] === "=") {
      fail(`"="`, at, `"\\=" in a value`);
    } else if (rest[0] === "\\") {
      if (!/^\\[\\,=]/.test(rest)) fail(`"\\"`, at, `"\\\\" in a value`);
      at++;
    }
  }
}
