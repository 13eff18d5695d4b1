import { measureCase } from "../case.ts";
import type { Measurement } from "./limit.ts";
import { Server } from "./server.ts";

const PODS = 100_000;

/** L6: 100,000 pods on default flags. */
export const LARGE: Measurement = {
  ids: ["L6", "L6r"],
  measure: async () => {
    await using server = await Server.start({ pods: PODS });
    const { objects, peakRssMb, heapMb } = await measureCase("limits/cases/large.ts", { args: [server.url] });
    return [
      {
        id: "L6",
        what: "pods synced by an informer on default flags, of 100,000",
        value: objects,
        accept: { least: PODS },
        unit: "pods",
      },
      {
        id: "L6r",
        what: "its peak RSS less 100 MB / its heap after collection",
        value: (peakRssMb - 100) / heapMb,
        accept: { most: 1.25 },
      },
    ];
  },
};
