/**
 * Opens a TCP connection to see whether it can be opened.
 *
 * {@linkcode dial} is the entry point. Nothing is sent.
 *
 * @module
 */
import { builtin } from "./node_modules.ts";
import { isDeno } from "./runtime.ts";

/** Opens and closes a connection; returns the IP address of the host. @throws the error of the network. */
export async function dial(hostname: string, port: number, signal: AbortSignal): Promise<string> {
  if (isDeno()) {
    using connection = await Deno.connect({ hostname, port, signal });
    return connection.remoteAddr.hostname;
  }
  const socket = builtin("net").connect({ host: hostname, port, signal });
  try {
    await new Promise((resolve, reject) => socket.on("connect", resolve).on("error", reject));
    return socket.remoteAddress ?? hostname;
  } finally {
    socket.destroy();
  }
}
