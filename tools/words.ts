/**
 * Checks the comments of `src`, `bench`, `tests`, `tools` and `examples` for words and phrases that only this project
 * uses, for docstrings that begin with a question word instead of a noun, and for lines that are too long. `src/kinds` has Kubernetes' own texts, and is left out.
 *
 * Prints each place, then how many there are of each word, and exits with 1 when there are any. Code in comments is not
 * checked. Real exceptions are listed in `ALLOWED`, each with its reason.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path/posix";
import { quit, readFlags } from "./flags.ts";

/** A phrase to be avoided. */
export interface Word {
  /** The name in the summary. */
  readonly name: string;
  /** Matches the phrase in the text of a comment, of which each line end is a space. */
  readonly pattern: RegExp;
  /** The plain words to use instead. */
  readonly instead: string;
}

/** A place in a file where a phrase is meant literally. */
export interface Allowed {
  /** Path relative to the root. */
  readonly path: string;
  /** Text of the comment around the phrase, on one line. */
  readonly text: string;
  /** The reason. */
  readonly reason: string;
}

/** A phrase that was found. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly name: string;
  /** The phrase with the words around it. */
  readonly text: string;
  readonly instead: string;
}

/** The phrases. */
export const WORDS: readonly Word[] = [
  { name: "told", pattern: /\btold\b/gi, instead: "notified, delivered, reported, known" },
  {
    name: "tell",
    pattern: /\btell(?:s|ing)?\b(?! (?:\S+ ){0,5}apart\b)/gi,
    instead: "notify, deliver, report, say, distinguish",
  },
  { name: "hear", pattern: /\bhears?\b/gi, instead: "receive, observe" },
  { name: "story", pattern: /\bstor(?:y|ies)\b/gi, instead: "sequence of events, changes, history" },
  {
    name: "the whole",
    pattern:
      /\bwholes\b|\b(?:a|the|one|each|its|this)(?: new)? (?<!\bas a )whole(?= *(?:[.,;:)]|$)| (?:at|of|for|is|in|as|and|or|to|that|which|when|once|with|from|by|are|was|has)\b)/gi,
    instead: "replacement, collection, complete list",
  },
  {
    name: "who",
    pattern:
      /(?<!\b(?:people|person|users?|someone|anyone|developers?|operators?|admins?|authors?) )\bwho(?:m|ever)?\b/gi,
    instead: "the name of the object: caller, handler, reader",
  },
  { name: "hurry", pattern: /\bhurr(?:y|ies|ied)\b/gi, instead: "at once, without back-off" },
  {
    name: "going on",
    pattern: /\b(?:goes|go|going|went|gone) on\b/gi,
    instead: "continue, resume, be in progress",
  },
  { name: "for good reason", pattern: /\bfor (?:a )?good reasons?\b/gi, instead: "the reason" },
  { name: "for good", pattern: /\bfor good\b(?! reason)/gi, instead: "permanently" },
];

/** The longest line of a comment, as of code: the formatter leaves comments as they are. */
const COLUMNS = 120;

const HEAD: Word = {
  name: "What/How/Who …",
  pattern: /^(?:What|How|Who|Whether|Where)\b/,
  instead: "a noun, or a verb that says what the code does",
};

/** Places where a phrase is meant literally. An entry that matches nothing is an error. */
const ALLOWED: readonly Allowed[] = [];

/** Beginnings of paths that are never checked: texts of Kubernetes, and comments that are test data. */
const LEFT_OUT = [
  "src/kinds/",
  "src/cli/page_html.ts",
  "src/cli/project_files.ts",
  "src/testing/fake/schema/texts.ts",
  "tests/tools/words_test.ts",
  "tools/words.ts",
];

const FOLDERS = ["src", "bench", "tests", "tools", "examples"];

/** A comment: its text with spaces for line ends, markup and code, so that offsets are those of the file. */
interface Comment {
  readonly offset: number;
  readonly text: string;
  readonly documents: boolean;
}

/** The comments of a file. Line comments on consecutive lines are one. */
function commentsIn(source: string): Comment[] {
  const found: Comment[] = [];
  const comments =
    /(?<=^|[\s({[,])\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/(?: [^\n]*|(?=\n))(?:\n[ \t]*\/\/(?: [^\n]*|(?=\n)))*/g;
  for (const { 0: comment, index } of source.matchAll(comments)) {
    const text = comment
      .replace(/^\/\*\*?|\*\/$|^\/\/|\n[ \t]*(?:\*(?!\/)|\/\/)?/g, blank)
      .replace(/```[\s\S]*?(?:```|$)|`[^`]*`|\{@link(?:code|plain)? [^}]*\}|https?:\S+/g, blank);
    found.push({ offset: index, text, documents: comment.startsWith("/**") });
  }
  return found;
}

/**
 * The lines of comments that are longer than {@linkcode COLUMNS}, but for those that cannot be wrapped: code in fences,
 * rows of tables, directives, addresses, and single words.
 */
export function wideLinesIn(path: string, source: string): Finding[] {
  const found: Finding[] = [];
  let isFenced = false;
  for (const [index, text] of source.split("\n").entries()) {
    const line = /^\s*(?:\/\*\*?|\*|\/\/)(?:\s+(.*))?$/.exec(text)?.[1];
    if (line?.startsWith("```")) isFenced = !isFenced;
    if (line === undefined || text.length <= COLUMNS || isFenced) continue;
    const words = line.replace(/^[-*] /, "").split(" ").filter((word) => !/^https?:/.test(word));
    if (line.startsWith("|") || line.startsWith("deno-") || words.length <= 1) continue;
    found.push({
      path,
      line: index + 1,
      name: "wide line",
      text: `${line.slice(0, 60)}…`,
      instead: `wrap it at ${COLUMNS} columns`,
    });
  }
  return found;
}

function blank(text: string): string {
  return " ".repeat(text.length);
}

/** The phrases of {@linkcode WORDS} in the comments of a file, in the order of their places. */
export function wordsIn(path: string, source: string): Finding[] {
  const found: (Finding & { readonly offset: number })[] = [];
  for (const { offset, text, documents } of commentsIn(source)) {
    const add = ({ name, instead }: Word, from: number, length: number): void => {
      const around = source.slice(offset + Math.max(0, from - 40), offset + Math.min(text.length, from + length + 30))
        .replaceAll(/\s+(?:\*\/?|\/\/)?\s*/g, " ").trim();
      const line = source.slice(0, offset + from).split("\n").length;
      found.push({ path, line, name, text: around, instead, offset: offset + from });
    };
    const start = text.search(/\S/);
    const head = documents && start >= 0 ? HEAD.pattern.exec(text.slice(start)) : null;
    if (head !== null) add(HEAD, start, head[0].length);
    // Spaces in place of line ends and markup: each run of them is one space of a pattern.
    const { squeezed, offsets } = squeeze(text);
    for (const word of WORDS) {
      for (const { 0: phrase, index } of squeezed.matchAll(word.pattern)) {
        const from = offsets[index];
        if (head !== null && from === start) continue; // is reported as the beginning of a docstring
        add(word, from, offsets[index + phrase.length - 1] + 1 - from);
      }
    }
  }
  return found.sort((a, b) => a.offset - b.offset).map(({ offset: _, ...finding }) => finding);
}

/** The text with one space for each run of spaces, and the offset of each of its characters in the original. */
function squeeze(text: string): { readonly squeezed: string; readonly offsets: readonly number[] } {
  let squeezed = "";
  const offsets: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const isSpace = /\s/.test(text[at]);
    if (isSpace && squeezed.endsWith(" ")) continue;
    squeezed += isSpace ? " " : text[at];
    offsets.push(at);
  }
  return { squeezed, offsets };
}

/** Returns true when an entry allows a finding. */
export function isAllowed({ path, text }: Finding, allowed: Allowed): boolean {
  return path === allowed.path && text.includes(allowed.text);
}

function filesAt(path: string): string[] {
  if (Deno.statSync(path).isFile) return path.endsWith(".ts") ? [path] : [];
  return [...Deno.readDirSync(path)].map(({ name }) => name).sort().flatMap((name) => filesAt(join(path, name)));
}

if (import.meta.main) {
  const { rest } = readFlags({
    task: "words",
    summary: "Prints private words and wide lines in comments, and docstrings that begin with a question word.",
    flags: {},
    rest: ["PATH…", "files or folders; default src, bench, tests, tools and examples"],
    examples: ["src/informer"],
    exits: "Exits with 1 when there are any, with 2 when the command line is wrong.",
  });
  const root = join(import.meta.dirname!, "..");
  const everything = rest.length === 0;
  const paths = everything ? FOLDERS.map((folder) => join(root, folder)) : rest;
  const files = paths.flatMap((path) => existsSync(path) ? filesAt(path) : quit(`there is no "${path}"`, 2))
    .map((file) => relative(root, join(file.startsWith("/") ? "" : Deno.cwd(), file)))
    .filter((path) => !LEFT_OUT.some((start) => path.startsWith(start)));
  const found = files.flatMap((path) => {
    const source = Deno.readTextFileSync(join(root, path));
    return [...wordsIn(path, source), ...wideLinesIn(path, source)];
  });
  const remaining = found.filter((finding) => !ALLOWED.some((allowed) => isAllowed(finding, allowed)));
  const stale = everything ? ALLOWED.filter((allowed) => !found.some((finding) => isAllowed(finding, allowed))) : [];
  const counts = new Map<string, number>();
  for (const { path, line, name, text, instead } of remaining) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    console.error(`${path}:${line}: "${name}" in "${text}"; instead: ${instead}`);
  }
  for (const { path, text } of stale) console.error(`${path}: "${text}" is allowed in tools/words.ts, and not there`);
  const summary = [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count}`).join(", ");
  const clean = remaining.length === 0 && stale.length === 0;
  console.log(
    `words: ${files.length} files, ${clean ? "none of the words" : summary || `${stale.length} stale entries`}`,
  );
  Deno.exit(clean ? 0 : 1);
}
