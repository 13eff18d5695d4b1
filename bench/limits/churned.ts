/**
 * Steady churn on a large cache, in a process of its own whose garbage collections are traced: URL EVENTS MODE. Modes:
 * `unread` (the default, nothing read), `read` (the default, every object read), `eager` (parsed as it arrives).
 */
import { Client, SharedIndexInformer } from "../../mod.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { run, statOf } from "../peers/child.ts";
import { quantile } from "../statistics.ts";
import { Server } from "./_server.ts";
import { caseCommand, collect, type Limit, type Measurement, numbersIn } from "./measurement.ts";

const PODS = 100_000;
const EVENTS = 60_000;
const MODES = { unread: "default, nothing read", read: "default, read", eager: "eager" } as const;
const LETTERS = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

/** G1 to G3: the garbage collections of 60,000 updates on a cache of 100,000 pods. */
export const CHURN: Measurement = {
  ids: Object.keys(MODES).flatMap((_, i) => LETTERS.map((letter) => `G${i + 1}${letter}`)),
  measure: async () => {
    await using server = await Server.start({ pods: PODS, events: EVENTS });
    const limits: Limit[] = [];
    for (const [i, [mode, name]] of Object.entries(MODES).entries()) {
      await server.reset();
      const v8Flags = ["--expose-gc", "--trace-gc"];
      const output = await run(caseCommand(import.meta.url, { args: [server.url, EVENTS, mode], v8Flags }));
      const { beganMs, endedMs, heapMb, liveMb, peakRssMb } = numbersIn(output);
      const pauses = pausesIn(output).filter(({ atMs }) => atMs >= beganMs && atMs <= endedMs);
      const of = (kind: string): number[] => pauses.filter((pause) => pause.kind === kind).map(({ tookMs }) => tookMs);
      const scavenges = of("Scavenge");
      const compactions = of("Mark-Compact");
      const figures: [what: string, value: number, unit: string][] = [
        ["time per update", (endedMs - beganMs) * 1_000 / EVENTS, "µs"],
        ["scavenges", scavenges.length, "times"],
        ["scavenge, p50", quantile(scavenges, 0.5), "ms"],
        ["longest scavenge", quantile(scavenges, 1), "ms"],
        ["mark-compacts", compactions.length, "times"],
        ["longest pause of a mark-compact", quantile(compactions, 1), "ms"],
        ["heap", heapMb, "MB"],
        ["heap after collection", liveMb, "MB"],
        ["peak RSS", peakRssMb, "MB"],
      ];
      for (const [j, [what, value, unit]] of figures.entries()) {
        limits.push({ id: `G${i + 1}${LETTERS[j]}`, what: `60k updates of 100k pods, ${name}: ${what}`, value, unit });
      }
    }
    return limits;
  },
};

/** One garbage collection, as V8's `--trace-gc` prints it. */
interface Pause {
  /** When it was over, in milliseconds since the isolate began, which is when the process did, give or take a few. */
  readonly atMs: number;
  /** `"Scavenge"` of the young objects, or `"Mark-Compact"` of all. */
  readonly kind: string;
  /** For how long nothing else ran, in milliseconds. */
  readonly tookMs: number;
}

const LINE = /^\[\d+:0x[0-9a-f]+\]\s+(\d+) ms: (Scavenge|Mark-Compact).*?\) MB,(?: pooled: [\d.]+ MB,)? ([\d.]+) \/ /;

/** The collections in what a process has printed. */
function pausesIn(output: string): Pause[] {
  const pauses: Pause[] = [];
  for (const line of output.split("\n")) {
    const found = LINE.exec(line);
    if (found !== null) pauses.push({ atMs: Number(found[1]), kind: found[2], tookMs: Number(found[3]) });
  }
  return pauses;
}

async function main(): Promise<void> {
  const [url, events, mode] = Deno.args;
  const stop = new AbortController();
  const informer = new SharedIndexInformer(new Client({ server: url }).resource(Pod), {
    parse: mode === "eager" ? "eager" : "lazy",
  });
  let delivered = 0;
  let beganMs = NaN;
  let endedMs = NaN;
  const done = Promise.withResolvers<void>();
  const count = (): void => {
    if (++delivered === 1) beganMs = performance.now();
    if (delivered < Number(events)) return;
    endedMs = performance.now();
    stop.abort();
    done.resolve();
  };
  informer.addEventHandler({
    onUpdate: (event) => {
      if (mode === "read" && event.object.status === undefined) throw new Error("Cannot measure: a pod has no status");
      count();
    },
  });
  const running = informer.run({ signal: stop.signal });
  await done.promise;
  const { heapUsed } = Deno.memoryUsage();
  const { peakRssMb } = await statOf("self");
  await running;
  collect();
  const live = Deno.memoryUsage().heapUsed;
  console.log(JSON.stringify({
    objects: informer.indexer.size,
    beganMs,
    endedMs,
    heapMb: heapUsed / 1e6,
    liveMb: live / 1e6,
    peakRssMb,
  }));
  Deno.exit(0);
}

if (import.meta.main) await main();
