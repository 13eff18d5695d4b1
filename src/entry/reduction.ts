import { FieldTree } from "../api/field_tree.ts";
import type { Projection } from "../api/options.ts";
import { type Reduced, reduced } from "../api/reduced.ts";
import type { Resource } from "../api/resource.ts";
import { pickFields } from "./pick_fields.ts";

type Marked = { -readonly [Name in keyof Reduced]: Reduced[Name] };

/** The fields to which objects are reduced, and the mark that such objects have. */
export class Reduction {
  /** The fields. */
  readonly fields: FieldTree;
  /** The value of the mark {@linkcode reduced}. */
  readonly mark: string;

  static readonly #metadata = new Reduction(FieldTree.of(["metadata"]), "its metadata");

  private constructor(fields: FieldTree, mark: string) {
    this.fields = fields;
    this.mark = mark;
  }

  /** The reduction of a resource's objects; `undefined` if they are complete, or rows. @throws {SyntaxError} when a path is none. */
  static of(resource: Resource, { fields = resource.fields }: Projection = {}): Reduction | undefined {
    if (fields !== undefined) {
      const paths = fields.length === 0 ? "that identify it" : fields.join(", ");
      return new Reduction(FieldTree.of(fields), `the fields ${paths}`);
    }
    return resource.representation === "metadata" ? Reduction.#metadata : undefined;
  }

  /** Reduces an object as the server sent it: metadata is reduced by the server. The result is marked. */
  of<T>(object: T): T {
    return this.marked(this === Reduction.#metadata ? object : pickFields(object, this.fields) as T);
  }

  /**
   * Marks an object that has been reduced, or a member of it, and those of its parts that were reduced too: the values of leaves
   * are complete. Returns it. A marked one is returned as it is.
   */
  marked<T>(value: T, member?: string): T {
    if ((value as Reduced)[reduced] === undefined) {
      mark(value, member === undefined ? this.fields : this.fields.members.get(member)!, this.mark);
    }
    return value;
  }
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
