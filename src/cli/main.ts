/**
 * The command line `informer`. It watches a cluster, lists and gets objects, waits for conditions, diagnoses
 * connections, generates types for custom kinds, prints dashboards and alerts, and serves relays and fake API servers.
 *
 * Install it, or import {@linkcode main} to run a command in your own program:
 *
 * ```sh
 * deno install --global --name informer --allow-env --allow-read --allow-net --allow-write=. jsr:@kube/informer/cli
 * informer watch pods -A
 * informer --help
 * ```
 *
 * `informer doctor` prints the exact permissions for your configuration. Exit codes: 0 done, 1 failed, 2 wrong usage, 3
 * cannot connect or not allowed. Results go to standard output, everything else to standard error.
 *
 * Read the guide: [Command line](../../docs/reference/command-line.md).
 *
 * @module
 */

import { isDeno, onSignal } from "../host/connect/runtime/runtime.ts";
import { CommandLine } from "./command_line.ts";
import { Terminal } from "./terminal/terminal.ts";

/** A second signal counts only after this time, in milliseconds: one key press can send several. */
const ECHO_MS = 1_000;

/**
 * Runs a command and returns its exit code. SIGINT and SIGTERM stop the command gracefully. A second signal more than a
 * second later ends the process immediately with code 130.
 *
 * @example
 * ```ts
 * import { main } from "@kube/informer/cli";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await main(["get", "pods", "--fake", "-A", "-o", "name", "-l", "app=none"]), 0);
 * ```
 */
export async function main(args: string[]): Promise<number> {
  const stop = new AbortController();
  const terminal = new Terminal(() => stop.abort(new DOMException("The output is no longer read", "AbortError")));
  let interruptedAt: number | undefined;
  const interrupt = (): void => {
    if (interruptedAt !== undefined && performance.now() - interruptedAt > ECHO_MS) quit(130);
    interruptedAt ??= performance.now();
    stop.abort(new DOMException("Interrupted", "AbortError"));
  };
  using _ = onSignal(interrupt);
  return await new CommandLine(terminal, stop).execute(args);
}

const quit = (code: number): never => isDeno() ? Deno.exit(code) : globalThis.process.exit(code);

if (import.meta.main) quit(await main(isDeno() ? Deno.args : globalThis.process.argv.slice(2)));
