/**
 * The flags of Deno that permit what a program has been refused.
 *
 * Errors and `requiredPermissions()` name them. This file asks for no permission.
 *
 * @module
 */
import { envVariable, isDeno } from "./runtime.ts";

/** Returns the flag that permits reading environment variables. */
export function envFlag(...names: readonly string[]): string {
  return `--allow-env=${names.join(",")}`;
}

/** Returns the flag that permits reading files and folders, quoted for a shell. */
export function readFlag(...paths: readonly string[]): string {
  return `--allow-read=${shellWord(paths.join(","))}`;
}

/** Returns the flag that permits running programs, quoted for a shell. */
export function runFlag(...commands: readonly string[]): string {
  return `--allow-run=${shellWord(commands.join(","))}`;
}

/** Returns the flag that permits connecting to a server, and to the hosts in `more`. */
export function netFlag(server: URL, ...more: readonly string[]): string {
  const host = `${server.hostname}:${server.port || (server.protocol === "https:" ? "443" : "80")}`;
  return `--allow-net=${[host, ...more].join(",")}`;
}

/** Returns the error for a request that the program may not send; the caller says which address it cannot reach. */
export function netDenial(flag: string, cause: unknown): Error {
  return new Deno.errors.NotCapable(`missing permission: run this program with ${flag}`, { cause });
}

export function shellWord(text: string): string {
  return /^[\w./,:@%+=~\\-]*$/.test(text) ? text : JSON.stringify(text);
}

/** Returns `true` if the program may read a variable of the environment. Never prompts for permission. */
export function mayReadEnv(variable: string): boolean {
  return !isDeno() || Deno.permissions.querySync({ name: "env", variable }).state === "granted";
}

/** Returns a variable of the environment; `undefined` without the permission, which is not asked for. */
export function permittedEnv(variable: string): string | undefined {
  return mayReadEnv(variable) ? envVariable(variable) : undefined;
}
