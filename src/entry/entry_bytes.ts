import type { Entry } from "../api/entry.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { UnreadText } from "./json_entry.ts";

/** The JSON text of an object as UTF-8 bytes, and the positions in them. */
export interface EntryBytes extends UnreadText {
  /** The object. */
  readonly text: Uint8Array;
}

const encoder = new TextEncoder();

/**
 * Returns the text of an entry: that which it holds, or where its object was parsed or has no text, that of `JSON.stringify`.
 *
 * @throws {DecodeError} when the entry is broken, and what `JSON.stringify` throws.
 */
export function entryBytes<T extends KubernetesObject>(entry: Entry<T>): EntryBytes {
  const unread = (entry as { readonly unread?: UnreadText }).unread ?? written(entry.object);
  const { text } = unread;
  if (typeof text !== "string") return { ...unread, text };
  const bytes = encoder.encode(text);
  if (bytes.length === text.length) return { ...unread, text: bytes };
  const at = (position: number): number => position < 0 ? position : encoder.encode(text.slice(0, position)).length;
  return {
    text: bytes,
    metadataStart: at(unread.metadataStart),
    metadataEnd: at(unread.metadataEnd),
    labelsStart: at(unread.labelsStart),
    labelsEnd: at(unread.labelsEnd),
  };
}

/** Writes an object as `JSON.stringify` does, and notes where its metadata are. */
function written(object: KubernetesObject): UnreadText {
  let text = "{";
  let [metadataStart, metadataEnd] = [0, 0];
  for (const [name, member] of Object.entries(object)) {
    const value = JSON.stringify(member);
    if (value === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(name)}:`;
    if (name === "metadata") metadataStart = text.length;
    text += value;
    if (name === "metadata") metadataEnd = text.length;
  }
  return { text: `${text}}`, metadataStart, metadataEnd, labelsStart: -1, labelsEnd: -1 };
}
