import { badRequest } from "../http/refusal.ts";

/** Where a page ended. */
export interface ContinueToken {
  /** The revision of the whole list; -1: the newest, at the price of an inconsistent list. */
  readonly revision: number;
  /** The first key of the next page, below the namespace where one was listed. */
  readonly start: string;
}

/** Writes a token as the server does: JSON in base64 for addresses, without padding. */
export function formatContinueToken({ revision, start }: ContinueToken): string {
  // The last character of a start is U+0000: the first possible key behind the last one of the page.
  const json = JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start });
  return btoa(String.fromCharCode(...new TextEncoder().encode(json))).replaceAll("+", "-").replaceAll("/", "_").replace(
    /=+$/,
    "",
  );
}

/**
 * Reads a token.
 *
 * @throws {StatusError} 400 when it is none.
 */
export function parseContinueToken(text: string): ContinueToken {
  const { v, rv, start } = decode(text);
  if (v !== "meta.k8s.io/v1" || typeof rv !== "number" || typeof start !== "string" || rv === 0) {
    throw badRequest(
      `invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version ${v})`,
    );
  }
  // Tokens of the watch cache begin with a slash, those of etcd do not.
  return { revision: rv, start: start.startsWith("/") ? start.slice(1) : start };
}

function decode(text: string): { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown } {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (byte) => byte.charCodeAt(0));
    return Object(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (error) {
    throw badRequest(`invalid continue token: continue key is not valid: ${(error as Error).message}`);
  }
}
