import { badRequest } from "../http/refusal.ts";

/** The position after a page. */
export interface ContinueToken {
  /** Revision of the list; -1 for the current one, which makes the list inconsistent. */
  readonly revision: number;
  /** First key of the next page, relative to the listed namespace. */
  readonly start: string;
}

/** Formats a token like kube-apiserver: JSON in base64url, without padding. */
export function formatContinueToken({ revision, start }: ContinueToken): string {
  // The last character of `start` is U+0000: the first possible key after the last one of the page.
  const json = JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start });
  return btoa(String.fromCharCode(...new TextEncoder().encode(json))).replaceAll("+", "-").replaceAll("/", "_").replace(
    /=+$/,
    "",
  );
}

/**
 * Parses a token.
 *
 * @throws {StatusError} 400 if it is invalid.
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
