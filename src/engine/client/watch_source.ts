/**
 * The sources for a collection's streams: each sends a request, and decodes its response.
 *
 * {@linkcode RequestSource} is one list or watch. {@linkcode WatchSource} is a watch whose connection can be replaced
 * while it is read. This file does not decide when that is necessary: `http/open_watches.ts` does.
 *
 * @module
 */
import type { WatchChange } from "../api/lister_watcher.ts";
import type { WatchOptions } from "../api/call_options.ts";
import type { StreamSource } from "../async/iterate.ts";
import { monotonicMs } from "../async/time.ts";
import { type BodyDecoder, BodyReader } from "./decode/body_reader.ts";
import type { Exchange } from "./http/connection.ts";
import { type WatchConnection, WatchHealth, type WatchMemory } from "./http/open_watches.ts";
import { type BodyType, checkContentType, checkPlainResponse } from "./http/response.ts";

/** Options for {@linkcode RequestSource}. */
interface RequestSourceOptions<P> {
  /** Sends the request. */
  readonly open: () => Promise<Exchange>;
  /** The first item, which means that the server has responded. */
  readonly first: P;
  /** Creates the decoder of the body. */
  readonly decoder: () => BodyDecoder<P>;
  /** True if a body with a content encoding is refused. */
  readonly plain: boolean;
  /** The content type of the body. @default {"JSON"} */
  readonly type?: BodyType;
  /** Called with each part of the body, before it is yielded. */
  readonly onPart?: (part: P) => void;
  /** Called for each chunk of the body, with the decoding time in milliseconds. */
  readonly onDecoded?: (ms: number) => void;
}

/**
 * A source for a stream that sends a request and decodes its response. It yields one item when the server has accepted
 * the request, and then the parts of the body. At the end it frees everything.
 *
 * A failure becomes the error from {@linkcode Exchange.explain}. A body with another content type, or with a refused
 * content encoding, is a `DecodeError`.
 */
export class RequestSource<P> implements StreamSource<P, ReadableStreamReadResult<Uint8Array> | undefined> {
  readonly #options: RequestSourceOptions<P>;
  /** Set once the server has accepted the request. */
  #exchange: Exchange | undefined;
  /** Set once the response's headers have been checked. */
  #body: BodyReader<P> | undefined;
  /** The body that a read waits for. */
  #reading: BodyReader<P> | undefined;
  #isOver = false;

  /** Sends nothing yet. */
  constructor(options: RequestSourceOptions<P>) {
    this.#options = options;
  }

  /** Sends the request, and later reads a chunk of the body. */
  read(): Promise<ReadableStreamReadResult<Uint8Array> | undefined> {
    this.#reading = this.#body;
    return this.#body === undefined ? this.#send() : this.#body.read();
  }

  /** Decodes a chunk. `undefined` means the response's headers. */
  decode(result: ReadableStreamReadResult<Uint8Array> | undefined): IteratorResult<P, void> {
    const isReplaced = this.#reading !== this.#body;
    this.#reading = undefined;
    // The response that replaced this one repeats its data.
    if (result === undefined || isReplaced) return { done: false, value: this.#options.first };
    const { onDecoded, onPart } = this.#options;
    const beganMs = onDecoded === undefined ? 0 : monotonicMs();
    const part = this.#body!.decode(result);
    onDecoded?.(monotonicMs() - beganMs);
    if (part.done) {
      this.#isOver = true;
      this.#exchange!.finish();
    } else onPart?.(part.value);
    return part;
  }

  /** Cancels the body, ends the request, and explains the error. */
  fail(error: unknown): unknown {
    this.#isOver = true;
    const explained = this.#exchange === undefined ? error : this.#exchange.explain(error);
    this.#body?.fail(error);
    this.#exchange?.[Symbol.dispose]();
    return explained;
  }

  /** Cancels the body and ends the request. */
  async cancel(): Promise<void> {
    this.#isOver = true;
    try {
      await this.#body?.cancel();
    } catch (error) {
      throw this.#exchange!.explain(error);
    } finally {
      this.#exchange?.[Symbol.dispose]();
    }
  }

  /** `true` while a read waits for the response's next chunk. */
  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  /**
   * Continues with another response, which follows the data that was read, if `isWanted` returns `true`. Otherwise, or
   * if the source has ended meanwhile, it cancels the response. Returns whether it continues.
   */
  async continueWith(exchange: Exchange, isWanted: () => boolean): Promise<boolean> {
    try {
      const body = await this.#bodyOf(exchange);
      const [oldBody, oldExchange] = [this.#body, this.#exchange];
      const isTaken = !this.#isOver && oldBody !== undefined && isWanted();
      if (isTaken) [this.#body, this.#exchange] = [body, exchange];
      // Ends a read that waits for the old answer. A dead connection may not end, and is not waited for.
      (isTaken ? oldBody : body).cancel().then(undefined, () => undefined);
      (isTaken ? oldExchange : exchange)?.[Symbol.dispose]();
      return isTaken;
    } catch (error) {
      exchange[Symbol.dispose]();
      throw error;
    }
  }

  async #send(): Promise<undefined> {
    this.#exchange = await this.#options.open();
    this.#body = this.#reading = await this.#bodyOf(this.#exchange);
    // A transport that ignores its signal has answered nevertheless.
    if (this.#isOver) await this.cancel();
  }

  async #bodyOf({ action, server, response }: Exchange): Promise<BodyReader<P>> {
    const { plain, decoder, type } = this.#options;
    if (plain) await checkPlainResponse(action, response);
    await checkContentType(action, server, response, type);
    return new BodyReader(response.body ?? new Blob().stream(), decoder());
  }
}

/** Options for {@linkcode WatchSource}. */
interface WatchSourceOptions<T> extends Pick<RequestSourceOptions<readonly WatchChange<T>[]>, "decoder" | "onDecoded"> {
  /** The request in words that follow "Cannot" in messages. */
  readonly action: string;
  /** The collection's memory. */
  readonly memory: WatchMemory;
  /** The watch's options. */
  readonly watch: WatchOptions;
  /** Sends the request for the watch, or a request that resumes the watch and replaces it. */
  readonly open: (
    watch: WatchHealth,
    resumed?: Pick<WatchOptions, "resourceVersion" | "timeoutSeconds">,
  ) => Promise<Exchange>;
  /** Resolves with the server's version, with a list of one object. */
  readonly newestVersion: (signal: AbortSignal) => Promise<string | undefined>;
}

/** A source for the changes that a watch delivers. Its connection can be replaced by another one. */
export class WatchSource<T> extends RequestSource<readonly WatchChange<T>[]> implements WatchConnection {
  readonly #options: WatchSourceOptions<T>;
  readonly #beganMs = monotonicMs();
  #health: WatchHealth;

  /** Sends nothing yet. */
  constructor(options: WatchSourceOptions<T>) {
    const { decoder, onDecoded, action, memory, watch, open } = options;
    super({
      first: [],
      decoder,
      plain: true,
      open: () => open(this.#health),
      onPart: (batch) => this.#health.heard(batch),
      onDecoded,
    });
    this.#options = options;
    const { sendInitialEvents: isListing = false, resourceVersion = "", allowBookmarks: hasBookmarks = false } = watch;
    this.#health = new WatchHealth(action, memory, this, {
      resourceVersion: isListing ? "" : resourceVersion,
      isListing,
      hasBookmarks,
    });
  }

  /** As {@linkcode WatchConnection.newestVersion}. */
  newestVersion(signal: AbortSignal): Promise<string | undefined> {
    return this.#options.newestVersion(signal);
  }

  /** As {@linkcode WatchConnection.replace}. */
  async replace(): Promise<void> {
    const { action, memory, open, watch } = this.#options;
    const old = this.#health;
    const { chunks, version: resourceVersion } = old;
    const { timeoutSeconds, allowBookmarks: hasBookmarks = false } = watch;
    const facts = { resourceVersion, isListing: false, hasBookmarks, isSuccessor: true };
    const next = new WatchHealth(action, memory, this, facts);
    const leftSeconds = (timeoutSeconds ?? 0) - Math.floor((monotonicMs() - this.#beganMs) / 1_000);
    const exchange = await open(next, {
      resourceVersion,
      ...(timeoutSeconds ? { timeoutSeconds: Math.max(1, leftSeconds) } : {}),
    });
    await this.continueWith(exchange, () => {
      const isWanted = old.chunks === chunks;
      if (isWanted) this.#health = next;
      return isWanted;
    });
  }
}
