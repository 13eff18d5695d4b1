import type { KubernetesObject, Transport } from "@kube/informer";

/** More requests than any history needs: an informer that sends more would not stop. */
export const MOST_REQUESTS = 20_000;

/** A transport that changes answers as no server would, but as a proxy might. */
export class FaultyTransport implements Transport {
  readonly #send: (request: Request) => Promise<Response>;
  /** The number of requests so far. */
  requests = 0;
  /** If `true`, watches end at once, without an event. */
  short = false;
  /** The version of a bookmark that the next streaming list begins with. */
  earlyBookmark: string | undefined;
  /** An object whose deletion is the first event of the next plain watch. */
  lateDeletion: KubernetesObject | undefined;

  constructor(send: (request: Request) => Promise<Response>) {
    this.#send = send;
  }

  async fetch(request: Request): Promise<Response> {
    if (++this.requests > MOST_REQUESTS) return await waitForAbort(request.signal);
    const { searchParams } = new URL(request.url);
    if (this.short && searchParams.has("watch")) {
      return new Response("", { headers: { "content-type": "application/json" } });
    }
    const response = await this.#send(request);
    const line = this.#lineFor(searchParams);
    return line === undefined || response.body === null ? response : withFirst(line, response);
  }

  /** Returns a line that is put before the answer, once. */
  #lineFor(searchParams: URLSearchParams): string | undefined {
    if (!searchParams.has("watch")) return undefined;
    if (searchParams.has("sendInitialEvents")) {
      if (this.earlyBookmark === undefined) return undefined;
      const metadata = { resourceVersion: this.earlyBookmark };
      this.earlyBookmark = undefined;
      return JSON.stringify({ type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1", metadata } });
    }
    const object = this.lateDeletion;
    this.lateDeletion = undefined;
    return object && JSON.stringify({ type: "DELETED", object });
  }
}

function withFirst(line: string, response: Response): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  writer.write(new TextEncoder().encode(`${line}\n`)).then(() => {
    writer.releaseLock();
    return response.body!.pipeTo(writable);
  }).catch((error) => writable.abort(error).catch(() => error)); // both ends are gone, and the reader has the error
  return new Response(readable, { headers: response.headers });
}

/** Waits for the abort, so that a client that does not stop asking lets time pass and the history can fail. */
function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
