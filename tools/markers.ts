/**
 * Finds the lines of the sources that mutants change. A comment above a line names the mutants that change it:
 *
 * ```ts ignore
 * // mutant: relist-skips-deletions, relist-deletes-without-flag
 * if (value !== undefined) this.#delete(key, undefined, value, true);
 * ```
 *
 * @module
 */
import type { Mutant } from "./mutants_list.ts";

const MARKER = /^ *\/\/ mutant: (.+)$/;

/** A source file as a mutant changes it. */
export interface Edited {
  readonly path: string;
  readonly text: string;
}

function idsOn(line: string): string[] {
  return MARKER.exec(line)?.[1].split(", ") ?? [];
}

/** The ids of all markers in `sources`, which maps paths to texts. */
export function markersIn(sources: ReadonlyMap<string, string>): string[] {
  return [...sources.values()].flatMap((text) => text.split("\n").flatMap(idsOn));
}

/**
 * Applies a mutant to its marked line. Returns a sentence instead when there is not exactly one, or it stays the same.
 */
export function edited(sources: ReadonlyMap<string, string>, { id, find, replace }: Mutant): Edited | string {
  const marked: { readonly path: string; readonly lines: string[]; readonly at: number }[] = [];
  for (const [path, text] of sources) {
    const lines = text.split("\n");
    lines.forEach((line, i) => {
      if (idsOn(line).includes(id)) marked.push({ path, lines, at: i });
    });
  }
  if (marked.length !== 1) return `the mutant "${id}" has ${marked.length} markers in the sources`;
  const [{ path, lines, at: marker }] = marked;
  let at = marker + 1;
  while (/^ *\/\//.test(lines[at])) at++; // other comments may stand between marker and code
  const line = lines[at].replace(find ?? /\S.*/, () => replace);
  if (line === lines[at]) return `the mutant "${id}" does not change the line that is marked in ${path}`;
  return { path, text: lines.with(at, line).join("\n") };
}
