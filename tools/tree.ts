/**
 * Prints the tree of `src` with a few words for each file, from the heads of the files, and the number of files of a
 * folder. The READMEs of areas say what the areas are.
 *
 * @module
 */
import { join } from "node:path/posix";
import { readFlags } from "./flags.ts";

/** A head's first clause has the idea of its file; longer ones are cut here. */
const MOST_WORDS = 8;

/** The first clause of the comment that a module begins with; empty without one. */
export function summary(text: string): string {
  const head = /^\/\*\*\n((?: \* .*\n)+)/.exec(text)?.[1].replace(/^ \* /gm, "").replaceAll("\n", " ") ?? "";
  const sentence = head.replace(/\{@linkcode\s+(\w+)\s*\}/g, "$1").split(/[.;](?=\s)|\s\(/)[0].trim();
  const [first] = sentence.split(/[:,](?=\s)/);
  const clause = first.includes(" ") ? first : sentence; // "Histograms: …" says too little
  const words = clause.split(/\s+/);
  return words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS).join(" ")} …` : clause;
}

/** The lines of a folder: its files with their summaries, then its folders. */
function linesOf(folder: string, depth: number): string[] {
  const entries = [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
  const files = entries.filter(({ name }) => name.endsWith(".ts")).map(({ name }) => {
    return `${"  ".repeat(depth)}${name}`.padEnd(38) + ` ${summary(Deno.readTextFileSync(join(folder, name)))}`;
  });
  const folders = entries.filter(({ isDirectory }) => isDirectory).flatMap(({ name }) => {
    return [`${"  ".repeat(depth)}${name}/`, ...linesOf(join(folder, name), depth + 1)];
  });
  return [...files, ...folders];
}

if (import.meta.main) {
  const { rest } = readFlags({
    task: "tree",
    summary: "Prints the tree of src, or of a folder of it, with a few words for each file.",
    flags: {},
    rest: ["[FOLDER]", "a folder of src, such as engine/client"],
    examples: ["engine/informer"],
  });
  const folder = join(import.meta.dirname!, "../src", rest[0] ?? "");
  console.log(linesOf(folder, 0).map((line) => line.trimEnd()).join("\n"));
}
