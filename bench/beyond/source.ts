import type { Change, ListPart } from "../../src/api/change.ts";
import { StatusError } from "../../src/api/errors.ts";
import type { ListOptions, WatchOptions } from "../../src/api/options.ts";
import { statusFrom } from "../../src/api/status.ts";
import { ChunkReader } from "../../src/client/decode/chunk_reader.ts";
import type { Pod } from "../../src/kinds/core/v1.ts";
import type { ListerWatcher } from "../../src/reflector/lister_watcher.ts";
import type { Format } from "./format.ts";
import { FrameSplitter } from "./frames.ts";

/** The pods of a server in some format, for the informer that the library has: all but the bytes is as it is with JSON. */
export class PodSource implements ListerWatcher<Pod> {
  readonly #url: string;
  readonly #format: Format;

  /** Asks nothing yet. */
  constructor(url: string, format: Format) {
    this.#url = url;
    this.#format = format;
  }

  /** The list. @throws {StatusError} when the server refuses. */
  async *listEntries(options: ListOptions = {}): AsyncGenerator<ListPart<Pod>, void, undefined> {
    const query = { resourceVersion: options.resourceVersion, limit: options.limit?.toString() };
    const response = await this.#ask(query, options.signal);
    yield { entries: [] };
    yield* this.#format.readList(response.body!, options.known);
  }

  /** One watch. @throws {StatusError} when the server refuses, or ends it with an error. */
  watchChanges(options: WatchOptions = {}): AsyncIterable<readonly Change<Pod>[]> {
    const query = {
      watch: "1",
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds?.toString(),
      allowBookmarks: options.allowBookmarks?.toString(),
      sendInitialEvents: options.sendInitialEvents?.toString(),
    };
    return new Batches(() => this.#ask(query, options.signal), this.#format, options);
  }

  async #ask(query: Record<string, string | undefined>, signal: AbortSignal | undefined): Promise<Response> {
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const url = `${this.#url}/api/v1/pods?${new URLSearchParams(given)}`;
    const response = await fetch(url, { headers: { accept: this.#format.accept }, signal });
    if (response.ok) return response;
    const status = statusFrom(await response.json(), response.status);
    throw new StatusError(`Cannot ask for "pods": ${status.code} ${status.reason}: ${status.message}`, status);
  }
}

/** The changes of a watch, a batch to a chunk, without a promise more than reading takes. */
class Batches implements AsyncIterableIterator<readonly Change<Pod>[]> {
  readonly #open: () => Promise<Response>;
  readonly #format: Format;
  readonly #options: WatchOptions;
  readonly #frames: FrameSplitter;
  #chunks: ChunkReader | undefined;
  #batch: Change<Pod>[] = [];
  #failure: StatusError | undefined;

  constructor(open: () => Promise<Response>, format: Format, options: WatchOptions) {
    this.#open = open;
    this.#format = format;
    this.#options = options;
    this.#frames = new FrameSplitter(format.endOfFrame);
  }

  next(): Promise<IteratorResult<readonly Change<Pod>[], void>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return this.#chunks === undefined ? this.#begin() : this.#chunks.read(this.#take);
  }

  async return(): Promise<IteratorResult<readonly Change<Pod>[], void>> {
    await this.#chunks?.cancel();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #begin(): Promise<IteratorResult<readonly Change<Pod>[], void>> {
    const response = await this.#open();
    this.#chunks = new ChunkReader(response.body!);
    return { done: false, value: [] };
  }

  readonly #take = (chunk: Uint8Array | undefined): IteratorResult<readonly Change<Pod>[], void> => {
    if (chunk === undefined) return { done: true, value: undefined };
    const batch: Change<Pod>[] = this.#batch = [];
    this.#frames.push(chunk, this.#frame);
    if (this.#failure !== undefined && batch.length === 0) throw this.#failure;
    return { done: false, value: batch };
  };

  readonly #frame = (bytes: Uint8Array, start: number, end: number): void => {
    const frame = this.#format.readFrame(bytes, start, end, this.#options.known);
    if (frame.type === "ERROR") {
      const { code, reason, message } = frame.status;
      this.#failure = new StatusError(`Cannot go on watching "pods": ${code} ${reason}: ${message}`, frame.status);
    } else if (frame.type === "BOOKMARK") {
      const { resourceVersion } = frame.entry;
      this.#batch.push({ type: "BOOKMARK", resourceVersion, initialEventsEnd: false }); // no streaming lists here
    } else this.#batch.push(frame);
  };
}
