/**
 * Response bodies.
 *
 * {@linkcode ByteBody} is the body of every streamed response. It knows neither HTTP nor resources; responses are made
 * in `exchange.ts`.
 *
 * @module
 */

/** Options for {@linkcode ByteBody}. */
interface ByteBodyOptions {
  /** Maximum bytes per chunk; chunks are split at any byte, even inside a character. */
  readonly chunkBytes: number;
  /** Called once, when the body is fully read, cancelled or broken. */
  readonly onClose?: () => void;
  /** Called when the reader wants more than is queued, to push more: large bodies are produced piece by piece. */
  readonly refill?: (body: ByteBody) => void;
}

/**
 * A response body: bytes are queued without a limit and copied when they are read.
 *
 * It is a byte stream, so BYOB readers work. Bytes that several bodies send, such as one event to many watches, are
 * queued by reference and copied for each reader. A waiting reader gets a chunk in the turn of the push.
 */
export class ByteBody {
  /** The stream for a `Response`. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #chunkBytes: number;
  readonly #onClose: (() => void)[] = [];
  readonly #refill: ((body: ByteBody) => void) | undefined;
  #controller!: ReadableByteStreamController;
  #queue: Uint8Array[] = [];
  #first = 0;
  #offset = 0;
  #bytes = 0;
  #wanted = false;
  #held = false;
  #ending = false;
  #over = false;
  #signal: AbortSignal | undefined;
  /** The signal to follow from the first read on. */
  #readSignal: AbortSignal | undefined;
  #cut = 0;
  readonly #uncut = new Set<Uint8Array>();
  #drip: { readonly bytes: number; readonly intervalMs: number } | undefined;
  #dripTimer: ReturnType<typeof setTimeout> | undefined;

  /** Starts empty. */
  constructor(options: ByteBodyOptions) {
    this.#chunkBytes = options.chunkBytes;
    if (options.onClose !== undefined) this.#onClose.push(options.onClose);
    this.#refill = options.refill;
    this.stream = new ReadableStream({
      type: "bytes",
      start: (controller): void => {
        this.#controller = controller;
      },
      pull: (): void => {
        const signal = this.#readSignal;
        if (signal?.aborted) return this.break(signal.reason);
        this.#wanted = true;
        this.#flush();
        if (signal === undefined || this.#over) return;
        this.#readSignal = undefined;
        this.follow(signal);
      },
      cancel: (): void => this.#close(),
    }) as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  /** True if the body was ended, broken or cancelled; after an end, queued bytes can still be read. */
  get ended(): boolean {
    return this.#ending || this.#over;
  }

  /** Number of unread bytes. */
  get queued(): number {
    return this.#bytes;
  }

  /** Calls `closed` once the body is fully read, cancelled or broken; at once if that has happened. */
  whenClosed(closed: () => void): void {
    if (this.#over) closed();
    else this.#onClose.push(closed);
  }

  /** Breaks the body with the signal's reason when that aborts. */
  follow(signal: AbortSignal): void {
    if (signal.aborted) return this.break(signal.reason);
    this.#signal = signal;
    signal.addEventListener("abort", this.#aborted, { once: true });
  }

  /**
   * Breaks the body when the signal aborts, as soon as it is read: a body that is read at once needs no listener, which
   * costs more than the rest.
   */
  followRead(signal: AbortSignal): void {
    this.#readSignal = signal;
  }

  /** Queues pieces, which must not be changed afterwards. */
  push(...pieces: readonly Uint8Array[]): void {
    if (this.ended) return;
    for (const piece of pieces) {
      if (piece.length === 0) continue;
      this.#queue.push(piece);
      this.#bytes += piece.length;
    }
    this.#flush();
  }

  /** Queues pieces that arrive in one chunk, whatever their size. */
  pushChunk(...pieces: readonly Uint8Array[]): void {
    if (this.ended) return;
    const joined = joinBytes(...pieces);
    this.#uncut.add(joined);
    this.push(joined);
  }

  /**
   * Limits the speed: at most `bytes` per chunk, one chunk every `intervalMs` milliseconds; `undefined` removes the
   * limit.
   */
  drip(pace: { readonly bytes: number; readonly intervalMs: number } | undefined): void {
    this.#drip = pace;
    if (pace !== undefined) return;
    clearTimeout(this.#dripTimer);
    this.#dripTimer = undefined;
    this.#flush();
  }

  /** Starts a new chunk `bytes` after what is queued. */
  cutAfter(bytes: number): void {
    this.#cut = this.#bytes + bytes;
  }

  /** Ends the body cleanly once everything is read. */
  end(): void {
    if (this.ended) return;
    this.#ending = true;
    this.#flush();
  }

  /** Breaks the body: the reader gets `error` at once, and queued bytes are lost. */
  break(error: unknown): void {
    if (this.#over) return;
    this.#close();
    this.#controller.error(error);
  }

  /** Holds back all bytes and the end until {@linkcode release}. */
  hold(): void {
    this.#held = true;
  }

  /** Releases what {@linkcode hold} held back. */
  release(): void {
    this.#held = false;
    this.#flush();
  }

  #flush(): void {
    if (this.#over || this.#held) return;
    if (this.#wanted && this.#bytes < this.#chunkBytes && !this.#ending && this.#refill !== undefined) {
      // The refill pushes, which calls this function; `#wanted` is off meanwhile, so that one chunk is made of all of
      // it.
      this.#wanted = false;
      this.#refill(this);
      this.#wanted = true;
    }
    if (this.#wanted && this.#bytes > 0) {
      if (this.#dripTimer !== undefined) return;
      this.#wanted = false;
      if (this.#drip !== undefined) this.#pause(this.#drip.intervalMs);
      this.#controller.enqueue(this.#take());
    }
    if (this.#ending && this.#bytes === 0 && !this.#over) {
      this.#close();
      this.#controller.close();
      // A waiting BYOB reader resolves only by this.
      this.#controller.byobRequest?.respond(0);
    }
  }

  #pause(ms: number): void {
    this.#dripTimer = setTimeout(() => {
      this.#dripTimer = undefined;
      this.#flush();
    }, ms);
  }

  /** Copies a chunk into new memory: enqueueing transfers it. */
  #take(): Uint8Array<ArrayBuffer> {
    let size = Math.min(this.#bytes, this.#chunkBytes, this.#drip?.bytes ?? Infinity);
    if (this.#uncut.size > 0) size = this.#sizeBesideUncut(size);
    if (this.#cut > 0) {
      size = Math.min(size, this.#cut);
      this.#cut -= size;
    }
    const chunk = new Uint8Array(size);
    let filled = 0;
    while (filled < size) {
      const piece = this.#queue[this.#first];
      const part = Math.min(piece.length - this.#offset, size - filled);
      chunk.set(
        this.#offset === 0 && part === piece.length ? piece : piece.subarray(this.#offset, this.#offset + part),
        filled,
      );
      filled += part;
      this.#offset += part;
      if (this.#offset === piece.length) {
        this.#first++;
        this.#offset = 0;
      }
    }
    this.#bytes -= size;
    if (this.#first === this.#queue.length) {
      this.#queue = [];
      this.#first = 0;
    } else if (this.#first > 1_024 && this.#first * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#first);
      this.#first = 0;
    }
    return chunk;
  }

  /** Returns the size of a chunk that ends before an uncut piece, or consists of exactly that piece. */
  #sizeBesideUncut(size: number): number {
    let before = -this.#offset;
    for (let at = this.#first; at < this.#queue.length && before < size; at++) {
      const piece = this.#queue[at];
      if (this.#uncut.has(piece)) {
        if (before > 0) return before;
        this.#uncut.delete(piece);
        return piece.length;
      }
      before += piece.length;
    }
    return size;
  }

  readonly #aborted = (): void => this.break(this.#signal!.reason);

  #close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#queue = [];
    this.#bytes = 0;
    this.#signal?.removeEventListener("abort", this.#aborted);
    clearTimeout(this.#dripTimer);
    for (const closed of this.#onClose.splice(0)) closed();
  }
}

/** Concatenates pieces. */
export function joinBytes(...pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}
