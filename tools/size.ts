/**
 * Prints what `deno publish` would send, in files and bytes by folder.
 *
 * @module
 */
import { join, relative } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { table } from "../bench/table.ts";
import { readFlags } from "./flags.ts";

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

/** The size of each folder, the largest first. */
export function folderSizes(files: readonly PublishedFile[]): FolderSize[] {
  const sizes = new Map<string, { folder: string; files: number; bytes: number }>();
  for (const { path, bytes } of files) {
    const folders = path.split("/").slice(0, -1);
    const folder = folders.slice(0, folders[0] === "src" ? 2 : 1).join("/") || ".";
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

if (import.meta.main) {
  readFlags({
    task: "size",
    summary: "Prints what deno publish would send, in files and bytes by folder.",
    flags: {},
  });
  const files = await publishedFiles();
  const row = ({ folder, files, bytes }: FolderSize): string[] => [folder, String(files), bytes.toLocaleString("en")];
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const total: FolderSize = { folder: "all", files: files.length, bytes };
  console.log(table([["folder", "files", "bytes"], ...folderSizes(files).map(row), row(total)]));
}
