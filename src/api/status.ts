/** One cause of a failure. */
export interface StatusCause {
  /** A machine-readable word, such as `"ResourceVersionTooLarge"`. */
  readonly reason?: string;
  /** A human-readable sentence. */
  readonly message?: string;
  /** The field at fault, as a path. */
  readonly field?: string;
}

/** Details of a failure: the object, and the causes. */
export interface StatusDetails {
  /** Name of the object. */
  readonly name?: string;
  /** API group of the resource. */
  readonly group?: string;
  /** Resource or kind of the object. */
  readonly kind?: string;
  /** Uid of the object. */
  readonly uid?: string;
  /** The causes of the failure. */
  readonly causes?: readonly StatusCause[];
  /** The wait before a retry that the server asks for, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** A failure as the server describes it (Kubernetes `meta/v1` Status). */
export interface Status {
  /** HTTP status code. */
  readonly code: number;
  /** A machine-readable word: `"NotFound"`, `"Expired"`; `"Unknown"` when the server gave none. */
  readonly reason: string;
  /** A human-readable sentence. */
  readonly message: string;
  /** The wait before a retry that the server asks for, in seconds, from the body or the `Retry-After` header. */
  readonly retryAfterSeconds?: number;
  /** Details, where the server gives them. */
  readonly details?: StatusDetails;
  /** A new token after an expired continue token; it continues the list with inconsistent pages. */
  readonly continue?: string;
}

/** Returns the reason of a status code, for answers without one (client-go `NewGenericServerResponse`). */
export function reasonOf(code: number): string {
  return REASONS[code] ?? (code >= 500 ? "InternalError" : "Unknown");
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Converts a `Status` object of the server; missing fields are derived from `code`. */
export function statusFrom(value: unknown, code = 500): Status {
  const status = (value ?? {}) as {
    code?: unknown;
    reason?: unknown;
    message?: unknown;
    details?: StatusDetails;
    metadata?: { continue?: unknown };
  };
  const actual = typeof status.code === "number" && status.code > 0 ? status.code : code;
  const retryAfterSeconds = status.details?.retryAfterSeconds;
  const token = status.metadata?.continue;
  return {
    code: actual,
    reason: typeof status.reason === "string" && status.reason !== "" ? status.reason : reasonOf(actual),
    message: typeof status.message === "string" && status.message !== ""
      ? status.message
      : `the server answered ${actual}`,
    ...(typeof retryAfterSeconds === "number" && retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    ...(status.details ? { details: status.details } : {}),
    ...(typeof token === "string" && token !== "" ? { continue: token } : {}),
  };
}

/**
 * The upper limit of a wait that a server asks for, in milliseconds; it bounds the effect of a mistaken `Retry-After`.
 */
export const RETRY_AFTER_MAX_MS: number = 5 * 60_000;

/**
 * Returns the wait before a retry that the server asks for, in milliseconds, at most {@linkcode RETRY_AFTER_MAX_MS};
 * `undefined` when it asks for none.
 */
export function retryAfterMs(status: Status): number | undefined {
  const { retryAfterSeconds } = status;
  return retryAfterSeconds === undefined ? undefined : Math.min(retryAfterSeconds * 1_000, RETRY_AFTER_MAX_MS);
}
