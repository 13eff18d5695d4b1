import { run } from "../peers/child.ts";
import { median } from "../statistics.ts";
import { caseCommand, type Measurement, ms, ratio } from "./measurement.ts";

/** An empty module, and the toolkit, which does nothing when it is run as a program. */
const MODULES = ["data:application/javascript,", import.meta.resolve("../../mod.ts")];

/**
 * The best that was reached; 1.5 was wanted. CPU of a process beside an empty module (Deno 2.9.6): 141 modules without
 * a line of code 1.38, ours as JavaScript 2.0, ours 2.6, without comments 2.4, ours in one file 1.5. So the number and
 * the TypeScript of the modules cost, and their evaluation does not: it takes 2 ms. In one file, an error that is
 * created at the top level would take 10 ms, as it reads the source map. Eight modules that a first list does not need
 * were loaded on first use instead, which gained nothing measurable: Deno reads and checks them all the same.
 */
const MOST = 2.3;

/** Milliseconds that the import may add; 37 beside tests, on two cores. */
const MOST_MS = 60;

/** M6: the cost of importing the toolkit. */
export const IMPORT: Measurement = {
  ids: ["M6", "M6a"],
  measure: async ({ repetitions }) => {
    const times: number[][] = MODULES.map(() => []);
    for (let repetition = -1; repetition < 5 * repetitions; repetition++) {
      for (const [i, module] of MODULES.entries()) {
        const began = performance.now();
        await run(caseCommand(module, { v8Flags: [] }));
        if (repetition >= 0) times[i].push(performance.now() - began); // the first ones fill the cache of compiled sources
      }
    }
    const [emptyMs, importedMs] = times.map(median);
    return [
      ratio("M6", "a process that imports mod.ts / an empty module", importedMs / emptyMs, MOST),
      ms("M6a", "the time by which importing mod.ts lengthens a process", importedMs - emptyMs, MOST_MS),
    ];
  },
};
