/**
 * Conversion of objects between the versions of a kind, through one version, the hub.
 *
 * You write a {@linkcode Conversion}, and a {@linkcode Converter} uses it and keeps metadata. It does not validate
 * objects, and fills in no defaults: the API server does.
 *
 * @module
 */
import { defined, isList, isObject, type JsonObject, type MutableJson, setMember } from "../../engine/api/json.ts";
import { objectOr, textOf } from "../../engine/api/members.ts";
import { keyOf, type KubernetesObject } from "../../engine/api/object.ts";
import type { Resource } from "../../engine/api/resource.ts";
import { quoted } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { DefinedKind } from "../schema/define_kind.ts";

/** An object that a conversion returns: `T` without the members that the package fills in. */
export type Converted<T extends KubernetesObject> =
  & { readonly [Name in keyof T as Name extends "metadata" | "apiVersion" | "kind" ? never : Name]: T[Name] }
  & {
    /**
     * The labels and annotations. Each is kept if you leave it out, and otherwise replaced: a key without a value, or
     * with `undefined`, is removed. Other metadata cannot change.
     */
    readonly metadata?: { readonly [Name in "labels" | "annotations"]?: Readonly<Record<string, string | undefined>> };
  };

/**
 * Converts objects between the hub and another version of the kind, without loss in both directions.
 *
 * The API server also converts parts of objects: while it works out which fields a server-side apply removes, any
 * member may be missing, even a required one. Both functions always get `metadata` and `spec` as objects. Everything
 * else may be absent: `status`, `metadata.name`, and each member of `spec`. Lists and objects may also be null. So read
 * `container?.image`. Leave out what is missing, and fill in no default. A member that holds nothing but `undefined` is
 * left out for you. `roundTrips` tries such parts.
 *
 * @example
 * ```ts
 * import { defineKind } from "@kube/informer/schema";
 * import { roundTrips, Webhooks } from "@kube/informer/webhooks";
 *
 * const names = { group: "example.com", kind: "Website", plural: "websites" } as const;
 * const image = { type: "string" } as const;
 * const status = { type: "object", properties: { ready: { type: "boolean" } } } as const;
 * const OldWebsite = defineKind({
 *   ...names,
 *   version: "v1beta1",
 *   spec: { type: "object", properties: { image } },
 *   status,
 * });
 * const Website = defineKind({
 *   ...names,
 *   version: "v1",
 *   spec: { type: "object", properties: { container: { type: "object", properties: { image } } } },
 *   status,
 *   olderVersions: [OldWebsite],
 * });
 * const webhooks = new Webhooks().convert(Website, OldWebsite, {
 *   toHub: ({ spec: { image }, status }) => ({ spec: { container: { image } }, status }),
 *   fromHub: ({ spec: { container }, status }) => ({ spec: { image: container?.image }, status }),
 * });
 * roundTrips(webhooks, Website, [{ metadata: { name: "blog" }, spec: { container: { image: "nginx" } } }]);
 * ```
 */
export interface Conversion<Hub extends KubernetesObject, Other extends KubernetesObject> {
  /** Converts an object of the other version to the hub's version. Do not change the argument. */
  readonly toHub: (other: Other) => Converted<Hub>;
  /** Converts an object of the hub's version to the other version. Do not change the argument. */
  readonly fromHub: (hub: Hub) => Converted<Other>;
}

type AnyConversion = Record<"toHub" | "fromHub", (object: JsonObject) => unknown>;

/** Converts objects of one kind. */
export class Converter {
  /** The version through which all others are converted, with the CRD. */
  readonly hub: DefinedKind;
  /** Has the conversion of each other version. */
  readonly #others = new Map<string, AnyConversion>();

  /** Converts nothing until versions are added. */
  constructor(hub: DefinedKind) {
    this.hub = hub;
  }

  /** The other versions. */
  get versions(): readonly string[] {
    return [...this.#others.keys()];
  }

  /** Adds a version. @throws {TypeError} if it is not a version in the hub's CRD, or was added before. */
  add({ group, plural, version }: Resource, conversion: object): void {
    const { hub } = this;
    checkNames("convert objects", conversion, ["toHub", "fromHub"]);
    const served = hub.crd.spec.versions.some(({ name }) => name === version);
    const refuse = (why: string): Error =>
      new TypeError(`Cannot convert ${hub.plural}.${hub.group} from ${hub.version} to ${version}: ${why}`);
    if (group !== hub.group || plural !== hub.plural) throw refuse(`${plural}.${group} is another kind`);
    if (version === hub.version) throw refuse("it is the same version. Give another one");
    if (!served) throw refuse("the hub's CRD does not have it. Add it to olderVersions");
    if (this.#others.has(version)) throw refuse("there is a conversion already. Remove one");
    this.#others.set(version, conversion as AnyConversion);
  }

  /**
   * Converts an object.
   *
   * @throws {InformerError} that names the object and both versions, if it cannot be converted.
   */
  convert(object: JsonObject, apiVersion: unknown): JsonObject {
    const { namespace, name } = objectOr(object.metadata);
    const key = quoted(keyOf({ metadata: { namespace: textOf(namespace), name: textOf(name) } }));
    const from = quoted(textOf(object.apiVersion));
    try {
      const [own, to] = [object.apiVersion, apiVersion].map((it) => this.#versionOf(it));
      const { kind, version: hub } = this.hub;
      if (object.kind !== kind) throw new InformerError(`its kind must be "${kind}"`);
      if (own === to) throw new InformerError("it has this version already");
      const atHub = own === hub ? object : this.#step(object, hub, this.#others.get(own)!.toHub);
      return to === hub ? atHub : this.#step(atHub, to, this.#others.get(to)!.fromHub);
    } catch (cause) {
      const { kind } = this.hub;
      const what = key === "" ? `a part of a ${kind}, which has no name,` : `${kind} "${key}"`;
      const message = `Cannot convert ${what} from ${from} to ${quoted(textOf(apiVersion))}`;
      throw new InformerError(message, { cause });
    }
  }

  #versionOf(apiVersion: unknown): string {
    const { group, version: hub } = this.hub;
    const known = [hub, ...this.versions];
    const version = known.find((it) => apiVersion === `${group}/${it}`);
    if (version !== undefined) return version;
    throw new InformerError(`apiVersion must be of group "${group}" and version ${known.join(" or ")}`);
  }

  /** Parts of objects keep their form: what was absent stays absent, except for metadata, which the server requires. */
  #step(object: JsonObject, version: string, convert: (object: JsonObject) => unknown): JsonObject {
    const [metadata, spec] = [objectOr(object.metadata), objectOr(object.spec)];
    const converted = convert({ ...object, metadata, spec });
    if (!isObject(converted)) {
      throw new TypeError(`the conversion returned ${converted === null ? "null" : typeof converted}, not an object`);
    }
    const { metadata: given, ...members } = converted;
    const { spec: next, ...rest } = withoutEmptied(members);
    // Absent annotations are kept. So annotations that lose all keys must become an empty object, not absent.
    const [labels, annotations] = ["labels", "annotations"].map((name) => withoutEmptied(objectOr(given)[name]));
    const isAbsent = !isObject(object.spec) && Object.keys(objectOr(next)).length === 0;
    return {
      ...rest,
      ...defined({ spec: isAbsent ? object.spec : next ?? {} }),
      apiVersion: `${this.hub.group}/${version}`,
      kind: this.hub.kind,
      metadata: { ...metadata, ...defined({ labels, annotations }) },
    };
  }
}

/** Returns a value without members that are undefined, or that lose all they have in this way. Shares what stays. */
function withoutEmptied<T>(value: T): T {
  if (isList(value)) return value.map(withoutEmptied) as T;
  if (!isObject(value)) return value;
  const kept: MutableJson = {};
  let isSame = true;
  for (const [name, member] of Object.entries(value)) {
    const left = withoutEmptied(member);
    isSame &&= left === member && left !== undefined;
    const isEmptied = left !== member && isObject(left) && Object.keys(left).length === 0;
    if (left !== undefined && !isEmptied) setMember(kept, name, left);
  }
  return isSame ? value : kept as T;
}
