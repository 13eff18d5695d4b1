import { redactSecrets } from "../../errors/redact_secrets.ts";

const REDACTED = "[redacted]";

/** Names of variables and flags that hold secrets. */
const SECRET_NAME = /secret|token|passw|credential|api.?key|private.?key|access.?key|assertion/i;

/**
 * Redacts secrets in the message of a program: values that it received under the name of a secret, and texts that have
 * the form of one. Removes control characters and returns the last `maxLength` characters, on one line.
 */
export function redactMessage(
  text: string,
  given: { readonly args: readonly string[]; readonly env: readonly (readonly [name: string, value: string])[] },
  maxLength = 1_000,
): string {
  let message = text;
  for (const secret of secretsOf(given)) message = message.replaceAll(secret, REDACTED);
  message = redactSecrets(message);
  return message.length > maxLength ? `...${message.slice(-maxLength)}` : message;
}

/** Longest first, so that a secret that contains another one is redacted completely. */
function secretsOf(given: Parameters<typeof redactMessage>[1]): string[] {
  const { args, env } = given;
  const found = env.filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => value);
  for (const [index, arg] of args.entries()) {
    const flag = /^--?([\w-]+)(?:=([\s\S]*))?$/.exec(arg);
    if (flag === null || !SECRET_NAME.test(flag[1])) continue;
    const value = flag[2] ?? args[index + 1];
    if (value !== undefined) found.push(value);
  }
  return found.filter((value) => value.length >= 4).sort((a, b) => b.length - a.length);
}
