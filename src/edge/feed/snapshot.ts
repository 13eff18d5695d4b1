import type { ObjectKey } from "../../api/key.ts";
import { eventText } from "../format/event_text.ts";
import type { ObjectSelection } from "../objects/object_selection.ts";
import { objectTexts } from "../objects/object_texts.ts";
import type { ShownObject } from "../objects/shown_object.ts";

const encoder = new TextEncoder();

/** A snapshot of one selection as events. Its parts are made when they are first read, and shared by all readers. */
export class Snapshot {
  /** The position in the feed that it belongs to. */
  readonly position: number;
  readonly #texts: Generator<string[], void, undefined>;
  readonly #size: number;
  readonly #parts: Uint8Array<ArrayBuffer>[] = [];
  readonly #id: string;
  #objects = 0;
  #isComplete = false;

  /** `id` is the token of `position`. */
  constructor(
    objects: ReadonlyMap<ObjectKey, ShownObject>,
    selection: ObjectSelection,
    { position, id }: { readonly position: number; readonly id: string },
  ) {
    this.position = position;
    this.#size = objects.size;
    // A copy: the map changes.
    this.#texts = objectTexts([...objects.values()], selection);
    this.#id = id;
  }

  /** Returns a part, which may be empty; `undefined` behind the last one. Parts are read in order. */
  part(index: number): Uint8Array<ArrayBuffer> | undefined {
    if (index === this.#parts.length && !this.#isComplete) {
      this.#parts.push(encoder.encode(this.#next(index === 0)));
    }
    return this.#parts[index];
  }

  #next(isFirst: boolean): string {
    const { value: texts = [], done } = this.#texts.next();
    this.#objects += texts.length;
    let text = isFirst ? eventText("snapshot", JSON.stringify({ objects: this.#size })) : "";
    for (const json of texts) text += eventText("added", json);
    if (!done) return text;
    this.#isComplete = true;
    return text + eventText("synced", JSON.stringify({ objects: this.#objects }), this.#id);
  }
}
