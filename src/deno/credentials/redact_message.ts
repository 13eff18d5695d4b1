const REDACTED = "[redacted]";

/** Names of variables and flags that hold secrets. */
const SECRET_NAME = /secret|token|passw|credential|api.?key|private.?key|access.?key|assertion/i;

/** Words that precede a secret or end the name of one. */
const SECRET_WORD = "secret|token|passw(?:or)?d|passphrase|credential|key";

/** Texts that are secret by their form. */
const PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,
  // JSON Web Tokens, and the tokens of EKS.
  /\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g,
  /\bk8s-aws-v\d\.[\w-]+/g,
  // The password of an address.
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
  /(?<=\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi,
  after(`(?:${SECRET_WORD})["']? ?[:=] ?`),
  // The word after a flag, unless the sentence continues about the flag: "the --token flag must be given".
  after(
    `(?<![\\w-])--?[\\w-]{0,40}(?:${SECRET_WORD})[\\w-]{0,40}["']? `,
    `(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\b)`,
  ),
];

/** Matches the value after `lead`: a quoted text, or a word of four characters or more that `word` allows. */
function after(lead: string, word = ""): RegExp {
  return new RegExp(`(?<=${lead}")[^"]+|(?<=${lead}')[^']+|(?<=${lead})${word}[^\\s"',;]{4,}`, "gi");
}

/** A long word without blanks; it is most likely a key if {@linkcode looksRandom} returns true. */
const LONG = /[\w+=-]{32,}/g;

/** Returns `true` if a long word mixes upper case, lower case and digits, or has 32 letters and digits in a row. */
function looksRandom(word: string): boolean {
  if (!/\d/.test(word)) return false;
  return (/[a-z]/.test(word) && /[A-Z]/.test(word)) || /[a-z\d]{32}/i.test(word);
}

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
  // Colours first, then other control characters and line ends, so that no pattern meets long runs of blanks.
  // deno-lint-ignore no-control-regex
  message = message.replaceAll(/\x1b\[[0-9;]*[A-Za-z]/g, "").replaceAll(/[\x00-\x1f\x7f-\x9f\s]+/g, " ").trim();
  for (const pattern of PATTERNS) message = message.replaceAll(pattern, REDACTED);
  message = message.replaceAll(LONG, (word) => looksRandom(word) ? REDACTED : word);
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
