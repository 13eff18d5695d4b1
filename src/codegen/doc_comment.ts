/** The width of lines. */
const WIDTH = 120;

/**
 * Returns the lines of a doc comment, indented: paragraphs of any text, of which nothing ends the comment, begins a code
 * block or counts as a tag.
 */
export function docComment(paragraphs: readonly string[], indent = ""): string[] {
  const blocks = paragraphs.map(plainText).filter((text) => text !== "");
  if (blocks.length === 0) return [];
  const [first] = blocks;
  if (blocks.length === 1 && indent.length + first.length + 7 <= WIDTH) return [`${indent}/** ${first} */`];
  const lines = blocks.flatMap((text, i) => [...(i === 0 ? [] : [""]), ...wrap(text, WIDTH - indent.length - 3)]);
  return [`${indent}/**`, ...lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}`), `${indent} */`];
}

/** Returns the first sentence of a description; all of it if it has no end. */
export function firstSentence(description: string): string {
  const text = description.split(/\n\s*\n/, 1)[0].replace(/\s+/g, " ").trim();
  for (const end of text.matchAll(/[.!?](?=\s+[A-Z"'`(\[{]|$)/g)) {
    const sentence = text.slice(0, end.index + 1);
    // Neither "e.g." nor a point in brackets ends a sentence.
    if (!/\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.$/i.test(sentence) && balanced(sentence)) return sentence;
  }
  return text;
}

function balanced(text: string): boolean {
  return (text.match(/[(]/g)?.length ?? 0) <= (text.match(/[)]/g)?.length ?? 0);
}

function plainText(text: string): string {
  return text.toWellFormed()
    // Control characters, line separators and marks that turn the direction of text are blanks.
    // deno-lint-ignore no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("*/", "*\\/")
    .replace(/`{3,}/g, "`")
    .replace(/(^|[\s{])@/g, "$1\\@")
    .trim();
}

/** Breaks a text into lines of at most `width` characters, unless a word is longer. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
