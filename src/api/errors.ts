import type { ObjectKey } from "./key.ts";
import type { Status } from "./status.ts";

/** The API server answered, and the answer was no. */
export class StatusError extends Error {
  /** `"StatusError"`. */
  override readonly name = "StatusError";
  /** The server's explanation. */
  readonly status: Status;

  /** An error that says what was asked, and carries what came back. */
  constructor(message: string, status: Status, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Something that came from the server, or out of a transform, is not what it says it is. */
export class DecodeError extends Error {
  /** `"DecodeError"`. */
  override readonly name = "DecodeError";
  /** The object concerned, where that much could be read. */
  readonly key?: ObjectKey;

  /** An error about the object `key`, or about a whole body. */
  constructor(message: string, options: ErrorOptions & { readonly key?: ObjectKey } = {}) {
    super(message, options);
    if (options.key !== undefined) this.key = options.key;
  }
}

/** An object is of another kind than the one asked for. */
export class UnexpectedKindError extends DecodeError {
  /** The kind it has. */
  readonly kind: string;

  /** An error about an object of `kind`. */
  constructor(message: string, kind: string) {
    super(message);
    this.kind = kind;
  }
}

/** The message of an error, or the text of any other value that was thrown. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "a value that has no text"; // an object without a prototype, for example
  }
}

/** There are no credentials to ask with: a plugin failed, or what it gave is of no use. */
export class CredentialsError extends Error {
  /** The name of the class. */
  override readonly name: string = "CredentialsError";
}

/** The server could not be reached, or stopped answering. */
export class UnreachableError extends Error {
  /** `"UnreachableError"`. */
  override readonly name = "UnreachableError";
}

/** The version, or the continue token, is no longer in the server's history: list again. */
export function isExpired(error: unknown): error is StatusError {
  return error instanceof StatusError &&
    (error.status.code === 410 || error.status.reason === "Expired" || error.status.reason === "Gone");
}

/** The object was changed by somebody else since it was read. */
export function isConflict(error: unknown): error is StatusError {
  return is(error, 409, "Conflict");
}

/** The object is there already. */
export function isAlreadyExists(error: unknown): error is StatusError {
  return error instanceof StatusError && error.status.reason === "AlreadyExists";
}

/** The object, or the whole resource, is not there. */
export function isNotFound(error: unknown): error is StatusError {
  return is(error, 404, "NotFound");
}

/** The server does not know who asks. See {@linkcode CredentialsError} for who has nothing to be known by. */
export function isUnauthorized(error: unknown): error is StatusError {
  return is(error, 401, "Unauthorized");
}

/** Who asks may not do that. */
export function isForbidden(error: unknown): error is StatusError {
  return is(error, 403, "Forbidden");
}

/** The server asks to be left alone for a while: 429 whatever the reason, or 503. */
export function isThrottled(error: unknown): error is StatusError {
  return error instanceof StatusError && (error.status.code === 429 || error.status.code === 503);
}

/**
 * The server has not seen the version asked for yet. It says so in three ways, by age: a cause `ResourceVersionTooLarge`,
 * a cause with that message, the message alone (client-go `isTooLargeResourceVersionError`).
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
