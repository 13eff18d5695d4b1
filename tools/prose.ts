/**
 * Finds the prose of pages, comments and texts of programs, splits it into sentences, and counts habits of style.
 *
 * Every passage keeps the offsets of its source: markup becomes spaces, and code becomes one word.
 *
 * @module
 */
import ts from "npm:typescript@^6.0.3";

/** Prose in a file. */
export interface Passage {
  /** Where the text begins in the file. */
  readonly offset: number;
  /** As long as the original. Code is a run of `C`, markup is spaces. */
  readonly text: string;
  /** The first paragraphs of a docstring, up to its first tag, without line ends; `undefined` for all other prose. */
  readonly docstring?: string;
}

/** A sentence of a passage, on one line. */
export interface Sentence {
  readonly text: string;
  /** The place of a character of `text` in the file. */
  readonly offsetOf: (index: number) => number;
  readonly isHeading: boolean;
}

/** Habits of texts: all but the first three are counts per 1,000 words. */
export interface Figures {
  readonly words: number;
  readonly tableWords: number;
  /** The length that 90 % of the sentences do not exceed, in words. */
  readonly p90: number;
  readonly of: number;
  readonly headless: number;
  readonly you: number;
  readonly semicolons: number;
}

const WORD = /[A-Za-z][A-Za-z'’-]*/g;
const SENTENCE_END = /(?<=[.!?:])\s+|\n\s*\n|\n\s*[-*] /;
const HEADLESS =
  /\b(?:those (?:of|that|which|who|in|behind|with)|that of|ones? (?:that|which|of|with|whose|from)|what (?!is\b|are the\b|do you\b|does\b)\w+|so (?:do|does|is|are) \w+|where (?!you\b)\w+)/gi;

/** The number of words of a text. */
export function wordCount(text: string): number {
  return text.match(WORD)?.length ?? 0;
}

/** The prose of Markdown without code blocks, HTML, addresses and tables, and the words of its tables. */
function bare(markdown: string): { readonly text: string; readonly tableWords: number } {
  const lines = markdown.replace(/^---\n[^]*?\n---\n/, "")
    .replace(/```[^]*?(?:```|$)/g, "\n\n")
    .replace(/<!--[^]*?-->/g, "")
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replace(/<[^>]+>/g, " ").split("\n");
  const rows = lines.filter((line) => line.trimStart().startsWith("|"));
  const rest = lines.filter((line) => !/^\s*(?:\||#|\{\{|:::)/.test(line)).join("\n");
  return { text: rest.replace(/`[^`]*`/g, "CODE"), tableWords: rows.join("\n").match(/[A-Za-z]+/g)?.length ?? 0 };
}

/** The figures of texts in Markdown. Inline code is one word, tables count apart, and headings do not count. */
export function figuresOf(texts: readonly string[]): Figures {
  const parts = texts.map(bare);
  const text = parts.map(({ text }) => text).join("\n\n");
  const words = wordCount(text);
  const lengths = text.split(SENTENCE_END).map(wordCount).filter((length) => length > 2).sort((a, b) => a - b);
  const rate = (pattern: RegExp): number => 1_000 * (text.match(pattern)?.length ?? 0) / Math.max(words, 1);
  return {
    words,
    tableWords: parts.reduce((sum, { tableWords }) => sum + tableWords, 0),
    p90: lengths[Math.floor(lengths.length * 9 / 10)] ?? 0,
    of: rate(/\bof\b/gi),
    headless: rate(HEADLESS),
    you: rate(/\b(?:you|your)\b/gi),
    semicolons: rate(/;/g),
  };
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

function code(text: string): string {
  return "C".repeat(text.length);
}

/** The prose of a Markdown page: paragraphs, headings and cells of tables. */
export function passageOf(markdown: string): Passage {
  const text = markdown.replace(/^---\n[^]*?\n---\n/, blank)
    .replace(/^([ \t]*)```[^]*?^\1```$/gm, blank)
    .replace(/<!--[^]*?-->/g, blank)
    .replace(/`[^`]*`/g, code)
    .replace(/!\[[^\]]*\]\([^)]*\)/g, blank)
    .replace(/\](?:\([^)]*\)|\[[^\]]*\])/g, (link) => `]${blank(link.slice(1))}`)
    .replace(/<[^>]+>/g, blank)
    .replace(/https?:\S+/g, code);
  return { offset: 0, text };
}

/** The comments of a TypeScript file. Line comments on consecutive lines are one. */
export function commentsIn(source: string): Passage[] {
  const comments =
    /(?<=^|[\s({[,])\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/(?: [^\n]*|(?=\n))(?:\n[ \t]*\/\/(?: [^\n]*|(?=\n)))*/g;
  return [...source.matchAll(comments)].map(({ 0: comment, index }) => {
    const bare = comment.replace(/^\/\*\*?|\*\/$|^\/\/|\n[ \t]*(?:\*(?!\/)|\/\/)?/g, blank);
    const text = bare.replace(/```[^]*?(?:```|$)/g, blank).replace(/`[^`]*`|\{@link[^}]*\}|https?:\S+/g, code);
    if (!comment.startsWith("/**")) return { offset: index, text };
    return { offset: index, text, docstring: squeezed(bare.split(/^\s*@\w/m)[0]) };
  });
}

/** A text on one line. */
export function squeezed(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * The texts of a TypeScript file that are read by people: messages of errors that it makes and, with `all`, every text
 * of at least three words. Texts joined by `+` are one, and an expression in a template is one word.
 */
export function textsIn(source: string, all: boolean): Passage[] {
  const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest, true);
  const found: Passage[] = [];
  const visit = (node: ts.Node, isRead: boolean): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) ||
      (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken);
    if (isText && isRead) {
      const passage = textOf(node, source);
      if (wordCount(passage.text) >= 3) found.push(passage);
      return;
    }
    const isError = ts.isNewExpression(node) && /Error$/.test(node.expression.getText(file));
    ts.forEachChild(node, (child) => visit(child, isRead || isError));
  };
  visit(file, all);
  return found;
}

function textOf(node: ts.Node, source: string): Passage {
  const offset = node.getStart();
  const characters = blank(source.slice(offset, node.end)).split("");
  const visit = (part: ts.Node): void => {
    if (ts.isStringLiteralLike(part) || ts.isTemplateLiteralToken(part)) {
      const from = part.getStart() - offset + 1;
      const text = source.slice(offset + from, part.end - 1).replace(/\$$/, " ").replace(/\\n/g, "\n\n")
        .replace(/\\./g, "  ").replace(/`[^`]*`|https?:\S+/g, code);
      for (const [at, character] of text.split("").entries()) characters[from + at] = character;
    } else if (ts.isTemplateSpan(part)) {
      for (let at = part.expression.getStart() - offset; at < part.expression.end - offset; at++) characters[at] = "C";
      visit(part.literal);
    } else ts.forEachChild(part, visit);
  };
  visit(node);
  return { offset, text: characters.join("") };
}

/** The sentences of a passage, items of lists, cells of tables and tags of docstrings. A colon ends a sentence, too. */
export function sentencesIn({ offset, text }: Passage): Sentence[] {
  const ends = /(?<=[.!?:])[*_)"]*\s+|\n\s*\n|\n\s*(?=(?:[-*+]|\d+\.|#+) )|\n\s*(?=@\w|\|)|\|/g;
  const found: Sentence[] = [];
  const add = (from: number, to: number): void => {
    let line = "";
    const offsets: number[] = [];
    const start = from + /^[\s*_>+"(-]*(?:\d+\. )?[\s*_]*/.exec(text.slice(from, to))![0].length;
    for (let at = start; at < to; at++) {
      const isSpace = /[\s*_]/.test(text[at]);
      if (isSpace && (line === "" || line.endsWith(" "))) continue;
      line += isSpace ? " " : text[at];
      offsets.push(offset + at);
    }
    if (line !== "") {
      found.push({ text: line.trimEnd(), offsetOf: (index) => offsets[index], isHeading: line.startsWith("#") });
    }
  };
  let from = 0;
  for (const { 0: end, index } of text.matchAll(ends)) {
    add(from, index);
    from = index + end.length;
  }
  add(from, text.length);
  return found;
}
