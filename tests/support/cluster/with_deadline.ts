import type { Abortable, InformerStatus } from "@kube/informer";

/** The longest time of any wait: long, so that it ends hanging tests only. */
const DEADLINE_MS = 90_000;

/** Waits for `work`, and fails with an error that names `awaited` when it takes longer. */
export async function withDeadline<R>(
  awaited: string,
  work: (signal: AbortSignal) => Promise<R>,
  deadlineMs: number = DEADLINE_MS,
): Promise<R> {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error(`Cannot continue: waited ${deadlineMs / 1_000} s for ${awaited}`)),
    deadlineMs,
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
  await withDeadline("the first sync", (signal) => informer.waitForCacheSync({ ...options, signal }));
}

/** The first status of an informer that `holds`, now or later. */
export function untilStatus(
  informer: { statusChanges(options: Abortable): AsyncIterable<InformerStatus> },
  awaited: string,
  holds: (status: InformerStatus) => boolean,
): Promise<InformerStatus> {
  return withDeadline(awaited, async (signal) => {
    for await (const status of informer.statusChanges({ signal })) if (holds(status)) return status;
    throw new Error(`Cannot wait for ${awaited}: the informer has stopped`);
  });
}
