/**
 * The bodies of requests that are read at the same time, within one bound for all of them.
 *
 * {@linkcode RequestBodies} is the entry point. Nobody is authenticated before a body is read, so anybody who reaches
 * the port can send one. This file does not parse bodies.
 *
 * @module
 */
import { monotonicMs } from "../../engine/async/time.ts";
import { ByteBuffer } from "../../engine/client/decode/body_reader.ts";
import { refusal } from "../../engine/protocol/refusal.ts";

/** A body that is being read. */
interface OpenBody {
  /** The size of its buffer. */
  bytes: number;
  /** The mean time at which its content arrived, in milliseconds. */
  meanMs: number;
  /** Ends the reading. */
  readonly end: (error: Error) => void;
}

const decoder = new TextDecoder();

/**
 * Reads bodies as text. If all of them together need more than `maxBytes`, the slowest one ends with 408: its content
 * has been here longest on average. So clients that hold bodies back cannot have the requests of others refused.
 */
export class RequestBodies {
  readonly #maxBytes: number;
  readonly #open = new Set<OpenBody>();
  #bytes = 0;

  /** No body yet. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The memory of the bodies that are being read, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Reads a body of at most `longest` bytes until `signal` aborts.
   *
   * @throws {StatusError} 408 if it is too slow, 413 if it is too long, 400 if it breaks off.
   */
  async text({ body, headers }: Request, longest: number, signal: AbortSignal): Promise<string> {
    const tooLong = (): Error => refusal(413, `the body is longer than ${longest} bytes`);
    if (Number(headers.get("content-length")) > longest) throw tooLong();
    if (body === null) return "";
    const reader = body.getReader();
    let failure: Error | undefined;
    const end = (error: Error): void => {
      failure ??= error;
      reader.cancel(error).catch(() => {}); // it has broken off, which the read finds
    };
    const open: OpenBody = { bytes: 0, meanMs: 0, end };
    const late = (): void => end(refusal(408, "the body did not arrive in time"));
    if (signal.aborted) late();
    else signal.addEventListener("abort", late, { once: true });
    const buffer = new ByteBuffer();
    this.#open.add(open);
    try {
      for (;;) {
        const { done, value } = await reader.read().catch(() => {
          throw failure ?? refusal(400, "the body has broken off");
        });
        if (failure !== undefined) throw failure;
        if (done) return decoder.decode(buffer.bytes.subarray(0, buffer.length));
        if (buffer.length + value.length > longest) throw tooLong();
        buffer.append(value, 0, value.length);
        open.meanMs += (monotonicMs() - open.meanMs) * value.length / Math.max(1, buffer.length);
        this.#resize(open, buffer.bytes.length);
      }
    } finally {
      this.#close(open);
      signal.removeEventListener("abort", late);
      end(refusal(400, "the body was not read")); // drops the rest
    }
  }

  #resize(open: OpenBody, bytes: number): void {
    this.#bytes += bytes - open.bytes;
    open.bytes = bytes;
    while (this.#bytes > this.#maxBytes) {
      const slowest = [...this.#open].filter((it) => it.bytes > 0).reduce((a, b) => b.meanMs < a.meanMs ? b : a);
      this.#close(slowest);
      slowest.end(refusal(408, `the body is the slowest of those that need more than ${this.#maxBytes} bytes`));
    }
  }

  #close(open: OpenBody): void {
    if (this.#open.delete(open)) this.#bytes -= open.bytes;
  }
}
