/**
 * Handles requests for collections, objects and subresources, by verb.
 *
 * {@linkcode ResourceHandler} is the entry point. Bodies are decoded here, `reads` answers lists and watches, and
 * `writes/writer.ts` changes objects. Routes and faults are in `request_handler.ts`.
 *
 * @module
 */
import { decoder, encoder } from "../../../engine/api/object.ts";
import { isBuiltInGroup } from "../../../engine/api/resource.ts";
import type { Discovery } from "../../../engine/protocol/discovery.ts";
import { type Causes, fieldCause, knownRefusal, PlainRefusal, refusal } from "../../../engine/protocol/refusal.ts";
import {
  negotiateRepresentation,
  parseListOptions,
  parseRevision,
  type ResourceRoute,
  type ServerListOptions,
} from "../../../engine/protocol/requests.ts";
import { applyPatch, type MergeType, patchType, repeatedInPatch } from "../apply/patches.ts";
import { CollectionLister, type ListPage, listPageBytes, StoredSelection } from "../reads/lists.ts";
import type { PodLogs } from "../reads/pod_logs.ts";
import { includeObjectOf, type ResponseView, tableOfOne } from "../reads/table.ts";
import type { ServerFeatures, Watches } from "../reads/watch.ts";
import { decodeTyped, type FieldValidation } from "../schema/decode.ts";
import { loadDefinitionChecks } from "../schema/definition_checks.ts";
import { readProtobuf } from "../schema/protobuf.ts";
import { structNamed } from "../schema/schema.ts";
import { type Definition, schemaOfDefinition } from "../storage/definition.ts";
import {
  nameIn,
  parseStored,
  partialOf,
  type Store,
  type StoredCollection,
  storedKey,
  type StoredObject,
} from "../storage/store.ts";
import { ByteBody, joinBytes } from "../wire/byte_body.ts";
import {
  answerBytes,
  answerError,
  answerJson,
  answerStream,
  mediaTypeOf,
  PROTOBUF,
  type RequestAttributes,
  type RequestContext,
  requireReadable,
} from "../wire/exchange.ts";
import { isDeeper, isObject, type Json, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { listOr, objectOr, textOf } from "../../../engine/api/members.ts";
import { hasRules, loadedRules, loadRules } from "../../../operator/schema/rules/load.ts";
import type { NamespaceLifecycle } from "../writes/identity.ts";
import type { WriteMode } from "../writes/steps.ts";
import { type DeleteMode, deleteModeOf, type Writer } from "../writes/writer.ts";
import { PostedSubresources, scaled, scaledConfig, scaleOf } from "./subresources.ts";
import type { Review } from "./webhooks.ts";

/** Maximum nesting of objects and arrays: kube-apiserver takes 10,000 levels, which overflow the stack here. */
const MAX_DEPTH = 1_000;

/** Maximum bytes of a body, as of kube-apiserver. */
const MAX_BYTES = 3_145_728;

/**
 * Returns the body as text; protobuf is converted to JSON. `isRemote` is true for a body that comes over a network.
 *
 * @throws {StatusError} 413 if it has more than 3 MiB, 400 for bytes that are not protobuf.
 */
export async function requestBodyText(request: Request, isRemote: boolean): Promise<string> {
  // A stream, which need not end, costs more than a body that is in memory already.
  const bytes = isRemote ? await bodyBytes(request) : await request.bytes();
  if (bytes.length > MAX_BYTES) throw tooLargeBody();
  if (mediaTypeOf(request.headers.get("content-type")) !== PROTOBUF) return decoder.decode(bytes);
  try {
    return JSON.stringify(readProtobuf(bytes));
  } catch (error) {
    throw refusal(400, `the object provided is unrecognized: ${(error as Error).message}`);
  }
}

async function bodyBytes({ body }: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // An iterator costs more: it releases the stream.
  const reader = body?.getReader();
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader!.read()) {
    chunks.push(read.value);
    if ((size += read.value.length) <= MAX_BYTES) continue;
    await reader!.cancel();
    throw tooLargeBody();
  }
  return joinBytes(...chunks);
}

function tooLargeBody(): Error {
  return refusal(413, `Request entity too large: limit is ${MAX_BYTES}`);
}

/**
 * Parses the body as a JSON object.
 *
 * @throws {StatusError} 400 if it is not one.
 */
export function requestBodyObject(text: string): JsonObject {
  return objectOrRefuse(requestBodyJson(text));
}

/** The object in the body of a write: Go reads null as an empty one of a built-in kind. */
function writtenObject({ body, definition: { custom } }: ResourceRequest): JsonObject {
  const value = requestBodyJson(body);
  return value === null && !custom ? {} : objectOrRefuse(value);
}

/** Returns the part of a mode that shows the repeated members in the body of a write. */
function strictBody({ body, definition }: ResourceRequest, object: JsonObject): Pick<WriteMode, "body" | "repeated"> {
  return definition.custom ? { repeated: repeatedInPatch(body, object, "merge") } : { body };
}

function objectOrRefuse(value: Json): JsonObject {
  if (!isObject(value)) throw refusal(400, "the body of the request must be a JSON object");
  return value;
}

/**
 * Parses the body as JSON.
 *
 * @throws {StatusError} 400 if it does not parse or is nested too deeply.
 */
function requestBodyJson(text: string, message?: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refusal(400, message ?? `the object provided is unrecognized: ${(error as Error).message}`);
  }
  // Each level takes two characters.
  if (text.length > 2 * MAX_DEPTH && isDeeper(value, MAX_DEPTH)) {
    throw refusal(400, "the object provided is unrecognized: json: exceeded max depth");
  }
  return value;
}

/** The representations that an answer may have. */
type Offered = Parameters<typeof negotiateRepresentation>[1];

/** Components of the server that answers to requests for resources need. */
export interface ResourceParts {
  /** All collections. */
  readonly store: Store;
  /** Opens watches. */
  readonly watches: Watches;
  /** Validates and writes objects. */
  readonly writer: Writer;
  /** The logs of containers. */
  readonly logs: PodLogs;
  /** The rules for namespaces, if there are any. */
  readonly namespaces: NamespaceLifecycle | undefined;
  /** Known groups and versions. */
  readonly discovery: Discovery;
  /** The server's clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** Optional features of the server. */
  readonly features: ServerFeatures;
}

/** Subresources that need a kubelet. */
const OF_KUBELETS = ["attach", "ephemeralcontainers", "exec", "portforward", "proxy", "resize"];
/** Subresources that are streams. */
const STREAMS = ["attach", "exec", "portforward"];

/** A request for a collection, an object or a subresource. */
interface ResourceRequest {
  readonly context: RequestContext;
  readonly route: ResourceRoute;
  readonly collection: StoredCollection;
  readonly definition: Definition;
  /** The key of the object in the path. */
  readonly key: string;
  /** The body as text. */
  readonly body: string;
  /** The warnings of the answer. */
  readonly warnings: string[];
  /** Asks webhooks about writes; undefined if none is called. */
  readonly review: Review | undefined;
}

/** The objects of a collection to delete, and the objects that are left, the last one first. */
interface Deletions {
  readonly page: ListPage;
  readonly left: StoredObject[];
}

/** Handles requests for collections, objects and subresources, by verb. */
export class ResourceHandler {
  readonly #parts: ResourceParts;
  readonly #lister: CollectionLister;
  readonly #podRequests: PostedSubresources;

  /** Uses these components. */
  constructor(parts: ResourceParts) {
    this.#parts = parts;
    this.#lister = new CollectionLister(parts.store);
    this.#podRequests = new PostedSubresources(parts.store, parts.writer, parts.now);
  }

  /**
   * Answers a request.
   *
   * @throws {StatusError} or {@linkcode PlainRefusal} for an error response.
   */
  answer(
    context: RequestContext,
    route: ResourceRoute,
    { verb }: RequestAttributes,
    body: string,
    review?: Review,
  ): Response {
    const collection = this.#resolve(route);
    const { definition } = collection;
    const warnings = definition.warning === undefined ? [] : [definition.warning];
    const key = storedKey(route);
    const request: ResourceRequest = { context, route, collection, definition, key, body, warnings, review };
    const allWarnings = (): readonly string[] => review?.withWarnings(warnings) ?? warnings;
    let response: Response;
    try {
      response = this.#perform(request, verb);
    } catch (error) {
      if (allWarnings().length === 0) throw error;
      // An error response carries the warnings as well.
      response = answerError(context, error);
    }
    for (const text of allWarnings()) addWarning(response.headers, text);
    return response;
  }

  /** Loads what a write needs: rules in CEL, and the checks of CRDs. Returns `undefined` if all of it is loaded. */
  loading(route: ResourceRoute, body: string): Promise<unknown> | undefined {
    if (body === "") return undefined;
    const isDefinition = route.plural === "customresourcedefinitions";
    const { openAPIV3Schema } = this.#parts.store.collection(route)?.definition ?? {};
    const needsRules = isDefinition
      ? body.includes("x-kubernetes-validations")
      : openAPIV3Schema !== undefined && hasRules(openAPIV3Schema);
    const needed = [
      isDefinition ? loadDefinitionChecks() : undefined,
      needsRules && loadedRules() === undefined ? loadRules() : undefined,
    ].filter((one) => one !== undefined);
    return needed.length === 0 ? undefined : Promise.all(needed);
  }

  #resolve({ group, version, plural, namespace, name, subresource }: ResourceRoute): StoredCollection {
    const { store, discovery } = this.#parts;
    const collection = store.collection({ group, version, plural });
    if (collection === undefined) {
      // Missing resources of a built-in group get a Status; a custom group's paths exist only while its definitions
      // do.
      throw isBuiltInGroup(group) && discovery.has(group, version) ? knownRefusal("noResource") : PlainRefusal.noPath();
    }
    const { scope, parts } = collection.definition;
    if (namespace !== "" && scope === "Cluster") throw knownRefusal("noResource");
    if (namespace === "" && scope === "Namespaced" && name !== undefined) throw knownRefusal("noResource");
    if (subresource !== undefined && !parts.some(({ name }) => name === subresource)) {
      throw collection.definition.custom
        ? knownRefusal("notFound", collection.definition, name!)
        : knownRefusal("noResource");
    }
    return collection;
  }

  #perform(request: ResourceRequest, verb: string): Response {
    const { definition, route: { subresource } } = request;
    if (subresource !== undefined) {
      if (!definition.parts.find(({ name }) => name === subresource)!.verbs.includes(verb)) {
        throw knownRefusal("noMethod");
      }
      const answer = this.#part(request, verb, subresource);
      if (answer !== undefined) return answer;
    } else if (!definition.verbs.includes(verb)) {
      // Kinds that are no objects have no other methods.
      throw definition.verbs.includes("get") ? knownRefusal("noVerb", definition, verb) : knownRefusal("noMethod");
    }
    const isNamed = request.route.name !== undefined;
    if (verb === "create" && isNamed) throw knownRefusal("noMethod");
    if (!isNamed && (verb === "update" || verb === "patch")) throw knownRefusal("noVerb", definition, verb);
    const perform = this.#verbs[verb];
    if (perform === undefined) throw knownRefusal("noMethod");
    return perform(request);
  }

  readonly #verbs: Readonly<Record<string, ((request: ResourceRequest) => Response) | undefined>> = {
    get: (request) => this.#get(request),
    list: (request) => this.#list(request),
    watch: (request) => this.#watch(request),
    create: (request) => this.#create(request),
    update: (request) => this.#update(request),
    patch: (request) => this.#patch(request),
    delete: (request) => this.#delete(request),
    deletecollection: (request) => this.#deleteCollection(request),
  };

  /** Answers a request for a subresource that is no form of its object; undefined for others. */
  #part(request: ResourceRequest, verb: string, subresource: string): Response | undefined {
    const { context, collection, definition: { custom, plural }, key } = request;
    if (OF_KUBELETS.includes(subresource)) {
      if (STREAMS.includes(subresource)) {
        const { nodeName } = objectOr(parseStored(collection.existing(key)).spec);
        if (!nodeName) throw refusal(400, `pod ${nameIn(key)} does not have a host assigned`);
      }
      throw refusal(501, `the fake server has no kubelets, which ${plural}/${subresource} needs`, { reason: "" });
    }
    if (subresource === "log") {
      const log = this.#parts.logs.read(key, context.url.searchParams, context.chunkBytes);
      return log === undefined ? new Response(null, { status: 204 }) : answerStream(context, log, "text/plain");
    }
    if (verb !== "create") return undefined;
    requireReadable(context.request.headers.get("content-type"), custom);
    return this.#createPart(request, subresource, collection, key);
  }

  /** Evicts or binds a pod, or issues a token. */
  #createPart(request: ResourceRequest, subresource: string, collection: StoredCollection, key: string): Response {
    const { context, definition, route } = request;
    const { namespace } = route;
    const given = requestBodyObject(request.body);
    const pods = this.#podRequests;
    const name = nameIn(key);
    this.#parts.namespaces?.checkOpen(definition, { namespace, name });
    // Webhooks are asked about the body, not about what becomes of it.
    const { review: _, ...mode } = writeMode(request, "CreateOptions");
    const body = request.review?.create(definition, route.subresource ?? "", name, given, mode.dryRun) ?? given;
    const named = { ...body, metadata: { name, ...objectOr(body.metadata) } };
    const created = subresource === "token"
      ? pods.token(collection, key, named)
      : subresource === "eviction"
      ? pods.evict(collection, key, body, mode)
      : pods.bind(collection, key, body, mode);
    return answerJson(context, created, 201);
  }

  #get(request: ResourceRequest): Response {
    const { context, collection, key } = request;
    const asked = context.url.searchParams.get("resourceVersion") ?? "";
    if (asked !== "") this.#lister.checkReached(parseRevision(asked, false));
    return this.#object(request, collection.existing(key), 200);
  }

  #list(request: ResourceRequest): Response {
    const { context, collection } = request;
    const view = this.#view(context, ["PartialObjectMetadataList", "Table"]);
    const { options, selection } = this.#listRequest(request);
    const page = this.#lister.list(collection, selection, options);
    return answerBytes(context, listPageBytes(collection, page, view, selection.shard));
  }

  #watch(request: ResourceRequest): Response {
    const { context, collection } = request;
    const accept = context.request.headers.get("accept");
    const offered: Offered = ["PartialObjectMetadata", "PartialObjectMetadataList", "Table"];
    const representation = negotiateRepresentation(accept, offered);
    const view = this.#view(context, offered);
    const { options, selection } = this.#listRequest(request);
    if (representation === "PartialObjectMetadataList") {
      // The wrong representation for a watch: the server answers 200 with an empty body.
      const body = new ByteBody({ chunkBytes: context.chunkBytes });
      body.end();
      return answerStream(context, body);
    }
    const watch = this.#parts.watches.open(collection, selection, options, view, context.spreadMs());
    return answerStream(context, watch.body);
  }

  #create(request: ResourceRequest): Response {
    const { context, collection, definition: { custom, kind }, route: { namespace }, body } = request;
    requireReadable(context.request.headers.get("content-type"), custom);
    if (kind === "Binding") {
      const pods = this.#parts.store.collection({ group: "", version: "v1", plural: "pods" })!;
      const { name } = objectOr(requestBodyObject(body).metadata);
      return this.#createPart(request, "binding", pods, `${namespace}/${textOf(name)}`);
    }
    const object = writtenObject(request);
    const mode = { ...writeMode(request, "CreateOptions"), ...strictBody(request, object) };
    return this.#object(request, this.#parts.writer.create(collection, namespace, object, mode), 201);
  }

  #update(request: ResourceRequest): Response {
    const { context, collection, definition, key, route } = request;
    requireReadable(context.request.headers.get("content-type"), definition.custom);
    const body = writtenObject(request);
    const { writer } = this.#parts;
    const mode = writeMode(request, "UpdateOptions");
    if (route.subresource === "scale") {
      const { stored } = writer.change(collection, key, (object) => scaled(definition, object, body), mode);
      return this.#object(request, stored, 200);
    }
    const { stored, created } = writer.update(collection, key, body, { ...mode, ...strictBody(request, body) });
    return this.#object(request, stored, created ? 201 : 200);
  }

  #patch(request: ResourceRequest): Response {
    const { context, collection, definition, key, route: { namespace, subresource } } = request;
    const { writer } = this.#parts;
    const isScale = subresource === "scale";
    const type = patchType(context.request.headers.get("content-type"), definition.custom);
    const patch = requestBodyJson(request.body, type === "apply" ? undefined : "invalid JSON patch");
    const repeated = repeatedInPatch(request.body, patch, type);
    const mode = { ...writeMode(request, "PatchOptions", type === "apply"), repeated };
    if (type === "apply") {
      const force = /^(1|t|true)$/i.test(context.url.searchParams.get("force") ?? "");
      const name = nameIn(key);
      const config = isScale ? scaledConfig(definition, name, objectOr(patch)) : objectOr(patch);
      const { stored, created } = writer.apply(collection, namespace, name, config, { ...mode, force });
      return this.#object(request, stored, created ? 201 : 200);
    }
    // A version in the patch is a precondition and replaces the object's own.
    const change = (object: JsonObject): JsonObject => {
      if (!isScale) return patched(object, patch, type, definition);
      const scale = applyPatch(scaleOf(definition, object), patch, type, structNamed("autoscaling/v1.Scale"));
      return scaled(definition, object, scale);
    };
    return this.#object(request, writer.change(collection, key, change, mode).stored, 200);
  }

  #delete(request: ResourceRequest): Response {
    const { context, collection, definition, key } = request;
    const deletion = this.#parts.writer.delete(collection, key, deleteMode(request));
    if (!deletion.gone || definition.returnsDeleted) return this.#object(request, deletion.stored, 200);
    const { name, uid } = deletion.stored;
    const details = { name, group: definition.group || undefined, kind: definition.plural, uid };
    return answerJson(context, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
  }

  #deleteCollection(request: ResourceRequest): Response {
    const { context, collection, review } = request;
    const { options, selection } = this.#listRequest(request);
    const mode = deleteMode(request);
    const list = (): Deletions => {
      const page = this.#lister.list(collection, selection, options);
      return { page, left: page.objects.toReversed() };
    };
    const { page, left } = review?.once(list) ?? list();
    for (; left.length > 0; left.pop()) this.#parts.writer.delete(collection, left.at(-1)!.key, mode);
    return answerBytes(context, listPageBytes(collection, page, { as: "object" }));
  }

  #object(request: ResourceRequest, stored: StoredObject, code: number): Response {
    const { context, definition, route } = request;
    if (route.subresource === "scale") return answerJson(context, scaleOf(definition, parseStored(stored)), code);
    const view = this.#view(context, ["PartialObjectMetadata", "Table"]);
    const bytes = view.as === "object"
      ? stored.bytes
      : view.as === "partial"
      ? partialOf(definition, stored)
      : tableOfOne(definition, stored, view, true);
    return answerBytes(context, [bytes], code);
  }

  /** Negotiates the representation of objects. */
  #view({ request, url }: RequestContext, offered: Offered): ResponseView {
    const representation = negotiateRepresentation(request.headers.get("accept"), offered);
    if (representation === "object") return { as: "object" };
    if (representation !== "Table") return { as: "partial" };
    return { as: "table", include: includeObjectOf(url.searchParams), now: this.#parts.now };
  }

  #listRequest(
    { context: { url }, definition, route: { namespace } }: ResourceRequest,
  ): { readonly options: ServerListOptions; readonly selection: StoredSelection } {
    const options = parseListOptions(url.searchParams, this.#parts.features.streamingList);
    const { labelSelector, fieldSelector, shardSelector } = options;
    const shard = this.#parts.features.shards ? shardSelector : "";
    const selection = new StoredSelection(definition, namespace, labelSelector, fieldSelector, shard);
    return { options, selection };
  }
}

/** Adds a warning to headers, in UTF-8. The server drops a text with control characters. */
function addWarning(headers: Headers, text: string): void {
  if (text === "" || /\p{Cc}/u.test(text)) return;
  headers.append("warning", `299 - ${String.fromCharCode(...encoder.encode(JSON.stringify(text)))}`);
}

/** Applies a patch. Of a built-in kind, a strategic merge does not see kind and apiVersion. */
function patched(object: JsonObject, patch: Json, type: MergeType, definition: Definition): JsonObject {
  const result = applyPatch(object, patch, type, schemaOfDefinition(definition));
  if (type !== "strategic") return result;
  const { kind = "", apiVersion = "" } = result;
  const { kind: _, apiVersion: __, ...rest } = result as MutableJson;
  return {
    ...(typeof kind === "string" ? {} : { kind }),
    ...(typeof apiVersion === "string" ? {} : { apiVersion }),
    ...rest,
  };
}

/** The options of a write, which have a kind of their own for each verb. */
function writeMode(
  { context, route, warnings, review }: ResourceRequest,
  kind: OptionsKind,
  isApply = false,
): WriteMode {
  const { searchParams } = context.url;
  const agent = (context.request.headers.get("user-agent") ?? "").split("/")[0];
  const manager = searchParams.get("fieldManager") ?? "";
  const fieldValidation = searchParams.get("fieldValidation") ?? "";
  const causes: Causes = [];
  if (kind === "PatchOptions") {
    if (isApply && manager === "") causes.push(fieldCause.required("fieldManager", "is required for apply patch"));
    if (!isApply && searchParams.has("force")) {
      causes.push(fieldCause.forbidden("force", "may not be specified for non-apply patch"));
    }
  }
  if (manager.length > 128) {
    const message = "Too long: may not be more than 128 bytes";
    causes.push({ reason: "FieldValueTooLong", message, field: "fieldManager" });
  }
  const dryRun = searchParams.getAll("dryRun");
  checkDryRun(dryRun, causes);
  if (!isFieldValidation(fieldValidation)) {
    causes.push(fieldCause.unsupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]));
  }
  if (causes.length > 0 || !isFieldValidation(fieldValidation)) {
    throw knownRefusal("invalid", { group: "meta.k8s.io", kind, name: "" }, causes);
  }
  return {
    manager: manager || agent || "unknown",
    subresource: route.subresource ?? "",
    dryRun: dryRun.includes("All"),
    direct: false,
    fieldValidation: fieldValidation || "Warn",
    warnings,
    review,
  };
}

type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

function checkDryRun(values: readonly string[], causes: Causes): void {
  const given = values.filter((value) => value !== "");
  if (given.some((value) => value !== "All")) causes.push(fieldCause.unsupported("dryRun", given, ["All"]));
}

function isFieldValidation(value: string): value is FieldValidation | "" {
  return value === "" || value === "Warn" || value === "Ignore" || value === "Strict";
}

const POLICIES = ["Foreground", "Background", "Orphan", "nil"];

const DELETE_OPTIONS = { kind: "DeleteOptions", version: "v1" };

/** @throws {StatusError} 400 for a body that holds no options of a deletion. */
function deleteOptions(text: string): JsonObject {
  const value = requestBodyJson(text) ?? {};
  const options = objectOrRefuse(value);
  const { kind = "", apiVersion = "v1" } = options;
  if (kind !== "" && kind !== DELETE_OPTIONS.kind) {
    throw refusal(400, `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
  }
  return decodeTyped(structNamed("meta/v1.DeleteOptions"), options, DELETE_OPTIONS).object;
}

/** The options of a deletion: from the body, or, without one, from the query. */
function deleteMode({ context: { url: { searchParams } }, body: text, review }: ResourceRequest): DeleteMode {
  const query = { ...Object.fromEntries(searchParams), dryRun: searchParams.getAll("dryRun") };
  const options: JsonObject = text === "" ? query : deleteOptions(text);
  const { propagationPolicy: policy, orphanDependents, dryRun } = options;
  const causes: Causes = [];
  if (orphanDependents !== undefined && policy !== undefined) {
    const why = "orphanDependents and deletionPropagation cannot be both set";
    causes.push(fieldCause.invalid("propagationPolicy", JSON.stringify(policy), why));
  }
  if (policy !== undefined && !POLICIES.slice(0, 3).includes(textOf(policy))) {
    causes.push(fieldCause.unsupported("propagationPolicy", policy, POLICIES));
  }
  checkDryRun(listOr(dryRun).map(textOf), causes);
  if (causes.length > 0) {
    throw knownRefusal("invalid", { group: "meta.k8s.io", kind: "DeleteOptions", name: "" }, causes);
  }
  return { ...deleteModeOf(options), review };
}
