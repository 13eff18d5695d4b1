import type { ObjectKey } from "../api/key.ts";
import type { ObjectSelection } from "./object_selection.ts";
import type { ShownObject } from "./shown_object.ts";
import { eventText } from "./relay_events.ts";

/** A part of a snapshot ends behind the object with which it reaches this length, in characters. */
const PART_LENGTH = 64 * 1024;

/** The largest number of objects that are looked at for one part. */
const PART_OBJECTS = 256;

const encoder = new TextEncoder();

/** The selected objects of a feed at one position, as JSON texts in parts. */
export function* objectTexts(
  objects: Iterable<ShownObject>,
  selection: ObjectSelection,
): Generator<string[], void, undefined> {
  let texts: string[] = [];
  let length = 0;
  let count = 0;
  for (const { object } of objects) {
    if (object !== undefined && selection.matches(object)) {
      const text = selection.json(object);
      texts.push(text);
      length += text.length;
    }
    if (++count < PART_OBJECTS && length < PART_LENGTH) continue;
    yield texts;
    texts = [];
    length = count = 0;
  }
  yield texts;
}

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
    return text +
      eventText("synced", JSON.stringify({ objects: this.#objects }), this.#id);
  }
}
