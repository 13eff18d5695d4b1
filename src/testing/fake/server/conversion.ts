/**
 * Conversion webhooks of the fake server: the versions of a kind hold the same objects.
 *
 * {@linkcode Conversions} is the entry point. An object is converted when it is written, through the stored version to
 * all others, so that reads are synchronous. A request that writes waits for it. An object that the
 * test writes itself is converted later, before the next request.
 *
 * @module
 */
import { CustomResourceDefinition } from "../../../engine/kinds/apiextensions/v1.ts";
import { refusal } from "../../../engine/protocol/refusal.ts";
import { isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { listOr, objectOr, objectsOf, textOf, textsOf } from "../../../engine/api/members.ts";
import { oncePer } from "../../../operator/schema/values/object_schema.ts";
import { prune } from "../../../operator/schema/values/prune.ts";
import { crdResources, type Definition, definitionOf, schemaOfDefinition } from "../storage/definition.ts";
import { type Forms, parseStored, type Store, type StoredCollection, type StoredObject } from "../storage/store.ts";
import { addressOf, post, type WebhookSource } from "./webhook_call.ts";

type KindName = Pick<Definition, "group" | "plural">;

/** How the versions of a kind are converted. */
interface Plan {
  /** The API version that is stored. */
  readonly stored: string;
  /** All versions, served or not. */
  readonly versions: readonly Definition[];
  readonly clientConfig: JsonObject;
  readonly reviews: readonly string[];
}

/** Converts the objects of kinds whose CRD has a webhook, while somebody answers for webhooks. */
export class Conversions {
  readonly #store: Store;
  /** Who answers for webhooks. */
  readonly source: WebhookSource;
  /** Objects that other versions do not have yet. */
  readonly #late = new Map<StoredCollection, Set<string>>();
  #settling: Promise<unknown> = Promise.resolve();

  /** Converts by the webhooks that `source` answers for. */
  constructor(store: Store, source: WebhookSource) {
    [this.#store, this.source] = [store, source];
  }

  /** Returns how a kind is converted; undefined if it is not. */
  planOf({ group, plural }: KindName): Plan | undefined {
    const crd = this.source.handler && this.#store.collection(CustomResourceDefinition)?.get(`${plural}.${group}`);
    return crd && planIn(crd)[0];
  }

  /** Returns the served versions of a kind that is converted; none for others. */
  versionsOf(kind: KindName): StoredCollection[] {
    return this.planOf(kind) === undefined ? [] : this.#store.versionsOf(kind);
  }

  /** Returns an object as it is stored, in all served versions. @throws {StatusError} 500 if the webhook fails. */
  async formsOf(kind: Definition, object: JsonObject): Promise<Forms> {
    const forms = new Map<string, JsonObject>();
    const stored = await this.convert(object, this.planOf(kind)!.stored, kind);
    for (const { definition } of this.versionsOf(kind)) {
      forms.set(definition.apiVersion, await this.convert(stored, definition.apiVersion, definition));
    }
    return forms;
  }

  /**
   * Returns an object, or a part of one, in another version of its kind. Without a webhook, only `apiVersion` changes.
   *
   * @throws {StatusError} 500 if the webhook fails.
   */
  async convert(object: JsonObject, apiVersion: string, kind: Definition): Promise<JsonObject> {
    if (object.apiVersion === apiVersion) return object;
    const plan = this.planOf(kind);
    const isEmpty = Object.keys(object).every((name) => name === "apiVersion" || name === "kind");
    if (plan === undefined || isEmpty) return { ...object, apiVersion };
    const uid = this.source.uid();
    const review = { kind: "ConversionReview", apiVersion: `apiextensions.k8s.io/${plan.reviews[0]}` };
    const request = { ...review, request: { uid, desiredAPIVersion: apiVersion, objects: [object] } };
    const fail = (why: string): Error =>
      refusal(500, `conversion webhook for ${object.apiVersion}, Kind=${object.kind} ${why}`, { reason: "" });
    let response: JsonObject;
    try {
      const url = `${addressOf(plan.clientConfig)}?timeout=30s`;
      response = responseIn(JSON.parse(await post(url, JSON.stringify(request), 30, this.source)), review, uid);
    } catch (error) {
      throw fail(`failed: ${(error as Error).message.replace(/^failed to call webhook: /, "")}`);
    }
    const all = listOr(response.convertedObjects);
    if (all.length !== 1) throw fail(`returned ${all.length} objects, expected 1`);
    const converted = objectOr(all[0]);
    const wrong = wrongIn(object, converted, apiVersion);
    if (wrong !== undefined) throw fail(`returned invalid ${wrong}`);
    const { labels, annotations } = objectOr(converted.metadata);
    const filled = (it: Json | undefined): Json | undefined => Object.keys(objectOr(it)).length > 0 ? it : undefined;
    const own = { labels: filled(labels), annotations: filled(annotations) };
    const metadata = { ...objectOr(object.metadata), ...own };
    const target = plan.versions.find((version) => version.apiVersion === apiVersion);
    const kept = target === undefined ? converted : prune(schemaOfDefinition(target), converted, "", [], false);
    return JSON.parse(JSON.stringify({ ...objectOr(kept), metadata }));
  }

  /** Notes an object that a test has written itself. */
  later(collection: StoredCollection, key: string): void {
    const keys = this.#late.get(collection) ?? new Set();
    this.#late.set(collection, keys.add(key));
    void this.settle().catch(() => {}); // the next request of the kind fails for the same reason
  }

  /** Notes the objects that only some versions of a kind have, after a change of its CRD or its webhook. */
  compare(kind: KindName): void {
    const versions = this.versionsOf(kind);
    for (const collection of versions) {
      for (const { key } of collection.slice({ namespace: "", revision: this.#store.revision })) {
        if (versions.some((other) => other.get(key) === undefined)) this.later(collection, key);
      }
    }
  }

  /** Converts what was noted: of one kind, or of all. @throws {StatusError} 500 if a webhook fails. */
  settle(kind?: KindName): Promise<void> {
    const settled = this.#settling.catch(() => {}).then(() => this.#settle(kind));
    this.#settling = settled;
    return settled;
  }

  async #settle(kind: KindName | undefined): Promise<void> {
    for (const [collection, keys] of this.#late) {
      if (kind !== undefined && !this.#store.versionsOf(kind).includes(collection)) continue;
      const { definition } = collection;
      for (const key of keys) {
        const stored = collection.get(key);
        const isGone = stored === undefined || this.planOf(definition) === undefined;
        const forms = isGone ? undefined : await this.formsOf(definition, parseStored(stored));
        if (collection.get(key) !== stored) continue; // it is noted again
        keys.delete(key);
        if (forms !== undefined) this.#store.spread(collection, stored!, forms);
      }
      if (keys.size === 0) this.#late.delete(collection);
    }
  }

  /** True if something is noted. */
  get isLate(): boolean {
    return this.#late.size > 0;
  }
}

/** Returns the plan that a CRD has, or nothing. */
const planIn = oncePer((stored: StoredObject): readonly Plan[] => {
  const crd = parseStored(stored);
  const { group, conversion, versions } = objectOr(crd.spec);
  const { strategy, webhook } = objectOr(conversion);
  const { clientConfig, conversionReviewVersions } = objectOr(webhook);
  if (strategy !== "Webhook") return [];
  const name = objectsOf(versions).find(({ storage }) => storage === true)?.name;
  const reviews = textsOf(conversionReviewVersions).filter((it) => it === "v1" || it === "v1beta1");
  const definitions = crdResources(crd, true).map(definitionOf);
  return [{ stored: `${group}/${name}`, versions: definitions, clientConfig: objectOr(clientConfig), reviews }];
});

/** Returns the response of a review. @throws {Error} if there is none, or it is a failure. */
function responseIn(answer: JsonObject, review: Readonly<Record<string, unknown>>, uid: string): JsonObject {
  const { kind = "", apiVersion = "" } = answer;
  if (kind !== review.kind || apiVersion !== review.apiVersion) {
    const version = `version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
    throw new Error(`no kind "${kind}" is registered for ${version}`);
  }
  const { response } = answer;
  if (!isObject(response)) throw new Error("no response provided");
  if (response.uid !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`);
  }
  const { status = "", message } = objectOr(response.result);
  if (status === "Success") return response;
  throw new Error(textOf(message) || `response.result.status was '${status}', not 'Success'`);
}

/** Returns what kube-apiserver refuses in a converted object. */
function wrongIn(given: JsonObject, converted: JsonObject, apiVersion: string): string | undefined {
  for (const [name, wanted] of [["groupVersion", apiVersion], ["kind", given.kind]] as const) {
    const found = converted[name === "kind" ? "kind" : "apiVersion"] ?? "";
    if (found !== wanted) return `object at index 0: invalid ${name} (expected ${wanted}, received ${found})`;
  }
  const [before, after] = [objectOr(given.metadata), objectOr(converted.metadata)];
  for (const name of ["name", "namespace", "uid"]) {
    const [wanted, found] = [textOf(before[name]), textOf(after[name])];
    const what = name === "uid" ? "UID" : name;
    if (wanted !== found) return `object: must have the same ${what}: ${wanted} != ${found}`;
  }
  return converted.metadata === undefined ? "metadata: missing metadata in converted object" : undefined;
}
