const REDACTED = "[redacted]";

/** Names of variables and flags that hold secrets. */
const SECRET_NAME = /secret|token|passw|credential|api.?key|private.?key|access.?key|assertion/i;

/** What is a secret by its form. */
const PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,
  // JSON Web Tokens, and the tokens of EKS.
  /\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g,
  /\bk8s-aws-v\d\.[\w-]+/g,
  // The password of an address.
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
  /(?<=\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi,
  /(?<=(?:secret|token|passw(?:or)?d|password|credential|key)["']?\s*[:=]\s*["']?)[^\s"',;]{4,}/gi,
];

/** Something long without blanks that has capitals, small letters and digits: a key, most likely. */
const LONG = /[\w+=-]{32,}/g;

/**
 * A program's message without what may be a secret in it: what it was given under the name of one, what has the form of one,
 * and control characters. The last `maxLength` characters of it, on one line.
 */
export function redactMessage(
  text: string,
  given: { readonly args: readonly string[]; readonly env: readonly (readonly [name: string, value: string])[] },
  maxLength = 1_000,
): string {
  let message = text;
  for (const secret of secretsOf(given)) message = message.replaceAll(secret, REDACTED);
  for (const pattern of PATTERNS) message = message.replaceAll(pattern, REDACTED);
  message = message.replaceAll(
    LONG,
    (word) => /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word) ? REDACTED : word,
  );
  // Colours first, then what else does not print; lines become one.
  // deno-lint-ignore no-control-regex
  message = message.replaceAll(/\x1b\[[0-9;]*[A-Za-z]/g, "").replaceAll(/[\x00-\x1f\x7f-\x9f\s]+/g, " ").trim();
  return message.length > maxLength ? `...${message.slice(-maxLength)}` : message;
}

/** Longest first, so that one that contains another goes as a whole. */
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
