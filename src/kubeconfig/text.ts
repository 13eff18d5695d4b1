import { REDACTED } from "../errors/errors.ts";
import { nearest } from "../errors/nearest_name.ts";

/** Returns the type of an invalid value, for messages; never the value itself, which may be a credential. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}

/** Returns `true` for an object with fields, not for null or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Quotes a name for a message, shortened to 80 characters. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
}

/** Quotes names for a message, `"a", "b"`: the first ten, in their order. */
export function quoteAll(names: Iterable<string>): string {
  const all = [...names];
  const shown = all.slice(0, 10).map(quote).join(", ");
  return all.length > 10 ? `${shown} and ${all.length - 10} more` : shown;
}

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

/** Returns ` (did you mean "prod"?)` if one of the candidates is similar to the name, else an empty text. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  const found = nearest(name, candidates);
  return found === undefined ? "" : ` (did you mean ${quote(found)}?)`;
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
