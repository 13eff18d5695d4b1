import type { Entry } from "../../api/entry.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { TableColumn } from "../../api/table_row.ts";
import { entryBytes } from "../../entry/entry_bytes.ts";
import { RowEntry } from "../../entry/row_entry.ts";
import { errorLine } from "../../errors/error_line.ts";
import { checksum } from "./checksum.ts";
import { SNAPSHOT_FORMAT, type SnapshotHeader } from "./snapshot_header.ts";

/** The objects of one part of a collection. */
export interface SnapshotPart<T extends KubernetesObject> {
  /** The entries that the cache has. */
  readonly entries: readonly Entry<T>[];
  /** Returns the key that the server has for an entry, where a transform has changed it. */
  readonly originalKey: (entry: Entry<T>) => ObjectKey | undefined;
}

/** The head of a frame of objects. */
export interface FrameHead {
  /** The number of the part. */
  readonly part: number;
  /** The objects, whose texts follow in this order. */
  readonly objects: readonly ObjectHead[];
  /** The columns of the objects that are rows. */
  readonly columns?: readonly (readonly TableColumn[])[];
}

/**
 * An object: key, namespace, uid, resourceVersion, the server's key where it differs (else 0), then the length of its text and
 * the positions of metadata and labels in it; of a row also the number of its columns in the frame, and its cells, 0 for none. Or,
 * behind the identity, the reason why it cannot be read.
 */
export type ObjectHead =
  | readonly [...ObjectIdentity, ...ObjectPositions]
  | readonly [...ObjectIdentity, ...ObjectPositions, number, readonly unknown[] | 0]
  | readonly [...ObjectIdentity, string];

type ObjectPositions = readonly [number, number, number, number, number];

type ObjectIdentity = readonly [ObjectKey, string, string, string, ObjectKey | 0];

/** The number of bytes of texts at which a frame is complete. */
const FRAME_BYTES = 256 * 1_024;

const encoder = new TextEncoder();

/**
 * Writes a snapshot: the format's line, a frame with the header, frames of objects, and a frame with their number.
 *
 * A frame is a line with the length of its head, that of its texts and the checksum of both, then the head as JSON, then the
 * texts. Spaces at the end of the line place the head at a multiple of four, so that a checksum needs no copy. The entries are written as they are read, so the entries of one moment are all that is kept.
 */
export function snapshotStream<T extends KubernetesObject>(
  header: SnapshotHeader,
  parts: readonly SnapshotPart<T>[],
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const frames = framesOf(header, parts);
  return new ReadableStream({
    pull: (controller): void => {
      const { value, done } = frames.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

function* framesOf<T extends KubernetesObject>(
  header: SnapshotHeader,
  parts: readonly SnapshotPart<T>[],
): Generator<Uint8Array<ArrayBuffer>, void> {
  let position = SNAPSHOT_FORMAT.length;
  const frame = (head: FrameHead | SnapshotHeader | { readonly count: number }, texts: Uint8Array[]) => {
    const bytes = frameAt(position, head, texts);
    position += bytes.length;
    return bytes;
  };
  yield joined([encoder.encode(SNAPSHOT_FORMAT), frame(header, [])]);
  let count = 0;
  for (const [part, { entries, originalKey }] of parts.entries()) {
    let objects: ObjectHead[] = [];
    let columns: (readonly TableColumn[])[] = [];
    let texts: Uint8Array[] = [];
    let size = 0;
    for (const entry of entries) {
      const text = append(objects, columns, entry, originalKey(entry));
      if (text !== undefined) texts.push(text);
      size += text?.length ?? 0;
      count++;
      if (size < FRAME_BYTES) continue;
      yield frame({ part, objects, columns }, texts);
      [objects, columns, texts, size] = [[], [], [], 0];
    }
    if (objects.length > 0) yield frame({ part, objects, columns }, texts);
  }
  yield frame({ count }, []);
}

/** Appends the head of an entry, and returns its text, if it can be read. */
function append<T extends KubernetesObject>(
  objects: ObjectHead[],
  columns: (readonly TableColumn[])[],
  entry: Entry<T>,
  originalKey: ObjectKey | undefined,
): Uint8Array | undefined {
  const { key, namespace, uid, resourceVersion } = entry;
  const identity = [key, namespace, uid, resourceVersion, originalKey ?? 0] as const;
  const plain = (entry as { readonly unfrozen?: Entry<T> }).unfrozen ?? entry;
  const row: RowEntry<T> | undefined = plain instanceof RowEntry ? plain : undefined;
  try {
    const { text, metadataStart, metadataEnd, labelsStart, labelsEnd } = entryBytes(row?.inner ?? plain);
    const positions = [text.length, metadataStart, metadataEnd, labelsStart, labelsEnd] as const;
    if (row === undefined) objects.push([...identity, ...positions]);
    else objects.push([...identity, ...positions, numberOf(row.columns, columns), row.cells ?? 0]);
    return text;
  } catch (error) {
    objects.push([...identity, errorLine(error)]);
  }
}

/** Returns the number of columns among those of a frame, to which they are added. The rows of a list share one array. */
function numberOf(columns: readonly TableColumn[], all: (readonly TableColumn[])[]): number {
  const known = all.indexOf(columns);
  return known === -1 ? all.push(columns) - 1 : known;
}

/** Returns the frame that begins at a position of the snapshot. */
function frameAt(
  position: number,
  head: SnapshotHeader | FrameHead | { readonly count: number },
  texts: Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const headBytes = encoder.encode(JSON.stringify(head));
  const body = joined([headBytes, ...texts]);
  const line = `${headBytes.length} ${body.length - headBytes.length} ${checksum(body)}`;
  const padding = " ".repeat(3 - (position + line.length) % 4);
  return joined([encoder.encode(`${line}${padding}\n`), body]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
