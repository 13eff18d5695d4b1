/**
 * Decides from a cached object whether a server-side apply would change it, without the schema of its kind.
 *
 * {@linkcode needToApply} is the entry point, and {@linkcode keptByUpdate} finds what no apply removes. The manager's
 * entry in `managedFields` names the fields in its last apply. If somebody else has changed a field's value since, the
 * entry no longer has the field. So the object stays unchanged if an apply has the same fields, each with its present
 * value. A server fills in defaults, and writes some values in another form: the tables below know this only for
 * built-in kinds. In doubt, an apply is needed.
 *
 * @module
 */
import { ArgumentError } from "../errors/checks.ts";

import { isObject } from "../api/json.ts";
import {
  base64Of,
  keyOf,
  type KubernetesObject,
  type ManagedFieldsEntry,
  type ObjectKey,
  type ObjectMeta,
  type Reduced,
  reduced,
} from "../api/object.ts";
import { parseQuantity } from "../api/quantity.ts";
import { isSecret, type Resource } from "../api/resource.ts";
import { formatFieldPath } from "../api/selector.ts";

type Members = Readonly<Record<string, unknown>>;
/** Names of members, or of a structure and a member. */
type Names = ReadonlySet<string>;

/** The object that an apply concerns, from a cache. */
interface Target {
  readonly key: ObjectKey;
  readonly current: KubernetesObject | undefined;
  readonly fieldManager: string;
}

/** Returns why `draft`, as it is sent, must be applied. Returns `undefined` if the object would stay unchanged. */
export function needToApply(
  resource: Resource,
  draft: KubernetesObject,
  { key, current, fieldManager }: Target,
): string | undefined {
  if (current === undefined) return "the object is not cached";
  checkCurrent(`apply ${resource.kind} "${key}" if it has changed`, key, current);
  const { apiVersion, kind, metadata: { uid, resourceVersion, namespace, ...metadata }, ...fields } = draft;
  const { metadata: live, ...rest } = current;
  if ((current.apiVersion ?? apiVersion) !== apiVersion) {
    return `the cached object has apiVersion ${current.apiVersion}`;
  }
  if ((current.kind ?? kind) !== kind) return `the cached object is a ${current.kind}`;
  for (const [name, wanted] of Object.entries({ uid, resourceVersion, namespace } as Partial<ObjectMeta>)) {
    if ((wanted ?? live[name as keyof ObjectMeta]) !== live[name as keyof ObjectMeta]) {
      return `metadata.${name} differs`;
    }
  }
  const owned = Object.entries(metadata).filter(([name]) => !UNOWNED.has(name));
  const applied = owned.length === 0 ? fields : { ...fields, metadata: Object.fromEntries(owned) };
  if (live.managedFields === undefined) {
    return Object.keys(applied).length === 0 && hasNothing(current)
      ? undefined
      : "the cached object has no managedFields";
  }
  // A manager without fields has no entry.
  const entry = live.managedFields.find((entry) => isEntryOf(entry, fieldManager, "Apply")) ?? { apiVersion };
  if (live.deletionTimestamp !== undefined) {
    const ownsFinalizers = Object.hasOwn(entry.fieldsV1?.["f:metadata"] ?? {}, "f:finalizers"); // which an apply may remove
    const isOwned = live.ownerReferences?.some(({ uid }) => metadata.ownerReferences?.some((it) => it.uid === uid));
    return isOwned && !ownsFinalizers ? undefined : "the object is being deleted"; // its end reconciles the owner
  }
  if (entry.apiVersion !== apiVersion) return `"${fieldManager}" has applied ${entry.apiVersion}`;
  const comparison = new OwnedFieldsComparison(isBuiltIn(resource));
  const same = comparison.hasMembers(
    applied,
    entry.fieldsV1 ?? {},
    { ...isSecret(resource) ? withTexts(rest, fields) : rest, metadata: live },
    [],
  );
  return same ? undefined : `${formatFieldPath(comparison.differsAt)} differs`;
}

/** @throws {TypeError} if the cached object is another object, or lacks fields that the server has. */
function checkCurrent(action: string, key: ObjectKey, current: KubernetesObject & Reduced): void {
  if (keyOf(current) !== key) throw new ArgumentError(`Cannot ${action}: the cached object is "${keyOf(current)}"`);
  if (current[reduced] === undefined) return;
  throw new ArgumentError(
    `Cannot ${action}: the cached object is reduced to ${current[reduced]}, so its other fields are unknown. Let its ` +
      `informer keep all fields (for Secrets, secretData: "keep"), or use apply()`,
  );
}

/** Returns true for the fields that a manager has applied to an object itself, or written by updates. */
export function isEntryOf(entry: ManagedFieldsEntry, manager: string, operation: "Apply" | "Update"): boolean {
  return entry.manager === manager && entry.operation === operation && !entry.subresource;
}

/**
 * Returns which field stays in an object, although an apply of `draft` lacks it: one of these managers has written it
 * by an update. Finalizers do not count, because they are seldom applied.
 */
export function keptByUpdate(
  draft: KubernetesObject,
  { managedFields = [] }: ObjectMeta,
  managers: readonly string[],
): string | undefined {
  const { data, stringData } = draft as KubernetesObject & Members;
  const stored = isObject(stringData) ? { ...draft, data: { ...data as Members, ...stringData } } : draft;
  for (const entry of managedFields) {
    if (!managers.some((manager) => isEntryOf(entry, manager, "Update"))) continue;
    const path = missingIn(stored, entry.fieldsV1 ?? {}, []);
    if (path !== undefined) return `"${entry.manager}" owns ${formatFieldPath(path)} by an update`;
  }
  return undefined;
}

/** Returns the path of an owned field that a draft lacks. */
function missingIn(draft: unknown, owned: Members, path: readonly string[]): readonly string[] | undefined {
  for (const [key, below] of Object.entries(owned)) {
    const isMember = key.startsWith("f:");
    const at = isMember ? [...path, key.slice(2)] : path;
    if (key === "." || formatFieldPath(at) === "metadata.finalizers") continue;
    const found = isMember
      ? isObject(draft) ? memberOf(draft, key.slice(2)) : undefined
      : (Array.isArray(draft) ? draft : []).find((item) => isIdentified(item, identityOf(key), below as Members));
    const missing = (found ?? undefined) === undefined ? at : missingIn(found, below as Members, at);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

/** Members in metadata that nobody owns, and that an apply does not change. */
const UNOWNED: Names = new Set(["name", "creationTimestamp", "generation", "selfLink"]);

/** Returns true for an object without fields that somebody may own. It has no managedFields on the server either. */
function hasNothing({ apiVersion: _, kind: __, metadata, ...fields }: KubernetesObject): boolean {
  const { namespace: ___, uid: ____, resourceVersion: _____, ...others } = metadata;
  return Object.values(fields).every((value) => value === null) &&
    Object.keys(others).every((name) => UNOWNED.has(name));
}

/**
 * The groups whose fields the server reads into its own types. Other groups belong to custom and aggregated kinds.
 * Groups with fields in any form (`apiextensions`, `resource`) are left out: these have no defaults and no other forms
 * here.
 */
const BUILT_IN = new RegExp(
  "^(|apps|autoscaling|batch|policy|(admissionregistration|apiregistration|certificates|coordination|discovery|events|" +
    "(flowcontrol|internal)\\.apiserver|networking|node|rbac\\.authorization|scheduling|storage)\\.k8s\\.io)$",
);

function isBuiltIn({ group, kind }: Resource): boolean {
  return BUILT_IN.test(group) && kind !== "ControllerRevision"; // its data are of any form
}

/** Fields in built-in kinds, by their own name, or by the names of a structure and its member. */
export const KNOWN_FIELDS = {
  /** Lists of which each item has owners: an empty one has no owned field. */
  mergedLists: names(
    "containers env ephemeralContainers hostAliases initContainers metadata.finalizers metadata.ownerReferences " +
      "resourceClaims topologySpreadConstraints volumeDevices volumeMounts volumes",
  ),
  /** Lists that are owned as one. */
  atomicLists: names("args command envFrom metrics subjects tls tolerations"),
  /** Structures and maps of which each member has owners: an empty one leaves the members of others. */
  mergedMembers: names(
    "affinity behavior data dnsConfig lifecycle limits matchLabels metadata.annotations metadata.labels " +
      "persistentVolumeClaimRetentionPolicy requests resources rollingUpdate scaleDown scaleUp securityContext spec " +
      "strategy template.metadata updateStrategy",
  ),
  /** Maps that are left out when they are empty. */
  omittedMaps: names("hard limits matchLabels metadata.annotations metadata.labels nodeSelector requests"),
  /** Fields that are left out when they are `false`, 0 or `""`. */
  omittedZeros: names(
    "env.value hostIPC hostNetwork hostPID initialDelaySeconds minReadySeconds paused prefix priorityClassName " +
      "publishNotReadyAddresses stdin stdinOnce subPath tty unschedulable volumeMounts.readOnly workingDir",
  ),
  /** Fields that are a quantity. */
  quantities: names("emptyDir.sizeLimit resourceFieldRef.divisor target.averageValue target.value"),
  /** Maps and structures whose members are quantities. */
  quantityMaps: names("capacity default defaultRequest hard limits max maxLimitRequestRatio min podFixed requests"),
} as const;

function names(text: string): Names {
  return new Set(text.split(" "));
}

/** Defaults within lists and structures of built-in kinds that are owned as one, by the names of these. */
const DEFAULTS: ReadonlyMap<string, Members> = new Map<string, Members>(Object.entries({
  fieldRef: { apiVersion: "v1" },
  onPodConditions: { status: "True" },
  ports: { name: "", protocol: "TCP" },
  resourceFieldRef: { divisor: "0" },
  resourceRules: { scope: "*" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io" },
  rules: { scope: "*" },
  serviceAccountToken: { expirationSeconds: 3_600 },
  subjects: { apiGroup: "rbac.authorization.k8s.io" },
  volumeClaimTemplates: { apiVersion: "v1", kind: "PersistentVolumeClaim", status: { phase: "Pending" } },
  "volumeClaimTemplates.spec": { volumeMode: "Filesystem" },
}));

/** Compares a draft with the fields that its manager owns, and with a live object. */
class OwnedFieldsComparison {
  /** The path of the first field that differs, when something does. */
  differsAt: readonly string[] = [];
  readonly #isBuiltIn: boolean;

  constructor(isBuiltIn: boolean) {
    this.#isBuiltIn = isBuiltIn;
  }

  /** True if a structure has exactly the owned members, with their live values. */
  hasMembers(draft: Members, owned: Members, live: unknown, path: readonly string[]): boolean {
    if (!isObject(live)) return this.#differs(path);
    const left = new Set(Object.keys(owned).filter((key) => key !== "."));
    for (const [name, value] of Object.entries(draft)) {
      const at = [...path, name];
      if (left.delete(`f:${name}`)) {
        if (!this.#has(value, owned[`f:${name}`], memberOf(live, name), at)) return false;
      } else if (!(Array.isArray(value) && value.length === 0 && this.#knows("mergedLists", at))) {
        return this.#differs(at);
      }
    }
    const [gone] = left;
    return gone === undefined || this.#differs([...path, gone.slice(2)]);
  }

  #has(draft: unknown, owned: unknown, live: unknown, path: readonly string[]): boolean {
    if (!isObject(owned)) return this.#differs(path);
    if (Object.keys(owned).every((key) => key === ".")) {
      const isAbsent = live === undefined || (live === null && this.#isBuiltIn);
      const isSame = isAbsent ? this.#isOmitted(draft, path) : this.#isSame(draft, live, path);
      // A leaf of merged members was empty in the last apply: others own the live ones.
      const isMerged = isObject(draft) && isObject(live) && this.#knows("mergedMembers", path);
      return (isMerged ? isEmpty(draft) : isSame) || this.#differs(path);
    }
    if (Array.isArray(draft)) return this.#hasItems(draft, owned, live, path);
    return isObject(draft) ? this.hasMembers(draft, owned, live, path) : this.#differs(path);
  }

  /**
   * True if a list has exactly the owned items, in the order that they have among the live ones: an apply would change
   * their order. Owned items have the defaults of the fields that identify them.
   */
  #hasItems(draft: readonly unknown[], owned: Members, live: unknown, path: readonly string[]): boolean {
    const left = new Map(Object.keys(owned).filter((key) => key !== ".").map((key) => [key, identityOf(key)]));
    if (!Array.isArray(live) || left.size !== draft.length) return this.#differs(path);
    let before = -1;
    for (const item of draft) {
      const [key, identity] = [...left].find(([key, identity]) => {
        return isIdentified(item, identity, owned[key] as Members);
      }) ?? [];
      if (key === undefined) return this.#differs(path);
      left.delete(key);
      const at = live.findIndex((other) => isIdentified(other, identity));
      const isOnly = at === live.findLastIndex((other) => isIdentified(other, identity));
      if (at <= before || !isOnly) return this.#differs(path);
      before = at;
      if (isObject(identity) && !this.#has(item, owned[key], live[at], path)) return false;
    }
    return true;
  }

  /** True if an owned field that is not there would not be there after an apply either. */
  #isOmitted(draft: unknown, path: readonly string[]): boolean {
    if (draft === null) return this.#isBuiltIn;
    if (Array.isArray(draft)) return draft.length === 0 && this.#knows("atomicLists", path);
    if (isObject(draft)) return isEmpty(draft) && this.#knows("omittedMaps", path);
    return !draft && this.#knows("omittedZeros", path);
  }

  /** True if a value that is owned as one is the live one, but for known defaults. */
  #isSame(draft: unknown, live: unknown, path: readonly string[]): boolean {
    if (Array.isArray(draft)) {
      return Array.isArray(live) && live.length === draft.length &&
        draft.every((item, at) => this.#isSame(item, live[at], path));
    }
    if (!isObject(draft)) return this.#isSameScalar(draft, live, path);
    return isObject(live) &&
      Object.entries(draft).every(([name, value]) => this.#isSame(value, memberOf(live, name), [...path, name])) &&
      Object.keys(live).every((name) => Object.hasOwn(draft, name) || this.#isDefault(name, live[name], path));
  }

  #isSameScalar(draft: unknown, live: unknown, path: readonly string[]): boolean {
    // JSON.parse may have rounded both.
    if (typeof draft === "number" && Math.abs(draft) > Number.MAX_SAFE_INTEGER) return false;
    if (draft === live) return true;
    const isQuantity = this.#knows("quantities", path) || this.#knows("quantityMaps", path.slice(0, -1));
    return isQuantity && typeof live === "string" && canonicalQuantity(draft) === live;
  }

  #isDefault(name: string, value: unknown, path: readonly string[]): boolean {
    const defaults = DEFAULTS.get(path.slice(-2).join(".")) ?? DEFAULTS.get(path.at(-1) ?? "") ?? {};
    return this.#isBuiltIn && JSON.stringify(memberOf(defaults, name)) === JSON.stringify(value);
  }

  /** True if it is known of a field of a built-in kind, or of the metadata of any kind. */
  #knows(what: keyof typeof KNOWN_FIELDS, path: readonly string[]): boolean {
    const isMetadata = path.length === 2 && path[0] === "metadata";
    const known = KNOWN_FIELDS[what];
    if (known.has(path.slice(-2).join(".")) && path.length > 1) return isMetadata || this.#isBuiltIn;
    return this.#isBuiltIn && !isMetadata && path.length > 0 && known.has(path.at(-1)!);
  }

  #differs(path: readonly string[]): false {
    this.differsAt = path;
    return false;
  }
}

/** Returns the members that identify an item by `k:` in managedFields, or the item that `v:` is followed by. */
function identityOf(key: string): unknown {
  return JSON.parse(key.slice(2));
}

/**
 * True for the item that has this identity. With the fields that are owned of the item, a member that is not among them
 * may be missing: it was a default before, too.
 */
function isIdentified(item: unknown, identity: unknown, owned?: Members): boolean {
  if (!isObject(identity)) return item === identity;
  return isObject(item) && Object.entries(identity).every(([name, value]) => {
    const found = memberOf(item, name);
    return found === undefined ? owned !== undefined && !Object.hasOwn(owned, `f:${name}`) : found === value;
  });
}

/** A live Secret with the texts of the draft's `stringData`, which the server stores as data; a list equals none. */
function withTexts(live: Members, { stringData }: Members): Members {
  const { data } = live;
  if (!isObject(stringData) || !isObject(data)) return live;
  const texts = Object.entries(stringData).map(([name, text]) => {
    const isSame = typeof text === "string" && memberOf(data, name) === base64Of(text);
    return [name, isSame ? text : [text]];
  });
  return { ...live, stringData: Object.fromEntries(texts) };
}

/** The form in which the server answers a quantity; `undefined` if it is none. */
function canonicalQuantity(value: unknown): string | undefined {
  try {
    return parseQuantity(value as string | number).toString();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function memberOf(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}
