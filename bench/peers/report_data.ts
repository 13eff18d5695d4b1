/**
 * The figures of `deno task bench:peers --report`, read from `bench/reports/peers.json`. {@linkcode readReport} is the
 * entry point. It measures and writes nothing: `report.ts` does.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A measurement of all clients: the content of `bench/reports/peers.json`. */
export interface Report {
  /** The day. */
  readonly measuredOn: string;
  /** The commit of our client, and of the programs that measure. */
  readonly commit: string;
  /** Its cores and memory. */
  readonly machine: string;
  /** The load average before the first run. Absent in old reports. */
  readonly load?: number;
  readonly runtime: string;
  /** The runs of each client. */
  readonly repetitions: number;
  readonly job: string;
  /** The mean size of an object, in kB of JSON. */
  readonly objectKb: number;
  readonly clients: readonly Client[];
  /** The peak memory of some clients at the same job with many more objects. Absent in old reports. */
  readonly large?: LargeJob;
}

/** A job with many objects. */
export interface LargeJob {
  readonly pods: number;
  /** The runs of each client. */
  readonly repetitions: number;
  readonly clients: readonly Pick<Client, "id" | "client" | "peakRssMb">[];
}

/** The medians of a client. */
export interface Client {
  /** Its name on the command line. */
  readonly id: string;
  readonly client: string;
  readonly syncMs: number;
  readonly eventsPerSecond: number;
  readonly worstStallMs: number;
  readonly relistMs: number;
  readonly peakRssMb: number;
  readonly cpuSeconds: number;
}

/** The folder of this checkout. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The path of the report in a checkout. */
export const REPORT = "bench/reports/peers.json";

/** The report of this checkout. */
export function readReport(): Report {
  return JSON.parse(Deno.readTextFileSync(join(ROOT, REPORT))) as Report;
}
