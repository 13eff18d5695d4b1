import { UsageError } from "../errors/usage_error.ts";

/**
 * Rejects a field selector with a syntax error: a comma-separated list of `key=value`, `key==value` or `key!=value`, in
 * which a backslash escapes `,`, `=` and itself (apimachinery `fields.ParseSelector`). The supported keys depend on the
 * server and are not checked.
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
