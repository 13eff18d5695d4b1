/**
 * What Deno and Node have in common.
 *
 * @module
 */
import process from "node:process";

/** `true` if the environment asks for no colours. */
export const noColor: boolean = process.versions.deno === undefined ? Boolean(process.env.NO_COLOR) : Deno.noColor;

/** Ends the process. */
export function exit(code: number): never {
  return process.versions.deno === undefined ? process.exit(code) : Deno.exit(code);
}
