/** One of several reasons of a failure. */
export interface StatusCause {
  /** A word for programs, `"ResourceVersionTooLarge"`. */
  readonly reason?: string;
  /** A sentence for people. */
  readonly message?: string;
  /** The field at fault, as a path. */
  readonly field?: string;
}

/** What a failure is about. */
export interface StatusDetails {
  /** Name of the object. */
  readonly name?: string;
  /** API group of the resource. */
  readonly group?: string;
  /** The resource or kind. */
  readonly kind?: string;
  /** The object it was about. */
  readonly uid?: string;
  /** More reasons. */
  readonly causes?: readonly StatusCause[];
  /** How long the server asks to be left alone, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** The server's explanation of a failure. */
export interface Status {
  /** HTTP status code. */
  readonly code: number;
  /** A word for programs: `"NotFound"`, `"Expired"`; `"Unknown"` when the server gave none. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  /** How long the server asks to be left alone, in seconds: from the body or the `Retry-After` header. */
  readonly retryAfterSeconds?: number;
  /** What it is about, where the server says. */
  readonly details?: StatusDetails;
  /** With an expired continue token: another one, that goes on with an inconsistent list. */
  readonly continue?: string;
}

/** The reason that belongs to a status code when the server gives none (client-go `NewGenericServerResponse`). */
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

/** Reads a `Status` object as the server writes it; what is missing is filled in from `code`. */
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

/** The longest wait that a server can ask for, in milliseconds: a mistaken `Retry-After` must not stop a client for a day. */
export const RETRY_AFTER_MAX_MS: number = 5 * 60_000;

/** How long the server asks to wait before another request, in milliseconds, at most 5 minutes; `undefined` when it does not. */
export function retryAfterMs(status: Status): number | undefined {
  const { retryAfterSeconds } = status;
  return retryAfterSeconds === undefined ? undefined : Math.min(retryAfterSeconds * 1_000, RETRY_AFTER_MAX_MS);
}
