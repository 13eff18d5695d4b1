/**
 * Prints what `deno publish` would send, in files and bytes by folder, and the code of `src`: lines, exports and
 * internal interfaces.
 *
 * @module
 */
import { join, relative } from "node:path/posix";
import { fileURLToPath } from "node:url";
import {
  countLines,
  internalOptions,
  nameUses,
  readSources,
  type SourceText,
  trusted,
  usedByANeighbour,
} from "./code_size.ts";
import { readFlags } from "./flags.ts";
import { table } from "./table.ts";

const ROOT = join(import.meta.dirname!, "..");

/** A file that would be published. */
export interface PublishedFile {
  /** Path relative to the root. */
  readonly path: string;
  readonly bytes: number;
}

/** The files and bytes of a folder. */
export interface FolderSize {
  /** A folder of the root, or of `src`; `.` for the files of the root. */
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}

/** The URLs of the files in the output of `deno publish --dry-run`: `   file:///a/mod.ts (5.25KB)`. */
export function urlsIn(output: string): string[] {
  return [...output.matchAll(/^\s*(file:\/\/\S+) \([^()]*\)$/gm)].map(([, url]) => url);
}

/** The size of each folder, of `src` of each room, the largest first. */
export function folderSizes(files: readonly PublishedFile[]): FolderSize[] {
  const sizes = new Map<string, { folder: string; files: number; bytes: number }>();
  for (const { path, bytes } of files) {
    const folders = path.split("/").slice(0, -1);
    const folder = folders.slice(0, folders[0] === "src" ? 3 : 1).join("/") || ".";
    const size = sizes.get(folder) ?? { folder, files: 0, bytes: 0 };
    sizes.set(folder, size);
    size.files++;
    size.bytes += bytes;
  }
  return [...sizes.values()].sort((a, b) => b.bytes - a.bytes);
}

/**
 * The files that `deno publish` would send now, changes that are not committed included.
 *
 * @throws {Error} when the dry run fails or lists no file.
 */
export async function publishedFiles(): Promise<PublishedFile[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["publish", "--dry-run", "--allow-dirty", "--no-check", "--allow-slow-types"], // others check; this counts
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  const output = decoder.decode(stdout) + decoder.decode(stderr);
  const paths = urlsIn(output).map((url) => fileURLToPath(url));
  if (!success || paths.length === 0) throw new Error(`Cannot list what would be published: ${output.trim()}`);
  return paths.map((path) => ({ path: relative(ROOT, path), bytes: Deno.statSync(path).size }));
}

/** Rows of the lines of each folder, the largest first, and of all. The median is that of the lines of a file. */
export function codeRows(sources: readonly SourceText[]): string[][] {
  const folders = Map.groupBy(sources, ({ path }) => path.split("/").slice(0, -1).slice(0, 3).join("/") || ".");
  const row = (folder: string, files: readonly SourceText[]): { readonly code: number; readonly cells: string[] } => {
    const counts = files.map(countLines);
    const lengths = counts.map(({ code, comment, blank }) => code + comment + blank).sort((a, b) => a - b);
    const [code, comment, blank] = (["code", "comment", "blank"] as const).map((kind) => {
      return counts.reduce((sum, count) => sum + count[kind], 0);
    });
    const numbers = [files.length, code, comment, blank, lengths[lengths.length >> 1] ?? 0];
    return { code, cells: [folder, ...numbers.map(String)] };
  };
  const rows = [...folders].map(([folder, files]) => row(folder, files)).sort((a, b) => b.code - a.code);
  return [HEADING, ...[...rows, row("all", sources)].map(({ cells }) => cells)];
}

const HEADING = ["folder", "files", "code", "comment", "blank", "median"];

function sourcesOf(folder: string): SourceText[] {
  return readSources(ROOT, join(ROOT, folder));
}

if (import.meta.main) {
  readFlags({
    task: "size",
    summary:
      "Prints what deno publish would send, in files and bytes by folder; and the code of src without kinds, of " +
      "tests, bench and tools, by a lexer: lines, exports, internal interfaces of options, and casts.",
    flags: {},
  });
  const files = await publishedFiles();
  const row = ({ folder, files, bytes }: FolderSize): string[] => [folder, String(files), bytes.toLocaleString("en")];
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const total: FolderSize = { folder: "all", files: files.length, bytes };
  console.log(table([["folder", "files", "bytes"], ...folderSizes(files).map(row), row(total)]));

  const entry = { path: "mod.ts", text: Deno.readTextFileSync(join(ROOT, "mod.ts")) };
  const all = [...sourcesOf("src"), entry];
  const isGenerated = (path: string): boolean =>
    path.startsWith("src/engine/kinds/") || path === "src/testing/fake/schema/texts.ts";
  console.log(`\nsrc without kinds, in lines\n${table(codeRows(all.filter(({ path }) => !isGenerated(path))))}`);
  const beside = ["tests", "bench", "tools", "standins", "examples"].map((folder) =>
    codeRows(sourcesOf(folder)).at(-1)!.with(0, folder)
  );
  console.log(`\nbeside it, in lines\n${table([HEADING, ...beside])}`);

  const publicNames = new Set(
    Deno.readTextFileSync(join(ROOT, "tests/public_api.txt")).trimEnd().split("\n").map((line) =>
      line.split(" ").at(-1)!
    ),
  );
  const trust = all.filter(({ path }) => !isGenerated(path)).map(trusted);
  const inAll = (of: "casts" | "assertions"): number => trust.reduce((sum, counts) => sum + counts[of], 0);
  const uses = nameUses(all).filter(({ path }) => !isGenerated(path));
  const options = internalOptions(uses, publicNames);
  const sum = (of: "all" | "callbacks"): number => options.reduce((sum, { members }) => sum + members![of], 0);
  console.log(`
exports                             ${uses.filter(({ isExported }) => isExported).length}
  not public, one file uses at most ${usedByANeighbour(uses, publicNames).length}
internal interfaces of options      ${options.length}, with ${sum("all")} members, ${sum("callbacks")} of them callbacks
casts, and values with "!"          ${inAll("casts")}, ${inAll("assertions")}`);
}
