/** Options for {@linkcode untilObject}. */
export interface ObjectWait<T> {
  /** The object in messages. */
  readonly what: string;
  /** Returns the present object, if there is one. */
  readonly read: () => T | undefined;
  /** Ends the wait. */
  readonly predicate: (object: T | undefined) => boolean;
  /** Functions to call after each write. */
  readonly listeners: Set<(event: unknown) => void>;
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal;
  /** The longest wait, in milliseconds; `Infinity` is no limit. @default {5_000} */
  readonly timeoutMs?: number;
}

/** Resolves with the present object as soon as the predicate holds for it. It leaves no listener and no timer. */
export function untilObject<T>(wait: ObjectWait<T>): Promise<T | undefined> {
  const { what, read, predicate, listeners, signal, timeoutMs = 5_000 } = wait;
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (settle: () => void): void => {
      listeners.delete(look);
      signal?.removeEventListener("abort", stop);
      clearTimeout(timer);
      settle();
    };
    const stop = (): void => end(() => reject(signal!.reason));
    const look = (): void => {
      try {
        const object = read();
        if (predicate(object)) end(() => resolve(object));
      } catch (error) {
        end(() => reject(error));
      }
    };
    if (signal?.aborted) return reject(signal.reason);
    listeners.add(look);
    signal?.addEventListener("abort", stop, { once: true });
    if (timeoutMs !== Infinity) {
      timer = setTimeout(() => {
        const object = read();
        const found = object === undefined ? "there is no such object" : `found ${JSON.stringify(object)}`;
        end(() => reject(new Error(`Cannot wait for ${what} any longer than ${timeoutMs} ms: ${found}`)));
      }, timeoutMs);
    }
    look();
  });
}
