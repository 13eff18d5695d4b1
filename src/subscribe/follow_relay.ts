import { backoffMs } from "../async/time/backoff.ts";
import { LongTimer } from "../async/time/long_timer.ts";
import { sleep } from "../async/time/sleep.ts";
import { askRelay, type RelayClientOptions, RelayError } from "./ask_relay.ts";
import { type ServerEvent, ServerEvents } from "./server_events.ts";

/** A relay is silent for two heartbeats at most, each of 30 s at most: a connection that is silent for longer is given up. */
const SILENCE_MS = 70_000;

/** Status codes below 500 after which the same request may succeed later: timeout, too early, too many. */
const TEMPORARY: readonly number[] = [408, 425, 429];

/** The connection of a subscription. */
export interface RelayFollower {
  /** Returns the address to ask, and headers of this request. */
  readonly request: () => { readonly address: string; readonly headers?: Record<string, string> };
  /** Called with each event, and comments that have an id. */
  readonly onEvent: (event: ServerEvent) => void;
  /** Called when a connection has ended. */
  readonly onDown: () => void;
}

/**
 * Reads an event stream, and connects again when it ends: after 0.25 to 1 s, then after twice as long, up to 15 s. Rejects when the
 * signal aborts, and when the relay refuses the request by a status code that a later request would get too.
 */
export async function followRelay(
  { request, onEvent, onDown }: RelayFollower,
  options: RelayClientOptions & Required<Pick<RelayClientOptions, "signal" | "onError">>,
): Promise<never> {
  const { signal, onError } = options;
  for (let failures = 0;; failures++) {
    signal.throwIfAborted();
    const { address, headers } = request();
    try {
      await readStream(address, headers, options, (event) => {
        failures = 0;
        onEvent(event);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RelayError && error.status < 500 && !TEMPORARY.includes(error.status)) throw error;
      onError(error);
    }
    onDown();
    await sleep(backoffMs(failures, { initialMs: 500, maxMs: 15_000 }) * (0.5 + Math.random() / 2), { signal });
  }
}

async function readStream(
  address: string,
  headers: Record<string, string> | undefined,
  options: RelayClientOptions & { readonly signal: AbortSignal },
  onEvent: (event: ServerEvent) => void,
): Promise<void> {
  const { signal } = options;
  const job = new AbortController();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const stop = (reason?: unknown): void => {
    // First, as Deno leaves connections of bodies open whose request aborts while they are read.
    reader?.cancel(reason).catch(() => {}); // the read rejects with the same error
    job.abort(reason);
  };
  const onAbort = (): void => stop(signal.reason);
  const silence = new LongTimer(() => stop(new Error(`Nothing came from ${address} for ${SILENCE_MS / 1_000} s`)));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    silence.arm(SILENCE_MS);
    const { body } = await askRelay(address, options, {
      headers: { accept: "text/event-stream", ...headers },
      cache: "no-store", // a stream in the cache of a browser holds one of its few connections
      signal: job.signal,
    });
    reader = body!.getReader();
    job.signal.throwIfAborted();
    const decoder = new TextDecoder();
    const events = new ServerEvents();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return job.signal.throwIfAborted(); // a cancelled reader is done
      silence.arm(SILENCE_MS);
      for (const event of events.push(decoder.decode(value, { stream: true }))) onEvent(event);
    }
  } finally {
    silence[Symbol.dispose]();
    signal.removeEventListener("abort", onAbort);
    stop(); // also where an event could not be read
  }
}
