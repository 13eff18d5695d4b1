import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import type { ListPart, WatchChange } from "../../../src/engine/api/lister_watcher.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { defineResource, type Resource } from "../../../src/engine/api/resource.ts";
import { CancellableStream } from "../../../src/engine/async/iterate.ts";
import { BodyReader } from "../../../src/engine/client/decode/body_reader.ts";
import type { ReadOptions } from "../../../src/engine/client/decode/object_reader.ts";
import { ListReader, WatchReader } from "../../../src/engine/client/decode/readers.ts";

/** The built-in kind that most tests read. */
export const Pod: Resource = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

const encoder = new TextEncoder();

/** The text as UTF-8. */
export function utf8Of(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** A body in a test, and what became of it. */
export interface Body {
  readonly stream: ReadableStream<Uint8Array>;
  /** `true` once the reader has cancelled it. */
  readonly cancelled: boolean;
}

/** A body that arrives in these chunks: a byte stream, or one that only the default reader can read. */
export function bodyOf(chunks: readonly Uint8Array[], kind: "bytes" | "default" = "default"): Body {
  const state = { cancelled: false };
  // A byte stream can not be given an empty chunk; any other can.
  const all = kind === "bytes" ? chunks.filter((chunk) => chunk.length > 0) : chunks;
  let next = 0;
  const cancel = (): void => {
    state.cancelled = true;
  };
  const stream = kind === "default"
    ? new ReadableStream<Uint8Array>({
      pull(controller): void {
        if (next === all.length) controller.close();
        else controller.enqueue(all[next++]);
      },
      cancel,
    }, { highWaterMark: 0 })
    : new ReadableStream({
      type: "bytes",
      pull(controller: ReadableByteStreamController): void {
        if (next === all.length) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else controller.enqueue(new Uint8Array(all[next++]));
      },
      cancel,
    }, { highWaterMark: 0 });
  return {
    stream: stream as ReadableStream<Uint8Array>,
    get cancelled(): boolean {
      return state.cancelled;
    },
  };
}

/** The bytes cut at these positions, in order; none of the chunks is empty. */
export function cutAt(bytes: Uint8Array, ...positions: number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let from = 0;
  for (const position of [...positions, bytes.length]) {
    if (position > from) chunks.push(bytes.slice(from, position));
    from = Math.max(from, position);
  }
  return chunks;
}

/** The bytes in chunks of `size`. */
export function inChunksOf(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
  return chunks;
}

/** All members of an entry, read now: its error if it is broken, else its identity and contents. */
export function portrait(entry: CacheEntry<KubernetesObject>): unknown {
  const { key, namespace, name, uid, resourceVersion } = entry;
  if (entry.error !== undefined) return { key, error: entry.error.message };
  const metadata = JSON.stringify(entry.metadata);
  const object = JSON.stringify(entry.object);
  return { key, namespace, name, uid, resourceVersion, metadata, object };
}

/** A change as plain data. */
export function changePortrait(change: WatchChange<KubernetesObject>): unknown {
  return change.type === "BOOKMARK" ? change : { type: change.type, ...portrait(change.entry) as object };
}

/** The parts of a list's body. */
export function readList<T extends KubernetesObject>(
  body: ReadableStream<Uint8Array>,
  options: ReadOptions,
): CancellableStream<ListPart<T>> {
  return new CancellableStream(() => new BodyReader(body, new ListReader<T>(options)));
}

/** The batches of changes in a watch's body. */
export function readChanges<T extends KubernetesObject>(
  body: ReadableStream<Uint8Array>,
  options: ReadOptions,
): CancellableStream<readonly WatchChange<T>[]> {
  return new CancellableStream(() => new BodyReader<readonly WatchChange<T>[]>(body, new WatchReader<T>(options)));
}

/** The values that a reader yielded, and the error that ended it. */
export interface Reading<P> {
  readonly values: P[];
  readonly error?: unknown;
}

const OPTIONS: ReadOptions = { resource: Pod, managedFields: "drop" };

/** Reads a watch to its end, and looks at nothing before that. */
export async function watchReading(
  chunks: readonly Uint8Array[],
  options: Partial<ReadOptions> & { readonly kind?: "bytes" | "default" } = {},
): Promise<Reading<WatchChange<KubernetesObject>>> {
  const values: WatchChange<KubernetesObject>[] = [];
  try {
    const { stream } = bodyOf(chunks, options.kind);
    for await (const batch of readChanges<KubernetesObject>(stream, { ...OPTIONS, ...options })) values.push(...batch);
  } catch (error) {
    return { values, error };
  }
  return { values };
}

/** The entries of a list, and its parts. */
export interface ListReading extends Reading<CacheEntry<KubernetesObject>> {
  readonly parts: readonly ListPart<KubernetesObject>[];
}

/** Reads a list to its end, and looks at nothing before that. */
export async function listReading(
  chunks: readonly Uint8Array[],
  options: Partial<ReadOptions> & { readonly kind?: "bytes" | "default" } = {},
): Promise<ListReading> {
  const parts: ListPart<KubernetesObject>[] = [];
  const values: CacheEntry<KubernetesObject>[] = [];
  try {
    const { stream } = bodyOf(chunks, options.kind);
    for await (const part of readList<KubernetesObject>(stream, { ...OPTIONS, ...options })) {
      parts.push(part);
      values.push(...part.entries);
    }
  } catch (error) {
    return { values, parts, error };
  }
  return { values, parts };
}

/** The message of what a reading ended with; fails where it ended well. */
export function messageOf(reading: { readonly error?: unknown }): string {
  if (!(reading.error instanceof Error)) throw new Error(`Cannot say why it failed: found ${reading.error}`);
  return reading.error.message;
}
