import { backoffMs } from "../async/time/backoff.ts";
import { LongTimer } from "../async/time/long_timer.ts";
import { sleep } from "../async/time/sleep.ts";
import { type ServerEvent, ServerEvents } from "./server_events.ts";

/** A relay is silent for two heartbeats at most, each of 30 s at most: a connection that is silent for longer is given up. */
const SILENCE_MS = 70_000;

/** Status codes of refusals that may end by themselves, apart from those of 500 and above. */
const PASSING: readonly number[] = [408, 425, 429];

/** A function that sends a request, as `fetch` does. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Options of every subscription. */
export interface RelayClientOptions {
  /** Ends the subscription, whose waits reject with its reason. */
  readonly signal?: AbortSignal;
  /** Returns headers of each request, such as `authorization`. @default {none} */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>;
  /** Sends the requests. @default {the global function} */
  readonly fetch?: Fetch;
  /** Called with the reason of each failed connection, before it is tried again. */
  readonly onError?: (error: unknown) => unknown;
}

/** A relay has answered a request by an error. */
export class RelayError extends Error {
  /** `"RelayError"`. */
  override readonly name = "RelayError";
  /** The status code. */
  readonly status: number;

  /** Creates an error. */
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Returns an address below that of a relay, which may be relative to a page. */
export function relayAddress(relay: string | URL, path: string): string {
  const base = new URL(relay, (globalThis as { location?: { href: string } }).location?.href);
  return new URL(path, base.href.replace(/\/?(\?.*)?$/, "/")).href;
}

/** Sends a request to a relay. @throws {RelayError} when it answers by an error. */
export async function askRelay(address: string, options: RelayClientOptions, init: RequestInit): Promise<Response> {
  const { headers, fetch = globalThis.fetch.bind(globalThis) } = options;
  const response = await fetch(address, { ...init, headers: { ...await headers?.(), ...init.headers as object } });
  if (response.ok) return response;
  const text = await response.text();
  let reason = text.slice(0, 200);
  try {
    reason = JSON.parse(text).error;
  } catch { /* the text of a proxy */ }
  throw new RelayError(`Cannot subscribe to ${address}: ${response.status} ${reason}`, response.status);
}

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
 * signal aborts, and when the relay refuses the request in a way that does not pass.
 */
export async function followRelay(
  { request, onEvent, onDown }: RelayFollower,
  options: RelayClientOptions & { readonly signal: AbortSignal },
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
      if (error instanceof RelayError && error.status < 500 && !PASSING.includes(error.status)) throw error;
      onError?.(error);
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
  const job = new AbortController();
  const stop = (): void => job.abort(options.signal.reason);
  const silence = new LongTimer(() => job.abort(new Error(`Nothing came from ${address} for ${SILENCE_MS / 1_000} s`)));
  options.signal.addEventListener("abort", stop);
  try {
    silence.arm(SILENCE_MS);
    const init = { headers: { accept: "text/event-stream", ...headers }, signal: job.signal };
    const { body } = await askRelay(address, options, init);
    const events = new ServerEvents();
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      silence.arm(SILENCE_MS);
      for (const event of events.push(value)) onEvent(event);
    }
  } finally {
    silence[Symbol.dispose]();
    options.signal.removeEventListener("abort", stop);
    job.abort(); // also where an event could not be read
  }
}
