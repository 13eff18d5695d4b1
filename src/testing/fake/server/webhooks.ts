/**
 * Admission webhooks: the configurations in the store are followed for writes by requests.
 *
 * {@linkcode underReview} is the entry point. Writes are synchronous and webhooks are not: a write that a
 * webhook is asked about throws {@linkcode Pause} at this step, and is performed again from there with the answers. A
 * write whose object has changed meanwhile begins again, like on the server. Requests and responses are in
 * `webhook_call.ts`.
 *
 * @module
 */
import { defined, equalJson, type JsonObject } from "../../../engine/api/json.ts";
import { objectOr, objectsOf, textOf } from "../../../engine/api/members.ts";
import { apiVersionOf } from "../../../engine/api/resource.ts";
import { StatusError } from "../../../engine/api/status.ts";
import type { ResourceRoute } from "../../../engine/protocol/requests.ts";
import { type Versions, withManagedFields } from "../apply/managed_fields.ts";
import type { Definition } from "../storage/definition.ts";
import { parseStored, type Store, type StoredObject } from "../storage/store.ts";
import type { RequestAttributes, RequestContext } from "../wire/exchange.ts";
import { Pause } from "../writes/admission.ts";
import { type Draft, readAgain, type Reviewer } from "../writes/steps.ts";
import type { Conversions } from "./conversion.ts";
import { scaled, scaleOf } from "./subresources.ts";
import { type Asked, askedIn, call, internalError, type Means, versionIn } from "./webhook_call.ts";

type HookType = "mutating" | "validating";

/** Throws the error of webhooks, or passes the object on that they have made. */
type Verdict = (put?: (object: JsonObject) => unknown) => void;

const GROUP = "admissionregistration.k8s.io";
const WRITES = ["create", "update", "patch", "delete", "deletecollection"];

/** A request that may write. */
interface WriteRequest {
  readonly context: RequestContext;
  readonly route: ResourceRoute;
  readonly attributes: RequestAttributes;
  readonly body: string;
}

/** The objects on the server, and what converts and answers for webhooks. */
interface ReviewParts {
  readonly store: Store;
  readonly conversions: Conversions;
}

/** Performs a request: `perform` is called again after each pause for webhooks. */
export async function underReview<R>(
  request: WriteRequest,
  parts: ReviewParts,
  perform: (review: Review | undefined) => R,
): Promise<R> {
  const { route: { group }, attributes: { verb } } = request;
  // The server asks no webhook about configurations and policies, which are all kinds of this group.
  if (group === GROUP || !WRITES.includes(verb)) return perform(undefined);
  const review = new Review(request, parts);
  for (;;) {
    try {
      return perform(review);
    } catch (error) {
      if (!(error instanceof Pause)) throw error;
      await error.over;
    }
  }
}

/** The answers of webhooks to one request. */
export class Review implements Reviewer {
  readonly #request: WriteRequest;
  readonly #store: Store;
  readonly #conversions: Conversions;
  readonly #means: Means;
  /** The write that webhooks are asked about, and the step that comes next. */
  #paused: { readonly draft: Draft; readonly at: number; readonly verdict: Verdict } | undefined;
  /** Verdicts about writes without steps: deletions by the object's state, and the creation. */
  readonly #verdicts = new Map<unknown, Verdict>();
  #memo: unknown;
  /** The results of conversions, by the object and its new version. */
  readonly #converted = new Map<string, () => JsonObject>();

  /** Asks the webhooks of all configurations in the store. */
  constructor(request: WriteRequest, { store, conversions }: ReviewParts) {
    this.#request = request;
    this.#store = store;
    this.#conversions = conversions;
    this.#means = {
      ...conversions.source,
      signal: request.context.signal,
      warnings: [],
      labels: (name) => {
        const stored = store.collection({ group: "", version: "v1", plural: "namespaces" })?.get(name);
        return { "kubernetes.io/metadata.name": name, ...stored?.labels };
      },
      versions: (definition) =>
        store.versionsOf(definition).map(({ definition: { version } }) => version)
          .filter((version) => definition.custom && version !== definition.version),
      convert: (object, apiVersion, kind) => conversions.convert(object, apiVersion, kind),
    };
  }

  /** Returns these warnings and the warnings of webhooks so far, each once. */
  withWarnings(warnings: readonly string[]): readonly string[] {
    return [...new Set([...warnings, ...this.#means.warnings])];
  }

  /** Returns what `compute` has returned the first time. */
  once<T>(compute: () => T): T {
    return (this.#memo ??= compute()) as T;
  }

  resume(draft: Draft): number {
    const paused = this.#paused;
    if (paused === undefined || paused.draft.before !== draft.before) return 0;
    draft.object = paused.draft.object;
    draft.given = paused.draft.given;
    draft.forms = paused.draft.forms;
    paused.verdict();
    return paused.at;
  }

  mutate(draft: Draft, at: number): void {
    const { definition, mode: { subresource }, old, given } = draft;
    const isScale = subresource === "scale";
    const { uid, creationTimestamp, generation, name, namespace } = objectOr(draft.object.metadata);
    const fixed = old === undefined ? defined({ uid, creationTimestamp, generation, namespace }) : {};
    // The server gives a new object these later.
    const hidden = ["uid", "creationTimestamp", "generation", ...(textOf(given.name) === "" ? ["name"] : [])];
    const shown = (): JsonObject => {
      const object = this.#form(draft, draft.object);
      if (old !== undefined || isScale) return object;
      const metadata = Object.entries(objectOr(object.metadata)).filter(([name]) => !hidden.includes(name));
      return { ...object, metadata: Object.fromEntries(metadata) };
    };
    const put = (object: JsonObject): JsonObject => {
      if (isScale) draft.object = scaled(definition, draft.object, object);
      else readAgain(draft, { ...object, metadata: { name, ...objectOr(object.metadata), ...fixed } });
      return shown();
    };
    const asked = this.#askedOf(draft, shown());
    this.#ask("mutating", draft, at, asked, (hooks) => this.#mutated(hooks, asked, put));
  }

  validate(draft: Draft, at: number): void {
    const asked = this.#askedOf(draft, this.#form(draft, draft.object));
    this.#ask("validating", draft, at, asked, (hooks) => this.#validated(hooks, asked));
  }

  convert(draft: Draft, at: number): void {
    const { definition } = draft;
    const { apiVersion, kind } = definition;
    const conversions = this.#conversions;
    if (conversions.versionsOf(definition).length < 2) return;
    pause(async () => {
      draft.forms = await conversions.formsOf(definition, { ...draft.object, kind, apiVersion });
      draft.object = { ...draft.forms.get(definition.apiVersion) };
    }, (verdict) => this.#paused = { draft, at: at + 1, verdict });
  }

  get versions(): Versions | undefined {
    const conversions = this.#conversions;
    const plan = conversions.planOf(this.#request.route);
    if (plan === undefined) return undefined;
    const of = (apiVersion: string): Definition | undefined =>
      plan.versions.find((version) => version.apiVersion === apiVersion);
    return {
      of,
      convert: (given, apiVersion) => {
        if (given.apiVersion === apiVersion) return given;
        const object = given.metadata === undefined ? given : withManagedFields(given, undefined);
        const id = `${apiVersion} ${JSON.stringify(object)}`;
        const known = this.#converted.get(id);
        if (known !== undefined) return known();
        pause(
          () => conversions.convert(object, apiVersion, of(apiVersion)!),
          (verdict) =>
            this.#converted.set(id, () => {
              let converted = given;
              verdict((object) => converted = object);
              return converted;
            }),
        );
      },
    };
  }

  #ask(type: HookType, draft: Draft, at: number, asked: Asked, ask: (hooks: JsonObject[]) => Promise<unknown>): void {
    const hooks = this.#matching(type, asked);
    if (hooks.length > 0) pause(() => ask(hooks), (verdict) => this.#paused = { draft, at: at + 1, verdict });
  }

  remove(definition: Definition, before: StoredObject, dryRun: boolean): void {
    const { name = "" } = this.#request.route;
    const objects = { object: undefined, old: parseStored(before) };
    const asked = this.#asked(definition, { operation: "DELETE", subresource: "", name, dryRun, ...objects });
    this.#decide(before, asked, (object) => object);
  }

  /** Asks about a new object in a subresource. Returns the object after all webhooks. */
  create(definition: Definition, subresource: string, name: string, given: JsonObject, dryRun: boolean): JsonObject {
    const parts = { operation: "CREATE", subresource, name, dryRun, object: given, old: undefined } as const;
    const { kind, ...asked } = this.#asked(definition, parts);
    const object = { kind: kind.kind, apiVersion: apiVersionOf(kind), ...given };
    this.#decide("create", { ...asked, kind, object }, (patched) => given = patched);
    return given;
  }

  /** Asks the webhooks of both kinds about a write that has no steps. */
  #decide(key: unknown, asked: Asked, put: (object: JsonObject) => JsonObject): void {
    const verdict = this.#verdicts.get(key);
    if (verdict !== undefined) return verdict(put);
    const [mutating, validating] = ["mutating" as const, "validating" as const].map((it) => this.#matching(it, asked));
    if (mutating.length + validating.length === 0) return;
    pause(async () => {
      const object = await this.#mutated(mutating, asked, (object) => object);
      await this.#validated(validating, { ...asked, object });
      return object;
    }, (verdict) => this.#verdicts.set(key, verdict));
  }

  /** The webhooks of all configurations of a kind that may be asked, in their order. */
  #matching(type: HookType, asked: Asked): JsonObject[] {
    const plural = `${type}webhookconfigurations`;
    const configurations = this.#store.collection({ group: GROUP, version: "v1", plural })
      ?.slice({ namespace: "", revision: this.#store.revision }) ?? [];
    return [...configurations].sort((a, b) => a.name < b.name ? -1 : 1)
      .flatMap((it) => objectsOf(parseStored(it).webhooks))
      .filter((hook) => versionIn(hook, asked, this.#means) !== undefined);
  }

  /** The form of an object that a subresource has. */
  #form({ definition, mode: { subresource } }: Draft, object: JsonObject): JsonObject {
    if (subresource === "scale") return scaleOf(definition, object);
    return { ...object, kind: definition.kind, apiVersion: definition.apiVersion };
  }

  #askedOf(draft: Draft, object: JsonObject): Asked {
    const { definition, mode: { subresource, dryRun }, old } = draft;
    const name = this.#request.route.name ?? textOf(objectOr(object.metadata).name);
    const parts = { operation: old === undefined ? "CREATE" : "UPDATE", subresource, name, dryRun } as const;
    return this.#asked(definition, { ...parts, object, old: old && this.#form(draft, old) });
  }

  #asked(definition: Definition, parts: Omit<Asked, "definition" | "kind" | "namespace" | "user" | "options">): Asked {
    const { operation, subresource, name } = parts;
    const { group, version, kind, plural } = definition;
    const own = definition.parts.find((part) => part.name === subresource)?.responseKind ?? { kind, version: "" };
    return {
      ...parts,
      definition,
      kind: own.version === "" ? { group, version, kind: own.kind } : { group, ...own },
      namespace: group === "" && plural === "namespaces" ? name : this.#request.route.namespace,
      user: this.#request.attributes.user,
      options: this.#options(operation),
    };
  }

  /** The options of the request, as the server reads them. */
  #options(operation: Asked["operation"]): JsonObject {
    const { context: { url: { searchParams } }, body } = this.#request;
    const kind = `${operation[0]}${operation.slice(1).toLowerCase()}Options`;
    const type = { kind, apiVersion: "meta.k8s.io/v1" };
    if (operation === "DELETE" && body !== "") return { ...objectOr(JSON.parse(body)), ...type };
    const names = operation === "DELETE" ? ["propagationPolicy"] : ["fieldManager", "fieldValidation"];
    const grace = operation === "DELETE" ? searchParams.get("gracePeriodSeconds") : null;
    const texts = names.map((name) => [name, searchParams.get(name) ?? undefined] as const);
    const dryRun = searchParams.has("dryRun") ? searchParams.getAll("dryRun") : undefined;
    const gracePeriodSeconds = grace === null ? undefined : Number(grace);
    return defined({ ...type, dryRun, gracePeriodSeconds, ...Object.fromEntries(texts) });
  }

  /** Asks mutating webhooks in their order, and some of them again if a later one has changed the object. */
  async #mutated(
    hooks: readonly JsonObject[],
    first: Asked,
    put: (object: JsonObject) => JsonObject,
  ): Promise<JsonObject | undefined> {
    let asked = first;
    let again = false;
    const [invoked, invited] = [new Set<JsonObject>(), new Set<JsonObject>()];
    for (const round of [0, 1]) {
      if (round === 1 && !again) break;
      for (const hook of hooks) {
        const versioned = await askedIn(hook, asked, this.#means);
        if (versioned === undefined || (round === 1 && !invited.has(hook))) continue;
        const patched = await call(hook, asked, versioned, true, this.#means);
        const object = patched && readOr500(() => put(patched));
        if (object !== undefined && !equalJson(object, asked.object)) {
          asked = { ...asked, object };
          again = true;
          for (const earlier of invoked) invited.add(earlier);
          invoked.clear();
        }
        if (hook.reinvocationPolicy === "IfNeeded") invoked.add(hook);
      }
    }
    return asked.object;
  }

  /** Asks validating webhooks at once. @throws {StatusError} the first refusal. */
  async #validated(hooks: readonly JsonObject[], asked: Asked): Promise<void> {
    const calls: (() => Promise<unknown>)[] = [];
    for (const hook of hooks) {
      const versioned = await askedIn(hook, asked, this.#means);
      if (versioned !== undefined) calls.push(() => call(hook, asked, versioned, false, this.#means));
    }
    const errors: unknown[] = [];
    await Promise.all(calls.map((call) => call().catch((error) => errors.push(error))));
    if (errors.length > 0) throw errors[0];
  }
}

/** Reads a patched object. @throws {StatusError} 500 if its kind cannot have it. */
function readOr500(read: () => JsonObject): JsonObject {
  try {
    return read();
  } catch (error) {
    throw error instanceof StatusError ? internalError(error.message) : error;
  }
}

/** Stops a write until webhooks have answered. */
function pause(ask: () => Promise<unknown>, decide: (verdict: Verdict) => void): never {
  throw new Pause(
    ask().then(
      (object) => decide((put) => object && put?.(object as JsonObject)),
      (error) =>
        decide(() => {
          throw error;
        }),
    ),
  );
}
