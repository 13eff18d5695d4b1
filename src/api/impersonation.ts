/**
 * Impersonation: requests that a client sends as another user.
 *
 * {@linkcode impersonating} sets the headers of a request, {@linkcode copyLines} keeps them in a copy. This
 * file does not ask whether the client may impersonate: the API server does.
 *
 * @module
 */
import { encoder } from "./object.ts";

/**
 * A user that a client acts as: requests have the rights of that user, and none of those of the credentials, which need
 * the verb `impersonate` on user, groups, uid and extra values.
 */
export interface Impersonation {
  /** The name, `"ada"` or `"system:serviceaccount:shop:reader"`. */
  readonly user: string;
  /** The uid. @default {none} */
  readonly uid?: string;
  /** The groups, to which the server adds `system:authenticated`. @default {none} */
  readonly groups?: readonly string[];
  /** Further attributes, for authorizers and admission. The server knows their keys in lower case. @default {none} */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Returns the first member of an impersonation that cannot be sent, and the problem with it, to follow the name of the
 * member in a sentence.
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
 * Returns the header lines of an impersonation. A name that occurs twice must be sent as two lines, because the server
 * does not split values at commas.
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

/** Has the lines that {@linkcode appendLines} has added to a request: `Headers` join the lines of one name. */
const LINES = new WeakMap<Request, readonly Line[]>();

/** Appends header lines to a request, of which several may have one name. */
export function appendLines(request: Request, lines: readonly Line[]): void {
  for (const [name, value] of lines) request.headers.append(name, value);
  LINES.set(request, [...linesOf(request), ...lines]);
}

/** Returns the lines that {@linkcode appendLines} has added, each by itself. */
export function linesOf(request: Request): readonly Line[] {
  return LINES.get(request) ?? [];
}

/** Separates the lines of a copy of a request, which `Request` has joined, if {@linkcode appendLines} has added any. */
export function copyLines(request: Request, copy: Request): void {
  const lines = linesOf(request);
  if (lines.some(([name]) => isImpersonation(name))) withoutUser(copy);
  for (const [name] of lines) copy.headers.delete(name);
  if (lines.length > 0) appendLines(copy, lines);
}

/** Returns a function that makes a request one of this user, and of no other user. */
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

/** Returns `true` for the name of a header that is a part of an impersonation. */
export function isImpersonation(name: string): boolean {
  return name.toLowerCase().startsWith("impersonate-");
}

/** Returns `true` if the text can be a header value: one line, without blanks at its ends, which HTTP removes. */
export function isHeaderValue(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return !/[\x00-\x08\x0a-\x1f\x7f]/.test(text) && text.trim() === text && text.isWellFormed();
}

/** Encodes a header value: `Headers` takes one character for each byte, and the server decodes UTF-8. */
export function utf8AsLatin1(text: string): string {
  return Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join("");
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
