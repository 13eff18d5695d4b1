import { Pacer } from "../async/pacer.ts";
import type { Taker, WorkSource } from "./run.ts";
import type { WorkItem } from "./work_item.ts";

/** Returns an iterator that takes each key of a source in turn, until the source ends. */
export function itemIterator<K>(source: WorkSource<K>): AsyncIterator<WorkItem<K>, undefined> {
  const pending = new Set<Taker<K>>();
  const pacer = new Pacer();
  let isOver = false;
  const next = (): Promise<IteratorResult<WorkItem<K>, undefined>> => {
    const item = isOver ? undefined : source.tryGet();
    if (item !== undefined || isOver) return Promise.resolve(resultOf(item));
    return new Promise((resolve) => {
      const taker: Taker<K> = (item) => {
        pending.delete(taker);
        resolve(resultOf(item));
      };
      pending.add(taker);
      source.wait(taker);
    });
  };
  return {
    // A loop whose body awaits only resolved promises would otherwise starve timers and sockets.
    next: () => pacer.step() ? pacer.turn().then(next) : next(),
    return: () => {
      isOver = true;
      // A call of `next` that still waits must not take a key: no body would process it.
      for (const taker of pending) {
        source.leave(taker);
        taker(undefined);
      }
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

function resultOf<K>(item: WorkItem<K> | undefined): IteratorResult<WorkItem<K>, undefined> {
  return item === undefined ? { done: true, value: undefined } : { done: false, value: item };
}
