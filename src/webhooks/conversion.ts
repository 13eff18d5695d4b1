/**
 * Conversion of objects between the versions of a kind, through one version, the hub.
 *
 * You write a {@linkcode Conversion}, and a {@linkcode Converter} uses it and keeps metadata. It does not validate
 * objects, and fills in no defaults: the API server does.
 *
 * @module
 */
import { keyOf, type KubernetesObject } from "../api/object.ts";
import { defined } from "../api/options.ts";
import type { Resource } from "../api/resource.ts";
import { quoted } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { checkNames } from "../errors/option_names.ts";
import type { DefinedKind } from "../schema/define_kind.ts";
import { isObject, type JsonObject } from "../schema/values/json.ts";
import { objectOr, textOf } from "../schema/values/members.ts";

/** An object that a conversion returns: `T` without the members that the package fills in. */
export type Converted<T extends KubernetesObject> =
  & { readonly [Name in keyof T as Name extends "metadata" | "apiVersion" | "kind" ? never : Name]: T[Name] }
  & {
    /** The labels and annotations. Each is kept if you leave it out. Other metadata cannot change. */
    readonly metadata?: Partial<Pick<KubernetesObject["metadata"], "labels" | "annotations">>;
  };

/** Converts objects between the hub and another version of the kind, without loss in both directions. */
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
    const name = quoted(keyOf(object as unknown as KubernetesObject));
    const from = quoted(textOf(object.apiVersion));
    try {
      const [own, to] = [object.apiVersion, apiVersion].map((it) => this.#versionOf(it));
      const { kind, version: hub } = this.hub;
      if (object.kind !== kind) throw new InformerError(`its kind must be "${kind}"`);
      if (own === to) throw new InformerError("it has this version already");
      const atHub = own === hub ? object : this.#step(object, hub, this.#others.get(own)!.toHub);
      return to === hub ? atHub : this.#step(atHub, to, this.#others.get(to)!.fromHub);
    } catch (cause) {
      const what = `Cannot convert ${this.hub.kind} "${name}" from ${from} to ${quoted(textOf(apiVersion))}`;
      throw new InformerError(what, { cause });
    }
  }

  #versionOf(apiVersion: unknown): string {
    const { group, version: hub } = this.hub;
    const known = [hub, ...this.versions];
    const version = known.find((it) => apiVersion === `${group}/${it}`);
    if (version !== undefined) return version;
    throw new InformerError(`apiVersion must be of group "${group}" and version ${known.join(" or ")}`);
  }

  #step(object: JsonObject, version: string, convert: (object: JsonObject) => unknown): JsonObject {
    const converted = convert(object);
    if (!isObject(converted)) {
      throw new TypeError(`the conversion returned ${converted === null ? "null" : typeof converted}, not an object`);
    }
    const { metadata, ...rest } = converted;
    const { labels, annotations } = objectOr(metadata);
    const kept = { ...objectOr(object.metadata), ...defined({ labels, annotations }) };
    return { ...rest, apiVersion: `${this.hub.group}/${version}`, kind: this.hub.kind, metadata: kept };
  }
}
