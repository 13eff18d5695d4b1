import { setImmediate } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage, at once. */
export const collectNow: () => void = collector();

function collector(): () => void {
  const { Bun } = globalThis as { readonly Bun?: { gc(now: boolean): void } };
  if (Bun !== undefined) return () => Bun.gc(true);
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

/** Collects garbage in a new turn: a `WeakRef` keeps its object until the turn in which it was made or read is over. */
export async function collectHeap(): Promise<void> {
  await new Promise<void>((resolve) => void setImmediate(resolve));
  collectNow();
}
