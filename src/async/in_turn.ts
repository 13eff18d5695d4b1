import { Latch } from "./latch.ts";

/** The end of the last job of each object. */
const ends = new WeakMap<object, Latch>();

/**
 * Calls `job` once all earlier jobs of the same object have settled, so that one of them runs at a time. Rejects with the
 * signal's reason, without a call, when that aborts before.
 */
export async function inTurn<R>(
  shared: object,
  job: () => Promise<R>,
  options: { readonly signal?: AbortSignal } = {},
): Promise<R> {
  const before = ends.get(shared);
  const end = new Latch();
  ends.set(shared, end);
  try {
    await before?.wait(options);
    return await job();
  } finally {
    // A job that was given up while it waited leaves later ones behind those that it waited for.
    if (before === undefined || before.isOpen) end.open();
    else void before.wait().then(() => end.open());
  }
}
