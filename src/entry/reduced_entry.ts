import type { Identity } from "../api/entry.ts";
import type { FieldValue } from "../api/field_values.ts";
import type { KubernetesObject, ObjectMeta } from "../api/object.ts";
import { JsonEntry } from "./json_entry.ts";
import type { Reduction } from "./reduction.ts";

/** An unread entry whose text has only some fields of its object. The object is marked when it is first read. */
export class ReducedEntry<T extends KubernetesObject> extends JsonEntry<T> {
  readonly #reduction: Reduction;

  /** The other parameters are those of `unreadEntry`. */
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

  /** See {@linkcode Entry.metadata}. */
  override get metadata(): ObjectMeta {
    return this.#reduction.marked(super.metadata, "metadata");
  }

  /** See `valuesAt()`. */
  override valuesAt(keys: readonly string[]): readonly FieldValue[] {
    this.#reduction.refuseHidden(keys);
    return super.valuesAt(keys);
  }

  /** See {@linkcode Entry.object}. */
  override get object(): T {
    return this.#reduction.marked(super.object);
  }
}
