import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import { Client } from "../../../src/engine/client/client.ts";

/** One request as a test looks at it. */
export interface Sent {
  readonly method: string;
  readonly url: URL;
  /** Path without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Headers;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** The answer to one request; an `Error` is the reason with which `fetch` rejects. */
export type Answer = Response | Error | ((sent: Sent) => Response | Promise<Response>);

/** Gives the answers it was made with, one after the other, and remembers what was asked. */
export class ScriptedTransport implements Transport {
  readonly requests: Sent[] = [];
  readonly #answers: Answer[];
  disposed = 0;

  constructor(...answers: Answer[]) {
    this.#answers = answers;
  }

  /** The number of answers that were not requested. */
  get left(): number {
    return this.#answers.length;
  }

  /** The newest request. */
  get last(): Sent {
    return this.requests[this.requests.length - 1];
  }

  add(...answers: Answer[]): void {
    this.#answers.push(...answers);
  }

  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const sent: Sent = {
      method: request.method,
      url,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: await request.text(),
      signal: request.signal,
    };
    this.requests.push(sent);
    request.signal.throwIfAborted();
    const answer = this.#answers.shift();
    if (answer === undefined) throw new Error(`Cannot answer ${request.method} ${request.url}: the script is over`);
    if (answer instanceof Error) throw answer;
    return answer instanceof Response ? answer : await answer(sent);
  }

  [Symbol.dispose](): void {
    this.disposed++;
  }
}

/** A JSON answer. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
}

/** A refusal as the API server writes it. */
export function refusal(
  code: number,
  reason: string,
  message: string,
  headers: Record<string, string> = {},
  more: Record<string, unknown> = {},
): Response {
  return json(statusObject(code, reason, message, more), code, headers);
}

/** A failure's `Status` on the wire. */
export function statusObject(
  code: number,
  reason: string,
  message: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code, ...more };
}

/** A text answer. */
export function text(code: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { status: code, headers: { "content-type": "text/plain; charset=utf-8", ...headers } });
}

/** A pod as small as can be. */
export function pod(name: string, resourceVersion: string, namespace = "shop"): Record<string, unknown> {
  return { kind: "Pod", apiVersion: "v1", metadata: { name, namespace, uid: `uid-${name}`, resourceVersion } };
}

/** A pod list, items without kind and apiVersion as the server sends them. */
export function podList(
  names: readonly string[],
  metadata: Record<string, unknown> = { resourceVersion: "10" },
): Record<string, unknown> {
  const items = names.map((name, i) => ({ metadata: pod(name, String(i + 1)).metadata }));
  return { kind: "PodList", apiVersion: "v1", metadata, items };
}

/** One line of a watch. */
export function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** A bookmark's line. */
export function bookmark(resourceVersion: string): string {
  return line("BOOKMARK", { kind: "Pod", apiVersion: "v1", metadata: { resourceVersion } });
}

/** A watch that says these lines and ends in good order. */
export function watchOf(...lines: string[]): Response {
  return new Response(lines.join(""), { headers: { "content-type": "application/json" } });
}

/** An answer whose body a test writes bit by bit. */
export class LiveBody {
  readonly #encoder = new TextEncoder();
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  readonly #body: ReadableStream<Uint8Array>;
  /** The way in which the body ended. */
  ended: "no" | "cancelled" | "aborted" | "closed" | "failed" = "no";

  constructor() {
    this.#body = new ReadableStream<Uint8Array>({
      start: (controller): void => {
        this.#controller = controller;
      },
      cancel: (): void => {
        this.ended = "cancelled";
      },
    });
  }

  /** To be given to a {@linkcode ScriptedTransport}. */
  readonly answer = ({ signal }: Sent): Response => {
    const abort = (): void => {
      if (this.ended !== "no") return;
      this.ended = "aborted";
      this.#controller.error(signal.reason);
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return new Response(this.#body, { headers: { "content-type": "application/json" } });
  };

  push(...texts: string[]): void {
    for (const text of texts) this.#controller.enqueue(this.#encoder.encode(text));
  }

  end(): void {
    this.ended = "closed";
    this.#controller.close();
  }

  fail(error: unknown): void {
    this.ended = "failed";
    this.#controller.error(error);
  }
}

/** All that an iterable yields. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** A client in the namespace "home" of a server that gives these answers, and what was sent to that. */
export function scripted(...answers: Answer[]): { readonly client: Client; readonly sent: ScriptedTransport } {
  const sent = new ScriptedTransport(...answers);
  return { client: new Client({ server: "https://kube.test", transport: sent, namespace: "home" }), sent };
}
