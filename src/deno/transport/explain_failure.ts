import { type ProxyAddress, proxyName } from "../../kubeconfig/entry/proxy_address.ts";
import { netFlag } from "../host/host.ts";
import type { Relay } from "./relay.ts";

/** The proxy, relay and TLS settings of a request, for error messages. */
export interface RouteInfo {
  /** The name that the certificate is verified for. */
  readonly serverName?: string;
  /** The proxy of the configuration. */
  readonly proxy?: ProxyAddress;
  /** The relay, if any. */
  readonly relay?: Relay;
  /** `true` if the configuration disables verification of the certificate. */
  readonly insecure?: boolean;
}

/** Returns the error to throw for a failed request: the cause, and a remedy if one is known. */
export function explainFailure(error: unknown, request: Request, way: RouteInfo): unknown {
  const url = new URL(request.url);
  if (error instanceof Deno.errors.NotCapable) return withoutPermission(error, url, way);
  if (!(error instanceof TypeError)) return error;
  const reason = deepest(error);
  if (way.insecure && /certificate/i.test(reason)) {
    const host = (way.serverName ?? url.hostname).replace(/^\[(.*)\]$/, "$1");
    return new TypeError(
      `${reason}; "insecure-skip-tls-verify" takes effect only when Deno is started with ` +
        `--unsafely-ignore-certificate-errors=${host}`,
    );
  }
  if (way.relay !== undefined) {
    const { problem, carried } = way.relay;
    if (problem instanceof Deno.errors.NotCapable) return withoutPermission(problem, url, way);
    if (carried === 0 && way.serverName !== undefined) {
      return new TypeError(
        `${reason}; "tls-server-name" needs a relay, which NO_PROXY bypasses: remove "${way.serverName}" from it`,
      );
    }
    if (problem instanceof Error) return new TypeError(`${reason}: ${problem.message}`);
  }
  if (way.proxy === undefined || reason.startsWith("no answer")) return error;
  return new TypeError(`${reason} (through proxy "${proxyName(way.proxy)}")`);
}

/** Deno names the host that needs permission, which after a redirect is not the host of the request. */
function withoutPermission(cause: Error, url: URL, way: RouteInfo): Error {
  if (cause.message.startsWith("Cannot use proxy")) return cause;
  const missed = /access to "([^"]+)"/.exec(cause.message)?.[1];
  // The port of a relay differs each time.
  const flag = missed === undefined
    ? netFlag(url)
    : `--allow-net=${way.serverName !== undefined && missed.startsWith("127.0.0.1:") ? "127.0.0.1" : missed}`;
  // The caller says which address it cannot reach.
  return new Deno.errors.NotCapable(`missing permission: run this program with ${flag}`, { cause });
}

/** Returns the message of the innermost cause, without the address, which the caller adds. */
function deepest(error: Error): string {
  const inner = error.cause instanceof Error ? deepest(error.cause) : error.message;
  return inner.replace(/^error sending request for url \([^)]*\): /, "");
}
