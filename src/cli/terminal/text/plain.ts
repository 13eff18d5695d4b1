/** Control characters, and characters that reorder or break lines: foreign text must not control the terminal. */
// deno-lint-ignore no-control-regex -- these are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Returns the text on one line, safe for a terminal: line ends become spaces, other control characters `\u001b`. */
export function plain(text: string): string {
  return text.trim().replace(/[^\S\n\r]*[\r\n]+\s*/g, " ").replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
