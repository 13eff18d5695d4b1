/** What the core uses of `@std/async/delay`, for checking it against web types alone. */
export function delay(ms: number, options?: { signal?: AbortSignal }): Promise<void>;
