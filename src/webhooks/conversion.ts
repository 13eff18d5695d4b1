/**
 * Conversion of objects between the versions of a kind, through one version, the hub.
 *
 * {@linkcode Conversion} is what you write, {@linkcode Converter} uses it for reviews, and `roundTrips` for tests. The
 * converter keeps metadata. It does not validate objects, and fills in no defaults: the API server does.
 *
 * @module
 */
import { keyOf, type KubernetesObject } from "../api/object.ts";
import { defined } from "../api/options.ts";
import type { Resource } from "../api/resource.ts";
import { messageOf, quoted } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { checkNames } from "../errors/option_names.ts";
import type { DefinedKind } from "../schema/define_kind.ts";
import { isObject, type Json, type JsonObject } from "../schema/values/json.ts";
import { objectOr, textOf } from "../schema/values/members.ts";
import { patchOf } from "./json_patch.ts";

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

/** What {@linkcode roundTrips} finds conversions in. */
export interface WithConverters {
  /** Returns the converter of a kind. @throws {TypeError} if it has none. */
  converterOf(kind: Resource): Converter;
}

/**
 * Checks in a test that no field is lost when objects are converted to each other version and back. Use the objects
 * of a kind's fixtures, or of a generator, which must end.
 *
 * The API server stores one version, so a field that another version cannot say is lost by the next write of a client
 * of that version. Keep such a field in an annotation.
 *
 * @param kind The version of the objects: the hub, which goes through each other version, or another version, which
 * goes through the hub.
 * @throws {InformerError} that names the object and the first field that is lost or changed.
 * @throws {TypeError} if there is no conversion of the kind.
 */
export function roundTrips<T extends KubernetesObject>(
  webhooks: WithConverters,
  kind: Resource<T>,
  objects: Iterable<Omit<T, "metadata"> & { readonly metadata: Partial<T["metadata"]> }>,
): void {
  const converter = webhooks.converterOf(kind);
  const { group, version, kind: name } = kind;
  const through = version === converter.hub.version ? converter.versions : [converter.hub.version];
  for (const given of objects) {
    const object: JsonObject = { ...JSON.parse(JSON.stringify(given)), apiVersion: `${group}/${version}`, kind: name };
    for (const other of through) {
      const back = converter.convert(converter.convert(object, `${group}/${other}`), `${group}/${version}`);
      const [lost] = patchOf(object, JSON.parse(JSON.stringify(back)));
      if (lost === undefined) continue;
      const { op, path, value } = lost;
      const field = path.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
      const what = { remove: "is lost", add: "is new", replace: `is now ${quoted(text(value))}` }[op];
      throw new InformerError(
        `Cannot convert ${name} "${keyOf(object as unknown as KubernetesObject)}" from ${version} to ${other} and ` +
          `back: ${field} ${what}`,
      );
    }
  }
}

function text(value: Json | undefined): string {
  return JSON.stringify(value) ?? messageOf(value);
}
