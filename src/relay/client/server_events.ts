/**
 * Requests to a relay, and the server-sent events of its responses.
 *
 * {@linkcode followRelay} is the entry point: it opens a stream, reads its events, and opens it again after a failure.
 * It does not know what the events are about.
 *
 * @module
 */
import { abortReason, DerivedController, Latch } from "../../engine/async/signals.ts";
import { backoffMs, LongTimer, sleep } from "../../engine/async/time.ts";
import { ConsoleReporter } from "../../engine/errors/errors.ts";

/** Sends a request, as `fetch` does. */
export type FetchLike = (input: string, init: RequestInit) => Promise<Response>;

/** Options for every subscription. */
export interface RelayClientOptions {
  /** Ends the subscription when it aborts. Iterators end, and waits reject with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Returns headers such as `authorization`. The client calls it before each request. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>;
  /** Sends the requests. @default {globalThis.fetch} */
  readonly fetch?: FetchLike;
  /**
   * Called with the reason for each failed connection, before the client tries again. By default, the client writes
   * each new reason to the console, and repeats it at most once a minute.
   */
  readonly onError?: (error: unknown) => unknown;
  /**
   * How long the page may be hidden, in milliseconds, before the subscription closes its connection. When the page is
   * visible again, it resumes, and you receive what has changed. Set `Infinity` if a hidden page must stay up to date,
   * for example for notifications. It has no effect outside of browsers. @default {30_000}
   */
  readonly hiddenMs?: number;
}

/** The names of {@linkcode RelayClientOptions}. */
export const CLIENT_OPTIONS = "signal headers fetch onError hiddenMs";

/**
 * Thrown if a relay responds with an error status. After 401, 403, 404 and other refusals, a subscription ends with it.
 */
export class RelayError extends Error {
  /** `"RelayError"`. */
  override readonly name = "RelayError";
  /** The HTTP status code. */
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
  /** The texts after the last complete event. */
  #parts: string[] = [];
  /** A line feed after the texts. It may be the first half of the end of an event. */
  #end = "";

  /** Returns the events that this text completes. Its cost depends on this text, not on what came before. */
  push(text: string): ServerEvent[] {
    const more = this.#end + text.replaceAll("\r", "");
    this.#end = /(?<!\n)\n$|$/.exec(more)![0];
    const blocks = more.slice(0, more.length - this.#end.length).split("\n\n");
    this.#parts.push(blocks[0]);
    if (blocks.length === 1) return [];
    blocks[0] = this.#parts.join("");
    this.#parts = [blocks.pop()!];
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

/** A page, as browsers have it. */
interface Page extends EventTarget {
  readonly hidden: boolean;
}

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
    let isHidden = false;
    try {
      await readStream(address, headers, options, (event) => {
        failures = 0;
        onEvent(event);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RelayError && error.status < 500 && !TEMPORARY.includes(error.status)) throw error;
      isHidden = error === pageHidden();
      if (!isHidden) onError(error);
    }
    onDown();
    if (isHidden) await visible(signal);
    await sleep(backoffMs(failures, { initialMs: 500, maxMs: 15_000 }) * (0.5 + Math.random() / 2), { signal });
  }
}

/** The reason for which a hidden page closes its connection. */
const pageHidden = abortReason("The page is hidden");

/** Calls `onChange` now, and whenever the page is shown or hidden, until the signal aborts. */
function watchPage(signal: AbortSignal, onChange: (isHidden: boolean) => void): void {
  const page = (globalThis as { document?: Page }).document;
  const changed = (): void => onChange(page?.hidden ?? false);
  page?.addEventListener("visibilitychange", changed, { signal });
  changed();
}

/** Resolves when the page is visible. Rejects if the signal aborts. */
async function visible(signal: AbortSignal): Promise<void> {
  const shown = new Latch();
  using job = new DerivedController(signal);
  watchPage(job.signal, (isHidden) => isHidden || shown.open());
  await shown.wait({ signal });
}

async function readStream(
  address: string,
  headers: Record<string, string> | undefined,
  options: RelayClientOptions & { readonly signal: AbortSignal },
  onEvent: (event: ServerEvent) => void,
): Promise<void> {
  const job = new DerivedController(options.signal);
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  // Before the request listens: Deno leaves connections of bodies open whose request aborts while they are read.
  job.signal.addEventListener("abort", () => void reader?.cancel().catch(() => {})); // the read rejects with the same error
  const pause = new LongTimer(() => job.abort(pageHidden()));
  watchPage(job.signal, (isHidden) => pause.arm(isHidden ? options.hiddenMs ?? 30_000 : Infinity));
  const silence = new LongTimer(() => job.abort(new Error(`Nothing came from ${address} for ${SILENCE_MS / 1_000} s`)));
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
    for (const timer of [silence, pause]) timer[Symbol.dispose]();
    job[Symbol.dispose](); // also where an event could not be read
  }
}
