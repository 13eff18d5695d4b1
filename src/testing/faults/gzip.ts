/**
 * Compresses a response as a proxy may: each chunk is a gzip member, so that a reader that stops after the first
 * member misses the rest.
 */
export function gzipResponse(response: Response): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller): Promise<void> => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(await member(value));
    },
    cancel: (reason): Promise<void> => reader.cancel(reason),
  }, { highWaterMark: 0 });
  const headers = new Headers(response.headers);
  headers.set("content-encoding", "gzip");
  headers.set("vary", "Accept-Encoding");
  return new Response(body, { status: response.status, headers });
}

async function member(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
