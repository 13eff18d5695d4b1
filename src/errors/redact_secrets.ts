const REDACTED = "[redacted]";

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

/** Puts a text on one line, without colours and other control characters, and redacts what has the form of a secret. */
export function redactSecrets(text: string): string {
  // Colours first, then other control characters and line ends, so that no pattern meets long runs of blanks.
  // deno-lint-ignore no-control-regex
  let line = text.replaceAll(/\x1b\[[0-9;]*[A-Za-z]/g, "").replaceAll(/[\x00-\x1f\x7f-\x9f\s]+/g, " ").trim();
  for (const pattern of PATTERNS) line = line.replaceAll(pattern, REDACTED);
  return line.replaceAll(LONG, (word) => looksRandom(word) ? REDACTED : word);
}
