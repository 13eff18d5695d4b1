import { formatFieldPath, parseFieldPath } from "../api/field_path.ts";
import { FieldTree, MANAGED_FIELDS, namesManagedFields } from "../api/field_tree.ts";
import type { DecodeOptions, Projection } from "../api/options.ts";
import { isSecret, SECRET_ANNOTATIONS, SECRET_DATA } from "../api/is_secret.ts";
import { type Reduced, reduced } from "../api/reduced.ts";
import type { Resource } from "../api/resource.ts";
import { pickFields } from "./pick_fields.ts";

type Marked = { -readonly [Name in keyof Reduced]: Reduced[Name] };

/** The fields to which objects are reduced, and the mark that such objects have. */
export class Reduction {
  /** The fields that objects have. */
  readonly fields: FieldTree;
  /** The members whose reading throws an error, because their absence could be taken for that on the server. */
  readonly #hidden: readonly string[];
  /** The value of the mark {@linkcode reduced}. */
  readonly mark: string;

  /** The reduction of objects to metadata, which the server makes. */
  static readonly metadata: Reduction = new Reduction(FieldTree.of(["metadata"]), "its metadata");

  private constructor(fields: FieldTree, mark: string, hidden: readonly string[] = []) {
    this.fields = fields;
    this.mark = mark;
    this.#hidden = hidden;
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
    const dropsManaged = managedFields === "drop" && !namesManagedFields(fields ?? []);
    const kept = (fields === undefined ? FieldTree.leaf : FieldTree.of(fields))
      .without([...secret, ...dropsManaged ? [MANAGED_FIELDS] : []]);
    if (fields !== undefined) {
      return new Reduction(kept, `the fields ${fields.length === 0 ? "that identify it" : fields.join(", ")}`);
    }
    return isMetadata
      ? new Reduction(kept, Reduction.metadata.mark)
      : new Reduction(kept, "the fields beside its data", SECRET_DATA);
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
   * Marks an object that has been reduced, or a member of it, and those of its parts that were reduced too: the values of leaves
   * are complete. Returns it. A marked one is returned as it is.
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
  if (Array.isArray(value)) {
    for (const element of value) mark(element, tree, text);
    return;
  }
  (value as Marked)[reduced] = text;
  for (const [key, below] of tree.members) {
    if (below.members.size > 0 && Object.hasOwn(value, key)) mark((value as Record<string, unknown>)[key], below, text);
  }
}

function hiddenError(action: string): TypeError {
  return new TypeError(
    `Cannot ${action} of a Secret: informers leave it out; give the informer the option keep: "data", or read the object by ` +
      `client.get()`,
  );
}
