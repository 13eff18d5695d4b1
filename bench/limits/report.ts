import { Flags } from "../flags.ts";
import { rounded, table } from "../table.ts";
import { isHeld, type Limit, type Measurement } from "./limit.ts";

/**
 * Takes the measurements that the command line asks for, `[--only L7,L8] [--reps 3]`, and prints one table of them: how
 * many limits are not held. Ids with a letter behind the number are parts of one limit: `--only L16` means all of its parts.
 *
 * @throws {RangeError} when the command line names what is not there.
 */
export async function report(measurements: readonly Measurement[], args: readonly string[]): Promise<number> {
  const flags = new Flags(args, ["only", "reps"]);
  const only = flags.list("only");
  const repetitions = flags.count("reps", 3);
  const isWanted = (id: string): boolean =>
    only === undefined || only.some((name) => name === id || name === id.replace(/[a-z]$/, ""));

  const ids = measurements.flatMap((measurement) => measurement.ids);
  const unknown = only?.find((name) => !ids.some((id) => id === name || id.replace(/[a-z]$/, "") === name));
  if (unknown !== undefined) throw new RangeError(`Cannot measure "${unknown}": there are ${ids.join(", ")}`);

  const rows: string[][] = [];
  let missed = 0;
  for (const measurement of measurements) {
    const wanted = measurement.ids.filter(isWanted);
    if (wanted.length === 0) continue;
    console.error(`measuring ${wanted.join(", ")} …`);
    try {
      for (const limit of await measurement.measure({ repetitions })) {
        if (!isWanted(limit.id)) continue;
        const held = isHeld(limit);
        if (!held) missed++;
        rows.push([limit.id, limit.what, text(limit.value, limit), accepted(limit), held ? "yes" : "NO"]);
      }
    } catch (error) {
      missed++;
      rows.push([wanted.join(" "), error instanceof Error ? error.message : String(error), "-", "", "NO"]);
    }
  }
  console.log(table([["id", "what", "measured", "accept", "held"], ...rows]));
  console.log(
    `\nmedians of ${repetitions} and more, both sides interleaved, on ${navigator.hardwareConcurrency} cores, Deno ${Deno.version.deno}; ` +
      (missed === 0 ? "all held" : `${missed} not held`),
  );
  return missed;
}

function text(value: number, { unit }: Limit): string {
  return unit === undefined ? rounded(value) : `${rounded(value)} ${unit}`;
}

function accepted(limit: Limit): string {
  const { accept } = limit;
  return "most" in accept ? `<= ${text(accept.most, limit)}` : `>= ${text(accept.least, limit)}`;
}
