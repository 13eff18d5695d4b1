/**
 * The port of commands that serve.
 *
 * {@linkcode listen} is the entry point. It listens on this machine only.
 *
 * @module
 */
import { FetchServer } from "../host/connect/run_manager.ts";
import { failureKind } from "../host/connect/runtime/runtime.ts";
import { errorLine } from "../engine/errors/errors.ts";
import { InformerError } from "../engine/errors/informer_error.ts";
import { UsageError } from "./shared/usage.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Answers requests, with the address of their client. */
export type LoopbackHandler = Parameters<typeof FetchServer.listen>[0];

/**
 * Serves `handler` on a port of loopback; 0 is any free one. Failures of the server, which listens again, are written
 * to `terminal`.
 *
 * @throws {UsageError} when the port is out of range, or this program may not listen. @throws {Error} when it is taken.
 */
export async function listen(port: number, handler: LoopbackHandler, terminal: Terminal): Promise<FetchServer> {
  if (port > 65_535) throw new UsageError(`--port must be at most 65535, but it is ${port}`);
  try {
    return await FetchServer.listen(handler, { port, onError: (error) => terminal.say(`error: ${errorLine(error)}`) });
  } catch (error) {
    if (failureKind(error) === "no permission flag") {
      throw new UsageError(`this program may not listen; run Deno with --allow-net=127.0.0.1`, { cause: error });
    }
    if (error instanceof InformerError) throw error; // it is in use
    throw new Error(`port ${port} cannot be used; choose another port, or 0 for any free port`, { cause: error });
  }
}
