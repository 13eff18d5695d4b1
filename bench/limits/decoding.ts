import { measureCase } from "../case.ts";
import type { Measurement } from "./limit.ts";

function decoding(id: string, kind: "pods" | "leases", most: number): Measurement {
  return {
    ids: [id],
    measure: async ({ repetitions }) => {
      const { bareMs, oursMs } = await measureCase("limits/cases/decode.ts", { args: [kind, 3 * repetitions] });
      const what = `${kind}: frame, decode, read each / JSON.parse of ready strings`;
      return [{ id, what, value: oursMs / bareMs, accept: { most } }];
    },
  };
}

/** L1: a watch's body of pods against parsing alone. */
export const PODS: Measurement = decoding("L1", "pods", 1.3);

/** L1s: the same for small objects. */
export const LEASES: Measurement = decoding("L1s", "leases", 1.25);
