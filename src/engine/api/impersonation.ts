/**
 * Impersonation: requests that a client sends as another user.
 *
 * {@linkcode impersonating} sets the headers on a request. This file does not check whether the client may impersonate:
 * the API server does.
 *
 * @module
 */
import { encoder } from "./object.ts";

/**
 * A user that a client acts as, like `kubectl --as`. Requests have only that user's rights.
 *
 * The client's own credentials need the verb `impersonate` on the user, groups, uid and extra values.
 */
export interface Impersonation {
  /** The user name: `"ada"` or `"system:serviceaccount:shop:reader"`. */
  readonly user: string;
  /** The uid. @default {none} */
  readonly uid?: string;
  /** The groups. The server adds `system:authenticated`. @default {none} */
  readonly groups?: readonly string[];
  /** Extra attributes for authorizers and admission. The server sees the keys in lower case. @default {none} */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Finds the first member of an impersonation that cannot be sent. Returns its name and the problem, which continues a
 * sentence after the name. Returns `undefined` if everything can be sent.
 */
export function impersonationProblem(
  { user, uid, groups = [], extra = {} }: Impersonation,
): readonly [member: keyof Impersonation, problem: string] | undefined {
  if (user === "") return ["user", "is empty"];
  if (Object.keys(extra).some((key) => key === "" || !key.isWellFormed())) {
    return ["extra", "has a key that cannot be sent: it is empty or malformed"];
  }
  const texts = { user: [user], uid: uid === undefined ? [] : [uid], groups, extra: Object.values(extra).flat() };
  for (const [member, values] of Object.entries(texts)) {
    if (values.every(isHeaderValue)) continue;
    return [member as keyof Impersonation, "contains line ends or control characters, or begins or ends with a blank"];
  }
  return undefined;
}

/**
 * Returns the header lines for an impersonation. If a name occurs twice, send two lines: the server does not split
 * values at commas.
 */
export function impersonationHeaders({ user, uid, groups = [], extra = {} }: Impersonation): [string, string][] {
  const lines: [string, string][] = [["Impersonate-User", utf8AsLatin1(user)]];
  if (uid !== undefined) lines.push(["Impersonate-Uid", utf8AsLatin1(uid)]);
  for (const group of groups) lines.push(["Impersonate-Group", utf8AsLatin1(group)]);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) lines.push([`Impersonate-Extra-${escapeHeaderName(key)}`, utf8AsLatin1(value)]);
  }
  return lines;
}

/** A header line. */
type Line = readonly [name: string, value: string];

/**
 * The lines that {@linkcode appendLines} has added to each request, because `Headers` joins lines with the same name.
 */
const LINES = new WeakMap<Request, readonly Line[]>();

/** Appends header lines to a request. Several lines may have the same name. */
export function appendLines(request: Request, lines: readonly Line[]): void {
  for (const [name, value] of lines) request.headers.append(name, value);
  LINES.set(request, [...linesOf(request), ...lines]);
}

/** Returns the lines that {@linkcode appendLines} has added, one by one. */
export function linesOf(request: Request): readonly Line[] {
  return LINES.get(request) ?? [];
}

/** Returns a function that sends a request as this user. It replaces any other impersonation in the request. */
export function impersonating(user: Impersonation): (request: Request) => void {
  const lines = impersonationHeaders(user);
  return (request) => {
    withoutUser(request);
    LINES.delete(request);
    appendLines(request, lines);
  };
}

function withoutUser({ headers }: Request): void {
  for (const name of [...headers.keys()].filter(isImpersonation)) headers.delete(name);
}

/** Returns `true` if a header with this name is part of an impersonation. */
export function isImpersonation(name: string): boolean {
  return name.toLowerCase().startsWith("impersonate-");
}

/**
 * Returns `true` if the text can be a header value: one line, without blanks at its ends, because HTTP removes them.
 */
export function isHeaderValue(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return !/[\x00-\x08\x0a-\x1f\x7f]/.test(text) && text.trim() === text && text.isWellFormed();
}

/** Encodes a header value: `Headers` takes one character for each byte, and the server decodes UTF-8. */
export function utf8AsLatin1(text: string): string {
  return Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/**
 * Percent-encodes `%` and the characters that header names cannot have. The server decodes them, and expects keys in
 * lower case.
 */
function escapeHeaderName(key: string): string {
  return utf8AsLatin1(key.toLowerCase()).replaceAll(
    /[^!#$&'*+\-.^_`|~0-9a-z]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}
