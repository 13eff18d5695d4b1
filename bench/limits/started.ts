/** C1 to C3: the first seconds on the command line, as CPU of whole processes. */
import { BreakableControlPlane } from "../../tests/support/cluster/control_plane.ts";
import { type Command, run } from "../peers/child.ts";
import { median } from "../statistics.ts";
import { type Measurement, ratio } from "./measurement.ts";

/** Runs of a program whose CPU is one figure: Linux counts it in steps of 10 ms. */
const RUNS = 10;

const PROGRAM = new URL("../../src/cli/main.ts", import.meta.url).pathname;
const OURS: Command = [Deno.execPath(), "run", "-A", "--no-lock", "--no-check", PROGRAM];

/** Returns the CPU that ended children have used, in steps of 10 ms. */
export function childrenCpu(): number {
  const fields = Deno.readTextFileSync("/proc/self/stat").replace(/^.*\) /, "").split(" ");
  return Number(fields[13]) + Number(fields[14]);
}

/** Returns the CPU of each program, as a median of `repetitions` times {@linkcode RUNS}; the programs take turns. */
async function cpuOf(repetitions: number, programs: readonly Command[]): Promise<number[]> {
  const figures: number[][] = programs.map(() => []);
  for (let repetition = -1; repetition < repetitions; repetition++) {
    for (const [i, program] of programs.entries()) {
      const before = childrenCpu();
      for (let count = 0; count < RUNS; count++) await run(program);
      if (repetition >= 0) figures[i].push(childrenCpu() - before); // the first round fills the caches of Deno
    }
  }
  return figures.map(median);
}

/** C1: the version, compared with an empty program. */
export const VERSION: Measurement = {
  ids: ["C1"],
  measure: async ({ repetitions }) => {
    const [empty, version] = await cpuOf(repetitions, [[Deno.execPath(), "eval", "1"], [...OURS, "--version"]]);
    return [ratio("C1", "CPU of informer --version / deno eval 1", version / empty, 2.5)];
  },
};

/** C2 and C3: the first responses, compared with kubectl. KUBEBUILDER_ASSETS must have kubectl. */
export const ANSWERS: Measurement = {
  ids: ["C2", "C3"],
  name: "kubectl",
  onlyNamed: true,
  measure: async ({ repetitions }) => {
    const assets = Deno.env.get("KUBEBUILDER_ASSETS");
    if (assets === undefined) throw new Error("Cannot measure kubectl: KUBEBUILDER_ASSETS is not set");
    await using plane = await BreakableControlPlane.start(assets);
    const flags = ["--kubeconfig", plane.kubeconfig];
    const [theirs, ours, theirWords, ourWords] = await cpuOf(repetitions, [
      [`${assets}/kubectl`, ...flags, "get", "ns"],
      [...OURS, "get", "ns", ...flags],
      [`${assets}/kubectl`, "__complete", ...flags, "get", "ns", ""],
      [...OURS, "completions", "complete", "--", "get", "ns", ...flags, ""],
    ]);
    return [
      ratio("C2", "CPU of informer get ns / kubectl get ns", ours / theirs, 1.8),
      ratio("C3", "CPU of a completion of names, ours / kubectl", ourWords / theirWords, 1.8),
    ];
  },
};
