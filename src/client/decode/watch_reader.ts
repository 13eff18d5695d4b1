import type { Change } from "../../api/change.ts";
import { DecodeError, StatusError } from "../../api/errors.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { resourceName } from "../../api/resource.ts";
import { statusFrom } from "../../api/status.ts";
import { ChunkReader, utf8 } from "./chunk_reader.ts";
import { LineSplitter } from "./line_splitter.ts";
import { ObjectReader, type ReadOptions, startsWith } from "./object_reader.ts";

const encoder = new TextEncoder();
const CLOSE_BRACE = 125;
const TYPES = ["ADDED", "MODIFIED", "DELETED"] as const;
const PREFIXES = TYPES.map((type) => ({ type, bytes: encoder.encode(`{"type":"${type}","object":`) }));

/**
 * The changes a watch's body tells: one batch to a chunk of the body, an empty one too, so that a reader sees signs of
 * life. A line that the end of the body cut off is not a line. Leaving early cancels the body. Asked one at a time.
 *
 * @throws {StatusError} an `ERROR` event, after the changes before it.
 * @throws {DecodeError} a line that is no event, after the changes before it.
 */
export function readChanges<T extends KubernetesObject>(
  body: ReadableStream<Uint8Array>,
  options: ReadOptions,
): ChangeReader<T> {
  return new ChangeReader<T>(body, options);
}

/** No generator, which would cost several promises a chunk, and a watch has a chunk to an event. */
class ChangeReader<T extends KubernetesObject> implements AsyncIterableIterator<readonly Change<T>[], void, undefined> {
  readonly #chunks: ChunkReader;
  readonly #lines: LineSplitter;
  readonly #events: EventReader<T>;
  #batch: Change<T>[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(body: ReadableStream<Uint8Array>, options: ReadOptions) {
    // mutant: carry-survives-reconnect
    const lines = new LineSplitter(options.maxObjectBytes);
    this.#chunks = new ChunkReader(body);
    this.#lines = lines;
    this.#events = new EventReader<T>(options);
  }

  next(): Promise<IteratorResult<readonly Change<T>[], void>> {
    return this.#failure === undefined ? this.#chunks.read(this.#take) : this.#fail(this.#failure.error);
  }

  async return(): Promise<IteratorResult<readonly Change<T>[], void>> {
    this.#failure = undefined;
    await this.#chunks.cancel();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #line = (bytes: Uint8Array, start: number, end: number, text: string | undefined): void => {
    this.#batch.push(this.#events.read(bytes, start, end, text));
  };

  readonly #take = (chunk: Uint8Array | undefined): IteratorResult<readonly Change<T>[], void> => {
    if (chunk === undefined) return { done: true, value: undefined };
    this.#batch = [];
    try {
      this.#lines.push(chunk, this.#line);
    } catch (error) {
      this.#failure = { error };
    }
    return { done: false, value: this.#batch };
  };

  async #fail(error: unknown): Promise<never> {
    this.#failure = undefined;
    await Promise.allSettled([this.#chunks.cancel()]); // why the reading ends is worth more than how
    throw error;
  }
}

class EventReader<T extends KubernetesObject> {
  readonly #options: ReadOptions;
  readonly #objects: ObjectReader<T>;

  constructor(options: ReadOptions) {
    this.#options = options;
    this.#objects = new ObjectReader<T>(options);
  }

  read(bytes: Uint8Array, start: number, end: number, text: string | undefined): Change<T> {
    for (const prefix of PREFIXES) {
      if (bytes[start + 9] !== prefix.bytes[9] || !startsWith(bytes, start, end, prefix.bytes)) continue;
      if (bytes[end - 1] !== CLOSE_BRACE) break;
      return { type: prefix.type, entry: this.#objects.read(bytes, start + prefix.bytes.length, end - 1, text) };
    }
    return this.#parse(text === undefined ? utf8.decode(bytes.subarray(start, end)) : text.slice(start, end));
  }

  /** Bookmarks, errors, and whatever is not laid out as the API server does it. */
  #parse(text: string): Change<T> {
    const name = resourceName(this.#options.resource);
    let event: { type?: unknown; object?: unknown };
    try {
      event = JSON.parse(text);
    } catch (cause) {
      const hint = text.startsWith("<") ? "; is a proxy or a login page in between?" : "";
      throw new DecodeError(
        `Cannot read an event of "${name}": found ${excerpt(text)}, expected a line of JSON${hint}`,
        { cause },
      );
    }
    switch (event?.type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        return { type: event.type, entry: this.#objects.entryOf(event.object) };
      case "BOOKMARK": {
        const metadata =
          (event.object as { metadata?: { resourceVersion?: unknown; annotations?: Record<string, unknown> } })
            ?.metadata;
        if (typeof metadata?.resourceVersion !== "string" || metadata.resourceVersion === "") {
          throw new DecodeError(
            `Cannot read a bookmark of "${name}": found ${excerpt(text)}, expected a resourceVersion`,
          );
        }
        return {
          type: "BOOKMARK",
          resourceVersion: metadata.resourceVersion,
          initialEventsEnd: metadata.annotations?.["k8s.io/initial-events-end"] === "true",
        };
      }
      case "ERROR": {
        // mutant: error-event-410-ignored, error-event-other-ignored
        const status = statusFrom(event.object);
        throw new StatusError(
          `Cannot go on watching "${name}": ${status.code} ${status.reason}: ${status.message}`,
          status,
        );
      }
      default:
        throw new DecodeError(`Cannot read an event of "${name}": found ${excerpt(text)}, expected a known type`);
    }
  }
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
