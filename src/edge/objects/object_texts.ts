import type { ObjectSelection } from "./object_selection.ts";
import type { ShownObject } from "./shown_object.ts";

/** A part ends behind the object with which it reaches this length, in characters. */
const PART_LENGTH = 64 * 1024;

/** The largest number of objects that are looked at for one part. */
const PART_OBJECTS = 256;

/** Some objects, as JSON. */
export interface ObjectTexts {
  /** The texts of those that are selected, of which there may be none. */
  readonly texts: readonly string[];
  /** The index behind the last object that was looked at. */
  readonly to: number;
}

/** Returns the selected objects from an index on as JSON, no more than can be made in a short time. */
export function objectTexts(
  objects: readonly (ShownObject | undefined)[],
  from: number,
  selection: ObjectSelection,
): ObjectTexts {
  const texts: string[] = [];
  const end = Math.min(objects.length, from + PART_OBJECTS);
  let to = from;
  for (let length = 0; to < end && length < PART_LENGTH; to++) {
    const object = objects[to]?.object;
    if (object === undefined || !selection.matches(object)) continue;
    const text = selection.json(object);
    texts.push(text);
    length += text.length;
  }
  return { texts, to };
}
