/** Control characters, and characters that reorder or break lines: foreign text must not control the terminal. */
// deno-lint-ignore no-control-regex -- these are what is looked for
export const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Returns the text on one line, safe for a terminal: line ends become spaces, other control characters `\u001b`. */
export function plain(text: string): string {
  return text.trim().replace(/[^\S\n\r]*[\r\n]+\s*/g, " ").replace(
    UNPRINTABLE,
    escaped,
  );
}

/** Returns the JSON text of a value, whose control characters a terminal does not obey. */
export function jsonText(value: unknown, indent?: number): string {
  // What is below U+0020 is escaped already, but for the line ends between members.
  return JSON.stringify(value, undefined, indent).replace(
    UNPRINTABLE,
    (found) => found === "\n" ? found : escaped(found),
  );
}

/** Returns a character as `\u001b`. */
export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
