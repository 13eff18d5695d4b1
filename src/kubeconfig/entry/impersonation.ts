/** Who the server is asked to take the caller for. The caller needs the right to `impersonate` (Kubernetes RBAC). */
export interface Impersonation {
  /** The user name. */
  readonly user: string;
  /** The user's uid. */
  readonly uid?: string;
  /** The user's groups. */
  readonly groups: readonly string[];
  /** More about the user, for authorizers: lists of texts by key. */
  readonly extra: readonly (readonly [key: string, values: readonly string[]])[];
}

/**
 * The header lines that ask for it. A name that occurs twice must be sent as two lines: the server takes a value as a
 * whole, commas and all.
 */
export function impersonationHeaders(
  impersonation: Impersonation,
): readonly (readonly [name: string, value: string])[] {
  const { user, uid, groups, extra } = impersonation;
  const lines: [string, string][] = [["Impersonate-User", utf8AsLatin1(user)]];
  if (uid !== undefined) lines.push(["Impersonate-Uid", utf8AsLatin1(uid)]);
  for (const group of groups) lines.push(["Impersonate-Group", utf8AsLatin1(group)]);
  for (const [key, values] of extra) {
    for (const value of values) lines.push([`Impersonate-Extra-${escapeHeaderName(key)}`, utf8AsLatin1(value)]);
  }
  return lines;
}

/** Whether it can be sent as the value of a header: one line, without blanks at the ends, which HTTP drops. */
export function isHeaderValue(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return !/[\x00-\x08\x0a-\x1f\x7f]/.test(text) && text.trim() === text && text.isWellFormed();
}

/** Header values are bytes, and `Headers` takes one character for each; the server reads them as UTF-8. */
export function utf8AsLatin1(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** What header names cannot hold is percent-encoded, and so is `%`; the server decodes it, and takes keys in lower case. */
function escapeHeaderName(key: string): string {
  return utf8AsLatin1(key.toLowerCase()).replaceAll(
    /[^!#$&'*+\-.^_`|~0-9a-z]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}
