/**
 * What `p` resolves to, unless `signal` aborts first: then the promise is rejected with the signal's reason.
 *
 * `p` itself goes on. The real package has a second form for async iterables, which this repository does not use.
 */
export async function abortable<T>(p: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([aborted.promise, p]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
