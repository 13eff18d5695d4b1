/** Control characters, and those that reorder or break lines: what came from elsewhere must not steer a terminal. */
// deno-lint-ignore no-control-regex -- these are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** The text on one line that a terminal shows as it is: line ends become spaces, other control characters `\u001b`. */
export function plain(text: string): string {
  return text.trim().replace(/[^\S\n\r]*[\r\n]+\s*/g, " ").replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
