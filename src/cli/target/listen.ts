import { UsageError } from "../errors/usage_error.ts";

/** A server on loopback that has begun to listen. */
export interface Listening {
  /** Its address, `http://127.0.0.1:8080`. */
  readonly address: string;
  /** Ends it. */
  readonly http: Deno.HttpServer<Deno.NetAddr>;
}

/**
 * Serves `handler` on a port of loopback; 0 is any free one.
 *
 * @throws {UsageError} when the port is out of range, or this program may not listen. @throws {Error} when it is taken.
 */
export async function listen(port: number, handler: Deno.ServeHandler<Deno.NetAddr>): Promise<Listening> {
  if (port > 65_535) throw new UsageError(`--port must be at most 65535, found ${port}`);
  const { promise, resolve } = Promise.withResolvers<Deno.NetAddr>();
  let http: Deno.HttpServer<Deno.NetAddr>;
  try {
    http = Deno.serve({ hostname: "127.0.0.1", port, onListen: resolve }, handler);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      throw new UsageError(`this program may not listen; run Deno with --allow-net=127.0.0.1`, { cause: error });
    }
    const reason = error instanceof Deno.errors.AddrInUse ? "is taken" : "cannot be used";
    throw new Error(`port ${port} ${reason}; choose another, or 0 for any free one`, { cause: error });
  }
  const address = await promise;
  return { address: `http://127.0.0.1:${address.port}`, http };
}
