/**
 * Returns the problem with the address of an API server, to follow the name of its setting in a sentence; `undefined`
 * if it is valid.
 */
export function serverProblem(server: string): string | undefined {
  if (!server.includes("://")) {
    return `must be a full URL: write "https://" (or "http://") before the host`;
  }
  const url = URL.parse(server);
  if (url === null) return 'must be a URL such as "https://10.0.0.1:6443"';
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return `must begin with "https://" or "http://", found "${url.protocol}//"`;
  }
  // fetch rejects such URLs, with the password in its message.
  if (url.username !== "" || url.password !== "") {
    return `must not hold a user name or password: give them as "username" and "password" of the user`;
  }
  if (url.search !== "" || url.hash !== "") return `must end with the path, found ${url.search === "" ? `"#"` : `"?"`}`;
  return undefined;
}
