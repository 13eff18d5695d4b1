/**
 * Subresources that are no writes of their body: scales, evictions, bindings and tokens.
 *
 * {@linkcode scaleOf} and {@linkcode PostedSubresources} are the entry points. `status` is an ordinary write, and
 * passes the writer.
 *
 * @module
 */
import { isList, isObject, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { listOr, memberAt, objectOr, textOf } from "../../../engine/api/members.ts";
import { LabelSelector } from "../../../engine/api/selector.ts";
import { rfc3339 } from "../../../engine/async/time.ts";
import { fieldCause, knownRefusal, refusal } from "../../../engine/protocol/refusal.ts";
import type { ScalePaths } from "../../../operator/schema/values/validate.ts";
import type { Definition } from "../storage/definition.ts";
import { parseStored, type Store, type StoredCollection, type StoredObject } from "../storage/store.ts";
import type { WriteMode } from "../writes/steps.ts";
import { deleteModeOf, type Writer } from "../writes/writer.ts";

const PATHS: ScalePaths = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };

function keysOf(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

/** Returns the scale of an object: desired and current replicas (autoscaling/v1). */
export function scaleOf(definition: Definition, object: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = objectOr(object.metadata);
  const { specReplicasPath, statusReplicasPath } = definition.scale ?? PATHS;
  const selector = selectorOf(definition, object);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas: numberAt(object, specReplicasPath) ?? (definition.custom ? 0 : 1) },
    status: { replicas: numberAt(object, statusReplicasPath) ?? 0, ...(selector === "" ? {} : { selector }) },
  };
}

function numberAt(object: JsonObject, path: string): number | undefined {
  const value = memberAt(object, ...keysOf(path));
  return typeof value === "number" ? value : undefined;
}

function selectorOf({ custom, scale, plural }: Definition, object: JsonObject): string {
  if (custom) {
    const path = scale?.labelSelectorPath;
    return path === undefined ? "" : textOf(memberAt(object, ...keysOf(path)) ?? "");
  }
  const selector = objectOr(memberAt(object, "spec", "selector"));
  const labels = plural === "replicationcontrollers" ? selector : objectOr(selector.matchLabels);
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`).sort().join(",");
}

/**
 * Returns an object with the replicas of a scale, and its resourceVersion if the scale has one.
 *
 * @throws {StatusError} 400 if the replicas are no integer, or the kind is not Scale; 422 if they are negative.
 */
export function scaled(definition: Definition, object: JsonObject, scale: JsonObject): JsonObject {
  const replicas = replicasOf(scale);
  const metadata: MutableJson = { ...objectOr(object.metadata) };
  const { resourceVersion } = objectOr(scale.metadata);
  if (resourceVersion !== undefined && resourceVersion !== "") metadata.resourceVersion = resourceVersion;
  return { ...withReplicas(definition, object, replicas), metadata };
}

/** Returns the configuration of an object that applying a scale to it means. */
export function scaledConfig(definition: Definition, name: string, scale: JsonObject): JsonObject {
  const { apiVersion, kind } = definition;
  const { resourceVersion } = objectOr(scale.metadata);
  const metadata = { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  return withReplicas(definition, { apiVersion, kind, metadata }, replicasOf(scale));
}

function replicasOf(scale: JsonObject): number {
  const { replicas = 0 } = objectOr(scale.spec);
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
    throw refusal(400, `spec.replicas must be a number of replicas, found ${JSON.stringify(replicas)}`);
  }
  if (scale.kind !== undefined && scale.kind !== "Scale") {
    throw refusal(400, `expected a Scale, found ${textOf(scale.kind)}`);
  }
  if (replicas < 0) {
    const name = textOf(objectOr(scale.metadata).name);
    const cause = fieldCause.invalid("spec.replicas", String(replicas), "must be greater than or equal to 0");
    throw knownRefusal("invalid", { group: "autoscaling", kind: "Scale", name }, [cause]);
  }
  return replicas;
}

function withReplicas({ scale }: Definition, object: JsonObject, replicas: number): JsonObject {
  const [member, ...rest] = keysOf((scale ?? PATHS).specReplicasPath);
  return { ...object, [member]: withNumber(object[member], rest, replicas) };
}

function withNumber(value: unknown, [member, ...rest]: readonly string[], replicas: number): JsonObject | number {
  if (member === undefined) return replicas;
  const object = isObject(value) ? value : {};
  return { ...object, [member]: withNumber(object[member], rest, replicas) };
}

const BUDGETS = { group: "policy", version: "v1", plural: "poddisruptionbudgets" };

/** Requests that are no writes of their body: evictions and bindings of pods, and tokens of service accounts. */
export class PostedSubresources {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #now: () => number;

  /** Writes by `writer`; `now` is the clock of tokens and conditions. */
  constructor(store: Store, writer: Writer, now: () => number) {
    this.#store = store;
    this.#writer = writer;
    this.#now = now;
  }

  /**
   * Evicts a pod: deletes it, unless a disruption budget is in the way, and counts it in the budget.
   *
   * @throws {StatusError} 429 if a budget allows no disruption, 500 if there are two budgets, 400, 404, 409.
   */
  evict(pods: StoredCollection, key: string, body: JsonObject, mode: WriteMode): JsonObject {
    const stored = this.#named(pods, key, body, "Eviction");
    const options = deleteModeOf(objectOr(body.deleteOptions));
    const dryRun = mode.dryRun || options.dryRun;
    const budget = this.#budgetOf(stored);
    if (budget !== undefined && !dryRun) this.#count(budget, stored.name, mode);
    this.#writer.delete(pods, key, { ...options, dryRun });
    return CREATED;
  }

  /** The budget that allows the eviction of a pod; undefined if none is asked. */
  #budgetOf(pod: StoredObject): StoredObject | undefined {
    const { metadata, status } = parseStored(pod);
    const { phase } = objectOr(status);
    const { deletionTimestamp, labels } = objectOr(metadata);
    if (deletionTimestamp !== undefined || phase === undefined) return undefined;
    if (["Succeeded", "Failed", "Pending"].includes(textOf(phase))) return undefined;
    const all = this.#store.collection(BUDGETS)!.slice({ namespace: pod.namespace, revision: this.#store.revision });
    const budgets = [...all].filter((budget) => {
      const { selector } = objectOr(parseStored(budget).spec);
      return isObject(selector) && LabelSelector.from(selector).matches(objectOr(labels) as Record<string, string>);
    });
    if (budgets.length > 1) {
      const why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
      throw refusal(500, why, { reason: "" });
    }
    if (budgets.length === 1) checkBudget(parseStored(budgets[0]));
    return budgets[0];
  }

  #count(budget: StoredObject, pod: string, mode: WriteMode): void {
    const change = (object: JsonObject): JsonObject => {
      const status = objectOr(object.status);
      const disruptedPods = { ...objectOr(status.disruptedPods), [pod]: this.#time() };
      return { ...object, status: { ...status, disruptionsAllowed: allowedBy(object) - 1, disruptedPods } };
    };
    this.#writer.change(this.#store.collection(BUDGETS)!, budget.key, change, { ...mode, subresource: "status" });
  }

  /**
   * Binds a pod to a node.
   *
   * @throws {StatusError} 409 if it is bound, 400, 404.
   */
  bind(pods: StoredCollection, key: string, body: JsonObject, mode: WriteMode): JsonObject {
    const stored = this.#named(pods, key, body, "Binding");
    const { name: node } = objectOr(body.target);
    if (typeof node !== "string" || node === "") throw refusal(400, "target.name: Required value");
    const binding = { group: "", plural: "pods/binding" };
    const change = (pod: JsonObject): JsonObject => {
      const spec = objectOr(pod.spec);
      const refuse = (why: string): never => {
        throw knownRefusal("conflict", binding, stored.name, `pod ${stored.name} ${why}`);
      };
      if (objectOr(pod.metadata).deletionTimestamp) refuse("is being deleted, cannot be assigned to a host");
      if (spec.nodeName) refuse(`is already assigned to node ${JSON.stringify(spec.nodeName)}`);
      if (isList(spec.schedulingGates) && spec.schedulingGates.length > 0) {
        refuse("has non-empty .spec.schedulingGates");
      }
      const { conditions, ...status } = objectOr(pod.status);
      const others = listOr(conditions).filter((it) => objectOr(it).type !== "PodScheduled");
      const times = { lastProbeTime: null, lastTransitionTime: this.#time() };
      const scheduled = { type: "PodScheduled", status: "True", ...times };
      return { ...pod, spec: { ...spec, nodeName: node }, status: { ...status, conditions: [...others, scheduled] } };
    };
    this.#writer.change(pods, key, change, { ...mode, subresource: "binding" });
    return CREATED;
  }

  /**
   * Returns a TokenRequest with a token, which no server has signed.
   *
   * @throws {StatusError} 404 if there is no such service account.
   */
  token(accounts: StoredCollection, key: string, body: JsonObject): JsonObject {
    const { namespace, name, uid } = accounts.existing(key);
    const { audiences, expirationSeconds, boundObjectRef = null } = objectOr(body.spec);
    const seconds = typeof expirationSeconds === "number" ? expirationSeconds : 3_600;
    const audience = isList(audiences) && audiences.length > 0 ? audiences : [ISSUER];
    const issued = Math.floor(this.#now() / 1_000);
    const subject = `system:serviceaccount:${namespace}:${name}`;
    const claims = { aud: audience, exp: issued + seconds, iat: issued, iss: ISSUER, nbf: issued, sub: subject };
    const parts = [{ alg: "none" }, claims].map((part) => btoa(JSON.stringify(part)));
    const token = parts.join(".").replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name, namespace, uid, creationTimestamp: this.#time() },
      spec: { audiences: audience, expirationSeconds: seconds, boundObjectRef },
      status: { token: `${token}.fake`, expirationTimestamp: this.#time(seconds) },
    };
  }

  #named(pods: StoredCollection, key: string, body: JsonObject, kind: string): StoredObject {
    const stored = pods.existing(key);
    const { name } = objectOr(body.metadata);
    if (name !== stored.name) throw refusal(400, `name in URL does not match name in ${kind} object`);
    return stored;
  }

  #time(plusSeconds = 0): string {
    return rfc3339(this.#now() + plusSeconds * 1_000);
  }
}

const ISSUER = "https://kubernetes.default.svc";
const CREATED: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

function allowedBy({ status }: JsonObject): number {
  return Number(objectOr(status).disruptionsAllowed ?? 0);
}

/** @throws {StatusError} 429 if a disruption budget allows no disruption. */
function checkBudget(budget: JsonObject): void {
  if (allowedBy(budget) > 0) return;
  const { desiredHealthy = 0, currentHealthy = 0 } = objectOr(budget.status);
  const why = Number(currentHealthy) <= Number(desiredHealthy)
    ? `needs ${textOf(desiredHealthy)} healthy pods and has ${textOf(currentHealthy)} currently`
    : "does not allow evicting pods currently";
  const message = `The disruption budget ${textOf(objectOr(budget.metadata).name)} ${why}`;
  throw refusal(429, "Cannot evict pod as it would violate the pod's disruption budget.", {
    details: { causes: [{ reason: "DisruptionBudget", message }] },
  });
}
