import type { FoundConnection } from "../../../deno/found_connection.ts";
import { environmentProxy } from "../../../deno/transport/environment_proxy.ts";
import { isLoopback } from "../../../kubeconfig/entry/is_loopback.ts";
import type { ServerAccess } from "./server_access.ts";
import type { Checkup } from "../checkup/checkup.ts";
import { reasonFor } from "../checkup/reason_for.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";

/** Checks that the server, or its proxy, accepts connections. */
export async function checkAddress(checkup: Checkup, { connection }: ServerAccess): Promise<boolean> {
  const { server, origin } = connection;
  const shown = server.href.replace(/\/$/, "");
  const options = {
    code: EXIT_CODE.connection,
    late: "check the address, and whether a firewall or a missing VPN swallows what is sent there",
    advice: "check the address, and whether the server runs",
  };
  const proxy = origin.proxy === undefined ? undefined : URL.parse(origin.proxy);
  const environment = proxy || isLocalPlainHttp(connection) ? undefined : environmentProxy(server);
  return await checkup.check("address", options, async (signal) => {
    if (environment !== undefined) {
      return {
        status: "ok",
        what: `${shown}, through the proxy that ${environment} names unless NO_PROXY says otherwise`,
      };
    }
    const startedAt = performance.now();
    const target = proxy ?? server;
    const by = proxy ? `, through proxy ${JSON.stringify(origin.proxy)}` : "";
    try {
      const found = await dial(target, signal);
      const ms = Math.round(performance.now() - startedAt);
      const is = found === hostOf(target) ? "" : proxy ? "" : ` is ${found}`;
      return { status: "ok", what: `${shown}${is}${by}, connected in ${ms} ms` };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Deno.errors.NotCapable) {
        // The last flag is `--allow-net`.
        const flag = origin.permissions.at(-1);
        return {
          status: "fail",
          what: `${shown}${by}: this program may not reach it`,
          remedy: `run Deno with ${flag}`,
          code: EXIT_CODE.connection,
        };
      }
      const { what, remedy = options.advice } = reasonFor(error);
      return { status: "fail", what: `${shown}${by}: ${what}`, remedy, code: EXIT_CODE.connection };
    }
  });
}

/** Opens and closes a connection; returns the IP address of the host. */
async function dial(url: URL, signal: AbortSignal): Promise<string> {
  const connection = await Deno.connect({ hostname: hostOf(url), port: portOf(url), signal });
  const { remoteAddr } = connection;
  connection.close();
  return remoteAddr.hostname;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : url.protocol.startsWith("socks") ? 1080 : 80;
}

/** Returns `true` if requests are plain HTTP to this machine, which bypass the environment's proxy. */
export function isLocalPlainHttp({ server, origin }: FoundConnection): boolean {
  return server.protocol === "http:" && isLoopback(server.hostname) && origin.proxy === undefined;
}
