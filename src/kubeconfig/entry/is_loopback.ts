/**
 * Returns `true` if the host of a URL is this machine: `localhost` or a loopback address. Subdomains of `localhost` do
 * not count, because many resolvers ask the network for them.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
