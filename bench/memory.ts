/**
 * What a cache weighs, and what steady churn on a large one costs in garbage collections.
 *
 * `deno task bench:memory [--pods 10000] [--churn-pods 100000] [--churn-events 60000]`
 */
import { caseCommand, measureCase, numbersIn } from "./case.ts";
import { Flags } from "./flags.ts";
import { Server } from "./limits/server.ts";
import { pausesIn } from "./memory/pauses.ts";
import { run } from "./peers/child.ts";
import { quantile } from "./statistics.ts";
import { rounded, table } from "./table.ts";

const flags = new Flags(Deno.args, ["pods", "churn-pods", "churn-events"]);
const pods = flags.count("pods", 10_000);
const churnPods = flags.count("churn-pods", 100_000);
const events = flags.count("churn-events", 60_000);

const MODES = {
  bare: "bare Map, parsed, managedFields dropped",
  full: "eager, managedFields kept",
  dropped: "eager",
  unread: "default, nothing read",
  metadata: "metadata only",
  transformed: "transformed to name, node and phase",
} as const;

const rows: string[][] = [];
{
  await using server = await Server.start({ pods });
  for (const [mode, name] of Object.entries(MODES)) {
    await server.reset();
    const measured = await measureCase("memory/cached.ts", { args: [server.url, mode] });
    const { objects, heapBytes, externalBytes, peakRssMb } = measured;
    if (objects !== pods) throw new Error(`Cannot measure "${mode}": ${objects} objects are cached, expected ${pods}`);
    const perTenThousand = [heapBytes * 1e4 / 1e6, externalBytes * 1e4 / 1e6].map(rounded);
    rows.push([name, ...perTenThousand, rounded(peakRssMb)]);
  }
}
console.log(`a cache of ${pods} pods\n`);
console.log(table([["what is kept", "heap MB per 10k", "external MB per 10k", "peak RSS MB, whole process"], ...rows]));

const churned: string[][] = [];
{
  await using server = await Server.start({ pods: churnPods, events });
  for (const [mode, name] of [["unread", "default, nothing read"], ["read", "default, read"], ["eager", "eager"]]) {
    await server.reset();
    const v8Flags = ["--expose-gc", "--trace-gc"];
    const output = await run(caseCommand("memory/churned.ts", { args: [server.url, events, mode], v8Flags }));
    const { beganMs, endedMs, heapMb, liveMb, peakRssMb } = numbersIn(output);
    const pauses = pausesIn(output).filter(({ atMs }) => atMs >= beganMs && atMs <= endedMs);
    const of = (kind: string): number[] => pauses.filter((pause) => pause.kind === kind).map(({ tookMs }) => tookMs);
    const scavenges = of("Scavenge");
    const compactions = of("Mark-Compact");
    churned.push([
      name,
      rounded((endedMs - beganMs) * 1_000 / events),
      String(scavenges.length),
      rounded(quantile(scavenges, 0.5)),
      rounded(quantile(scavenges, 1)),
      String(compactions.length),
      rounded(quantile(compactions, 1)),
      rounded(heapMb),
      rounded(liveMb),
      rounded(peakRssMb),
    ]);
  }
}
console.log(`\n${events} updates on a cache of ${churnPods} pods\n`);
console.log(table([
  [
    "what is kept",
    "µs per update",
    "scavenges",
    "p50 ms",
    "max ms",
    "mark-compacts",
    "max ms",
    "heap MB",
    "live MB",
    "peak RSS MB",
  ],
  ...churned,
]));
