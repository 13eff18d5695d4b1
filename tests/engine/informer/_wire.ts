import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import type { Thing } from "../../support/sources/fixtures.ts";

const encoder = new TextEncoder();

/** A server by hand, in bytes: lists have the objects of `list`, and the newest watch gets what is sent. */
export class Wire implements Transport {
  /** The version and the objects of lists. */
  list: { readonly version: number; readonly objects: readonly Thing[] };
  /** The requests, such as `"list"` and `"watch 10"`. */
  readonly requests: string[] = [];
  #watch: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;

  constructor(version: number, ...objects: Thing[]) {
    this.list = { version, objects };
  }

  fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const headers = { "content-type": "application/json" };
    if (!searchParams.has("watch")) {
      if (searchParams.get("limit") !== "1") this.requests.push("list"); // a look at the version is none
      const { version, objects } = this.list;
      const metadata = { resourceVersion: String(version) };
      const list = { kind: "ThingList", apiVersion: "acme.dev/v1", metadata, items: objects };
      return Promise.resolve(new Response(JSON.stringify(list), { headers }));
    }
    this.requests.push(`watch ${searchParams.get("resourceVersion")}`);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({ start: (watch) => void (this.#watch = watch) });
    return Promise.resolve(new Response(body, { headers }));
  }

  /** Sends events to the newest watch, in one chunk. */
  send(...events: { readonly type: string; readonly object: unknown }[]): void {
    this.sendBytes(encoder.encode(events.map((event) => JSON.stringify(event) + "\n").join("")));
  }

  /** Sends a chunk to the newest watch. */
  sendBytes(chunk: Uint8Array): void {
    this.#watch!.enqueue(chunk.slice());
  }

  /** Ends the newest watch in good order. */
  end(): void {
    this.#watch!.close();
  }
}
