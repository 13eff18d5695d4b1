/**
 * Admission requests as handlers see them, and how a handler refuses one.
 *
 * {@linkcode ValidateRequest}, {@linkcode MutateRequest} and {@linkcode refuse} are the entry points. The class
 * {@linkcode AdmissionReview} reads a request, and writes the response. It calls no handlers, and reads no HTTP.
 *
 * @module
 */
import { exactJson, markAs, withLiterals } from "../../engine/api/large_integers.ts";
import { base64Of, keyOf } from "../../engine/api/object.ts";
import { type Resource, resourceName } from "../../engine/api/resource.ts";
import { reasonOf, type StatusCause } from "../../engine/api/status.ts";
import type { Mutable } from "../../engine/api/written.ts";
import { refusal, statusJson } from "../../engine/protocol/refusal.ts";
import { quoted } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { cloneJson, isList, isObject, type JsonObject } from "../../engine/api/json.ts";
import { memberAt, objectOr, textOf, textsOf } from "../../engine/api/members.ts";
import { patchOf } from "./json_patch.ts";

/** What a user wants to do with an object. */
export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** The user whose request is reviewed. */
export interface AdmissionUser {
  /** The name: `"system:serviceaccount:shop:operator"`. */
  readonly name: string;
  /** The uid, or `""` if the user has none. */
  readonly uid: string;
  /** The groups: `["system:authenticated"]`. */
  readonly groups: readonly string[];
  /** More facts from the authenticator, each a list of texts. */
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The parts that all admission requests have. */
export interface ReviewRequest {
  /** The uid of this request. */
  readonly uid: string;
  /** The object's name, or `""` if the server makes one from `generateName` later. */
  readonly name: string;
  /** The object's namespace, or `undefined` for a cluster-scoped object. */
  readonly namespace: string | undefined;
  /** The subresource, `"status"`, or `undefined` for the object itself. */
  readonly subresource: string | undefined;
  /** `true` if nothing will be stored. Have no side effects then. */
  readonly dryRun: boolean;
  /** The user. */
  readonly user: AdmissionUser;
  /** The options of the user's request, such as `CreateOptions`, if it has any. */
  readonly options: { readonly [name: string]: unknown } | undefined;
  /** Aborts when the API server no longer waits for the response. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  /**
   * Warns the user, also if you refuse the request. `kubectl` prints the text. A text is cut to 256 characters, and all
   * texts together to 4,096, because the API server drops more.
   */
  warn(text: string): void;
}

/** The objects of an admission request, by its operation. */
export interface AdmissionObjects<T> {
  /** The object to create. Before validation it may lack what the server sets, such as its uid. */
  readonly CREATE: { readonly operation: "CREATE"; readonly object: T; readonly old?: undefined };
  /** The object as it is to be, and as it is stored. */
  readonly UPDATE: { readonly operation: "UPDATE"; readonly object: T; readonly old: T };
  /** The object to delete. */
  readonly DELETE: { readonly operation: "DELETE"; readonly object?: undefined; readonly old: T };
  /** The options of the connection, such as `PodExecOptions`. */
  readonly CONNECT: {
    readonly operation: "CONNECT";
    readonly object: { readonly [name: string]: unknown };
    readonly old?: undefined;
  };
}

/**
 * A request to validate. `operation` says which objects it has: a CREATE has `object`, an UPDATE also has `old`, and a
 * DELETE only has `old`.
 */
export type ValidateRequest<T, O extends AdmissionOperation = "CREATE" | "UPDATE"> =
  & ReviewRequest
  & AdmissionObjects<T>[O];

/** A request to mutate. Change `draft`, a copy of `object`: the difference becomes the JSON patch of the response. */
export type MutateRequest<T, O extends "CREATE" | "UPDATE" = "CREATE" | "UPDATE"> = ValidateRequest<T, O> & {
  /** The object, to be changed. */
  readonly draft: Mutable<T>;
};

/** The details of a refusal by {@linkcode refuse}. */
export interface RefuseOptions {
  /** What is wrong, by field: `{ field: "spec.image", message: "must have a tag" }`. `kubectl` prints each. */
  readonly causes?: readonly StatusCause[];
  /** The HTTP status code for the user, from 400 to 599. @default {403, or 422 with causes} */
  readonly code?: number;
  /** The machine-readable reason. @default {by the code: "Forbidden", "Invalid"} */
  readonly reason?: string;
}

/** A deliberate refusal, which {@linkcode refuse} creates. Other errors count as failures of the handler. */
export class AdmissionError extends InformerError {
  /** `"AdmissionError"`. */
  override readonly name = "AdmissionError";
  /** The HTTP status code for the user. */
  readonly code: number;
  /** The machine-readable reason. */
  readonly reason: string;
  /** What is wrong, by field. */
  readonly causes: readonly StatusCause[];

  /** Creates a refusal. See {@linkcode refuse}. */
  constructor(message: string, options: RefuseOptions = {}) {
    checkNames("refuse a request", options, "causes code reason");
    const { causes = [], code = causes.length > 0 ? 422 : 403, reason = reasonOf(code) } = options;
    if (!(code >= 400 && code < 600)) {
      throw new RangeError(`Cannot refuse a request: the code must be from 400 to 599, but it is ${code}`);
    }
    super(message);
    this.code = code;
    this.reason = reason;
    this.causes = causes;
  }
}

/**
 * Returns the error with which a handler refuses a request. Throw it, or return it. The user sees the message after
 * `admission webhook "NAME" denied the request:`.
 *
 * Only this error refuses. If a handler throws anything else, e.g. because a lookup fails, the `failurePolicy` of the
 * webhook decides.
 *
 * @throws {RangeError} if the code is not from 400 to 599.
 *
 * @example
 * ```ts
 * import { AdmissionError, refuse } from "@kube/informer/webhooks";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const check = (image: string) => {
 *   if (image.includes(":")) return;
 *   throw refuse("the image has no tag", { causes: [{ field: "spec.image", message: "must have a tag" }] });
 * };
 * assertEquals(assertThrows(() => check("nginx"), AdmissionError).code, 422);
 * ```
 */
export function refuse(message: string, options?: RefuseOptions): AdmissionError {
  return new AdmissionError(message, options);
}

/** The longest warning, and the longest sum of warnings, that the API server passes on, in characters. */
const WARNING_LENGTHS = { one: 256, all: 4_096 };

/** The longest key of an object: two names of 253 and 63 letters, and a slash. */
const MAX_KEY = 317;

/** What a webhook reviews. */
interface Reviewed {
  readonly kind: Resource;
  readonly operations: readonly AdmissionOperation[];
  readonly mutates: boolean;
}

/** The review of one request. */
export class AdmissionReview {
  /** The argument of the handler. */
  readonly request: ReviewRequest;
  /** Names the request in errors: `CREATE of Website "shop/blog"`. */
  readonly subject: string;
  readonly #kind: Resource;
  readonly #object: JsonObject | undefined;
  readonly #draft: JsonObject | undefined;
  readonly #warnings = new Warnings();

  /** Reads the request of a review. @throws {StatusError} 400 if the webhook does not review it. */
  constructor(given: JsonObject, { kind, operations, mutates }: Reviewed, signal: AbortSignal) {
    checkRequest(given, kind, operations);
    const { uid, operation, options, dryRun } = given;
    this.#kind = kind;
    this.#object = operation === "DELETE" ? undefined : objectIn(given, "object");
    const old = operation === "UPDATE" || operation === "DELETE" ? objectIn(given, "oldObject") : undefined;
    this.#draft = mutates ? markAs(this.#object, cloneJson(this.#object)) : undefined;
    const name = textOf(given.name) || textOf(memberAt(this.#object ?? old, "metadata", "name"));
    const namespace = textOf(given.namespace) || undefined;
    this.subject = `${operation} of ${kind.kind} "${quoted(keyOf({ metadata: { name, namespace } }), MAX_KEY)}"`;
    const { username, groups, uid: userId, extra } = objectOr(given.userInfo);
    const request: ReviewRequest & { readonly [Name in "operation" | "object" | "old" | "draft"]?: unknown } = {
      uid: textOf(uid),
      operation,
      object: this.#object,
      old,
      name,
      namespace,
      subresource: textOf(given.subResource) || undefined,
      dryRun: dryRun === true,
      user: { name: textOf(username), uid: textOf(userId), groups: textsOf(groups), extra: objectOr(extra) as Lists },
      options: isObject(options) ? options : undefined,
      signal,
      warn: (text: string): void => this.#warnings.add(text),
      ...mutates && { draft: this.#draft },
    };
    this.request = request;
  }

  /** Returns the response that refuses the request, or allows it with the changes of the draft. */
  response(refused?: AdmissionError): { readonly response: JsonObject; readonly isPatched: boolean } {
    const { texts } = this.#warnings;
    const { uid } = this.request;
    const common = { uid, allowed: refused === undefined, ...texts.length > 0 && { warnings: texts } };
    if (refused !== undefined) {
      return { response: { ...common, status: this.#status(refused) as unknown as JsonObject }, isPatched: false };
    }
    const patch = this.#draft === undefined ? [] : patchOf(this.#object, this.#draft);
    if (patch.length === 0) return { response: common, isPatched: false };
    const text = exactJson(withLiterals(this.#object, patch));
    return { response: { ...common, patchType: "JSONPatch", patch: base64Of(text) }, isPatched: true };
  }

  /** Returns the Status of a refusal. Its details name the object, so that kubectl prints all causes. */
  #status({ message, code, reason, causes }: AdmissionError): object {
    const { group, kind } = this.#kind;
    const listed = causes.map((cause) => ({ reason: "FieldValueInvalid", ...cause }));
    const details = { name: quoted(this.request.name, MAX_KEY), group, kind, causes: listed };
    return statusJson(refusal(code, message, { reason, details: causes.length > 0 ? details : undefined }).status);
  }
}

type Lists = AdmissionUser["extra"];

/** @throws {StatusError} 400 if a webhook for this kind does not review the request. */
function checkRequest(given: JsonObject, kind: Resource, operations: readonly AdmissionOperation[]): void {
  const check = (isRight: boolean, what: string, expected: string, ...found: readonly unknown[]): void => {
    if (isRight) return;
    throw refusal(400, `the review's ${what} must be ${expected}, but it is ${found.map(shown).join(", ")}`);
  };
  const { uid, operation, subResource } = given;
  const { group, version, resource } = objectOr(given.resource);
  check(typeof uid === "string", "uid", "a string", uid);
  check(operations.some((it) => it === operation), "operation", operations.join(" or "), operation);
  const isResource = group === kind.group && version === kind.version && resource === kind.plural;
  check(isResource, "resource", `${resourceName(kind)} in ${kind.version}`, resource, group, version);
  // Other subresources have objects of another kind, and a connection has options.
  const hasKind = ["", "status"].includes(textOf(subResource)) && operation !== "CONNECT";
  const own = objectOr(given.kind).kind;
  check(!hasKind || own === kind.kind, "kind", `"${kind.kind}"`, own);
}

/** Describes a value of a stranger in few letters: an object or a list may be large, and is not written. */
function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) return isList(value) ? "a list" : "an object";
  return value === undefined ? "absent" : JSON.stringify(typeof value === "string" ? quoted(value) : value);
}

function objectIn({ operation, ...given }: JsonObject, name: "object" | "oldObject"): JsonObject {
  const value = given[name];
  if (isObject(value)) return value;
  throw refusal(400, `the review of ${operation} must have ${name}`);
}

/** Collects warnings up to the API server's limits. */
class Warnings {
  readonly texts: string[] = [];
  #room = WARNING_LENGTHS.all;

  /** Adds a text without control characters, cut to what there is room for. */
  add(text: string): void {
    const most = Math.min(WARNING_LENGTHS.one, this.#room);
    const line = Array.from(text.toWellFormed().replaceAll(/\p{Cc}+/gu, " ").trim());
    if (line.length === 0 || most === 0) return;
    const cut = line.length > most ? [...line.slice(0, most - 1), "…"] : line;
    this.#room -= cut.length;
    this.texts.push(cut.join(""));
  }
}
