/**
 * Secrets, tokens and credentials that do not change, which are checked without being shown.
 *
 * {@linkcode Secret}, {@linkcode termOfToken} and {@linkcode FixedLogin} are the entry points. It verifies no signature
 * and reads no file.
 *
 * @module
 */
import { decoder } from "../../../engine/api/object.ts";
import { REDACTED } from "../../../engine/errors/errors.ts";

/** The method that Deno and Node call to print an object. */
const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/** An object that hides its content when it is printed, concatenated or serialized. */
export abstract class Redacted {
  /** Always `"[redacted]"`. */
  toString(): string {
    return REDACTED;
  }

  /** Always `"[redacted]"`. */
  toJSON(): string {
    return REDACTED;
  }

  /** Printed by consoles: always `"[redacted]"`. */
  [INSPECT](): string {
    return REDACTED;
  }
}

/** A secret text; only {@linkcode Secret.reveal} returns it. */
export class Secret extends Redacted {
  readonly #text: string;

  /** Wraps `text`. */
  constructor(text: string) {
    super();
    this.#text = text;
  }

  /** Returns the text. */
  reveal(): string {
    return this.#text;
  }
}

/** A validity period, in milliseconds since 1970. */
export interface Term {
  /** Not before this. @default {any time} */
  readonly fromMs?: number;
  /** Not after this. */
  readonly untilMs: number;
}

/**
 * Returns the validity period of a bearer token, if it is a JSON Web Token that states it (RFC 7519 4.1). The signature
 * is not verified.
 */
export function termOfToken(token: string): Term | undefined {
  const [, payload] = token.split(".");
  if (payload === undefined || token.split(".").length !== 3) return undefined;
  let claims: { readonly exp?: unknown; readonly nbf?: unknown; readonly iat?: unknown };
  try {
    claims = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    // Not a JSON Web Token, though it has two dots.
    return undefined;
  }
  if (typeof claims?.exp !== "number") return undefined;
  const from = [claims.nbf, claims.iat].find((claim) => typeof claim === "number");
  return { untilMs: claims.exp * 1_000, ...(typeof from === "number" && { fromMs: from * 1_000 }) };
}

/**
 * Returns the problem with a bearer token, to follow its name in a sentence; `undefined` if it can be sent. Never
 * quotes the token.
 */
export function tokenProblem(token: string): string | undefined {
  if (token === "") return "is empty";
  return /^[\x21-\x7e]+$/.test(token)
    ? undefined
    : "holds blanks, line ends or characters beyond ASCII, which no token has";
}

/** Decodes the text in a `-data` field; returns `undefined` if it is not base64. */
export function decodeBase64(data: string): string | undefined {
  const bytes = base64Bytes(data);
  return bytes === undefined ? undefined : decoder.decode(bytes);
}

/** Decodes base64 with or without line ends; returns `undefined` if it is not base64. */
export function base64Bytes(base64: string): Uint8Array<ArrayBuffer> | undefined {
  const plain = base64.replaceAll(/\s/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain) || plain.length % 4 !== 0) return undefined;
  return Uint8Array.from(atob(plain), (character) => character.charCodeAt(0));
}

/** A header that does not change. Prints as `[redacted]`. */
export class FixedLogin extends Redacted {
  readonly #header: string;

  private constructor(header: string) {
    super();
    this.#header = header;
  }

  /** A bearer token. @throws {TypeError} when it cannot be sent in a header. */
  static bearer(token: string): FixedLogin {
    const problem = tokenProblem(token);
    if (problem !== undefined) throw new TypeError(`Cannot use token: it ${problem}`);
    return new FixedLogin(`Bearer ${token}`);
  }

  /** Sets `Authorization`, unless the request has one already. Returns `false`: a refresh finds nothing new. */
  apply(headers: Headers): false {
    if (!headers.has("authorization")) headers.set("authorization", this.#header);
    return false;
  }
}
