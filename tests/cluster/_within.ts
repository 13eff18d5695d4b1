import type { Abortable, InformerStatus } from "@kube/informer";

/** How long anything may take: generous, against hanging alone. */
const PATIENCE_MS = 90_000;

/** Waits for `work`, and fails, saying what did not happen, when it takes too long. */
export async function within<R>(
  what: string,
  work: (signal: AbortSignal) => Promise<R>,
  patienceMs: number = PATIENCE_MS,
): Promise<R> {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error(`Cannot go on: waited ${patienceMs / 1_000} s for ${what}`)),
    patienceMs,
  );
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The first status of an informer that `holds`, now or later. */
export function untilStatus(
  informer: { statusChanges(options: Abortable): AsyncIterable<InformerStatus> },
  what: string,
  holds: (status: InformerStatus) => boolean,
): Promise<InformerStatus> {
  return within(what, async (signal) => {
    for await (const status of informer.statusChanges({ signal })) if (holds(status)) return status;
    throw new Error(`Cannot wait for ${what}: the informer has stopped`);
  });
}
