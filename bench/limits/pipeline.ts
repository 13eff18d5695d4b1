import { measureCase } from "../case.ts";
import type { Measurement } from "./limit.ts";

/** L11 and L12: what queue, store, index and log cost, with one handler and with ten. */
export const PIPELINE: Measurement = {
  ids: ["L11", "L12"],
  measure: async ({ repetitions }) => {
    const { bareMs, oneMs, tenMs } = await measureCase("limits/cases/pipeline.ts", { args: [3 * repetitions] });
    return [
      {
        id: "L11",
        what: "whole informer in memory, 1 handler / Map.set with key built",
        value: oneMs / bareMs,
        accept: { most: 2 },
      },
      { id: "L12", what: "10 handlers / 1 handler", value: tenMs / oneMs, accept: { most: 1.5 } },
    ];
  },
};
