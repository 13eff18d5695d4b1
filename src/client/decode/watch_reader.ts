import type { Change } from "../../api/lister_watcher.ts";
import { DecodeError, StatusError, statusFrom } from "../../api/status.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { resourceName } from "../../api/resource.ts";
import { type BodyDecoder, LineSplitter, utf8 } from "./body_reader.ts";
import { ObjectReader, type ReadOptions, startsWith } from "./object_reader.ts";
import { isTable, RowReader } from "./row_reader.ts";

const encoder = new TextEncoder();
const CLOSE_BRACE = 125;
const TYPES = ["ADDED", "MODIFIED", "DELETED"] as const;
const PREFIXES = TYPES.map((type) => ({ type, bytes: encoder.encode(`{"type":"${type}","object":`) }));

/**
 * Decodes a watch: one batch of changes to a chunk of the body. A batch may be empty; it shows that the connection is
 * alive. An incomplete line at the end of the body is dropped.
 *
 * A line that is no event, or is an `ERROR` event, fails the watch after the changes before it: with a `DecodeError`,
 * or a `StatusError`.
 */
export class WatchReader<T extends KubernetesObject> implements BodyDecoder<readonly Change<T>[]> {
  readonly #lines: LineSplitter;
  readonly #events: EventReader<T>;
  /** The changes of the current chunk. */
  #batch: Change<T>[] = [];
  #failure: { readonly error: unknown } | undefined;

  /** Decodes a watch of the objects that `options` describe. */
  constructor(options: ReadOptions) {
    // mutant: carry-survives-reconnect
    const lines = new LineSplitter(options.maxObjectBytes);
    this.#lines = lines;
    this.#events = new EventReader<T>(options);
  }

  /** The error that ends the watch, behind the latest batch. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** The changes whose lines end in this chunk. */
  push(chunk: Uint8Array): readonly Change<T>[] {
    const batch: Change<T>[] = this.#batch = [];
    try {
      this.#lines.push(chunk, this.#line);
    } catch (error) {
      this.#failure = { error };
    }
    return batch;
  }

  /** Nothing: an incomplete line is no event. */
  end(): undefined {
    return undefined;
  }

  readonly #line = (bytes: Uint8Array, start: number, end: number, text: string | undefined): void => {
    const change = this.#events.read(bytes, start, end, text);
    if (change !== undefined) this.#batch.push(change);
  };
}

/** The object of a bookmark, or its table. */
interface Bookmarked {
  readonly metadata?: { readonly resourceVersion?: unknown; readonly annotations?: Readonly<Record<string, unknown>> };
  readonly rows?: readonly { readonly object?: Bookmarked }[];
}

/** Decodes one line of a watch. */
class EventReader<T extends KubernetesObject> {
  readonly #options: ReadOptions;
  readonly #objects: Pick<ObjectReader<T>, "read" | "entryOf">;
  /** The reader of rows, if tables were asked for. */
  readonly #rows: RowReader<T> | undefined;

  constructor(options: ReadOptions) {
    this.#options = options;
    if (options.resource.representation === "table") this.#rows = new RowReader<T>(options);
    const rows = this.#rows;
    this.#objects = rows === undefined ? new ObjectReader<T>(options) : {
      read: (bytes, start, end) => rows.readEvent(bytes, start, end),
      entryOf: (value) => rows.eventOf(value),
    };
  }

  /** Returns the change in a line; `undefined` if its object is not in the shard. */
  read(bytes: Uint8Array, start: number, end: number, text: string | undefined): Change<T> | undefined {
    for (const prefix of PREFIXES) {
      if (bytes[start + 9] !== prefix.bytes[9] || !startsWith(bytes, start, end, prefix.bytes)) continue;
      if (bytes[end - 1] !== CLOSE_BRACE) break;
      const entry = this.#objects.read(bytes, start + prefix.bytes.length, end - 1, text);
      return entry && { type: prefix.type, entry };
    }
    return this.#parse(text === undefined ? utf8.decode(bytes.subarray(start, end)) : text.slice(start, end));
  }

  /** Parses a bookmark, an error, or an event in another layout than the API server's. */
  #parse(text: string): Change<T> | undefined {
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
      case "DELETED": {
        const entry = this.#objects.entryOf(event.object);
        return entry && { type: event.type, entry };
      }
      case "BOOKMARK": {
        const { metadata, rows } = (event.object ?? {}) as Bookmarked;
        if (typeof metadata?.resourceVersion !== "string" || metadata.resourceVersion === "") {
          throw new DecodeError(
            `Cannot read a bookmark of "${name}": found ${excerpt(text)}, expected a resourceVersion`,
          );
        }
        // A table may have the columns in its first bookmark, and has the annotations in its only row.
        if (isTable(event.object)) this.#rows?.begin(event.object);
        const annotations = metadata.annotations ?? rows?.[0]?.object?.metadata?.annotations;
        return {
          type: "BOOKMARK",
          resourceVersion: metadata.resourceVersion,
          initialEventsEnd: annotations?.["k8s.io/initial-events-end"] === "true",
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
