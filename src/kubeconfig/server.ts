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
 * Whether credentials may be sent there: over TLS, or to this machine. client-go leaves them out in silence for any
 * `http://` server; here that is an error, and a server on loopback gets them.
 */
export function maySendCredentials(server: URL): boolean {
  return server.protocol === "https:" || isLoopback(server.hostname);
}

/** Whether a host name of a URL can only be this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
