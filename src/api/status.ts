/**
 * Errors that several rooms know, and the `Status` of a server.
 *
 * {@linkcode StatusError} is the entry point; `isNotFound` and similar functions classify it. Which error leads to
 * which recovery is decided in `reflector/transition.ts`, and which exit code it has in `cli/shared/explain_error.ts`.
 *
 * @module
 */
import { InformerError } from "../errors/informer_error.ts";
import type { ObjectKey } from "./object.ts";
export { messageOf } from "../errors/errors.ts";

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

/** A failure, or the confirmation of a deletion, as the server describes it (Kubernetes `meta/v1` Status). */
export interface ApiStatus {
  /** HTTP status code. */
  readonly code: number;
  /** A machine-readable word: `"NotFound"`, `"Expired"`; `"Success"` or `"Unknown"` when the server gave none. */
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
export function statusFrom(value: unknown, code = 500): ApiStatus {
  const status = (value ?? {}) as {
    status?: unknown;
    code?: unknown;
    reason?: unknown;
    message?: unknown;
    details?: StatusDetails;
    metadata?: { continue?: unknown };
  };
  const actual = typeof status.code === "number" && status.code > 0 ? status.code : code;
  const retryAfterSeconds = status.details?.retryAfterSeconds;
  const token = status.metadata?.continue;
  // kube-apiserver confirms a deletion without reason and message.
  const [reason, message] = status.status === "Success"
    ? ["Success", "the server accepted the request"]
    : [reasonOf(actual), `the server answered ${actual}`];
  return {
    code: actual,
    reason: typeof status.reason === "string" && status.reason !== "" ? status.reason : reason,
    message: typeof status.message === "string" && status.message !== "" ? status.message : message,
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
export function retryAfterMs(status: ApiStatus): number | undefined {
  const { retryAfterSeconds } = status;
  return retryAfterSeconds === undefined ? undefined : Math.min(retryAfterSeconds * 1_000, RETRY_AFTER_MAX_MS);
}

/** The API server answered a request with a failure. {@linkcode isNotFound} and similar functions classify it. */
export class StatusError extends InformerError {
  /** `"StatusError"`. */
  override readonly name = "StatusError";
  /** The failure as the server describes it. */
  readonly status: ApiStatus;

  /**
   * Creates an error about a failure.
   *
   * @param message The action that failed, and its reason.
   * @param status The failure as the server describes it.
   */
  constructor(message: string, status: ApiStatus, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Data from the server, or the result of a transform, is malformed. */
export class DecodeError extends InformerError {
  /** `"DecodeError"`. */
  override readonly name = "DecodeError";
  /** The key of the malformed object, where it could be read. */
  readonly key?: ObjectKey;

  /** Creates an error; `options` has its cause and the `key` of the malformed object. */
  constructor(message: string, options: ErrorOptions & { readonly key?: ObjectKey } = {}) {
    super(message, options);
    if (options.key !== undefined) this.key = options.key;
  }
}

/** The response does not come from an API server. The message says what to check. */
export class ForeignServerError extends DecodeError {}

/** An object is of another kind than the requested one. */
export class UnexpectedKindError extends DecodeError {
  /** The kind of the object. */
  readonly kind: string;

  /** Creates an error about an object of `kind`. */
  constructor(message: string, kind: string) {
    super(message);
    this.kind = kind;
  }
}

/** No credentials are available: a credential plugin failed, or returned credentials that cannot be used. */
export class CredentialsError extends InformerError {
  /** The name of the class. */
  override readonly name: string = "CredentialsError";
}

/**
 * The caches of a factory hold more than its option `maxBytes` allows, so that an informer has ended its list or watch.
 * Its cache stays readable.
 */
export class MemoryLimitError extends InformerError {
  /** `"MemoryLimitError"`. */
  override readonly name = "MemoryLimitError";
  /** The resource whose informer has ended its list or watch, `"pods"` or `"deployments.apps"`. */
  readonly resource: string;
  /** The bytes that all caches held then. */
  readonly total: number;
  /** The bytes that they may hold. */
  readonly maxBytes: number;

  /** Creates an error with its facts. */
  constructor(
    message: string,
    facts: { readonly resource: string; readonly total: number; readonly maxBytes: number },
  ) {
    super(message);
    this.resource = facts.resource;
    this.total = facts.total;
    this.maxBytes = facts.maxBytes;
  }
}

/** The server could not be reached, or stopped responding. */
export class UnreachableError extends InformerError {
  /** `"UnreachableError"`. */
  override readonly name = "UnreachableError";
}

/** Returns true when the resourceVersion or the continue token has expired on the server; the remedy is a new list. */
export function isExpired(error: unknown): error is StatusError {
  return error instanceof StatusError &&
    (error.status.code === 410 || error.status.reason === "Expired" || error.status.reason === "Gone");
}

/** Returns true when an update was refused because the object has changed since it was read. */
export function isConflict(error: unknown): error is StatusError {
  return is(error, 409, "Conflict");
}

/** Returns true when a create was refused because an object of that name exists. */
export function isAlreadyExists(error: unknown): error is StatusError {
  return error instanceof StatusError && error.status.reason === "AlreadyExists";
}

/** Returns true when the object, or the resource itself, does not exist on the server. */
export function isNotFound(error: unknown): error is StatusError {
  return is(error, 404, "NotFound");
}

/** Returns true when the server did not accept the credentials. For missing ones see {@linkcode CredentialsError}. */
export function isUnauthorized(error: unknown): error is StatusError {
  return is(error, 401, "Unauthorized");
}

/** Returns true when the user is not allowed to perform the request. */
export function isForbidden(error: unknown): error is StatusError {
  return is(error, 403, "Forbidden");
}

/** Returns true when the server asks clients to retry later: status code 429 or 503, with any reason. */
export function isThrottled(error: unknown): error is StatusError {
  return error instanceof StatusError && (error.status.code === 429 || error.status.code === 503);
}

/**
 * Returns true when the requested resourceVersion is newer than the server's state.
 *
 * Servers report it in one of three ways, depending on their age: a cause `ResourceVersionTooLarge`, a cause with the
 * message, or the message alone (client-go `isTooLargeResourceVersionError`).
 */
export function isTooLargeResourceVersion(error: unknown): error is StatusError {
  if (!(error instanceof StatusError)) return false;
  const { status } = error;
  if (status.details?.causes?.some((cause) => cause.reason === "ResourceVersionTooLarge")) return true;
  if (status.reason !== "Timeout" && status.code !== 504) return false;
  return status.message.includes("Too large resource version") ||
    (status.details?.causes?.some((cause) => cause.message === "Too large resource version") ?? false);
}

function is(error: unknown, code: number, reason: string): error is StatusError {
  if (!(error instanceof StatusError)) return false;
  const { status } = error;
  return status.reason === reason || (status.code === code && (status.reason === "Unknown" || status.reason === ""));
}

/**
 * Compares two versions of one collection: negative when `a` is older, positive when it is newer, 0 when equal.
 *
 * Versions are decimal numbers of any length, without leading zeros, so a longer one is newer. (Kubernetes guarantees
 * the order since 1.35, KEP-5504.)
 *
 * @throws {RangeError} when one of them is not such a number.
 */
export function compareResourceVersions(a: string, b: string): number {
  for (const version of [a, b]) {
    if (!isResourceVersion(version)) throw cannotOrder(version);
  }
  return order(a, b);
}

/** Creates the error for a version that has no order. */
export function cannotOrder(version: string): RangeError {
  return new RangeError(
    `Cannot order resource version "${version}": it must be a decimal number without leading zeros`,
  );
}

/** Returns true when a version can be compared: it is a decimal number without leading zeros. */
export function isResourceVersion(version: string): boolean {
  return /^(0|[1-9][0-9]*)$/.test(version);
}

/** Returns true when `a` is older than `b`; false when one of them cannot be compared. */
export function isOlder(a: string, b: string): boolean {
  return a !== b && order(a, b) < 0 && isResourceVersion(a) && isResourceVersion(b);
}

/**
 * Returns the oldest of several versions; `""` when one of them is `""`, or when they differ and one of them cannot be
 * compared.
 */
export function oldestVersion(versions: readonly string[]): string {
  let oldest = versions[0] ?? "";
  for (const version of versions) {
    if (version === oldest) continue;
    if (!isResourceVersion(version) || !isResourceVersion(oldest)) return "";
    if (order(version, oldest) < 0) oldest = version;
  }
  return oldest;
}

function order(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
