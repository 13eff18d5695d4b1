/**
 * Decides which process of a group holds which range. Each process computes the same plan from the same Leases; where
 * they have seen different ones, versions let one write pass.
 *
 * The plan moves few ranges: a process that joins receives its share and causes no other move; what a process leaves is
 * divided among the others, which keep what they have. It stays the same while it is carried out, in any order.
 *
 * @module
 */

/**
 * Returns for each range the member that should hold it; `undefined` for all without members.
 *
 * The shares differ by one range at most. Those that have most keep the larger shares, the first names of them.
 *
 * @param members the processes that stay, each once, in any order.
 * @param holders the present holder of each range; `undefined`, or one that is no member, where it needs another.
 */
export function planRanges(
  members: readonly string[],
  holders: readonly (string | undefined)[],
): readonly (string | undefined)[] {
  const held = new Map(members.toSorted().map((member) => [member, [] as number[]]));
  if (held.size === 0) return holders.map(() => undefined);
  const free: number[] = [];
  for (const [range, holder] of holders.entries()) (held.get(holder ?? "") ?? free).push(range);
  const small = Math.floor(holders.length / held.size);
  // The larger shares belong to those that have one already, then to others by name.
  const names = [...held.keys()];
  const byClaim = [
    ...names.filter((name) => held.get(name)!.length > small),
    ...names.filter((name) => held.get(name)!.length <= small),
  ];
  const larger = new Set(byClaim.slice(0, holders.length % held.size));
  const share = (name: string): number => small + (larger.has(name) ? 1 : 0);
  for (const [name, ranges] of held) free.push(...ranges.slice(share(name)));
  free.sort((a, b) => a - b);
  const plan = [...holders];
  let next = 0;
  for (const [name, ranges] of held) {
    for (let missing = share(name) - ranges.length; missing > 0; missing--) plan[free[next++]] = name;
  }
  return plan;
}

/** The step of a process for one range. */
type RangeStep =
  /** It holds the range: its work may act on it. */
  | "hold"
  /** It ends its work on the range, and holds it no longer. */
  | "release"
  /** It writes the member that the plan names as holder. */
  | "write"
  /** Another process holds it or is to take it, or nobody is there to have it. */
  | "leave";

/**
 * Returns the step for a range.
 *
 * @param holder the one that its Lease names: `"gone"` where that is nobody, or its own Lease was deleted.
 * @param target the one that the plan names.
 * @param isReleased `true` if this process has ended its work on the range since the Lease was written.
 */
export function rangeStep(
  holder: "me" | "other" | "gone",
  target: "me" | "other" | "nobody",
  isReleased: boolean,
): RangeStep {
  if (holder === "other") return "leave";
  if (holder === "gone") return target === "me" ? "write" : "leave";
  // A write that gives it away may be on its way still: only a newer version makes this process the holder again.
  if (isReleased) return target === "nobody" ? "leave" : "write";
  return target === "me" ? "hold" : "release";
}
