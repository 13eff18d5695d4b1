/**
 * The vocabulary that all other folders share: objects, resources, keys, entries, changes, selectors, options and
 * errors.
 *
 * Entry points: {@linkcode KubernetesObject}, `Resource` (a kind and its place on the server), `CacheEntry` (one
 * version of one object) and `ListerWatcher` (the requests of a reflector). This folder has types and small functions
 * on them: it sends no requests, and caches nothing.
 *
 * @module
 */

/**
 * A list whose items are identified by the fields `K` (`x-kubernetes-list-type: map`).
 *
 * It is an array to its readers. Server-side apply merges such lists item by item, so `Apply` requires `K` in each
 * item.
 */
export interface ListMap<T, K extends keyof T> extends ReadonlyArray<T> {
  /** Carries the names `K`; never set. */
  readonly $keys?: K;
}

/** A point in time, RFC 3339 in whole seconds: `"2026-01-31T12:00:00Z"`. */
export type Time = string;

/** A point in time, RFC 3339 in microseconds: `"2026-01-31T12:00:00.000000Z"`. */
export type MicroTime = string;

/** Metadata of a stored object. */
export interface ObjectMeta {
  /** The name; unique among the objects of one kind in one namespace. */
  readonly name: string;
  /** The beginning of the name, which the server completes when it creates an object without a name. */
  readonly generateName?: string;
  /** The namespace; absent on cluster-scoped objects. */
  readonly namespace?: string;
  /** The unique identifier; an object that is created again under the same name has another one. */
  readonly uid: string;
  /** The version of the object, a string of digits that grows with each change. */
  readonly resourceVersion: string;
  /** A number that grows when the desired state changes. */
  readonly generation?: number;
  /** Names and values that label selectors match. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Names and values that selectors do not match. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The time of creation. */
  readonly creationTimestamp: Time;
  /** The time at which the object may be removed, once its deletion was requested. */
  readonly deletionTimestamp?: Time;
  /** The time that a deletion may take, in seconds. */
  readonly deletionGracePeriodSeconds?: number;
  /** Identifiers of components that must act before the object is removed. */
  readonly finalizers?: readonly string[];
  /** The objects that own this one. */
  readonly ownerReferences?: ListMap<OwnerReference, "uid">;
  /** The fields that each field manager has set. Informers drop it by default. */
  readonly managedFields?: readonly ManagedFieldsEntry[];
  /** The path of the object. Servers since Kubernetes 1.20 leave it out. */
  readonly selfLink?: string;
}

/** A reference to an object that owns another one. */
export interface OwnerReference {
  /** Group and version of the owner. */
  readonly apiVersion: string;
  /** Kind of the owner. */
  readonly kind: string;
  /** Name of the owner, which is in the same namespace or cluster-scoped. */
  readonly name: string;
  /** The uid of the owner, which distinguishes it from a later object of the same name. */
  readonly uid: string;
  /** True when this owner is the managing controller; an object has at most one. */
  readonly controller?: boolean;
  /** True when a foreground deletion of the owner waits for this object to be removed. */
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that one field manager has set. */
export interface ManagedFieldsEntry {
  /** The name of the manager. */
  readonly manager?: string;
  /** `"Apply"` for server-side apply, `"Update"` for all other writes. */
  readonly operation?: string;
  /** The version of the kind in which the fields are named. */
  readonly apiVersion?: string;
  /** The time of the manager's last change. */
  readonly time?: Time;
  /** The form of `fieldsV1`: `"FieldsV1"`. */
  readonly fieldsType?: string;
  /** The fields, as a tree of their names. */
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  /** The subresource through which the fields were written. */
  readonly subresource?: string;
}

/** An object of any kind. */
export interface KubernetesObject {
  /** Group and version, `"apps/v1"`, or `"v1"` for the core group. */
  readonly apiVersion?: string;
  /** The kind, `"Pod"`. */
  readonly kind?: string;
  /** The identity, the version and the labels of the object. */
  readonly metadata: ObjectMeta;
}

/** An object of a kind whose objects are in namespaces. */
export interface NamespacedObject extends KubernetesObject {
  /** The identity, with the namespace. */
  readonly metadata: ObjectMeta & { readonly namespace: string };
}

/** An object of a cluster-scoped kind, which is in no namespace. */
export interface ClusterScopedObject extends KubernetesObject {
  /** The identity, without a namespace. */
  readonly metadata: ObjectMeta & { readonly namespace?: never };
}

/**
 * An object whose kind is known at run time alone. Its other members can be read, and are of type `unknown`: the reader
 * checks them.
 */
export interface DynamicObject extends KubernetesObject {
  /** Any other member. */
  readonly [member: string]: unknown;
}

/**
 * An object that the server answers and does not store, such as a review. Its metadata is that of the request: nothing
 * is promised of it, and none is needed to create the object.
 */
export interface EphemeralObject extends KubernetesObject {
  /** Distinguishes the type; never set. */
  readonly $ephemeral?: true;
}

/**
 * Marks an object that lacks fields which the server has of it: one of a cache of named fields or of metadata, or the
 * row of a table. A write of it could remove these fields, so writes refuse it.
 *
 * The value names the fields that it has. The property is enumerable, so that a copy by spreading has it too, and is
 * left out by `JSON.stringify`.
 */
export const reduced: unique symbol = /* @__PURE__ */ Symbol.for("@kube/informer/reduced");

/** An object that may have the mark {@linkcode reduced}: its type cannot be written. */
export interface Reduced {
  /** The fields that the object has, for messages. */
  readonly [reduced]?: string;
}

/**
 * An object without the mark {@linkcode reduced}: no type of reduced objects is assignable to it. `metadata` is named
 * because the compiler demands a member in common; an alias, so that it is assignable to types with an index signature.
 */
export type Complete = { readonly [reduced]?: never; readonly metadata?: unknown };

/**
 * Refuses a value that has a reduced object in it, at any depth; with `"in arrays"` only one that is part of an array.
 *
 * @throws {TypeError} that begins with `Cannot` and the action, and names the fields and what to do instead.
 */
export function refuseReduced(action: string, value: unknown, place: "anywhere" | "in arrays" = "anywhere"): void {
  const found = findReduced(value, place === "anywhere");
  if (found === undefined) return;
  throw new TypeError(
    `Cannot ${action}: it is reduced to ${found}, and the write would remove its other fields; read it by client.get(), or send ` +
      `a merge patch or an apply of the changed fields alone`,
  );
}

function findReduced(value: unknown, counts: boolean): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const mark = (value as Reduced)[reduced];
  if (counts && mark !== undefined) return mark;
  for (const part of Object.values(value)) {
    const found = findReduced(part, counts || Array.isArray(value));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns `true` for an object with members, not for `null` or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `true` for types of {@linkcode Reduced} objects. */
export type IsReduced<T> = typeof reduced extends keyof T ? true : false;

/** The literals of an enum that is open for reading (`OpenEnum`); `never` for other types. */
export type EnumLiterals<T> = T extends string ? (string extends T ? never : T) : never;

/** Values in JSON that have no parts. */
export type Scalar = string | number | boolean | null | undefined;

/** Marks the type of quantities, which have no such member. */
export declare const quantity: unique symbol;

/** A scalar type `T` as it is written: without the `string` of an open enum, whose literals are `Enums`. */
export type WrittenScalar<T, Enums> = T extends string ? (string extends T ? ([Enums] extends [never] ? T : never) : T)
  : T;

/** A value of type `T` as it is written, complete and with enums closed. `Enums` is computed from `T`; leave it out. */
export type WrittenValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? WrittenScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly WrittenValue<Item>[]
  : { readonly [Name in keyof T]: WrittenValue<T[Name]> };

/** A scalar type `T` as it is sent: as it is written, and a quantity as a number too. */
export type SentScalar<T, Enums> = WrittenScalar<T, Enums> | (typeof quantity extends keyof T ? number : never);

/** A value of type `T` as it is sent to the server, complete. `Enums` is computed from `T`; leave it out. */
export type SentValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]: SentValue<T[Name]> };

/**
 * A value that can be changed: `T` without `readonly`, at any depth, and with enums closed. `Enums` is computed from
 * `T`; leave it out.
 *
 * `Mutable<Pod>` is what `update` takes, and can be read as a `Pod`.
 */
export type Mutable<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? WrittenScalar<T, Enums>
  : T extends readonly (infer Item)[] ? Mutable<Item>[]
  : { -readonly [Name in keyof T]: Mutable<T[Name]> };

/**
 * Returns a deep copy of an object or of a part of it, which can be changed: objects of a cache are its own.
 *
 * @throws {TypeError} when it has a part that is {@linkcode reduced}, which cannot be written; `structuredClone` copies
 *   it.
 *
 * @example
 * ```ts
 * import { copyOf } from "@kube/informer";
 * import { pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const cart = copyOf(pod({ name: "cart-0" }));
 * cart.metadata.labels = { app: "cart" };
 * cart.spec.containers[0].image = "registry.example.com/cart:2";
 * assertEquals(cart.metadata.name, "cart-0");
 * ```
 */
export function copyOf<T>(value: T & (Complete | null | undefined)): Mutable<T> {
  refuseReduced("copy an object for a write", value);
  return structuredClone(value) as Mutable<T>;
}

/** A number, or a text that names or describes one: `80` or `"http"`, `2` or `"25%"`. */
export type IntOrString = number | string;

/**
 * A text that is one of `T` today; a newer server may send others.
 *
 * Only reading is open: {@linkcode ObjectDraft}, `Mutable` and `Apply` have `T` alone in its place.
 */
// deno-lint-ignore ban-types -- `string` alone would absorb the literals.
export type OpenEnum<T extends string> = T | (string & {});

/** `"namespace/name"`, or `"name"` when cluster-scoped. */
export type ObjectKey = string;

/**
 * Returns the key of an object.
 *
 * A missing name counts as empty. Namespace and name are not checked for slashes, which the server never allows.
 *
 * @example
 * ```ts
 * import { keyOf } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(keyOf({ metadata: { namespace: "shop", name: "cart-0" } }), "shop/cart-0");
 * assertEquals(keyOf({ metadata: { name: "node-1" } }), "node-1");
 * ```
 */
export function keyOf(
  object: { readonly metadata: { readonly namespace?: string; readonly name?: string } },
): ObjectKey {
  const { namespace, name = "" } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/**
 * Splits a key into namespace and name; `namespace` is absent for a cluster-scoped object.
 *
 * @throws {SyntaxError} when the key has more than two parts.
 */
export function splitKey(key: ObjectKey): { readonly namespace?: string; readonly name: string } {
  const parts = key.split("/");
  if (parts.length === 1) return { name: parts[0] };
  if (parts.length === 2) return { namespace: parts[0], name: parts[1] };
  throw new SyntaxError(`Cannot split key "${key}": found ${parts.length} parts, expected 1 or 2`);
}

/**
 * An object to be created: `T` without status and the metadata that the server sets.
 *
 * What the API requires is required, and enums have only the values that the server knows. The metadata has a name, or
 * the beginning of one; for an object that is not stored, such as a review, it may be absent. There is no draft of
 * {@linkcode Reduced} objects.
 *
 * @example
 * ```ts
 * import type { ObjectDraft } from "@kube/informer";
 * import type { Pod } from "@kube/informer/kinds/core/v1";
 *
 * const cart: ObjectDraft<Pod> = {
 *   metadata: { generateName: "cart-", labels: { app: "cart" } },
 *   spec: { containers: [{ name: "app", image: "registry.example.com/cart:1" }], restartPolicy: "Never" },
 * };
 * ```
 */
export type ObjectDraft<T extends KubernetesObject> =
  & {
    readonly [Name in keyof T as Name extends "metadata" | "status" | "$ephemeral" | typeof reduced ? never : Name]:
      SentValue<
        T[Name]
      >;
  }
  & (IsReduced<T> extends true ? { readonly [reduced]: never }
    : IsEphemeral<T> extends true ? { readonly metadata?: DraftMeta }
    : { readonly metadata: NamedDraftMeta })
  & Complete;

/** `true` for an `EphemeralObject`; not for objects that may have any member, `$ephemeral` too. */
export type IsEphemeral<T> = string extends keyof T ? false : "$ephemeral" extends keyof T ? true : false;

/** Metadata that a writer sets. */
export interface DraftMeta {
  /** The name. */
  readonly name?: string;
  /** The beginning of the name, which the server completes if there is no name. */
  readonly generateName?: string;
  /** The namespace. @default {that of the collection} */
  readonly namespace?: string;
  /** Names and values that label selectors match. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Names and values that selectors do not match. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Identifiers of components that must act before the object is removed. */
  readonly finalizers?: readonly string[];
  /** The objects that own this one. */
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Encodes texts as UTF-8. */
export const encoder: TextEncoder = /* @__PURE__ */ new TextEncoder();

/**
 * Decodes UTF-8; broken bytes read as U+FFFD. It is not fatal, which would take two to three times as long; the option
 * `stream`, which has a state, needs a decoder of its own.
 */
export const decoder: TextDecoder = /* @__PURE__ */ new TextDecoder();

/** Returns the base64 of a text in UTF-8, as the data of Secrets has it. */
export function base64Of(text: string): string {
  return btoa(Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join(""));
}

/** Metadata with a name, or the beginning of one. */
export type NamedDraftMeta = DraftMeta & ({ readonly name: string } | { readonly generateName: string });

/**
 * The fields of an object that a manager owns from now on, for server-side apply.
 *
 * Everything is optional but the name, and in items of a list that the server merges (`ListMap`) the fields that
 * identify them. Other lists are replaced, so their items are complete.
 *
 * @example
 * ```ts
 * import type { Apply } from "@kube/informer";
 * import type { Deployment } from "@kube/informer/kinds/apps/v1";
 *
 * const image: Apply<Deployment> = {
 *   metadata: { name: "cart" },
 *   spec: { template: { spec: { containers: [{ name: "app", image: "registry.example.com/cart:2" }] } } },
 * };
 * ```
 */
export type Apply<T extends KubernetesObject> = ApplyFields<T> & Complete & {
  /** The name of the object, and metadata that the manager owns. */
  readonly metadata: ApplyMeta;
};

/** The fields of {@linkcode Apply} without metadata. */
export type ApplyFields<T extends KubernetesObject> = {
  readonly [Name in keyof T as Name extends "metadata" | "$ephemeral" | typeof reduced ? never : Name]?: AppliedValue<
    T[Name]
  >;
};

/** Metadata that a manager owns, and the name of the object. */
export interface ApplyMeta extends Omit<DraftMeta, "generateName"> {
  /** The name. */
  readonly name: string;
  /** If the object is there with another uid, the server answers 409. */
  readonly uid?: string;
  /** If the object is there with another version, the server answers 409. */
  readonly resourceVersion?: string;
}

/** A part of an object that is applied. `Enums` is computed from `T`; leave it out. */
export type AppliedValue<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends { readonly $keys?: infer Keys } & readonly (infer Item)[]
    ? ("$keys" extends keyof T ? readonly AppliedItem<Item, Extract<Keys, keyof Item>>[]
      : readonly SentValue<Item>[])
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]?: AppliedValue<T[Name]> };

/** An item of a list that the server merges by `Keys`. */
export type AppliedItem<Item, Keys extends keyof Item> =
  & { readonly [Name in Keys]: SentValue<Item[Name]> }
  & { readonly [Name in Exclude<keyof Item, Keys>]?: AppliedValue<Item[Name]> };

/**
 * The part of a value that a merge patch (RFC 7386) changes: values replace, `null` deletes, lists are replaced by
 * complete ones. `Enums` is computed from `T`; leave it out.
 *
 * @example
 * ```ts
 * import type { MergePatch } from "@kube/informer";
 * import type { Deployment } from "@kube/informer/kinds/apps/v1";
 *
 * const patch: MergePatch<Deployment> = { metadata: { labels: { tier: null } }, spec: { replicas: 3 } };
 * ```
 */
export type MergePatch<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]?: MergePatch<T[Name]> | null };

/**
 * An amount of a resource as Kubernetes writes it: `"500m"`, `"1.5Gi"`, `"2e3"`. {@linkcode parseQuantity} reads one
 * (Kubernetes `resource.Quantity`).
 *
 * Any string can be given for it. {@linkcode ObjectDraft}, `Apply` and patches take a number too, as the server does:
 * `cpu: 1`; it answers with text.
 */
export type Quantity = string & { readonly [quantity]?: never };

/**
 * The suffixes that a quantity is printed with: `Ki`, `Mi` … of powers of 1024 (`BinarySI`), `m`, `k`, `M` … of powers
 * of 1000 (`DecimalSI`), or a power of ten such as `e3` (`DecimalExponent`).
 */
export type QuantityFormat = "BinarySI" | "DecimalSI" | "DecimalExponent";

const MAX_DIGITS = 1000;
const NANO = 1_000_000_000n;
/** The largest int64, in nanos: as a literal, so that bundles without quantities leave it out. */
const MAX_BINARY = 9_223_372_036_854_775_807_000_000_000n;
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const QUANTITY = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

/**
 * The value of a quantity: exact, never changed, and at most nine decimal places. {@linkcode parseQuantity} makes one.
 *
 * Where `<` and `Number` are applied to it, it counts as the nearest number; `compare` is exact. In JSON it is its
 * canonical text.
 */
export class ParsedQuantity {
  /** The value in units of 10^-9. */
  readonly nanos: bigint;
  /** The suffixes that it is printed with: those that it was written with, or that the first term of a sum had. */
  readonly format: QuantityFormat;

  /** Makes a quantity of `nanos` units of 10^-9, printed with the suffixes of `format`. */
  constructor(nanos: bigint, format: QuantityFormat) {
    this.nanos = nanos;
    this.format = format;
  }

  /**
   * Returns a negative number if this is less than `other`, a positive one if it is more, 0 if the two are equal: `"1"`
   * and `"1000m"` are.
   */
  compare(other: ParsedQuantity): -1 | 0 | 1 {
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  /** Returns the sum. It has the format of this quantity, or of `other` if this is zero. */
  add(other: ParsedQuantity): ParsedQuantity {
    return new ParsedQuantity(this.nanos + other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  /** Returns the difference. It has the format of this quantity, or of `other` if this is zero. */
  subtract(other: ParsedQuantity): ParsedQuantity {
    return new ParsedQuantity(this.nanos - other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  /**
   * Returns the value in units of 10^`exponent`, rounded away from zero to a whole number: `scaled(-3)` of `"0.5"` is
   * `500n`, thousandths of a CPU; `scaled(0)` of `"1.5Gi"` is its number of bytes.
   *
   * @throws {RangeError} when `exponent` is no whole number from -1000 to 1000.
   */
  scaled(exponent: number): bigint {
    if (!Number.isInteger(exponent) || Math.abs(exponent) > MAX_DIGITS) {
      throw new RangeError(
        `Cannot scale the quantity "${this}" to 10^${exponent}: give a whole number from -${MAX_DIGITS} to ${MAX_DIGITS}`,
      );
    }
    return timesPowerOfTen(this.nanos, -9 - exponent);
  }

  /** Returns the nearest JavaScript number; infinity if there is none. */
  valueOf(): number {
    return Number(`${this.nanos}e-9`);
  }

  /**
   * Returns the canonical form: no fraction, and the largest suffix of the format that leaves a whole number. `"1.5Gi"`
   * is printed as `"1536Mi"`, `"0.5"` as `"500m"`.
   *
   * A `BinarySI` value between -1024 and 1024, or with a fraction, is printed as `DecimalSI`.
   */
  toString(): string {
    const binary = this.format === "BinarySI" && this.nanos % NANO === 0n && magnitude(this.nanos) >= 1024n * NANO;
    return binary ? printBinary(this.nanos / NANO) : printDecimal(this.nanos, this.format === "DecimalExponent");
  }

  /** Returns the canonical form, which `JSON.stringify` writes. */
  toJSON(): Quantity {
    return this.toString();
  }
}

/**
 * Reads a quantity, by the grammar of Kubernetes: an optional sign, digits with an optional point, and a suffix.
 *
 * As in Kubernetes, what is finer than 10^-9 is rounded away from zero, and a value with a binary suffix is capped at
 * 2^63-1. Unlike it, a text without a digit is refused, and so are texts of more than 1000 characters and values of
 * more than 1000 digits before the point.
 *
 * A number, which {@linkcode ObjectDraft} may have, is read as its text.
 *
 * @throws {SyntaxError} when the text is no quantity.
 * @throws {RangeError} when the text or the value is too long.
 *
 * @example
 * ```ts
 * import { parseQuantity } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const limit = parseQuantity("1.5Gi");
 * assertEquals(limit.toString(), "1536Mi");
 * assertEquals(limit.compare(parseQuantity("1500M")), 1);
 * assertEquals(limit.add(parseQuantity("512Mi")).toString(), "2Gi");
 * assertEquals(Number(parseQuantity("250m")), 0.25);
 * ```
 */
export function parseQuantity(value: Quantity | number): ParsedQuantity {
  const text = String(value);
  let quantity = recent.get(text);
  if (quantity !== undefined) return quantity;
  quantity = readQuantity(text);
  if (recent.size === RECENT) recent.clear();
  if (text.length <= RECENT_LENGTH) recent.set(text, quantity);
  return quantity;
}

/** Quantities that were read lately, by their text: most objects have the same few. */
const recent = new Map<string, ParsedQuantity>();
const [RECENT, RECENT_LENGTH] = [1_000, 20];

function readQuantity(text: string): ParsedQuantity {
  if (text.length > MAX_DIGITS) {
    throw new RangeError(
      `Cannot read the quantity "${
        text.slice(0, 20)
      }…": it has ${text.length} characters, at most ${MAX_DIGITS} are read`,
    );
  }
  const parts = QUANTITY.exec(text);
  if (parts === null) {
    throw new SyntaxError(
      `Cannot read the quantity ${
        JSON.stringify(text)
      }: expected a number and a suffix, as in "500m", "1.5Gi" or "2e3"; ` +
        `suffixes are n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, and e with a power of ten`,
    );
  }
  const [, sign, whole, fraction = "", suffix = ""] = parts;
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix);
  const format = binary > 0 ? "BinarySI" : decimal >= 0 ? "DecimalSI" : "DecimalExponent";
  const exponent = format === "DecimalExponent"
    ? Number(suffix.slice(1))
    : format === "DecimalSI"
    ? 3 * decimal - 9
    : 0;

  const digits = BigInt(whole + fraction);
  const power = exponent - fraction.length;
  if (digits !== 0n && digits.toString().length + power > MAX_DIGITS) {
    throw new RangeError(
      `Cannot read the quantity "${text}": it has more than ${MAX_DIGITS} digits before the point; write a smaller power of ten`,
    );
  }
  const mantissa = binary > 0 ? digits << BigInt(10 * binary) : digits;
  let nanos = timesPowerOfTen(mantissa, power + 9);
  if (binary > 0 && nanos > MAX_BINARY) nanos = MAX_BINARY;
  return new ParsedQuantity(
    sign === "-" ? -nanos : nanos,
    binary > 0 && nanos > 0n && nanos < NANO ? "DecimalSI" : format,
  );
}

/** The product of `value` and 10^`power`, rounded away from zero. */
function timesPowerOfTen(value: bigint, power: number): bigint {
  if (value === 0n) return 0n;
  if (power >= 0) return value * 10n ** BigInt(power);
  const unit = value < 0n ? -1n : 1n;
  // Less than one, whatever the power is: do not compute 10^2147483648.
  if (value.toString().length < -power) return unit;
  const divisor = 10n ** BigInt(-power);
  return value / divisor + (value % divisor === 0n ? 0n : unit);
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function printBinary(value: bigint): string {
  let step = 0;
  while (step + 1 < BINARY_SUFFIXES.length && value % 1024n === 0n) {
    value /= 1024n;
    step++;
  }
  return `${value}${BINARY_SUFFIXES[step]}`;
}

function printDecimal(nanos: bigint, withExponent: boolean): string {
  if (nanos === 0n) return "0";
  const digits = nanos.toString();
  const zeros = digits.length - digits.replace(/0+$/, "").length;
  const step = Math.min(Math.floor(zeros / 3), withExponent ? Infinity : DECIMAL_SUFFIXES.length - 1);
  const power = 3 * step - 9;
  const suffix = !withExponent ? DECIMAL_SUFFIXES[step] : power === 0 ? "" : `e${power}`;
  return digits.slice(0, digits.length - 3 * step) + suffix;
}
