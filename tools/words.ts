/**
 * Checks that prose is plain: pages, docstrings, comments, texts of the command line, and messages of errors.
 * {@linkcode BANS} has the phrases to avoid; a sentence has at most 35 words.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path/posix";
import ts from "npm:typescript@^6.0.3";
import { docstrings } from "./api.ts";
import { quit, readFlags } from "./flags.ts";

const ROOT = join(import.meta.dirname!, "..");
const READ = ["mod.ts", "src", "bench", "tests", "tools", "examples", "README.md", "docs"];

/** Texts of Kubernetes, generated files, and data of tests. */
const LEFT_OUT = /^src\/(?:.*\/)?kinds\/|\/(?:page_html|project_files|schema\/texts|words_test)\.ts$/;

/** The findings that may stay in comments and pages for contributors. Lower it when you mend some. */
const OLD = 810;

/** A line of a comment that has more than 120 columns and can be wrapped; the formatter leaves it as it is. */
const WIDE = /^(?=.{121})\s*(?:\/\*\*?|\*|\/\/) +(?!\||deno-|(?:- )?\S+(?: https?:\S+)?$).*/gm;

/** Phrases over which readers stumble, in a sentence whose code is one word, and what to write instead. */
export const BANS: readonly (readonly [phrase: RegExp, instead: string])[] = ([
  [/\b(?:that|those) of\b/gi, "the noun again"],
  [/\bthose (?:that|which|whose)\b/gi, "the noun again: objects that"],
  [/\bones? (?:that|which|whose)\b/gi, "the noun again: a server that"],
  [/^What (?:\S+ ){1,8}?(?:is|are|was|were|has|have)(?= \w)(?! (?:and|or)\b)(?!.*\?$)/g, "a noun as the subject"],
  [/(?:^|[,;] (?:and )?)so (?:do|does|did|is|are|was|were|has|have|can|must|will) (?!(?:\w+ )?not\b)/gi, "also, too"],
  [/(?:^|; )(?:Of (?!course\b)|Where (?!.*\?$))/g, "for, among; if, when; or the subject first"],
  [/(?<!\b(?:leave|leaves|let|lets) (?:\S+ ){0,3})\balone\b/gi, "only"],
  [/\bbehind (?:all|it|that|the(?! (?:prox|load balancer|ingress|firewall))|them)\b/gi, "after (in time), out of date"],
  [/\bas any other\b/gi, "like any other"],
  [/\bno more\b(?! (?:than|(?!does\b)\w{3,}s)\b)/gi, "no longer, not any more, no other"],
  [/\bone at (?:least|most)\b/gi, "at least one, at most one"],
  [/\ball the same\b/gi, "anyway, nevertheless; equal"],
  [/\banew\b/gi, "again, from scratch"],
  [/\bbeside\b/gi, "besides, in addition to, next to, compared with"],
  [/\b(?:allow|permit|enable)s? to\b/gi, "who may do it: lets you choose"],
] as const).map(([{ source, flags }, instead]) => [RegExp(source.replaceAll(" ", "[\\s*_]+"), `${flags}s`), instead]);
const LONG = [/^(?:(?<![A-Za-z'’-])[A-Za-z][A-Za-z'’-]*[^A-Za-z]*){36}/g, "sentences of 35 words at most"] as const;

/** Prose of a file: code is a run of `C`, and markup is spaces. Users read it if `strict`. */
type Passage = Readonly<{ offset: number; text: string; strict: boolean; isText?: boolean }>;
type Finding = readonly [line: number, phrase: string, instead: string, strict: boolean];

const blank = (text: string): string => text.replace(/[^\n]/g, " ");
const code = (text: string): string => "C".repeat(text.length);
const squeezed = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The number of words of a text. */
export const wordCount = (text: string): number => text.match(/[A-Za-z][A-Za-z'’-]*/g)?.length ?? 0;

/** The prose of a page in Markdown: paragraphs, headings and cells of tables. */
export function proseOf(markdown: string): string {
  return markdown.replace(/^---\n[^]*?\n---\n|^([ \t]*)```[^]*?^\1```$|<!--[^]*?-->/gm, blank).replace(/`[^`]*`/g, code)
    .replace(/!\[[^\]]*\]\([^)]*\)|(?<=\])(?:\([^)]*\)|\[[^\]]*\])|<[^>]+>/g, blank).replace(/https?:\S+/g, code);
}

/** The comments of a TypeScript file. Line comments on consecutive lines are one. */
function commentsIn(source: string, users: ReadonlySet<string>): Passage[] {
  const comments = /(?<=^|[\s({[,])\/\*[^]*?\*\/|(?<=^|\s)\/\/(?: .*|(?=\n))(?:\n[ \t]*\/\/(?: .*|(?=\n)))*/g;
  return [...source.matchAll(comments)].map(({ 0: comment, index: offset }) => {
    const bare = comment.replace(/^\/\*\*?|\*\/$|^\/\/|\n[ \t]*(?:\*(?!\/)|\/\/)?/g, blank);
    const text = bare.replace(/```[^]*?(?:```|$)/g, blank).replace(/`[^`]*`|\{@link[^}]*\}|https?:\S+/g, code);
    return { offset, text, strict: comment.startsWith("/**") && users.has(squeezed(bare.split(/^\s*@\w/m)[0])) };
  });
}

/** The texts of errors that a TypeScript file makes, or `all` its texts. Texts joined by `+` are one. */
function textsIn(source: string, all: boolean): Passage[] {
  const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest, true);
  const found: Passage[] = [];
  const visit = (node: ts.Node, isRead: boolean): void => {
    const isSum = ts.isBinaryExpression(node) && ts.isPlusToken(node.operatorToken);
    if (isRead && (isSum || ts.isStringLiteralLike(node) || ts.isTemplateExpression(node))) {
      const joined = node.getText().slice(1, -1).replace(/["'`]\s*\+\s*["'`]/g, "").replace(/\\n/g, "\n\n");
      const text = joined.replace(/\$\{[^}]*\}/g, "C").replace(/`[^`]*`|https?:\S+/g, code);
      if (wordCount(text) >= 3) found.push({ offset: node.getStart(), text, strict: true, isText: true });
    } else ts.forEachChild(node, (child) => visit(child, isRead || /^new \w*Error\(/.test(node.getText())));
  };
  visit(file, all);
  return found;
}

/** The sentences of a text with their offsets: items of lists, cells and tags are some, and a colon ends one, too. */
function sentencesIn(text: string): (readonly [at: number, sentence: string])[] {
  const ends = /(?<=[.!?:])[*_)"]*\s+|\n\s*\n|\n\s*(?=(?:[-*+]|\d+\.|#+) )|\n\s*(?=@\w|\|)|\|/g;
  let from = 0;
  return [...text.matchAll(ends), { 0: "", index: text.length }].map(({ 0: end, index }) => {
    const sentence = text.slice(from, index).replace(/^[\s*_>+"(-]*(?:\d+\. )?[\s*_]*/, "");
    from = index + end.length;
    return [index - sentence.length, sentence.trimEnd()];
  });
}

/** The findings in a page or a TypeScript file. `users` has the docstrings that users read. */
export function findingsIn(path: string, source: string, users: ReadonlySet<string> = new Set()): Finding[] {
  const isPage = path.endsWith(".md");
  const passages: Passage[] = isPage
    ? [{ offset: 0, text: proseOf(source), strict: /^(?:docs\/|README)/.test(path) }]
    : [...commentsIn(source, users), ...path.startsWith("src/") ? textsIn(source, path.includes("/cli/")) : []];
  const found: Finding[] = [];
  const add = (at: number, phrase: string, instead: string, strict: boolean): void => {
    found.push([source.slice(0, at).split("\n").length, squeezed(phrase).slice(0, 60), instead, strict]);
  };
  for (const { offset, text, strict, isText } of passages) {
    for (const [at, sentence] of sentencesIn(text)) {
      for (const [pattern, instead] of isText ? BANS : [...BANS, LONG]) {
        for (const { 0: found, index } of sentence.matchAll(pattern)) add(offset + at + index, found, instead, strict);
      }
    }
  }
  const wide = isPage ? [] : source.replace(/^ *\* ```[^]*?^ *\* ```/gm, blank).matchAll(WIDE);
  for (const { 0: line, index } of wide) add(index, line, "two lines", true);
  return found.sort(([a], [b]) => a - b);
}

function filesAt(path: string): string[] {
  if (Deno.statSync(path).isFile) return /\.(?:tsx?|md)$/.test(path) ? [relative(ROOT, path)] : [];
  return [...Deno.readDirSync(path)].filter(({ name }) => name !== "node_modules").map(({ name }) => name).sort()
    .flatMap((name) => filesAt(join(path, name)));
}

if (import.meta.main) {
  const { rest } = readFlags({
    task: "words",
    summary: "Finds phrases that are hard to read in pages, comments, texts of the command line and errors.",
    flags: {},
    rest: ["PATH…", "files or folders; default all, of which comments for contributors are only counted"],
    exits: "Exits with 1 when there is something to mend, with 2 when the command line is wrong.",
  });
  const isAll = rest.length === 0;
  const missing = rest.find((path) => !existsSync(path));
  if (missing !== undefined) quit(`there is no "${missing}"`, 2);
  const users = new Set(["", ...[...(await docstrings()).values()].flat().map(squeezed)]);
  const paths = isAll ? READ.map((path) => join(ROOT, path)) : rest.map((path) => resolve(path));
  const files = paths.flatMap(filesAt).filter((path) => !LEFT_OUT.test(path));
  const read = (path: string): string => Deno.readTextFileSync(join(ROOT, path));
  const found = files.flatMap((path) => findingsIn(path, read(path), users).map((it) => [path, ...it] as const));
  const old = found.filter(([, , , , strict]) => !strict).length;
  const shown = found.filter(([, , , , strict]) => strict || !isAll);
  for (const [path, line, phrase, instead] of shown) console.error(`${path}:${line}: "${phrase}"; instead: ${instead}`);
  console.log(
    `words: ${files.length} files, ${shown.length} findings; ${old} in comments, at most ${OLD}: name files to see them`,
  );
  Deno.exit(shown.length > 0 || (isAll && old > OLD) ? 1 : 0);
}
