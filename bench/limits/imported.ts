import { run } from "../peers/child.ts";
import { median } from "../statistics.ts";
import { caseCommand, type Measurement, ratio } from "./_measurement.ts";

/** An empty module, and the toolkit, which does nothing when it is run as a program. */
const MODULES = ["data:application/javascript,", import.meta.resolve("../../mod.ts")];

/** M6: the cost of importing the toolkit. */
export const IMPORT: Measurement = {
  ids: ["M6"],
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
    return [ratio("M6", "a process that imports mod.ts / an empty module", importedMs / emptyMs, 1.5)];
  },
};
