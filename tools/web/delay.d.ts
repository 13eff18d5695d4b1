/** The part of `@std/async/delay` that the core uses, for checking it against web types alone. */
export function delay(ms: number, options?: { signal?: AbortSignal }): Promise<void>;
