import { ConsoleReporter } from "../errors/errors.ts";
import { backoffMs, LongTimer, sleep } from "../async/time.ts";

/** A function that sends a request, as `fetch` does. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Options of every subscription. */
export interface RelayClientOptions {
  /** Ends the subscription: its iterators end, and its waits reject with its reason. */
  readonly signal?: AbortSignal;
  /** Returns headers of each request, such as `authorization`. @default {none} */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>;
  /** Sends the requests. @default {the global function} */
  readonly fetch?: Fetch;
  /**
   * Called with the reason of each failed connection, before it is tried again.
   *
   * @default {each new cause is written to the console, in one line, and again at most once a minute}
   */
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

/** Returns `onError`, or a function that writes to the console. */
export function onErrorOf({ onError }: RelayClientOptions, relay: string | URL): (error: unknown) => unknown {
  const reporter = new ConsoleReporter();
  return onError ?? ((error) => reporter.report(`subscription to "${relay}"`, error));
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

/** A server-sent event. */
export interface ServerEvent {
  /** The name. */
  readonly event: string;
  /** The data; `""` for a comment with an id. */
  readonly data: string;
  /** The id that the client shall resume at, if the event has one. */
  readonly id: string | undefined;
}

/** Reads the text of an event stream, however it is split. Lines end with LF or CR LF, as those of relays do. */
export class ServerEvents {
  /** The text behind the last complete event. */
  #rest = "";

  /** Returns the events that this text completes. */
  push(text: string): ServerEvent[] {
    const blocks = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop()!;
    return blocks.map(read);
  }
}

function read(block: string): ServerEvent {
  let event = "message";
  const data: string[] = [];
  let id: string | undefined;
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) continue; // a comment
    const value = line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    const field = line.slice(0, colon);
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
  }
  return { event, data: data.join("\n"), id };
}

/**
 * A relay is silent for two heartbeats at most, each of 30 s at most: a connection that is silent for longer is given
 * up.
 */
const SILENCE_MS = 70_000;

/** Status codes below 500 after which the same request may succeed later: timeout, too early, too many. */
const TEMPORARY: readonly number[] = [408, 425, 429];

/** The connection of a subscription. */
interface RelayFollower {
  /** Returns the address to ask, and headers of this request. */
  readonly request: () => { readonly address: string; readonly headers?: Record<string, string> };
  /** Called with each event, and comments that have an id. */
  readonly onEvent: (event: ServerEvent) => void;
  /** Called when a connection has ended. */
  readonly onDown: () => void;
}

/**
 * Reads an event stream, and connects again when it ends: after 0.25 to 1 s, then after twice as long, up to 15 s.
 * Rejects when the signal aborts, and when the relay refuses the request by a status code that a later request would
 * get too.
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
