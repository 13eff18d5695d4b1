/** The user to impersonate. The caller needs the verb `impersonate` (Kubernetes RBAC). */
export interface Impersonation {
  /** The user name. */
  readonly user: string;
  /** The user's uid. */
  readonly uid?: string;
  /** The user's groups. */
  readonly groups: readonly string[];
  /** Additional attributes of the user, for authorizers. */
  readonly extra: readonly (readonly [key: string, values: readonly string[]])[];
}

/**
 * Returns the header lines of an impersonation. A name that occurs twice must be sent as two lines, because the server
 * does not split values at commas.
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

/** Returns `true` if the text can be a header value: one line, without blanks at its ends, which HTTP removes. */
export function isHeaderValue(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return !/[\x00-\x08\x0a-\x1f\x7f]/.test(text) && text.trim() === text && text.isWellFormed();
}

/** Encodes a header value: `Headers` takes one character for each byte, and the server decodes UTF-8. */
export function utf8AsLatin1(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/**
 * Percent-encodes `%` and the characters that are not allowed in header names; the server decodes them, and expects
 * keys in lower case.
 */
function escapeHeaderName(key: string): string {
  return utf8AsLatin1(key.toLowerCase()).replaceAll(
    /[^!#$&'*+\-.^_`|~0-9a-z]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}
