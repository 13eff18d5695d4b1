import { measureCase, type Numbers } from "../case.ts";
import { median } from "../statistics.ts";
import type { Measurement } from "./limit.ts";
import { Server } from "./server.ts";

const MODES = ["json", "streamed", "stripped", "informer"] as const;

/** L2 to L5: a list of 10,000 pods, as it streams in, against `.json()`; each run is a process. */
export const LISTS: Measurement = {
  ids: ["L2", "L3", "L4", "L4r", "L5", "L5s"],
  measure: async ({ repetitions }) => {
    await using server = await Server.start({ pods: 10_000 });
    const runs: Record<(typeof MODES)[number], Numbers[]> = { json: [], streamed: [], stripped: [], informer: [] };
    for (let repetition = 0; repetition < repetitions; repetition++) {
      for (const mode of MODES) {
        await server.reset();
        runs[mode].push(await measureCase("limits/cases/list.ts", { args: [server.url, mode], v8Flags: [] }));
      }
    }
    const of = (mode: (typeof MODES)[number], name: string): number => median(runs[mode].map((run) => run[name]));
    const ratio = (mode: (typeof MODES)[number], name: string): number => of(mode, name) / of("json", name);
    return [
      {
        id: "L2",
        what: "list streamed, every object read / .json(): time",
        value: ratio("streamed", "wallMs"),
        accept: { most: 1.2 },
      },
      {
        id: "L3",
        what: "list streamed, managedFields dropped / .json(): time",
        value: ratio("stripped", "wallMs"),
        accept: { most: 0.9 },
      },
      {
        id: "L4",
        what: "worst stall of the event loop while an informer syncs",
        value: of("informer", "stallMs"),
        accept: { most: 60 },
        unit: "ms",
      },
      { id: "L4r", what: "the same / .json()'s", value: ratio("informer", "stallMs"), accept: { most: 0.1 } },
      {
        id: "L5",
        what: "list streamed, every object read / .json(): peak RSS",
        value: ratio("streamed", "peakRssMb"),
        accept: { most: 0.75 },
      },
      {
        id: "L5s",
        what: "list streamed, managedFields dropped / .json(): peak RSS",
        value: ratio("stripped", "peakRssMb"),
        accept: { most: 0.55 },
      },
    ];
  },
};
