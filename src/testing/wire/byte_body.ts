/** What a body tells of itself. */
export interface ByteBodyOptions {
  /** Most bytes to a chunk; chunks are cut wherever that many are full, also inside a character. */
  readonly chunkBytes: number;
  /** Called once, when nobody reads any more, or all is read: free what feeds the body. */
  readonly onClose?: () => void;
  /** Called when the reader wants more than is queued, to push some: how large bodies are made piece by piece. */
  readonly refill?: (body: ByteBody) => void;
}

/**
 * The body of an answer: bytes that are queued without a limit and copied out when they are read.
 *
 * It is a byte stream, so BYOB readers work. What several bodies say, such as one event to many watches, is queued by
 * reference, and copied for each reader only when it reads. A reader that waits gets a chunk in the turn of the push.
 */
export class ByteBody {
  /** For the `Response`. */
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
  #cut = 0;
  readonly #uncut = new Set<Uint8Array>();
  #drip: { readonly bytes: number; readonly everyMs: number } | undefined;
  #dripTimer: ReturnType<typeof setTimeout> | undefined;

  /** Nothing queued yet. */
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
        this.#wanted = true;
        this.#flush();
      },
      cancel: (): void => this.#close(),
    }) as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  /** Whether it was ended, broken or cancelled; what is queued may still be read after an end. */
  get ended(): boolean {
    return this.#ending || this.#over;
  }

  /** How many bytes wait for the reader. */
  get queued(): number {
    return this.#bytes;
  }

  /** Calls `closed` once nobody reads any more, or all is read; at once when that is so already. */
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

  /** Queues pieces that arrive in one chunk, however many bytes they are. */
  pushChunk(...pieces: readonly Uint8Array[]): void {
    if (this.ended) return;
    const whole = joinBytes(...pieces);
    this.#uncut.add(whole);
    this.push(whole);
  }

  /** Sends at most so many bytes at a time from now on, and one chunk in so many milliseconds; `undefined` ends that. */
  drip(pace: { readonly bytes: number; readonly everyMs: number } | undefined): void {
    this.#drip = pace;
    if (pace !== undefined) return;
    clearTimeout(this.#dripTimer);
    this.#dripTimer = undefined;
    this.#flush();
  }

  /** Lets no chunk go beyond what is queued now plus `bytes`: the next chunk begins there. */
  cutAfter(bytes: number): void {
    this.#cut = this.#bytes + bytes;
  }

  /** Ends the body cleanly once all is read. */
  end(): void {
    if (this.ended) return;
    this.#ending = true;
    this.#flush();
  }

  /** Breaks the body: the reader gets `error` at once, and what is queued is lost. */
  break(error: unknown): void {
    if (this.#over) return;
    this.#close();
    this.#controller.error(error);
  }

  /** Holds everything back, also the end, until {@linkcode release}. */
  hold(): void {
    this.#held = true;
  }

  /** Lets go of what {@linkcode hold} held back. */
  release(): void {
    this.#held = false;
    this.#flush();
  }

  #flush(): void {
    if (this.#over || this.#held) return;
    if (this.#wanted && this.#bytes < this.#chunkBytes && !this.#ending && this.#refill !== undefined) {
      // What the refill pushes comes back here once; `#wanted` is off meanwhile so that one chunk is made of all of it.
      this.#wanted = false;
      this.#refill(this);
      this.#wanted = true;
    }
    if (this.#wanted && this.#bytes > 0) {
      if (this.#dripTimer !== undefined) return;
      this.#wanted = false;
      if (this.#drip !== undefined) this.#pause(this.#drip.everyMs);
      this.#controller.enqueue(this.#take());
    }
    if (this.#ending && this.#bytes === 0 && !this.#over) {
      this.#close();
      this.#controller.close();
      // A BYOB reader that waits is answered only by this.
      this.#controller.byobRequest?.respond(0);
    }
  }

  #pause(ms: number): void {
    this.#dripTimer = setTimeout(() => {
      this.#dripTimer = undefined;
      this.#flush();
    }, ms);
  }

  /** A chunk of its own memory: enqueueing takes the memory away. */
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

  /** How large a chunk may be that takes nothing of a piece that stays whole, or takes that piece and no more. */
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

/** Several pieces as one. */
export function joinBytes(...pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}
