import { isLoopback } from "./is_loopback.ts";
import { type ProxyAddress, proxyName } from "./proxy_address.ts";
import { quote } from "../text/quote.ts";

/**
 * Returns the reason why credentials must not be sent to `server`, to follow the name of their field in a sentence.
 * Returns `undefined` if they may be sent: over TLS, and over plain HTTP to this machine without a proxy. client-go
 * omits them silently for any `http://` server.
 */
export function credentialsProblem(server: URL, proxy?: ProxyAddress): string | undefined {
  if (server.protocol === "https:") return undefined;
  const to = `is not sent to ${quote(server.origin)}`;
  if (!isLoopback(server.hostname)) return `${to}, where others could read it`;
  return proxy && `${to} through proxy ${quote(proxyName(proxy))}, which could read it`;
}
