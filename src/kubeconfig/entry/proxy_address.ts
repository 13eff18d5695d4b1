import type { EntryFields } from "../model/entry_fields.ts";
import { Secret } from "../text/secret.ts";

/** A proxy. Printing it does not show the password. */
export interface ProxyAddress {
  /** Its URL, without user and password: `http://`, `https://` or `socks5://`. */
  readonly url: URL;
  /** User and password, if any. */
  readonly login?: { readonly username: string; readonly password: Secret };
}

/**
 * Reads the proxy of a cluster entry; returns `undefined` if it has none.
 *
 * @throws {KubeconfigError} when it is invalid.
 */
export function readProxy(fields: EntryFields): ProxyAddress | undefined {
  const text = fields.text("proxy-url");
  if (text === undefined) return undefined;
  const proxy = parseProxy(text);
  if (typeof proxy === "string") throw fields.error("proxy-url", proxy);
  return proxy;
}

/**
 * Parses the URL of a proxy, or returns the problem with it. The problem follows the name of the setting in a sentence,
 * and never holds the password.
 */
export function parseProxy(text: string): ProxyAddress | string {
  const url = text.includes("://") ? URL.parse(text) : null;
  if (url === null || url.hostname === "") return 'must be a URL such as "http://proxy.example:3128"';
  if (!["http:", "https:", "socks5:"].includes(url.protocol)) {
    return `must begin with "http://", "https://" or "socks5://", found "${url.protocol}//"`;
  }
  if (url.pathname.length > 1 || url.search !== "" || url.hash !== "") return "must end with the host and port";
  let login: ProxyAddress["login"];
  if (url.username !== "" || url.password !== "") {
    try {
      login = { username: decodeURIComponent(url.username), password: new Secret(decodeURIComponent(url.password)) };
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
      return `holds a user name or password with a "%" that encodes nothing: write "%25" for it`;
    }
    url.username = "";
    url.password = "";
  }
  return { url, ...(login && { login }) };
}

/** Returns the port of a proxy: the one of its URL, else the default of its scheme. */
export function proxyPort(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : url.protocol === "http:" ? "80" : "1080");
}

/** Returns the URL of a proxy without user and password, for messages. */
export function proxyName({ url }: ProxyAddress): string {
  return `${url.protocol}//${url.hostname}:${proxyPort(url)}`;
}

/** Returns the URL of a proxy with user and password. */
export function proxyHref({ url, login }: ProxyAddress): string {
  const address = new URL(url);
  if (login !== undefined) {
    address.username = encodeURIComponent(login.username);
    address.password = encodeURIComponent(login.password.reveal());
  }
  return address.href;
}
