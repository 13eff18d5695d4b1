import { type ProxyAddress, proxyName } from "./proxy_address.ts";
import { quote } from "../text/quote.ts";

/** What is wrong with an address, to go after its name; nothing when it can be used as the address of an API server. */
export function serverProblem(server: string): string | undefined {
  if (!server.includes("://")) {
    return `must be a whole URL: write "https://" (or "http://") before the host`;
  }
  const url = URL.parse(server);
  if (url === null) return 'must be a URL such as "https://10.0.0.1:6443"';
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return `must begin with "https://" or "http://", found "${url.protocol}//"`;
  }
  // fetch refuses such URLs, with the password in its message.
  if (url.username !== "" || url.password !== "") {
    return `must not hold a user name or password: give them as "username" and "password" of the user`;
  }
  if (url.search !== "" || url.hash !== "") return `must end with the path, found ${url.search === "" ? `"#"` : `"?"`}`;
  return undefined;
}

/**
 * Why credentials are not sent to `server`, to go after the name of their field; undefined when they are: over TLS, and
 * over plain HTTP to this machine without a proxy. client-go leaves them out silently for any `http://` server.
 */
export function credentialsProblem(server: URL, proxy?: ProxyAddress): string | undefined {
  if (server.protocol === "https:") return undefined;
  const to = `is not sent to ${quote(server.origin)}`;
  if (!isLoopback(server.hostname)) return `${to}, where others could read it`;
  return proxy && `${to} by way of proxy ${quote(proxyName(proxy))}, which could read it`;
}

/**
 * Whether a host name of a URL is this machine: `localhost` or a loopback address. Names below `localhost` are not, because
 * many resolvers ask the network for them.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
