/** One garbage collection, as V8's `--trace-gc` tells it. */
export interface Pause {
  /** When it was over, in milliseconds since the isolate began, which is when the process did, give or take a few. */
  readonly atMs: number;
  /** `"Scavenge"` of the young objects, or `"Mark-Compact"` of all. */
  readonly kind: string;
  /** For how long nothing else ran, in milliseconds. */
  readonly tookMs: number;
}

const LINE = /^\[\d+:0x[0-9a-f]+\]\s+(\d+) ms: (Scavenge|Mark-Compact).*?\) MB,(?: pooled: [\d.]+ MB,)? ([\d.]+) \/ /;

/** The collections in what a process has printed. */
export function pausesIn(output: string): Pause[] {
  const pauses: Pause[] = [];
  for (const line of output.split("\n")) {
    const found = LINE.exec(line);
    if (found !== null) pauses.push({ atMs: Number(found[1]), kind: found[2], tookMs: Number(found[3]) });
  }
  return pauses;
}
