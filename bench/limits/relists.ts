import { measureCase } from "../case.ts";
import type { Measurement } from "./limit.ts";

function relists(id: string, kind: "pods" | "leases", most: number): Measurement {
  return {
    ids: [id],
    measure: async ({ repetitions }) => {
      const { bareMs, oursMs } = await measureCase("limits/cases/relist.ts", { args: [kind, 2 * repetitions] });
      const what = `${kind}: relist by frames, 1 % changed / parsing all`;
      return [{ id, what, value: oursMs / bareMs, accept: { most } }];
    },
  };
}

/** L10: what did not change is not parsed. */
export const PODS: Measurement = relists("L10", "pods", 0.25);

/** L10s: the same for small objects. */
export const LEASES: Measurement = relists("L10s", "leases", 0.5);
