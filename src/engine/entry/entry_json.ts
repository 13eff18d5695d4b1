/**
 * Writes entries and their objects as JSON.
 *
 * {@linkcode entryBytes} and {@linkcode entryText} are the entry points: they return the text that an entry came as,
 * where it still has it. {@linkcode jsonOf} writes an object. This file parses nothing, and compares nothing.
 *
 * @module
 */
import type { CacheEntry } from "../api/entry.ts";
import { deepJson, exactJson } from "../api/large_integers.ts";
import { decoder, encoder, type KubernetesObject, type ObjectKey } from "../api/object.ts";
import { NO_POSITION, type UnreadText } from "./entry.ts";

/** The JSON text of an object as UTF-8 bytes, and the positions in them. */
type EntryBytes = UnreadText & { readonly text: Uint8Array };

/**
 * Returns the text that an entry holds. If its object was parsed, or has no text, `JSON.stringify` writes it.
 *
 * @throws {DecodeError} when the entry is broken, and what `JSON.stringify` throws.
 */
export function entryBytes<T extends KubernetesObject>(entry: CacheEntry<T>): EntryBytes {
  const unread = (entry as { readonly unread?: UnreadText }).unread ?? writtenObject(entry.object, entry.key);
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

/**
 * Returns an object, or only its metadata, as JSON: the text that it came as. If that was parsed, `JSON.stringify`
 * writes it.
 *
 * @throws {DecodeError} when the entry is broken.
 */
export function entryText(entry: CacheEntry<KubernetesObject>, part: "object" | "metadata" = "object"): string {
  const { unread } = entry as { readonly unread?: UnreadText };
  if (unread === undefined) return jsonOf(entry[part], entry.key);
  const { text, metadataStart, metadataEnd } = unread;
  const [start, end] = part === "object" ? [0, text.length] : [metadataStart, metadataEnd];
  return typeof text === "string" ? text.slice(start, end) : decoder.decode(text.subarray(start, end));
}

/** Writes an object as `JSON.stringify` does, and notes where its metadata are. @throws as {@linkcode jsonOf}. */
function writtenObject(object: KubernetesObject, key: ObjectKey): UnreadText {
  let text = "{";
  let [metadataStart, metadataEnd] = [0, 0];
  for (const [name, member] of Object.entries(object)) {
    const value = jsonOf(member, key);
    if (value === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(name)}:`;
    if (name === "metadata") metadataStart = text.length;
    text += value;
    if (name === "metadata") metadataEnd = text.length;
  }
  return { text: `${text}}`, metadataStart, metadataEnd, labelsStart: NO_POSITION, labelsEnd: NO_POSITION };
}

/**
 * Returns what `JSON.stringify` returns of a part of the object with this key, also where it is nested deeper than the
 * stack allows, as objects of servers may be.
 *
 * @throws {TypeError} which names the key, when it has a cycle, or another value that JSON does not have.
 */
export function jsonOf(value: unknown, key: ObjectKey): string {
  try {
    try {
      return exactJson(value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return deepJson(value);
    }
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : "a getter throws").split("\n");
    throw new TypeError(
      `Cannot write "${key}" as JSON: ${reason}. Leave out of the object what JSON does not have, such as a member that ` +
        "leads back to its parent",
      { cause },
    );
  }
}
