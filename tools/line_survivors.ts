/**
 * Statements that can be deleted although no test notices, each for a reason: an optimization whose only effect is
 * time, or a guard against what no caller does. A statement names its reason by a comment, `// survives: ID`.
 */
export const LINE_SURVIVORS: Readonly<Record<string, string>> = {
  "cancelled-renewal":
    "Without it the wait of a renewal that has just been cancelled ends a few microtasks later, with the same requests.",
  "complete-indexes": "Without it a commit passes all rows of indexes that are complete: slower, with the same result.",
  "equal-values": "Without it equal values are compared by kind and order: slower, with the same result.",
  "exhaustive": "The cases behind it do nothing: they let the type checker fail when one is missing.",
  "forgotten-cache":
    "Without it the cache of an informer that was forgotten stays in memory for as long as the factory, with no bytes.",
  "guarded-already": "Without it the finalizer is found by the change that would add it: slower, with the same result.",
  "last-row":
    "Without it a key is looked up again by the change that follows its look-up: slower, with the same result.",
  "later-stop": "Without it a stop is noticed by the list, watch or wait that begins: the same end.",
  "left-namespace":
    "Without it the controller of a namespace that was left stays in memory for as long as the informer.",
  "no-covers": "Without it each cached object is looked up among those that are covered: slower, with the same result.",
  "no-readers": "Without it the rank of a row is computed for nobody: slower, with the same result.",
  "no-row": "Without it an array is read at index -1, which is undefined: slower, with the same result.",
  "no-renamed": "Without it each entry is looked up among those that were renamed: slower, with the same result.",
  "only-abort": "A sleep rejects by its signal alone: without it an error of another clock would be ignored.",
  "places-of-many": "Without it a key is looked for among all that wait, one by one: slower, with the same result.",
  "rows-instead":
    "Without it changes are worked out for a reader that takes all rows instead: slower, with the same result.",
  "same-key": "Without it an equal key is computed: slower, and with one more string for each object.",
  "same-place": "Without it a row that keeps its place is removed and inserted again: slower, with the same result.",
  "seen-already": "Without it the waits that follow resolve at once: slower, with the same result.",
  "settled-wait": "Without it a wait that is over stays in memory for as long as the informer, with the same result.",
  "shared-values": "Without it each row keeps an array of its index value: more memory, with the same result.",
  "started-by-run": "Without it an informer that ends by the signal of its run is also disposed then: the same end.",
  "unchanged-index": "Without it index values are compared that cannot differ: slower, with the same result.",
  "whole-chunk": "Without it bytes that one chunk has are copied: slower, with the same result.",
};
