import { ConsoleReporter } from "../errors/console_reporter.ts";

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
