/**
 * A server of many collections, a process of its own: it prints its address, and ends when its standard input does.
 *
 * `/apis/many.example.com/v1/objects-COUNT-NAMESPACES-NUMBER` has COUNT leases, spread over NAMESPACES; its watch is
 * silent.
 */
import { leaseItem } from "../_data.ts";
import { serveProcess } from "./_serve_process.ts";

const encoder = new TextEncoder();
const PART = 100;
const leases = Array.from({ length: 1_000 }, (_, index) => leaseItem(index));

function itemText(index: number, namespaces: number): string {
  const lease = leases[index % leases.length];
  const metadata = lease.metadata as Record<string, unknown>;
  metadata.name = `object-${index}`;
  metadata.namespace = `namespace-${index % namespaces}`;
  metadata.resourceVersion = String(2_000_000 + index);
  return JSON.stringify(lease);
}

function list(count: number, namespaces: number): ReadableStream<Uint8Array> {
  let index = 0;
  const head =
    `{"kind":"ObjectList","apiVersion":"many.example.com/v1","metadata":{"resourceVersion":"3000000"},"items":[`;
  return new ReadableStream({
    pull(controller): void {
      let text = index === 0 ? head : "";
      for (const end = Math.min(index + PART, count); index < end; index++) {
        text += `${index === 0 ? "" : ","}${itemText(index, namespaces)}`;
      }
      controller.enqueue(encoder.encode(index === count ? `${text}]}\n` : text));
      if (index === count) controller.close();
    },
  });
}

function answer(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url);
  const headers = { "content-type": "application/json" };
  const [, count, namespaces] = /\/objects-(\d+)-(\d+)-\d+$/.exec(pathname) ?? [];
  const refused = count === undefined ? 404 : searchParams.has("sendInitialEvents") ? 422 : undefined;
  if (refused !== undefined) {
    const reason = refused === 404 ? "NotFound" : "Invalid";
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", message: pathname, reason, code: refused };
    return Response.json(status, { status: refused });
  }
  return new Response(searchParams.has("watch") ? new ReadableStream() : list(Number(count), Number(namespaces)), {
    headers,
  });
}

await serveProcess(answer);
