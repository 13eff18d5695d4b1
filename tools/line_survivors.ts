/** Statements that can be deleted although no test notices, and why. */
export interface LineSurvivors {
  /** The name of the reason. */
  readonly id: string;
  /** An optimization whose only effect is time, or a guard against what no caller does. */
  readonly reason: string;
  /** The file of each statement, and the code of the line it begins on, as `Mutant.line` names a line. */
  readonly lines: readonly (readonly [file: string, line: string])[];
}

/** The statements whose deletion is harmless. */
export const LINE_SURVIVORS: readonly LineSurvivors[] = [
  {
    id: "cancelled-renewal",
    reason:
      "Without it the wait of a renewal that has just been cancelled ends a few microtasks later, with the same requests.",
    lines: [
      ["src/operator/controllers/reconcile/leader_elector.ts", "await kept;"],
    ],
  },
  {
    id: "complete-indexes",
    reason: "Without it a commit passes all rows of indexes that are complete: slower, with the same result.",
    lines: [
      ["src/engine/store/table.ts", "this.#complete = this.#indexes.length;"],
      ["src/engine/store/table.ts", "if (indexes.length === 0) return;"],
    ],
  },
  {
    id: "equal-values",
    reason: "Without it equal values are compared by kind and order: slower, with the same result.",
    lines: [
      ["src/engine/informer/cache_view.ts", "if (a === b) return 0;"],
    ],
  },
  {
    id: "exhaustive",
    reason: "The cases behind it do nothing: they let the type checker fail when one is missing.",
    lines: [
      ["src/engine/informer/events/listener.ts", "return event satisfies never;"],
      ["src/engine/informer/sync/state_keeper.ts", 'return;\n      case "stopped":'],
      ["src/engine/informer/sync/state_keeper.ts", "phase satisfies never;"],
    ],
  },
  {
    id: "forgotten-cache",
    reason:
      "Without it the cache of an informer that was forgotten stays in memory for as long as the factory, with no bytes.",
    lines: [
      ["src/engine/informer/cache/memory_budget.ts", "this.#caches.delete(cache);"],
      ["src/engine/informer/cache/memory_budget.ts", "this.#budget.forget(this);"],
    ],
  },
  {
    id: "guarded-already",
    reason: "Without it the finalizer is found by the change that would add it: slower, with the same result.",
    lines: [
      ["src/operator/controllers/reconcile/objects.ts", "if (hasFinalizer(object, finalizer)) return object;"],
    ],
  },
  {
    id: "last-row",
    reason: "Without it a key is looked up again by the change that follows its look-up: slower, with the same result.",
    lines: [
      ["src/engine/store/indexer.ts", "this.#lastKey = key;"],
    ],
  },
  {
    id: "later-stop",
    reason: "Without it a stop is noticed by the list, watch or wait that begins: the same end.",
    lines: [
      [
        "src/engine/reflector/reflector.ts",
        'if (stop.aborted) return { type: "stopped" };\n    const beganMs = monotonicMs();',
      ],
    ],
  },
  {
    id: "left-namespace",
    reason: "Without it the controller of a namespace that was left stays in memory for as long as the informer.",
    lines: [
      ["src/engine/informer/sync/changing_namespaces.ts", "this.#running.delete(part);"],
    ],
  },
  {
    id: "no-covers",
    reason: "Without it each cached object is looked up among those that are covered: slower, with the same result.",
    lines: [
      ["src/engine/informer/cache/cache_overlay.ts", "if (this.#covered.size === 0) return cached;"],
    ],
  },
  {
    id: "no-row",
    reason: "Without it an array is read at index -1, which is undefined: slower, with the same result.",
    lines: [
      ["src/engine/store/table.ts", "if (row === NO_ROW) return index.valuesFor(value);"],
    ],
  },
  {
    id: "no-renamed",
    reason: "Without it each entry is looked up among those that were renamed: slower, with the same result.",
    lines: [
      ["src/engine/informer/cache/entry_transform.ts", "if (this.#originals === undefined) return;"],
    ],
  },
  {
    id: "only-abort",
    reason: "A sleep rejects by its signal alone: without it an error of another clock would be ignored.",
    lines: [
      ["src/operator/controllers/reconcile/leader_elector.ts", "if (!signal?.aborted) throw error;"],
    ],
  },
  {
    id: "places-of-many",
    reason: "Without it a key is looked for among all that wait, one by one: slower, with the same result.",
    lines: [
      [
        "src/engine/queue/delta_fifo.ts",
        "if (this.#places === undefined && this.size > FEW) this.#places = this.#allPlaces();",
      ],
      [
        "src/engine/queue/delta_fifo.ts",
        "if (this.#places !== undefined) {\n      const place = this.#places.get(key);",
      ],
      ["src/engine/queue/delta_fifo.ts", "return place === undefined ? undefined : this.#deltas[place - this.#base];"],
    ],
  },
  {
    id: "rows-instead",
    reason: "Without it changes are worked out for a reader that takes all rows instead: slower, with the same result.",
    lines: [
      [
        "src/engine/informer/cache_view.ts",
        "if (this.#changes === undefined) return;\n    const { offset, limit } = this.#window;",
      ],
    ],
  },
  {
    id: "same-key",
    reason: "Without it an equal key is computed: slower, and with one more string for each object.",
    lines: [
      [
        "src/engine/informer/cache/entry_transform.ts",
        "const key = entry.name === name && entry.namespace === namespace ? entry.key : keyOf(object);",
      ],
    ],
  },
  {
    id: "same-place",
    reason: "Without it a row that keeps its place is removed and inserted again: slower, with the same result.",
    lines: [
      [
        "src/engine/informer/cache_view.ts",
        "if (row !== undefined && before !== undefined && this.#tree.replace(row)) {",
      ],
    ],
  },
  {
    id: "seen-already",
    reason: "Without it the waits that follow resolve at once: slower, with the same result.",
    lines: [
      ["src/operator/controllers/reconcile/pending_writes.ts", "if (isSeen(cache, write)) return;"],
    ],
  },
  {
    id: "settled-wait",
    reason: "Without it a wait that is over stays in memory for as long as the informer, with the same result.",
    lines: [
      ["src/engine/informer/sync/version_gate.ts", "this.#waiting.delete(id);"],
    ],
  },
  {
    id: "index-memory",
    reason: "Without it an index keeps more memory, or slower arrays, with the same result.",
    lines: [
      ["src/engine/store/value_index.ts", "while (this.#several.length <= row) this.#several.push(undefined);"],
      ["src/engine/store/value_index.ts", "this.#numbered[bucket.number] = NO_BUCKET;"],
      ["src/engine/store/value_index.ts", "this.#unused.push(bucket.number);"],
      ["src/engine/store/value_index.ts", "if (isOneOfSeveral) this.#several[row] = undefined;"],
    ],
  },
  {
    id: "started-by-run",
    reason: "Without it an informer that ends by the signal of its run is also disposed then: the same end.",
    lines: [
      ["src/engine/informer/shared_informer_factory.ts", "if (!wasStarted) return;"],
    ],
  },
  {
    id: "unchanged-index",
    reason: "Without it index values are compared that cannot differ: slower, with the same result.",
    lines: [
      ["src/engine/store/value_index.ts", "if (before === after) return;"],
      ["src/engine/store/table.ts", "if (row !== NO_ROW && this.#allByKey) {"],
      ["src/engine/store/table.ts", "return row;\n    }"],
    ],
  },
  {
    id: "whole-chunk",
    reason: "Without it bytes that one chunk has are copied: slower, with the same result.",
    lines: [
      [
        "src/engine/informer/snapshot.ts",
        "if (there >= length) return this.#chunk.subarray(this.#at, this.#at += length);",
      ],
    ],
  },
];
