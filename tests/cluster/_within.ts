import type { Abortable, InformerStatus } from "@kube/informer";

/** The longest time of any wait: generous, so that it ends hanging tests only. */
const PATIENCE_MS = 90_000;

/** Waits for `work`, and fails, saying what did not happen, when it takes too long. */
export async function within<R>(
  what: string,
  work: (signal: AbortSignal) => Promise<R>,
  patienceMs: number = PATIENCE_MS,
): Promise<R> {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error(`Cannot continue: waited ${patienceMs / 1_000} s for ${what}`)),
    patienceMs,
  );
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs an informer, and waits for its first sync; with `patient`, also while the server refuses. */
export async function runSynced(
  informer: { run(): Promise<void>; waitForCacheSync(options: Abortable): Promise<void> },
  options: { readonly patient?: boolean } = {},
): Promise<void> {
  void informer.run();
  await within("the first sync", (signal) => informer.waitForCacheSync({ ...options, signal }));
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
