import type { ObjectSelection } from "./object_selection.ts";
import type { ShownObject } from "./shown_object.ts";

/** A part ends behind the object with which it reaches this length, in characters. */
const PART_LENGTH = 64 * 1024;

/** The largest number of objects that are looked at for one part. */
const PART_OBJECTS = 256;

/**
 * Yields the selected objects as JSON texts, in parts that are made when they are asked for, each in a short time. A part may be
 * empty.
 */
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
