/**
 * Checks that prose is plain: README and `docs`, docstrings, other comments, texts of the command line, and messages of
 * errors. {@linkcode BANS} has the phrases to avoid; a sentence has at most {@linkcode LONGEST} words, and a comment
 * at most {@linkcode COLUMNS} columns.
 *
 * Texts, pages below {@linkcode STRICT_PAGES}, and docstrings below {@linkcode STRICT_DOCSTRINGS} must have no finding.
 * Other comments are old: `tests/tools/words_ratchet.json` has the number of findings in each file, which may only
 * fall. Real exceptions are in {@linkcode ALLOWED}, each with its reason.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path/posix";
import { docstrings } from "./api.ts";
import { quit, readFlags, toggle } from "./flags.ts";
import {
  commentsIn,
  type Figures,
  figuresOf,
  type Passage,
  passageOf,
  sentencesIn,
  squeezed,
  textsIn,
  wordCount,
} from "./prose.ts";
import { table } from "./table.ts";

/** Beginnings of paths of Markdown pages that must have no finding. Tests of pages use them, too. */
export const STRICT_PAGES: readonly string[] = ["README.md", "docs/"];

/** Beginnings of paths in `src` where docstrings of exported names must have no finding: those already rewritten. */
export const STRICT_DOCSTRINGS: readonly string[] = ["mod.ts", "src/"];

/** A phrase to be avoided. */
export interface Ban {
  /** The name in the summary. */
  readonly name: string;
  /** Matches in a sentence on one line, whose code is one word. */
  readonly pattern: RegExp;
  /** The words to use instead. */
  readonly instead: string;
  /** True if the phrase is fine in a heading. */
  readonly inHeadings?: true;
}

/** A place where a phrase is right. */
export interface Allowed {
  /** Path relative to the root. */
  readonly path: string;
  /** Text around the phrase, on one line. */
  readonly text: string;
  readonly reason: string;
}

/** A phrase, sentence or line that was found. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly name: string;
  /** The phrase with the words around it. */
  readonly text: string;
  readonly instead: string;
  /** False for an old comment, whose file is only counted. */
  readonly strict: boolean;
}

/** The phrases. They are grammatical, and readers stumble over them: a noun is missing, or the idiom is another one. */
export const BANS: readonly Ban[] = [
  {
    name: "that of, those of",
    pattern: /\b(?:that|those) of\b/gi,
    instead: "the noun again",
  },
  {
    name: "those that",
    pattern: /\bthose (?:that|which|whose)\b/gi,
    instead: "the noun again: objects that",
  },
  {
    name: "one that",
    pattern: /\bones? (?:that|which|whose)\b/gi,
    instead: "the noun again: a server that",
  },
  {
    name: "What …",
    pattern: /^What (?:\S+ ){1,8}?(?:is|are|was|were|has|have)(?= \w)(?! (?:and|or)\b)(?!.*\?$)/g,
    instead: "a noun as the subject",
    inHeadings: true,
  },
  {
    name: "so is",
    pattern:
      /(?:^|[,;] (?:and )?)so (?:do|does|did|is|are|was|were|has|have|can|must|will|would) (?!not\b)(?!\w+ not\b)/gi,
    instead: "the subject first, with also or too",
  },
  {
    name: "Of …, Where …",
    pattern: /(?:^|; )(?:Of (?!course\b)|Where (?!.*\?$))/g,
    instead: "for, among; if, when; or the subject first",
    inHeadings: true,
  },
  {
    name: "alone",
    pattern: /(?<!\b(?:leave|leaves|let|lets) (?:\S+ ){0,3})\balone\b/gi,
    instead: "only",
  },
  {
    name: "behind",
    pattern: /\bbehind (?:all|it|that|the(?! (?:proxy|proxies|load balancer|ingress|firewall)\b)|them)\b/gi,
    instead: "after (in time), out of date, lags",
  },
  { name: "as any other", pattern: /\bas any other\b/gi, instead: "like any other" },
  {
    name: "no more",
    pattern: /\bno more\b(?! (?:than|(?!does\b)\w{3,}s)\b)/gi,
    instead: "no longer, not any more, no other",
  },
  { name: "one at least", pattern: /\bone at (?:least|most)\b/gi, instead: "at least one, at most one" },
  { name: "all the same", pattern: /\ball the same\b/gi, instead: "anyway, nevertheless; equal" },
  { name: "anew", pattern: /\banew\b/gi, instead: "again, from scratch" },
  { name: "beside", pattern: /\bbeside\b/gi, instead: "besides, in addition to, next to, compared with" },
  {
    name: "allows to",
    pattern: /\b(?:allow|permit|enable)s? to\b/gi,
    instead: "who may do it: lets you choose",
  },
];

/** The words that a sentence may have. */
const LONGEST = 35;

/** The longest line of a comment, as of code: the formatter leaves comments as they are. */
const COLUMNS = 120;

/** Places where a phrase is right. An entry that matches nothing is an error. */
const ALLOWED: readonly Allowed[] = [];

/** Beginnings of paths that are never checked: texts of Kubernetes, generated files, and data of tests. */
const LEFT_OUT = [
  "src/engine/kinds/",
  "src/cli/page_html.ts",
  "src/cli/project_files.ts",
  "src/testing/fake/schema/texts.ts",
  "tests/tools/words_test.ts",
];

const FOLDERS = ["src", "bench", "tests", "tools", "examples"];
const ROOT = join(import.meta.dirname!, "..");
const RATCHET = join(ROOT, "tests/tools/words_ratchet.json");

/** The findings in the sentences of a passage. `sentences` is true if long ones count. */
function findingsIn(
  passage: Passage,
  { path, source, strict, sentences }: {
    readonly path: string;
    readonly source: string;
    readonly strict: boolean;
    readonly sentences: boolean;
  },
): Finding[] {
  const found: (Finding & { readonly at: number })[] = [];
  for (const { text, offsetOf, isHeading } of sentencesIn(passage)) {
    const add = (name: string, instead: string, from: number, to: number): void => {
      const at = offsetOf(from);
      const around = source.slice(
        Math.max(passage.offset, at - 40),
        Math.min(passage.offset + passage.text.length, offsetOf(to - 1) + 30),
      );
      const line = source.slice(0, at).split("\n").length;
      const shown = squeezed(around.replaceAll(/\n\s*(?:\*\/?|\/\/)?/g, " "));
      found.push({ path, line, name, text: shown, instead, strict, at });
    };
    for (const { name, pattern, instead, inHeadings } of BANS) {
      if (isHeading && inHeadings) continue;
      for (const { 0: phrase, index } of text.matchAll(pattern)) {
        add(name, instead, index, index + phrase.trimEnd().length);
      }
    }
    const words = wordCount(text);
    if (sentences && words > LONGEST) {
      add("long sentence", `several: it has ${words} words`, 0, Math.min(60, text.length));
    }
  }
  return found.sort((a, b) => a.at - b.at).map(({ at: _, ...finding }) => finding);
}

/** The findings in a page of Markdown. */
export function pageFindings(path: string, source: string, strict = true): Finding[] {
  return findingsIn(passageOf(source), { path, source, strict, sentences: true });
}

/**
 * The findings in a file of TypeScript: in its comments and, below `src`, in its texts. `isStrict` says whether a
 * docstring must have none; it has the text of the docstring up to its first tag.
 */
export function codeFindings(
  path: string,
  source: string,
  isStrict: (docstring: string) => boolean = () => false,
): Finding[] {
  const found = commentsIn(source).flatMap((comment) => {
    const strict = comment.docstring !== undefined && isStrict(comment.docstring);
    return findingsIn(comment, { path, source, strict, sentences: true });
  });
  const texts = path.startsWith("src/") ? textsIn(source, path.startsWith("src/cli/")) : [];
  found.push(...texts.flatMap((text) => findingsIn(text, { path, source, strict: true, sentences: false })));
  return [...found, ...wideLines(path, source)].sort((a, b) => a.line - b.line);
}

/**
 * The lines of comments that are longer than {@linkcode COLUMNS}, but for those that cannot be wrapped: code in fences,
 * rows of tables, directives, addresses, and single words.
 */
function wideLines(path: string, source: string): Finding[] {
  const found: Finding[] = [];
  let isFenced = false;
  for (const [index, text] of source.split("\n").entries()) {
    const line = /^\s*(?:\/\*\*?|\*|\/\/)(?:\s+(.*))?$/.exec(text)?.[1];
    if (line?.startsWith("```")) isFenced = !isFenced;
    if (line === undefined || text.length <= COLUMNS || isFenced) continue;
    const words = line.replace(/^[-*] /, "").split(" ").filter((word) => !/^https?:/.test(word));
    if (line.startsWith("|") || line.startsWith("deno-") || words.length <= 1) continue;
    const instead = `wrap it at ${COLUMNS} columns`;
    found.push({ path, line: index + 1, name: "wide line", text: `${line.slice(0, 60)}…`, instead, strict: true });
  }
  return found;
}

/** Returns true when an entry allows a finding. */
export function isAllowed({ path, text }: Finding, allowed: Allowed): boolean {
  return path === allowed.path && text.includes(allowed.text);
}

/** The numbers of findings in old comments, by file. */
export type Ratchet = Readonly<Record<string, number>>;

/**
 * Compares findings with a ratchet: those of files with more than it has, and the ratchet in which each file of `paths`
 * has as many as it may keep, which is none for a file that was never there.
 */
export function compareRatchet(
  ratchet: Ratchet,
  findings: readonly Finding[],
  paths: readonly string[],
): { readonly worse: ReadonlyMap<string, readonly Finding[]>; readonly lowered: Ratchet } {
  const byPath = Map.groupBy(
    findings.filter(({ strict, path }) => !strict && !path.endsWith(".md")),
    ({ path }) => path,
  );
  const lowered: Record<string, number> = { ...ratchet };
  const worse = new Map<string, readonly Finding[]>();
  for (const path of new Set([...paths, ...byPath.keys()])) {
    const found = byPath.get(path) ?? [];
    const most = ratchet[path] ?? 0;
    if (found.length > most) worse.set(path, found);
    lowered[path] = Math.min(found.length, most);
  }
  const kept = Object.entries(lowered).filter(([, count]) => count > 0).sort(([a], [b]) => a < b ? -1 : 1);
  return { worse, lowered: Object.fromEntries(kept) };
}

/** A table of the {@linkcode Figures} of texts, with a row for all of them, in which equal texts count once. */
export function figureTable(
  title: string,
  rows: readonly (readonly [name: string, texts: readonly string[]])[],
): string {
  const all = [...new Set(rows.flatMap(([, texts]) => texts))];
  const rowOf = (name: string, { words, tableWords, p90, of, headless, you, semicolons }: Figures): string[] => {
    return [name, `${words}`, `${tableWords}`, `${p90}`, ...[of, headless, you, semicolons].map((it) => it.toFixed(1))];
  };
  return table([
    [title, "words", "in tables", "p90", "of", "headless", "you", ";"],
    ...rows.map(([name, texts]) => rowOf(name, figuresOf(texts))),
    rowOf("total", figuresOf(all)),
  ]);
}

function filesAt(path: string): string[] {
  if (Deno.statSync(path).isFile) return /\.(?:ts|tsx|md)$/.test(path) ? [path] : [];
  return [...Deno.readDirSync(path)].filter(({ name }) => name !== "node_modules").map(({ name }) => name).sort()
    .flatMap((name) => filesAt(join(path, name)));
}

function read(path: string): string {
  return Deno.readTextFileSync(join(ROOT, path));
}

const startsWithAny = (path: string, starts: readonly string[]): boolean => starts.some((it) => path.startsWith(it));

if (import.meta.main) {
  const { rest, update, pages, docstrings: ofDocstrings } = readFlags({
    task: "words",
    summary: "Checks that pages, comments, texts of the command line and messages of errors are plain English.",
    flags: {
      update: toggle("lowers tests/tools/words_ratchet.json to what comments have now; it is never raised"),
      pages: toggle("prints words and habits per 1,000 words of each page instead"),
      docstrings: toggle("prints them of the docstrings of each entry point instead"),
    },
    rest: ["PATH…", "files or folders, whose pages and old comments are shown, too; default everything"],
    examples: ["src/engine/informer", "docs/guides/limit-memory.md", "--pages"],
    exits: "Exits with 1 when there is something to mend, with 2 when the command line is wrong.",
  });
  const everything = rest.length === 0;
  const given = everything ? [...FOLDERS, "README.md", "docs"].map((path) => join(ROOT, path)) : rest;
  const paths = given.flatMap((path) => existsSync(path) ? filesAt(path) : quit(`there is no "${path}"`, 2))
    .map((file) => relative(ROOT, join(file.startsWith("/") ? "" : Deno.cwd(), file)));
  if (pages) {
    const shown = paths.filter((path) => path.endsWith(".md") && (!everything || /^README|^docs\//.test(path)));
    console.log(figureTable("page", shown.map((path) => [path, [read(path)]])));
    Deno.exit(0);
  }
  if (ofDocstrings) {
    const entries = [...await docstrings()].filter(([entry]) => !entry.startsWith("./kinds/"));
    console.log(figureTable("entry point", entries));
    Deno.exit(0);
  }

  const isPublic = new Set<string>();
  if (STRICT_DOCSTRINGS.length > 0) {
    for (const [, texts] of await docstrings()) for (const text of texts) isPublic.add(squeezed(text));
  }
  const files = paths.filter((path) =>
    path.endsWith(".md") ? !everything || startsWithAny(path, STRICT_PAGES) : !startsWithAny(path, LEFT_OUT)
  );
  const all = files.flatMap((path) => {
    if (path.endsWith(".md")) return pageFindings(path, read(path), startsWithAny(path, STRICT_PAGES));
    const strict = startsWithAny(path, STRICT_DOCSTRINGS);
    return codeFindings(path, read(path), (docstring) => strict && (docstring === "" || isPublic.has(docstring)));
  });
  const found = all.filter((finding) => !ALLOWED.some((allowed) => isAllowed(finding, allowed)));
  const stale = everything ? ALLOWED.filter((allowed) => !all.some((finding) => isAllowed(finding, allowed))) : [];
  const isNew = !existsSync(RATCHET);
  const ratchet: Ratchet = isNew ? {} : JSON.parse(Deno.readTextFileSync(RATCHET));
  const { worse, lowered } = compareRatchet(ratchet, found, files);
  if (update) {
    const counts = isNew ? Object.fromEntries([...worse].map(([path, { length }]) => [path, length])) : lowered;
    Deno.writeTextFileSync(RATCHET, `${JSON.stringify(counts, undefined, 2)}\n`);
  }

  const failing = found.filter(({ path, strict }) => strict || worse.has(path));
  const counts = new Map<string, number>();
  for (const finding of everything ? failing : found) {
    const { path, line, name, text, instead } = finding;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    console.error(`${path}:${line}: "${name}" in "${text}"; instead: ${instead}`);
  }
  for (const [path, { length }] of worse) {
    console.error(`${path}: ${length} findings in comments, of which ${ratchet[path] ?? 0} are old: mend the new ones`);
  }
  for (const { path, text } of stale) console.error(`${path}: "${text}" is allowed in tools/words.ts, and not there`);
  const summary = [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count}`).join(", ");
  const old = found.filter(({ strict }) => !strict).length;
  const isClean = failing.length === 0 && stale.length === 0;
  console.log(`words: ${files.length} files, ${summary || "nothing new"}; ${old} old ones`);
  Deno.exit(isClean ? 0 : 1);
}
