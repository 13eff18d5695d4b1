import type { LiveCounters } from "./counters.ts";
import type { SyncedStore } from "./synced_store.ts";
import type { WatchStream } from "./watch_stream.ts";

/** Options for {@linkcode readWatch}. */
export interface ReadWatchOptions {
  /** The version after which the watch begins. */
  readonly version: string;
  /** Called once, when the watch is open. */
  readonly onOpen: () => void;
}

/** Reads a watch into the store; resolves when the server has ended it. */
export async function readWatch<T>(
  stream: WatchStream<T>,
  store: SyncedStore<T>,
  counters: LiveCounters,
  options: ReadWatchOptions,
): Promise<void> {
  const { version, onOpen } = options;
  let isOpen = stream.open;
  if (isOpen) onOpen();
  // Without a version the server first sends the existing objects, in any order; only later changes move the version.
  let ordered = version !== "" && version !== "0";
  for (let batch; (batch = stream.accept(await stream.next())) !== undefined;) {
    counters.lastByteAt = Date.now();
    if (!isOpen) onOpen();
    isOpen = true;
    ordered ||= batch.some((change) => change.type !== "ADDED");
    store.apply(batch, ordered);
  }
}
