/** Returns a response whose chunks arrive late, each by the milliseconds that `delayMs` returns, and in order. */
export function delayedResponse(response: Response, delayMs: () => number): Response {
  const reader = response.body!.getReader();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller): Promise<void> {
      const { done, value } = await reader.read();
      await new Promise((resolve) => setTimeout(resolve, delayMs()));
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return new Response(body, response);
}
