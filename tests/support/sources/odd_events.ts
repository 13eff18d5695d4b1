/**
 * Watch events that no kube-apiserver sends, and a transport that writes one of them into watches.
 *
 * {@linkcode oddLines} and {@linkcode InjectingTransport} are the entry points. Nothing here says what follows.
 *
 * @module
 */
import type { Transport } from "../../../src/engine/api/lister_watcher.ts";

const OTHERS = [null, 5, true, "", "x", [], {}] as const;
/** An object that is well formed, at the oldest version. */
export const WELL_FORMED = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "odd", namespace: "shop", uid: "u-9", resourceVersion: "1", labels: { a: "b" } },
  data: { n: "1" },
};
const STATUS = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "etcd is slow",
  reason: "InternalError",
  details: { causes: [{ message: "slow" }], retryAfterSeconds: 1 },
  code: 500,
};

type Json = Readonly<Record<string, unknown>>;

/** All values that differ from `value` in one member, at any depth: it is missing, or of another type. */
function* oddOnes(value: Json): Generator<Json> {
  for (const [key, member] of Object.entries(value)) {
    const { [key]: _missing, ...rest } = value;
    yield rest;
    for (const other of OTHERS) yield { ...value, [key]: other };
    if (typeof member !== "object" || member === null || Array.isArray(member)) continue;
    for (const odd of oddOnes(member as Json)) yield { ...value, [key]: odd };
  }
}

/** The lines: each type of event with each member missing or of another type, and lines that are no events. */
export function* oddLines(): Generator<string> {
  const object = { ...WELL_FORMED, metadata: { ...WELL_FORMED.metadata, resourceVersion: "abc" } };
  for (const type of ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "PING"]) {
    const event = { type, object: type === "ERROR" ? STATUS : WELL_FORMED };
    if (type === "PING" || type === "ERROR") yield JSON.stringify(event);
    else yield JSON.stringify({ type, object });
    for (const odd of oddOnes(event)) yield JSON.stringify(odd);
  }
  yield* ["{", "[]", "null", "5", '"x"', "<html>", "", "{}", '{"type":"ADDED","object":{', "\0", "\ufeff{}"];
}

/** Passes requests on, and writes `line` as the first one of watches. */
export class InjectingTransport implements Transport {
  readonly #to: Transport;
  /** The line. */
  readonly line: string;
  /** So many watches get the line. */
  left: number;
  /** The number of watches. */
  watches = 0;
  /** The number of lists. */
  lists = 0;

  /** The first `left` watches get the line. */
  constructor(to: Transport, line: string, left: number) {
    this.#to = to;
    this.line = line;
    this.left = left;
  }

  /** Sends a request. */
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const response = await this.#to.fetch(request);
    if (!searchParams.has("watch")) {
      if (searchParams.get("limit") !== "1") this.lists++;
      return response;
    }
    this.watches++;
    if (this.left === 0) return response;
    this.left--;
    const first = new TextEncoder().encode(`${this.line}\n`);
    const body = response.body!.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        start: (controller) => controller.enqueue(first),
      }),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  }

  /** Disposes the other transport. */
  [Symbol.dispose](): void {
    this.#to[Symbol.dispose]?.();
  }
}
