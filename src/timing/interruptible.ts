/**
 * Passes on what `source` yields until the signal aborts; then rejects with its reason, at once, even if the source does
 * not answer. The source is asked to end in any case, but not waited for once the signal has aborted: it may be stuck.
 *
 * Adds one promise per item, and keeps nothing on the signal but one listener.
 */
export async function* interruptible<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  signal.throwIfAborted();
  const iterator = source[Symbol.asyncIterator]();
  let interrupt: ((reason: unknown) => void) | undefined;
  const stop = (): void => interrupt?.(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  let done = false;
  try {
    for (;;) {
      signal.throwIfAborted(); // while the last item was looked at: nobody would interrupt the next wait
      const result = await new Promise<IteratorResult<T>>((resolve, reject) => {
        interrupt = reject;
        iterator.next().then(resolve, reject);
      });
      signal.throwIfAborted();
      if (result.done) {
        done = true;
        return;
      }
      yield result.value;
    }
  } catch (error) {
    done = !signal.aborted; // a source that has thrown has ended
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    if (!done) {
      const ended = end(iterator);
      // What a source throws while it is being stopped changes nothing: it was told to stop, and nobody reads it any more.
      if (signal.aborted) ended.then(undefined, () => undefined);
      else await ended;
    }
  }
}

/** Async, so that what `return` throws at once rejects, as all else does. */
async function end<T>(iterator: AsyncIterator<T>): Promise<void> {
  await iterator.return?.();
}
