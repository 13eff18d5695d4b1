/**
 * One admission webhook: whether it is asked about a write, the review that it gets, and what its answer means.
 *
 * {@linkcode askedIn} and {@linkcode call} are the entry points. The order of webhooks is in `webhooks.ts`. Only
 * JSON patches are applied, and audit annotations are ignored.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import { defined, isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { objectOr, objectsOf, textOf, textsOf } from "../../../engine/api/members.ts";
import { apiVersionOf } from "../../../engine/api/resource.ts";
import { LabelSelector } from "../../../engine/api/selector.ts";
import type { StatusError } from "../../../engine/api/status.ts";
import { timedController } from "../../../engine/async/time.ts";
import { knownRefusal, refusal } from "../../../engine/protocol/refusal.ts";
import { loadRules } from "../../../operator/schema/rules/load.ts";
import { applyPatch } from "../apply/patches.ts";
import { type Definition, schemaOfDefinition } from "../storage/definition.ts";
import { userInfo } from "../wire/exchange.ts";
import { denial } from "../writes/admission.ts";

/** Answers a request to a webhook with an `AdmissionReview`. An error counts as a connection that failed. */
export type WebhookHandler = (request: Request) => Response | Promise<Response>;

/** Who answers for webhooks. */
export interface WebhookSource {
  /** Answers for all webhooks; undefined if none is called. */
  handler: WebhookHandler | undefined;
  /** Makes the uids of reviews. */
  readonly uid: () => string;
}

/** A write, as webhooks are asked about it. */
export interface Asked {
  readonly definition: Definition;
  /** The kind of the objects, which a subresource may have for itself. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly subresource: string;
  readonly name: string;
  /** A Namespace is in itself. `""` for other objects without a namespace. */
  readonly namespace: string;
  readonly object: JsonObject | undefined;
  readonly old: JsonObject | undefined;
  readonly dryRun: boolean;
  readonly user: string;
  readonly options: JsonObject;
}

/** What a call needs in addition to the webhook and the write. */
export interface Means extends Readonly<WebhookSource> {
  /** Returns the labels of a namespace. */
  readonly labels: (namespace: string) => Readonly<Record<string, string>>;
  /** Returns the other versions in which a custom kind is served. */
  readonly versions: (definition: Definition) => readonly string[];
  /** Returns an object in another version of its kind. */
  readonly convert: (object: JsonObject, apiVersion: string, kind: Definition) => Promise<JsonObject>;
  /** Ends all calls. */
  readonly signal: AbortSignal | undefined;
  /** Receives the warnings of answers. */
  readonly warnings: string[];
}

/** The webhook could not be called, or has sent a wrong answer: its `failurePolicy` decides. */
class CallFailure extends Error {}

/** 500, with the cause that the server adds. */
export function internalError(why: string): StatusError {
  return refusal(500, `Internal error occurred: ${why}`, { details: { causes: [{ message: why }] } });
}

function isSpace({ definition: { group, plural } }: Asked): boolean {
  return group === "" && plural === "namespaces";
}

function ruleMatches(rule: JsonObject, asked: Asked, version: string): boolean {
  const { definition: { group, plural }, operation, subresource, namespace } = asked;
  const has = (list: Json | undefined, value: string): boolean =>
    textsOf(list).some((it) => it === "*" || it === value);
  const { scope = "*", operations, apiGroups, apiVersions, resources } = rule;
  const isCluster = namespace === "" || isSpace(asked);
  return (scope === "*" || (scope === "Cluster") === isCluster) && has(operations, operation) &&
    has(apiGroups, group) && has(apiVersions, version) &&
    textsOf(resources).some((resource) => {
      const [main, part = ""] = resource.split("/");
      return (main === "*" || main === plural) && (part === "*" || part === subresource);
    });
}

function selectorOf(selector: Json | undefined): LabelSelector {
  return LabelSelector.from(objectOr(selector));
}

const labelsOf = (object: JsonObject | undefined): Record<string, string> =>
  objectOr(objectOr(object?.metadata).labels) as Record<string, string>;

/** Returns the version in which the rules of a webhook have a write; undefined if they do not have it. */
export function versionIn({ rules, matchPolicy }: JsonObject, asked: Asked, means: Means): string | undefined {
  const { version } = asked.definition;
  const find = (versions: readonly string[]): string | undefined =>
    objectsOf(rules).flatMap((rule) => versions.filter((version) => ruleMatches(rule, asked, version)))[0];
  return find([version]) ?? (matchPolicy === "Exact" ? undefined : find(means.versions(asked.definition)));
}

/** A write in the version that a webhook asks for. */
type Versioned = Asked & { readonly version: string };

/**
 * Returns a write as a webhook gets it; undefined if it is not asked.
 *
 * @throws {StatusError} 403 if a match condition fails, and the failure policy is not Ignore. 500 if a conversion
 * fails.
 */
export async function askedIn(hook: JsonObject, asked: Asked, means: Means): Promise<Versioned | undefined> {
  const { definition, object, old, operation, subresource, namespace, name } = asked;
  const version = versionIn(hook, asked, means);
  if (version === undefined) return undefined;
  if (namespace !== "") {
    const isOwn = isSpace(asked) && subresource === "" && operation !== "DELETE";
    const labels = isOwn ? labelsOf(object) : means.labels(namespace);
    if (!selectorOf(hook.namespaceSelector).matches(labels)) return undefined;
  }
  const selector = selectorOf(hook.objectSelector);
  const isSelected = [object, old].some((it) => it !== undefined && selector.matches(labelsOf(it)));
  if (selector.requirements.length > 0 && !isSelected) return undefined;
  const [next, before] = await Promise.all([object, old].map((it) => inVersion(it, asked, version, means)));
  const versioned = { ...asked, version, object: next, old: before };
  const conditions = objectsOf(hook.matchConditions);
  if (conditions.length === 0) return versioned;
  const { object: __, oldObject: ___, ...request } = requestOf("", versioned);
  const values = { object: next ?? null, oldObject: before ?? null, request };
  const failures: string[] = [];
  const compiler = await loadRules();
  for (const expression of conditions.map((condition) => textOf(condition.expression))) {
    const compiled = compiler.compileExpression(expression, ["object", "oldObject", "request"]);
    const { value, error } = compiled.run(values);
    if (value === false) return undefined;
    if (compiled.fault !== undefined) failures.push(`compilation error: ${compiled.fault}`);
    else if (error !== undefined) failures.push(`expression '${expression}' resulted in error: ${error}`);
  }
  if (failures.length === 0) return versioned;
  if (hook.failurePolicy === "Ignore") return undefined;
  const why = failures.length === 1 ? failures[0] : `[${failures.join(", ")}]`;
  throw knownRefusal("forbidden", definition, name, why);
}

/** Converts an object to another version. A scale stays as it is. @throws {StatusError} 500 if that fails. */
async function inVersion(
  object: JsonObject | undefined,
  { definition, kind }: Asked,
  version: string,
  { convert }: Means,
): Promise<JsonObject | undefined> {
  if (object === undefined || kind.kind !== definition.kind) return object;
  return await convert(object, apiVersionOf({ ...definition, version }), definition)
    .catch((error) => Promise.reject(internalError(error.message)));
}

function requestOf(uid: string, asked: Versioned): JsonObject {
  const { version } = asked;
  const { definition: { group, version: own, plural, kind }, subresource, name, namespace, operation, options } = asked;
  const { object, old, dryRun, user } = asked;
  const given = (text: string): string | undefined => text || undefined;
  return defined({
    uid,
    kind: asked.kind.kind === kind ? { ...asked.kind, version } : asked.kind,
    resource: { group, version, resource: plural },
    subResource: given(subresource),
    requestKind: asked.kind,
    requestResource: { group, version: own, resource: plural },
    requestSubResource: given(subresource),
    name: given(name),
    namespace: given(namespace),
    operation,
    userInfo: userInfo(user) as unknown as JsonObject,
    object: object ?? null,
    oldObject: old ?? null,
    dryRun,
    options,
  });
}

/**
 * Asks a webhook about a write. Returns the patched object; undefined if the webhook changes nothing, or its failure is
 * ignored.
 *
 * @throws {StatusError} if the webhook denies the write, or cannot be called.
 */
export async function call(
  hook: JsonObject,
  asked: Asked,
  versioned: Versioned,
  isMutating: boolean,
  means: Means,
): Promise<JsonObject | undefined> {
  const name = textOf(hook.name);
  const { sideEffects, failurePolicy } = hook;
  let response: JsonObject;
  let patch: readonly JsonObject[];
  try {
    if (asked.dryRun && sideEffects === undefined) throw new CallFailure("Webhook SideEffects is nil");
    if (asked.dryRun && sideEffects !== "None" && sideEffects !== "NoneOnDryRun") {
      throw refusal(400, `admission webhook ${JSON.stringify(name)} does not support dry run`);
    }
    response = await answerOf(hook, versioned, means);
    checkForm(response, isMutating);
    means.warnings.push(...textsOf(response.warnings));
    if (response.allowed !== true) throw denial(name, objectOr(response.status));
    patch = patchIn(response);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    means.signal?.throwIfAborted();
    if (failurePolicy === "Ignore") return undefined;
    throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${error.message}`);
  }
  if (patch.length === 0) return undefined;
  const { object } = versioned;
  if (object === undefined) {
    const why = `admission webhook ${JSON.stringify(name)} attempted to modify the object`;
    throw internalError(`${why}, which is not supported for this operation`);
  }
  let patched: JsonObject;
  try {
    patched = applyPatch(object, patch, "json", schemaOfDefinition(asked.definition));
  } catch (error) {
    throw internalError((error as Error).message);
  }
  return await inVersion(patched, asked, asked.definition.version, means);
}

/** Sends a review to a webhook, and returns the response in its answer. @throws {CallFailure} if there is none. */
async function answerOf(hook: JsonObject, asked: Versioned, means: Means): Promise<JsonObject> {
  const { clientConfig, admissionReviewVersions, timeoutSeconds } = hook;
  const review = textsOf(admissionReviewVersions).find((it) => it === "v1" || it === "v1beta1");
  if (review === undefined) {
    const why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
    throw new CallFailure(`could not create admission objects: ${why}`);
  }
  const apiVersion = `admission.k8s.io/${review}`;
  const uid = means.uid();
  const request = { kind: "AdmissionReview", apiVersion, request: requestOf(uid, asked) };
  const seconds = Number(timeoutSeconds ?? 10);
  const url = `${addressOf(objectOr(clientConfig))}?timeout=${seconds}s`;
  const text = await post(url, JSON.stringify(request), seconds, means);
  const failed = (why: string): Error => new CallFailure(`failed to call webhook: ${why}`);
  let answer: JsonObject;
  try {
    answer = objectOr(JSON.parse(text));
  } catch (error) {
    throw failed(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
  if (!answer.kind) throw failed(`Object 'Kind' is missing in '${text}'`);
  const wrong = (why: string): Error => new CallFailure(`received invalid webhook response: ${why}`);
  if (!isObject(answer.response)) throw wrong("webhook response was absent");
  const { uid: found = "" } = answer.response;
  if (found !== uid) throw wrong(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(found)}`);
  const [wanted, got] = [request, answer].map(({ kind, apiVersion = "" }) => {
    return `${textOf(apiVersion).includes("/") ? "" : "/"}${apiVersion}, Kind=${kind}`;
  });
  if (wanted !== got) throw wrong(`expected webhook response of ${wanted}, got ${got}`);
  return answer.response;
}

/** Returns the address of a webhook without its query. */
export function addressOf({ url, service }: JsonObject): string {
  if (isObject(service)) {
    const { name, namespace, port = 443, path } = service;
    return `https://${name}.${namespace}.svc:${port}/${textOf(path ?? "").replace(/^\//, "")}`;
  }
  if (typeof url !== "string") {
    throw new CallFailure("could not get REST client: webhook configuration must have either service or URL");
  }
  return /^\w+:\/\/[^/]*$/.test(url) ? `${url}/` : url;
}

/** Posts a review, and returns the body of the answer. @throws {CallFailure} if it fails or takes too long. */
export async function post(
  url: string,
  body: string,
  seconds: number,
  { handler, signal }: Partial<Pick<Means, "handler" | "signal">>,
): Promise<string> {
  const headers = { accept: "application/json, */*", "content-type": "application/json" };
  using limit = timedController(seconds * 1_000, "context deadline exceeded", signal);
  const answer = async (): Promise<readonly [number, string]> => {
    const response = await handler!(new Request(url, { method: "POST", headers, body, signal: limit.signal }));
    return [response.status, await response.text()];
  };
  let status: number, text: string;
  try {
    [status, text] = await abortable(answer(), limit.signal);
  } catch (error) {
    throw new CallFailure(`failed to call webhook: Post ${JSON.stringify(url)}: ${(error as Error).message}`);
  }
  if (status >= 200 && status < 300) return text;
  const otherwise = status >= 500
    ? `an error on the server (${JSON.stringify(text.trim() || "unknown")}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
  throw new CallFailure(`failed to call webhook: ${CODES[status] ?? otherwise}`);
}

/** What clients of the server say about responses. */
const CODES: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

/** @throws {CallFailure} if a response has a patch without its type, or may not have a patch. */
function checkForm({ patch = "", patchType }: JsonObject, isMutating: boolean): void {
  const why = !isMutating
    ? patch !== ""
      ? "validating webhook may not return response.patch"
      : patchType !== undefined && "validating webhook may not return response.patchType"
    : patch !== "" && patchType === undefined
    ? "webhook returned response.patch but not response.patchType"
    : patch === "" && patchType !== undefined && "webhook returned response.patchType but not response.patch";
  if (why) throw new CallFailure(`received invalid webhook response: ${why}`);
}

/** Returns the operations of a response's patch. @throws {CallFailure} if it is no list of operations. */
function patchIn({ patch = "", patchType }: JsonObject): readonly JsonObject[] {
  if (patch === "") return [];
  const undecodable = (why: string): Error => {
    return new CallFailure(`received undecodable patch in webhook response: ${why}`);
  };
  let operations: Json;
  try {
    operations = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(textOf(patch)), (it) => it.charCodeAt(0))));
  } catch (error) {
    throw undecodable((error as Error).message);
  }
  if (!isList(operations) || !operations.every(isObject)) throw undecodable("it is no list of JSON patch operations");
  if (operations.length === 0 || patchType === "JSONPatch") return operations;
  throw new CallFailure(`unsupported patch type ${JSON.stringify(patchType)}`);
}
