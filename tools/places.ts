/**
 * Finds lines of sources by their code, so that sources need no marks for the tools that change them.
 *
 * @module
 */
import type { Mutant } from "./mutants_list.ts";

/** A line of a source: the offsets of its code, without the spaces before it. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the line on which `code` begins. Returns a sentence instead if `code` does not occur exactly once, or begins
 * within a line.
 */
export function placeOf(file: string, text: string, code: string): Place | string {
  const start = text.indexOf(code);
  const [first] = code.split("\n");
  if (code === "" || start === -1) return `${file} has no line "${first}"`;
  if (text.includes(code, start + 1)) return `${file} has the line "${first}" twice; add the line after it`;
  const lineStart = text.lastIndexOf("\n", start) + 1;
  if (text.slice(lineStart, start).trim() !== "") return `${file} has no line that begins with "${first}"`;
  const end = text.indexOf("\n", start);
  return { start, end: end === -1 ? text.length : end };
}

/** Returns a source as a mutant changes it; a sentence if the line is not there once, or stays the same. */
export function edited(source: string, { id, file, line, find, replace }: Mutant): { readonly text: string } | string {
  const place = placeOf(file, source, line);
  if (typeof place === "string") return `the mutant "${id}": ${place}`;
  const code = source.slice(place.start, place.end);
  const changed = code.replace(find ?? /\S.*/, () => replace);
  if (changed === code) return `the mutant "${id}" does not change its line in ${file}`;
  return { text: source.slice(0, place.start) + changed + source.slice(place.end) };
}
