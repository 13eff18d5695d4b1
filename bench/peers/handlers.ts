import { type SharedIndexInformer, WorkQueue } from "../../mod.ts";
import type { Pod } from "../../src/kinds/core/v1.ts";
import type { Progress } from "./progress.ts";

/** Adds the handler that the mode of a client asks for: `keys`, `nothing`, or any other, which reads every object. */
export function tellProgress(pods: SharedIndexInformer<Pod>, mode: string, progress: Progress): void {
  if (mode === "keys") {
    const queue = new WorkQueue();
    // A key that waits already is not queued again, so events are counted where they are told.
    pods.addEventHandler({
      onAdd: ({ key }) => {
        queue.add(key);
        progress.added();
      },
      onUpdate: ({ key }) => {
        queue.add(key);
        progress.updated();
      },
    });
    void queue.run(() => {});
  } else if (mode === "nothing") {
    pods.addEventHandler({ onAdd: () => progress.added(), onUpdate: () => progress.updated() });
  } else {
    let read = 0;
    pods.addEventHandler({
      onAdd: ({ object }) => {
        if (object.status !== undefined) read++;
        progress.added();
      },
      onUpdate: ({ object }) => {
        if (object.status !== undefined) read++;
        progress.updated();
      },
    });
  }
}
