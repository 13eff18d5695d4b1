/** What the system says about a process that is still there. */
export interface ProcessStat {
  /** The most memory that was resident at any time, in MB (10^6 bytes); NaN where there is no /proc. */
  readonly peakRssMb: number;
  /** Seconds of CPU used so far, in all threads; NaN where there is no /proc. */
  readonly cpuSeconds: number;
}

/** Ticks of /proc per second: 100 on every Linux of today. */
const TICKS = 100;

/** Asks /proc. */
export async function statOf(pid: number | "self"): Promise<ProcessStat> {
  let status: string;
  let stat: string;
  try {
    status = await Deno.readTextFile(`/proc/${pid}/status`);
    stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { peakRssMb: NaN, cpuSeconds: NaN };
    throw error;
  }
  const kilobytes = Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]);
  // The name in parentheses may hold spaces; behind it are the fields from the third.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { peakRssMb: kilobytes * 1_024 / 1e6, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS };
}
