/**
 * Webhooks as one function from `Request` to `Response`: admission and conversion, by typed handlers.
 *
 * {@linkcode Webhooks} is the entry point. It opens no port, and knows no certificates: pass `fetch` to a server.
 *
 * @module
 */
import { defined, isObject, type JsonObject } from "../../engine/api/json.ts";
import { exactJson, isNestedDeeper, keepLiterals, markAround, withLiterals } from "../../engine/api/large_integers.ts";
import { listOr, objectOr, objectsOf } from "../../engine/api/members.ts";
import type { KubernetesObject } from "../../engine/api/object.ts";
import { isCustom, isSecret, type Resource } from "../../engine/api/resource.ts";
import { StatusError } from "../../engine/api/status.ts";
import { Histogram } from "../../engine/async/histogram.ts";
import { Latch } from "../../engine/async/signals.ts";
import { monotonicMs, timedController } from "../../engine/async/time.ts";
import { checkCounts } from "../../engine/errors/checks.ts";
import { errorLine, errorName, errorObserver, quoted, redactSecrets } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { internals } from "../../engine/errors/internals.ts";
import { checkNames, namesOf } from "../../engine/errors/option_names.ts";
import {
  counter,
  histogram,
  type MetricFamily,
  openMetricsText,
  secondsSample,
} from "../../engine/informer/metrics.ts";
import { refusal, statusJson } from "../../engine/protocol/refusal.ts";
import type { DefinedKind } from "../schema/define_kind.ts";
import {
  AdmissionError,
  type AdmissionOperation,
  AdmissionReview,
  type MutateRequest,
  type ValidateRequest,
} from "./admission.ts";
import {
  type ConfigurationOptions,
  configurationsOf,
  type ConfiguredHook,
  HOOK_DEFAULTS,
  type HookOptions,
  type MutateOptions,
  type WebhookAddress,
  type WebhookConfigurations,
} from "./configurations.ts";
import { type Conversion, Converter } from "./conversion.ts";
import { RequestBodies } from "./request_bodies.ts";

/**
 * The longest body, in bytes: 7 MiB. kube-apiserver takes objects of up to 3 MiB, and a review has two of them, and at
 * most 1 MiB of other parts. controller-runtime has the same limit.
 */
const MAX_BODY = 7 * 1_024 * 1_024;

/** The deepest nesting of a body, at which Go refuses to read JSON too (`encoding/json`, `maxNestingDepth`). */
const MAX_DEPTH = 10_000;

/** The most paths of rounded integers that are reported. */
const MAX_PATHS = 1_000;

/** The longest time for a review, in seconds: the most that a configuration may have. */
const MAX_SECONDS = 30;

/** Options for {@linkcode Webhooks}. */
export interface WebhooksOptions {
  /**
   * Called once for each review that fails: a handler has thrown something other than a refusal, or has taken too long.
   * The cause of the error is what it has thrown. For Secrets, the text of the cause is left out. It is also called
   * once for each path at which a conversion cannot keep a large integer exact.
   * @default {each new cause is written to the console once}
   */
  readonly onError?: (error: unknown) => unknown;
  /**
   * The memory for all bodies that are being read at the same time, in bytes. At the limit, the slowest body gets 408,
   * so that clients that hold their bodies back do not stop the reviews of the API server. `Infinity` means no limit.
   * @default {268_435_456}
   */
  readonly maxBytes?: number;
}

/** The return value of a handler: nothing, or a refusal, which may also be thrown. */
export type HandlerResult = void | AdmissionError | Promise<void | AdmissionError>;

type Result = "allowed" | "refused" | "error";

/** How a review ended. */
interface Outcome {
  readonly response: JsonObject;
  readonly result: Result;
  readonly isPatched?: boolean;
  /** To be reported. */
  readonly failure?: unknown;
}

/** A path that is served, with its figures. */
interface Hook extends ConfiguredHook {
  readonly review: { readonly apiVersion: string; readonly kind: string };
  readonly counts: Record<Result, number>;
  patches: number;
  readonly seconds: Histogram;
  /** Reviews a request. @throws {StatusError} if the request is malformed. */
  answer(request: JsonObject, signal: AbortSignal): Outcome | Promise<Outcome>;
}

/**
 * Serves admission and conversion webhooks: any number of handlers, each for a typed kind, behind one `fetch`.
 *
 * Pass `fetch` to a server with TLS, and call `installWebhooks` for the API server. A handler refuses by
 * `throw refuse(…)`. If it throws anything else, the response is 500, and the error goes to `onError`. If it takes
 * longer than the API server waits, the response is 504. The webhook's `failurePolicy` decides about both.
 *
 * @example
 * ```ts
 * import { defineKind } from "@kube/informer/schema";
 * import { refuse, Webhooks } from "@kube/informer/webhooks";
 * import { assertEquals } from "@std/assert";
 *
 * const Website = defineKind({
 *   group: "example.com",
 *   version: "v1",
 *   kind: "Website",
 *   plural: "websites",
 *   spec: { type: "object", properties: { image: { type: "string" }, replicas: { type: "integer" } } },
 * });
 *
 * const webhooks = new Webhooks()
 *   .mutate(Website, ({ draft }) => {
 *     draft.spec.replicas ??= 1;
 *   })
 *   .validate(Website, ({ object, old }) => {
 *     if (old === undefined || object.spec.image === old.spec.image) return;
 *     throw refuse("the image cannot change", { causes: [{ field: "spec.image", message: "is immutable" }] });
 *   });
 *
 * const { validating } = webhooks.configurations({ service: { namespace: "shop", name: "operator" } });
 * assertEquals(validating?.webhooks?.[0].name, "validate.v1.websites.example.com");
 * ```
 */
export class Webhooks {
  /** By path. */
  readonly #hooks = new Map<string, Hook>();
  readonly #bodies: RequestBodies;
  readonly #report: (error: unknown, name: string) => void;
  /** The paths that {@linkcode #lost} has reported. */
  readonly #lostPaths = new Set<string>();

  /**
   * Serves nothing until you add handlers.
   *
   * @throws {RangeError} if `maxBytes` has no room for the longest body.
   */
  constructor(options: WebhooksOptions = {}) {
    checkNames("create webhooks", options, "onError maxBytes");
    const { maxBytes = 268_435_456 } = options;
    checkCounts("create webhooks", { maxBytes }, { min: 2 * MAX_BODY, infinite: true });
    this.#bodies = new RequestBodies(maxBytes);
    this.#report = errorObserver<[string]>(options.onError, (name) => `webhook "${name}"`);
  }

  /**
   * Adds a handler that allows or refuses requests. It sees objects as they will be stored.
   *
   * @throws {TypeError} if an option is wrong, or the name is taken.
   */
  validate<T extends KubernetesObject, const O extends AdmissionOperation = "CREATE" | "UPDATE">(
    kind: Resource<T>,
    handler: (request: ValidateRequest<T, O>) => HandlerResult,
    options: HookOptions<O> = {},
  ): this {
    return this.#addAdmission("validate", kind, handler as (request: unknown) => HandlerResult, options);
  }

  /**
   * Adds a handler that changes objects, by changing `draft`. It must be idempotent, because the server may call it
   * twice. Integers beyond ±(2^53 − 1) stay exact if you do not change them, also in a part that you move or copy.
   *
   * @throws {TypeError} if an option is wrong, or the name is taken.
   */
  mutate<T extends KubernetesObject, const O extends "CREATE" | "UPDATE" = "CREATE" | "UPDATE">(
    kind: Resource<T>,
    handler: (request: MutateRequest<T, O>) => HandlerResult,
    options: MutateOptions<O> = {},
  ): this {
    return this.#addAdmission("mutate", kind, handler as (request: unknown) => HandlerResult, options);
  }

  /**
   * Adds a conversion between a kind and another version of it, which the kind's `olderVersions` have. Objects are
   * converted between two other versions through the hub.
   *
   * @throws {TypeError} if the hub's CRD does not have the version, or it was added before.
   */
  convert<Hub extends KubernetesObject, Other extends KubernetesObject>(
    hub: DefinedKind<Hub>,
    other: Resource<Other>,
    conversion: Conversion<Hub, Other>,
  ): this {
    const name = `${hub.plural}.${hub.group}`;
    const path = `/convert/${name}`;
    const converter = this.#hooks.get(path)?.converter ?? new Converter(hub as DefinedKind);
    if (converter.hub.version !== hub.version) {
      throw new TypeError(`Cannot convert ${name} through ${hub.version}: its hub is ${converter.hub.version}. Use it`);
    }
    converter.add(other, conversion);
    if (this.#hooks.has(path)) return this;
    const review = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };
    const options = { ...HOOK_DEFAULTS, timeoutSeconds: MAX_SECONDS };
    const answer = (request: JsonObject): Outcome => convertAll(converter, request, (path) => this.#lost(name, path));
    return this.#add({ verb: "convert", name, kind: hub, path, review, options, converter, answer });
  }

  /** @internal */
  [internals]({ group, plural }: Resource): Converter {
    const converter = this.#hooks.get(`/convert/${plural}.${group}`)?.converter;
    if (converter !== undefined) return converter;
    throw new TypeError(`Cannot convert ${plural}.${group}: there is no conversion. Add it with convert()`);
  }

  /**
   * Returns the objects that make the API server call the handlers, to apply or to write to files. `installWebhooks`
   * applies them.
   *
   * @throws {TypeError} if a version of a kind with conversions has no conversion.
   */
  configurations(where: WebhookAddress, options: ConfigurationOptions = {}): WebhookConfigurations {
    return configurationsOf([...this.#hooks.values()], where, options);
  }

  /** Returns the {@linkcode metrics} as OpenMetrics text. `runManager` adds it to `/metrics`. */
  metricsText(): string {
    return openMetricsText(this.metrics());
  }

  /** Returns metrics: reviews by webhook and result, their time, and patches. */
  metrics(): readonly MetricFamily[] {
    const hooks = [...this.#hooks.values()].map((hook) => ({ hook, labels: { webhook: hook.name, type: hook.verb } }));
    const reviews = hooks.flatMap(({ hook, labels }) =>
      Object.entries(hook.counts).map(([result, value]) => ({ labels: { ...labels, result }, value }))
    );
    const seconds = hooks.map(({ hook, labels }) => secondsSample(labels, hook.seconds.durations));
    const patches = hooks.filter(({ hook }) => hook.verb === "mutate")
      .map(({ hook, labels }) => ({ labels, value: hook.patches }));
    return [
      counter("webhook_reviews", "Reviews that were answered, by result.", reviews),
      histogram("webhook_review_seconds", "The time from a request to its response.", seconds),
      counter("webhook_patches", "Reviews whose response changes the object.", patches),
    ];
  }

  /**
   * Answers a request of the API server. It never throws, and needs no `this`.
   *
   * The body is read up to 7 MiB, and may be nested 10,000 deep. Malformed requests get 400, 404, 405, 413 or 415 with
   * the reason as a `Status`, and slow bodies 408. `onError` is not called for them.
   */
  readonly fetch = async (request: Request): Promise<Response> => {
    const hook = this.#hooks.get(URL.parse(request.url)?.pathname ?? "");
    if (hook === undefined) return failed(refusal(404, "there is no webhook with this path"), request);
    const beganMs = monotonicMs();
    const asked = /[?&]timeout=(\d{1,9})s(&|$)/.exec(request.url)?.[1] ?? hook.options.timeoutSeconds;
    const seconds = Math.min(Number(asked), MAX_SECONDS);
    // The request's own signal is not used: in Deno, it also aborts after a response, with a warning on the console.
    using limit = timedController(seconds * 1_000, `${seconds} s are over`);
    const { signal } = limit;
    let result: Result = "error";
    try {
      const given = await reviewOf(request, hook, this.#bodies, signal);
      const answering = hook.answer(given, signal);
      const late = new Latch().wait({ signal }).catch(() => {
        throw refusal(504, `Cannot review the request in ${seconds} s, in which the API server needs the response`);
      });
      const outcome = await Promise.race([answering, late]) as Outcome;
      const text = `${JSON.stringify(hook.review).slice(0, -1)},"response":${exactJson(outcome.response)}}`;
      const response = new Response(text, { headers: { "content-type": "application/json" } });
      result = outcome.result;
      if (outcome.isPatched) hook.patches++;
      if (outcome.failure !== undefined) this.#report(outcome.failure, hook.name);
      return response;
    } catch (error) {
      const status = error instanceof StatusError ? error : refusal(500, redactSecrets(errorLine(error)));
      if (status.status.code >= 500) this.#report(error, hook.name);
      return failed(status, request);
    } finally {
      hook.counts[result]++;
      hook.seconds.add(monotonicMs() - beganMs);
    }
  };

  #addAdmission(
    verb: "validate" | "mutate",
    kind: Resource,
    handler: (request: unknown) => HandlerResult,
    options: MutateOptions<AdmissionOperation>,
  ): this {
    checkNames(`${verb} objects`, options, verb === "mutate" ? [...HOOK_OPTIONS, "reinvocationPolicy"] : HOOK_OPTIONS);
    const { group, version, plural } = kind;
    const { name = `${verb}.${version}.${plural}.${group || "core"}`, ...rest } = options;
    if (name.split(".", 3).length < 3 || /[^a-z0-9.-]/.test(name)) {
      throw new TypeError(`Cannot ${verb} by "${quoted(name)}": the name must be a domain with at least three parts`);
    }
    const all = { ...HOOK_DEFAULTS, ...defined(rest) };
    if (!(Number.isInteger(all.timeoutSeconds) && all.timeoutSeconds >= 1 && all.timeoutSeconds <= MAX_SECONDS)) {
      throw new TypeError(`Cannot ${verb} by "${name}": timeoutSeconds must be an integer from 1 to ${MAX_SECONDS}`);
    }
    const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
    const reviewed = { kind, operations: all.operations, mutates: verb === "mutate" };
    const answer = async (given: JsonObject, signal: AbortSignal): Promise<Outcome> => {
      const review = new AdmissionReview(given, reviewed, signal);
      try {
        const returned = await handler(review.request);
        if (returned instanceof AdmissionError) throw returned;
        return { ...review.response(), result: "allowed" };
      } catch (error) {
        if (error instanceof AdmissionError) return { ...review.response(error), result: "refused" };
        const cause = isSecret(kind)
          ? new InformerError(`${errorName(error)}, whose text may have secret data`)
          : error;
        throw new InformerError(`Cannot ${verb} ${review.subject}`, { cause });
      }
    };
    return this.#add({ verb, name, kind, path: `/${verb}/${name}`, review, options: all, answer });
  }

  /** Reports a path once at which a conversion has a rounded integer. Names in it may come from strangers. */
  #lost(name: string, path: string): void {
    const field = quoted(path.replaceAll(/\[\d+\]/g, "[]"));
    if (this.#lostPaths.size === MAX_PATHS || this.#lostPaths.has(`${name} ${field}`)) return;
    this.#lostPaths.add(`${name} ${field}`);
    const why = "Copy such integers, and do not compute with them";
    const what = `Cannot keep ${field} exact in a conversion of ${name}`;
    this.#report(new InformerError(`${what}: JavaScript rounds it. ${why}`), name);
  }

  #add(hook: Omit<Hook, "counts" | "patches" | "seconds">): this {
    if (this.#hooks.has(hook.path)) {
      throw new TypeError(`Cannot ${hook.verb} by "${hook.name}": there is a webhook with this name. Set another name`);
    }
    const counts = { allowed: 0, refused: 0, error: 0 };
    this.#hooks.set(hook.path, { ...hook, counts, patches: 0, seconds: new Histogram() });
    return this;
  }
}

const HOOK_OPTIONS = namesOf<HookOptions>()(
  "name operations subresources failurePolicy matchPolicy matchConditions objectSelector namespaceSelector sideEffects",
  "timeoutSeconds",
);

/**
 * Returns the request in the review of a body. No text of the body is quoted, because it may be a Secret's.
 *
 * @throws {StatusError} if the body is too long, too slow, or no such review.
 */
async function reviewOf(request: Request, hook: Hook, bodies: RequestBodies, signal: AbortSignal): Promise<JsonObject> {
  const { method, headers } = request;
  const { apiVersion, kind } = hook.review;
  if (method !== "POST") throw refusal(405, `the method must be POST, but it is ${quoted(method)}`);
  if (!/^application\/json *(;|$)/i.test(headers.get("content-type") ?? "")) {
    throw refusal(415, "the content type must be application/json");
  }
  const text = await bodies.text(request, MAX_BODY, signal);
  if (text === "") throw refusal(400, "the body is empty");
  if (isNestedDeeper(text, MAX_DEPTH)) throw refusal(400, `the body is nested more than ${MAX_DEPTH} deep`);
  let review: JsonObject;
  try {
    review = objectOr(JSON.parse(text));
  } catch {
    throw refusal(400, `the body is not JSON, in ${text.length} characters`);
  }
  if (review.apiVersion !== apiVersion || review.kind !== kind) {
    throw refusal(400, `the body must be of kind ${kind} and version ${apiVersion}`);
  }
  if (isCustom(hook.kind)) keepLiterals(review, text);
  if (!isObject(review.request)) throw refusal(400, `the ${kind} has no request`);
  return review.request;
}

function convertAll(converter: Converter, request: JsonObject, lost: (path: string) => void): Outcome {
  const { uid, objects, desiredAPIVersion } = request;
  if (typeof uid !== "string") throw refusal(400, "the review's uid must be a string");
  if (listOr(objects).length === 0) throw refusal(400, "the review must have objects");
  try {
    const convertedObjects = objectsOf(objects).map((object) =>
      withLiterals(object, converter.convert(object, desiredAPIVersion), lost)
    );
    const response = markAround({ uid, convertedObjects, result: { status: "Success" } }, ...convertedObjects);
    return { response, result: "allowed" };
  } catch (failure) {
    const result = { status: "Failure", message: redactSecrets(errorLine(failure)) };
    const response = { uid, convertedObjects: [], result };
    const isRefused = (failure as Error).cause instanceof AdmissionError;
    return isRefused ? { response, result: "refused" } : { response, result: "error", failure };
  }
}

function failed({ status }: StatusError, request: Request): Response {
  void request.body?.cancel().catch(() => {}); // the answer does not depend on the rest of the body
  const headers: HeadersInit = status.code === 405 ? { allow: "POST" } : {};
  return Response.json(statusJson(status), { status: status.code, headers });
}
