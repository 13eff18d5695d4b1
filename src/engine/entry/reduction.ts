/**
 * Objects of which only some fields are kept, and the mark that says so.
 *
 * {@linkcode Reduction} is the entry point: the fields that objects of a resource keep. {@linkcode pickFields} picks
 * them from an object that was parsed; `projector.ts` copies them from bytes. Which objects are reduced is decided by
 * the options of who reads them.
 *
 * @module
 */
import type { DecodeOptions, Projection } from "../api/call_options.ts";
import type { Identity } from "../api/entry.ts";
import { FieldTree, MANAGED_FIELDS, MAX_ARRAYS, namesManagedFields } from "../api/fields.ts";
import { markAs, mayRound } from "../api/large_integers.ts";
import { type KubernetesObject, type ObjectMeta, type Reduced, reduced } from "../api/object.ts";
import { isCustom, isSecret, type Resource, SECRET_ANNOTATIONS, SECRET_DATA } from "../api/resource.ts";
import { type FieldValue, formatFieldPath, parseFieldPath } from "../api/selector.ts";
import { JsonEntry } from "./entry.ts";

/**
 * Returns the fields of a value that `tree` keeps: a new object, which has the leaves of `value`. `undefined` if
 * nothing is kept of a value without members.
 */
export function pickFields(value: unknown, tree: FieldTree): unknown {
  return markAs(value, pick(value, tree, 0));
}

function pick(value: unknown, tree: FieldTree, arrays: number): unknown {
  if (tree.isLeaf || value === null) return value;
  if (typeof value !== "object") return tree.keepsOthers ? value : undefined;
  if (Array.isArray(value)) {
    return arrays === MAX_ARRAYS ? undefined : value.map((element) => pick(element, tree, arrays + 1) ?? null);
  }
  const picked: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const below = tree.below(key);
    const kept = below.isNothing ? undefined : pick(member, below, 0);
    if (kept !== undefined) Object.defineProperty(picked, key, { value: kept, ...PROPERTY });
  }
  return picked;
}

/** A plain property, also under the key `__proto__`. */
const PROPERTY = { enumerable: true, configurable: true, writable: true };

/** Returns metadata with the managedFields that an option keeps. */
export function metadataWith<M extends object>(metadata: M, kept: DecodeOptions["managedFields"] = "keep"): M {
  if (kept === "keep" || !("managedFields" in metadata)) return metadata;
  const { managedFields, ...rest } = metadata as M & Pick<ObjectMeta, "managedFields">;
  if (kept === "drop" || !Array.isArray(managedFields)) return rest as unknown as M;
  return { ...metadata, managedFields: managedFields.filter((entry) => entry?.manager === kept.manager) };
}

/** The fields to which objects are reduced, and the mark that such objects have. */
export class Reduction {
  /** The fields that objects have. */
  readonly fields: FieldTree;
  /** The members whose reading throws an error, because their absence could be taken for that on the server. */
  readonly #hidden: readonly string[];
  /** The value of the mark {@linkcode reduced}. */
  readonly mark: string;
  /** `true` for the objects of a custom kind. */
  readonly isCustom: boolean;

  static #metadata: Reduction | undefined;

  private constructor(fields: FieldTree, mark: string, isCustom = false, hidden: readonly string[] = []) {
    this.fields = fields;
    this.mark = mark;
    this.isCustom = isCustom;
    this.#hidden = hidden;
  }

  /** The reduction of objects to metadata, which the server makes. */
  static get metadata(): Reduction {
    return this.#metadata ??= new Reduction(FieldTree.of(["metadata"]), "its metadata");
  }

  /**
   * The reduction of a resource's objects, also of those in rows; `undefined` if they are complete.
   *
   * @throws {SyntaxError} when a path is none.
   * @throws {TypeError} when a path leads to data of Secrets, which is dropped.
   */
  static of(resource: Resource, options: Projection & DecodeOptions = {}): Reduction | undefined {
    const { fields = resource.fields, secretData, managedFields } = options;
    const isMetadata = resource.representation === "metadata";
    const secret = secretData === "drop" ? secretPaths(resource, options) : [];
    if (fields === undefined && secret.length === 0) return isMetadata ? Reduction.metadata : undefined;
    for (const path of fields ?? []) {
      if (secret.some((hidden) => isAtOrBelow(path, hidden))) throw hiddenError(`keep "${path}"`);
    }
    const dropsManaged = (managedFields ?? "keep") !== "keep" && !namesManagedFields(fields ?? []);
    const kept = (fields === undefined ? FieldTree.leaf : FieldTree.of(fields))
      .without([...secret, ...dropsManaged ? [MANAGED_FIELDS] : []]);
    if (fields !== undefined) {
      const mark = `the fields ${fields.length === 0 ? "that identify it" : fields.join(", ")}`;
      return new Reduction(kept, mark, isCustom(resource));
    }
    return isMetadata
      ? new Reduction(kept, Reduction.metadata.mark)
      : new Reduction(kept, "the fields beside its data", false, SECRET_DATA);
  }

  /** `true` if a resource's objects may have data of Secrets. @throws as {@linkcode of}. */
  static keepsSecrets(resource: Resource, options: Projection & DecodeOptions): boolean {
    const { fields } = Reduction.of(resource, options) ?? { fields: FieldTree.leaf };
    return fields.without(secretPaths(resource, options)) !== fields;
  }

  /** Reduces an object as the server sent it: metadata is reduced by the server. The result is marked. */
  of<T>(object: T): T {
    return this.marked(this === Reduction.metadata ? object : pickFields(object, this.fields) as T);
  }

  /**
   * Marks an object that has been reduced, or a member of it, and its parts that were reduced too: the values
   * of leaves are complete. Returns it. A marked one is returned as it is.
   */
  marked<T>(value: T, member?: string): T {
    if ((value as Reduced)[reduced] === undefined) {
      mark(value, member === undefined ? this.fields : this.fields.members.get(member)!, this.mark);
      if (member === undefined) { for (const name of this.#hidden) hide(value as object, name); }
    }
    return value;
  }

  /** @throws {TypeError} when the keys lead to a member whose reading throws an error. */
  refuseHidden([first]: readonly string[]): void {
    if (this.#hidden.includes(first)) throw hiddenError(`read "${first}"`);
  }
}

/** The paths at which objects of a resource have data of Secrets. */
function secretPaths(resource: Resource, { secretAnnotations = [] }: DecodeOptions): readonly string[] {
  if (!isSecret(resource)) return [];
  const annotations = [...SECRET_ANNOTATIONS, ...secretAnnotations];
  return [...SECRET_DATA, ...annotations.map((name) => formatFieldPath(["metadata", "annotations", name]))];
}

function isAtOrBelow(path: string, place: string): boolean {
  const keys = parseFieldPath(path);
  return parseFieldPath(place).every((key, i) => keys[i] === key);
}

/** Defines a member that is not there, and throws when it is read. It can be set. Copies and JSON do not have it. */
function hide(object: object, name: string): void {
  Object.defineProperty(object, name, {
    configurable: true,
    enumerable: false,
    get: () => {
      throw hiddenError(`read "${name}"`);
    },
    set(this: object, value: unknown): void {
      Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
    },
  });
}

function mark(value: unknown, tree: FieldTree, text: string): void {
  if (tree.members.size === 0 || typeof value !== "object" || value === null) return;
  if ((value as Reduced)[reduced] !== undefined) return; // it is shared with the version before
  if (Array.isArray(value)) {
    for (const element of value) mark(element, tree, text);
    return;
  }
  (value as { [reduced]?: string })[reduced] = text;
  for (const [key, below] of tree.members) {
    if (below.members.size > 0 && Object.hasOwn(value, key)) mark((value as Record<string, unknown>)[key], below, text);
  }
}

function hiddenError(action: string): TypeError {
  const error = new TypeError(
    `Cannot ${action} of a Secret: informers do not keep it. Create the informer with secretData: "keep", or read the object ` +
      `with client.get()`,
  );
  return Object.assign(error, { reason: "argument" });
}

/** An unread entry whose text has only some fields of its object. The object is marked when it is first read. */
export class ReducedEntry<T extends KubernetesObject> extends JsonEntry<T> {
  readonly #reduction: Reduction;

  /** The other parameters are as for `unreadEntry`. */
  constructor(
    reduction: Reduction,
    identity: Identity,
    text: string | Uint8Array,
    metadataStart: number,
    metadataEnd: number,
    labelsStart: number,
    labelsEnd: number,
  ) {
    super(identity, text, metadataStart, metadataEnd, labelsStart, labelsEnd, undefined);
    this.#reduction = reduction;
  }

  /** See `valuesAt()`. */
  override valuesAt(keys: readonly string[]): readonly FieldValue[] {
    this.#reduction.refuseHidden(keys);
    return super.valuesAt(keys);
  }

  protected override rounds(text: string): boolean {
    return this.#reduction.isCustom && mayRound(text);
  }

  protected override completed<V>(part: V, member?: string): V {
    return this.#reduction.marked(part, member);
  }
}
