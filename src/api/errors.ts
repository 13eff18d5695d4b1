import { InformerError } from "../errors/informer_error.ts";
import type { ObjectKey } from "./key.ts";
import type { Status } from "./status.ts";

export { messageOf } from "../errors/error_line.ts";

/** The API server answered a request with a failure. {@linkcode isNotFound} and similar functions classify it. */
export class StatusError extends InformerError {
  /** `"StatusError"`. */
  override readonly name = "StatusError";
  /** The failure as the server describes it. */
  readonly status: Status;

  /**
   * Creates an error about a failure.
   *
   * @param message The action that failed, and its reason.
   * @param status The failure as the server describes it.
   */
  constructor(message: string, status: Status, options?: ErrorOptions) {
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
