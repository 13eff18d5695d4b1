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
