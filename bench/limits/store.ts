import { measureCase } from "../case.ts";
import type { Measurement } from "./limit.ts";

/** L13: reading the store against reading a Map. */
export const STORE: Measurement = {
  ids: ["L13g", "L13l"],
  measure: async ({ repetitions }) => {
    const { mapGetMs, storeGetMs, mapListMs, storeListMs } = await measureCase("limits/cases/store.ts", {
      args: [5 * repetitions],
    });
    return [
      { id: "L13g", what: "store.getByKey / Map.get, 100k keys", value: storeGetMs / mapGetMs, accept: { most: 1.5 } },
      {
        id: "L13l",
        what: "store.list() / [...map.values()], 100k",
        value: storeListMs / mapListMs,
        accept: { most: 3 },
      },
    ];
  },
};
