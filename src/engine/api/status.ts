/**
 * Errors that several rooms use, and the server's `Status` object.
 *
 * {@linkcode StatusError} is the entry point, and `isNotFound` and similar functions classify it.
 * `reflector/transition.ts` decides how to recover from each error, and `cli/shared/explain_error.ts` decides the exit
 * code.
 *
 * @module
 */
import { ValueError } from "../errors/checks.ts";
import { causesOf, withoutSecrets, withSentence } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { ObjectKey } from "./object.ts";
export { messageOf } from "../errors/errors.ts";

/** One cause for a failure. */
export interface StatusCause {
  /** A machine-readable word, such as `"ResourceVersionTooLarge"`. */
  readonly reason?: string;
  /** A human-readable sentence. */
  readonly message?: string;
  /** The path to the wrong field. */
  readonly field?: string;
}

/** Details about a failure: the object, and the causes. */
export interface StatusDetails {
  /** The object's name. */
  readonly name?: string;
  /** The resource's API group. */
  readonly group?: string;
  /** The object's resource or kind. */
  readonly kind?: string;
  /** The object's uid. */
  readonly uid?: string;
  /** The causes. */
  readonly causes?: readonly StatusCause[];
  /** How long to wait before a retry, as the server asks, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** The server's description of a failure, or its confirmation of a deletion (Kubernetes `meta/v1` Status). */
export interface ApiStatus {
  /** HTTP status code. */
  readonly code: number;
  /**
   * A machine-readable word: `"NotFound"`, `"Expired"`. If the server gave none, it is derived from the code, for
   * example `"Success"` or `"Unknown"`.
   */
  readonly reason: string;
  /** A human-readable sentence. */
  readonly message: string;
  /**
   * How long to wait before a retry, as the server asks, in seconds. It comes from the body or the `Retry-After`
   * header.
   */
  readonly retryAfterSeconds?: number;
  /** Details, if the server gives any. */
  readonly details?: StatusDetails;
  /** A new token after a continue token has expired. It continues the list with inconsistent pages. */
  readonly continue?: string;
}

/** Returns the reason for a status code, for responses without a reason (client-go `NewGenericServerResponse`). */
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

/** Converts the server's `Status` object. Missing fields are derived from `code`. */
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
  const details = detailsFrom(status.details);
  const retryAfterSeconds = details?.retryAfterSeconds;
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
    ...(details === undefined ? {} : { details }),
    ...(typeof token === "string" && token !== "" ? { continue: token } : {}),
  };
}

/** How many causes an error's message has at most. The error's `status` has all. */
const SHOWN_CAUSES = 5;

/** Returns the server's message for a failure, followed by the causes that it does not contain, each once. */
export function statusMessage({ message, details }: ApiStatus): string {
  const texts = (details?.causes ?? []).filter((cause) => cause.message && !message.includes(cause.message))
    .map(({ field, message }) => field ? `${field}: ${message}` : message);
  const unsaid = [...new Set(texts)];
  if (unsaid.length === 0) return message;
  const more = unsaid.length > SHOWN_CAUSES ? `; and ${unsaid.length - SHOWN_CAUSES} more causes` : "";
  return withSentence(message, unsaid.slice(0, SHOWN_CAUSES).join("; ") + more);
}

/** Returns a failure in one sentence or more: its code, its reason and its message with all causes. */
export function statusText(status: ApiStatus): string {
  return `${status.code} ${status.reason}: ${statusMessage(status)}`;
}

/** Returns details that are an object, with causes only if they are a list of objects. */
function detailsFrom(details: unknown): StatusDetails | undefined {
  if (typeof details !== "object" || details === null) return undefined;
  const { causes, ...rest } = details as StatusDetails;
  if (!Array.isArray(causes)) return rest;
  return { ...rest, causes: causes.filter((cause) => typeof cause === "object" && cause !== null) };
}

/** Characters that control a terminal, or hide text. */
const CONTROLS = /(?![\t\n])[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Redacts `secrets` in an error with a server's text, and in its causes, because servers and proxies may repeat what
 * they were sent. Characters that control a terminal are escaped. Returns the same error.
 */
export function cleanError<E>(error: E, secrets: readonly string[]): E {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const clean = (text: string): string => withoutSecrets(text, secrets).replace(CONTROLS, escaped);
  for (const cause of causesOf(error)) {
    if (!(cause instanceof Error)) continue;
    cause.message = clean(cause.message);
    if (cause.stack !== undefined) cause.stack = clean(cause.stack);
    if (!(cause instanceof StatusError)) continue;
    const status = JSON.parse(
      JSON.stringify(cause.status),
      (_, value) => typeof value === "string" ? clean(value) : value,
    );
    Object.assign(cause, { status });
  }
  return error;
}

/** The longest wait that a server can ask for, in milliseconds. It limits the effect of a mistaken `Retry-After`. */
export const RETRY_AFTER_MAX_MS: number = 5 * 60_000;

/**
 * Returns how long the server asks to wait before a retry, in milliseconds, at most {@linkcode RETRY_AFTER_MAX_MS}.
 * Returns `undefined` if it asks for no wait.
 */
export function retryAfterMs(status: ApiStatus): number | undefined {
  const { retryAfterSeconds } = status;
  return retryAfterSeconds === undefined ? undefined : Math.min(retryAfterSeconds * 1_000, RETRY_AFTER_MAX_MS);
}

/** Status codes of temporary refusals: a request timeout, a conflict, too many requests. */
const TEMPORARY = [408, 409, 429];

/** Returns `true` if the server refuses the request, and will refuse it again. */
export function isRefusedForGood(error: unknown): boolean {
  const { code } = error instanceof StatusError ? error.status : { code: 0 };
  return code >= 300 && code < 500 && !TEMPORARY.includes(code);
}

/**
 * Thrown when the API server responds with a failure. Classify it with {@linkcode isNotFound} and similar functions
 * instead of its message.
 */
export class StatusError extends InformerError {
  /** `"StatusError"`. */
  override readonly name = "StatusError";
  /** The server's description of the failure. */
  readonly status: ApiStatus;
  /** `"discovery"` if no kind could be discovered. Absent if another request failed. */
  declare readonly reason?: "discovery";

  /**
   * Creates an error.
   *
   * @param message The action that failed, and its reason.
   * @param status The server's description of the failure.
   */
  constructor(message: string, status: ApiStatus, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Thrown when data from the server, or a transform's result, is malformed. */
export class DecodeError extends InformerError {
  /** `"DecodeError"`. */
  override readonly name = "DecodeError";
  /** The malformed object's key, if it could be read. */
  readonly key?: ObjectKey;
  /** As {@linkcode StatusError.reason}. */
  declare readonly reason?: "discovery";

  /** Creates an error. `options` has its cause and the malformed object's `key`. */
  constructor(message: string, options: ErrorOptions & { readonly key?: ObjectKey } = {}) {
    super(message, options);
    if (options.key !== undefined) this.key = options.key;
  }
}

/** Thrown when a list has no version from which a watch could start: the kind is polled. */
export class UnversionedError extends DecodeError {}

/** Thrown when the response does not come from an API server. The message says what to check. */
export class ForeignServerError extends DecodeError {}

/** Thrown when an object does not have the requested kind. */
export class UnexpectedKindError extends DecodeError {
  /** The object's kind. */
  readonly kind: string;

  /** Creates an error about an object whose kind is `kind`. */
  constructor(message: string, kind: string) {
    super(message);
    this.kind = kind;
  }
}

/** Thrown when there are no credentials: a credential plugin failed, or returned unusable credentials. */
export class CredentialsError extends InformerError {
  /** The class name. */
  override readonly name: string = "CredentialsError";
}

/**
 * Reported when a factory's caches hold more than its option `maxBytes` allows, and an informer has ended its list or
 * watch. You can still read the informer's cache.
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

/** Thrown when the server cannot be reached, or has stopped responding. */
export class UnreachableError extends InformerError {
  /** `"UnreachableError"`. */
  override readonly name = "UnreachableError";
}

/** Returns `true` if the resourceVersion or continue token has expired on the server. Send a new list. */
export function isExpired(error: unknown): error is StatusError {
  return error instanceof StatusError &&
    (error.status.code === 410 || error.status.reason === "Expired" || error.status.reason === "Gone");
}

/** Returns `true` if the server refused an update because the object has changed since you read it. */
export function isConflict(error: unknown): error is StatusError {
  return is(error, 409, "Conflict");
}

/** Returns `true` if the server refused a create because an object with that name exists. */
export function isAlreadyExists(error: unknown): error is StatusError {
  return error instanceof StatusError && error.status.reason === "AlreadyExists";
}

/** Returns `true` if the object, or the resource itself, does not exist on the server. */
export function isNotFound(error: unknown): error is StatusError {
  return is(error, 404, "NotFound");
}

/**
 * Returns `true` if the server did not accept the credentials. If there are none, you get a
 * {@linkcode CredentialsError}.
 */
export function isUnauthorized(error: unknown): error is StatusError {
  return is(error, 401, "Unauthorized");
}

/** Returns `true` if the user is not allowed to send the request. */
export function isForbidden(error: unknown): error is StatusError {
  return is(error, 403, "Forbidden");
}

/**
 * Returns `true` if the server refused to create an object because its namespace is being deleted. The owner is deleted
 * soon, too.
 */
export function isNamespaceTerminating(error: unknown): error is StatusError {
  return isForbidden(error) && !!error.status.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating");
}

/** Returns `true` if the server asks you to retry later: status code 429 or 503, with any reason. */
export function isThrottled(error: unknown): error is StatusError {
  return error instanceof StatusError && (error.status.code === 429 || error.status.code === 503);
}

/**
 * Returns `true` if the requested resourceVersion is newer than the server's state.
 *
 * Servers report it in one of three ways, depending on their age: a cause `ResourceVersionTooLarge`, a cause with the
 * message, or only the message (client-go `isTooLargeResourceVersionError`).
 */
export function isTooLargeResourceVersion(error: unknown): error is StatusError {
  if (!(error instanceof StatusError)) return false;
  const { status } = error;
  if (status.details?.causes?.some((cause) => cause.reason === "ResourceVersionTooLarge")) return true;
  if (status.reason !== "Timeout" && status.code !== 504) return false;
  // Words of kube-apiserver: older ones send no reason.
  return status.message.includes("Too large resource version") ||
    (status.details?.causes?.some((cause) => cause.message === "Too large resource version") ?? false);
}

function is(error: unknown, code: number, reason: string): error is StatusError {
  if (!(error instanceof StatusError)) return false;
  const { status } = error;
  return status.reason === reason || (status.code === code && (status.reason === "Unknown" || status.reason === ""));
}

/**
 * Compares two versions from one collection: negative if `a` is older, positive if it is newer, 0 if they are equal.
 * Use it to find out which object is newer.
 *
 * Versions are decimal numbers with any length and without leading zeros, so a longer version is newer. (Kubernetes
 * guarantees the order since 1.35, KEP-5504.)
 *
 * @throws {RangeError} if a version is not such a number.
 */
export function compareResourceVersions(a: string, b: string): number {
  for (const version of [a, b]) if (!isResourceVersion(version)) throw cannotOrder(version);
  return order(a, b);
}

/** Creates the error for a version that has no order. */
export function cannotOrder(version: string): RangeError {
  return new ValueError(
    `Cannot order resource version "${version}": it must be a decimal number without leading zeros`,
  );
}

/** Returns `true` if a version can be compared: it is a decimal number without leading zeros. */
export function isResourceVersion(version: string): boolean {
  return /^(0|[1-9][0-9]*)$/.test(version);
}

/** Returns `true` if `a` is older than `b`. Returns `false` if either version cannot be compared. */
export function isOlder(a: string, b: string): boolean {
  return a !== b && order(a, b) < 0 && isResourceVersion(a) && isResourceVersion(b);
}

/** Returns the oldest version. Returns `""` if a version is `""`, or if they differ and one cannot be compared. */
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
