import { FieldTree } from "../api/field_tree.ts";
import type { DecodeOptions, Projection } from "../api/options.ts";
import { isSecret } from "../api/is_secret.ts";
import { type Reduced, reduced } from "../api/reduced.ts";
import type { Resource } from "../api/resource.ts";
import { omitFields, pickFields } from "./pick_fields.ts";

type Marked = { -readonly [Name in keyof Reduced]: Reduced[Name] };

/** The members of a Secret that hold its data. */
const DATA = ["data", "stringData"];
/** The annotation in which `kubectl apply` keeps all that was applied. */
const LAST_APPLIED = 'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]';

/** The fields to which objects are reduced, or those that they lack, and the mark that such objects have. */
export class Reduction {
  /** The fields that objects have; those that they lack if {@linkcode omits}. */
  readonly fields: FieldTree;
  /** `true` if objects have all fields but these. */
  readonly omits: boolean;
  /** The members whose reading throws an error, because their absence could be taken for that on the server. */
  readonly #hidden: readonly string[];
  /** The value of the mark {@linkcode reduced}. */
  readonly mark: string;

  /** The reduction of objects to metadata, which the server makes. */
  static readonly metadata: Reduction = new Reduction(FieldTree.of(["metadata"]), "its metadata");

  private constructor(fields: FieldTree, mark: string, omits = false, hidden: readonly string[] = []) {
    this.fields = fields;
    this.mark = mark;
    this.omits = omits;
    this.#hidden = hidden;
  }

  /** The reduction of a resource's objects; `undefined` if they are complete, or rows. @throws {SyntaxError} when a path is none. */
  static of(resource: Resource, options: Projection & DecodeOptions = {}): Reduction | undefined {
    const { fields = resource.fields, secretData, managedFields } = options;
    if (fields !== undefined) {
      const paths = fields.length === 0 ? "that identify it" : fields.join(", ");
      return new Reduction(FieldTree.of(fields), `the fields ${paths}`);
    }
    const isMetadata = resource.representation === "metadata";
    if (secretData === "drop" && isSecret(resource)) {
      const omitted = [...DATA, LAST_APPLIED, ...managedFields === "drop" ? ["metadata.managedFields"] : []];
      const mark = isMetadata ? "its metadata" : "the fields beside its data";
      return new Reduction(FieldTree.only(omitted), mark, true, isMetadata ? [] : DATA);
    }
    return isMetadata ? Reduction.metadata : undefined;
  }

  /** Reduces an object as the server sent it: metadata is reduced by the server. The result is marked. */
  of<T>(object: T): T {
    if (this === Reduction.metadata) return this.marked(object);
    return this.marked((this.omits ? omitFields : pickFields)(object, this.fields) as T);
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
    if (this.#hidden.includes(first)) throw hiddenError(first);
  }
}

/** Defines a member that is not there, and throws when it is read. It can be set. Copies and JSON do not have it. */
function hide(object: object, name: string): void {
  Object.defineProperty(object, name, {
    configurable: true,
    enumerable: false,
    get: () => {
      throw hiddenError(name);
    },
    set(this: object, value: unknown): void {
      Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
    },
  });
}

function mark(value: unknown, tree: FieldTree, text: string): void {
  if (tree.isLeaf || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const element of value) mark(element, tree, text);
    return;
  }
  (value as Marked)[reduced] = text;
  for (const [key, below] of tree.members) {
    if (!below.isLeaf && Object.hasOwn(value, key)) mark((value as Record<string, unknown>)[key], below, text);
  }
}

function hiddenError(name: string): TypeError {
  return new TypeError(
    `Cannot read "${name}" of a Secret: informers leave it out; give the informer the option keep: "data", or read the object by ` +
      `client.get()`,
  );
}
