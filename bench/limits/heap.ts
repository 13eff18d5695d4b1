import { measureCase } from "../case.ts";
import type { Measurement } from "./limit.ts";
import { Server } from "./server.ts";

/** L14: what a cached pod weighs against the same object in a Map. */
export const HEAP: Measurement = {
  ids: ["L14"],
  measure: async () => {
    await using server = await Server.start({ pods: 10_000 });
    const bare = await measureCase("memory/cached.ts", { args: [server.url, "bare"] });
    await server.reset();
    const ours = await measureCase("memory/cached.ts", { args: [server.url, "dropped"] });
    return [{
      id: "L14",
      what: "heap per cached pod, parsed / same object in a bare Map",
      value: ours.heapBytes / bare.heapBytes,
      accept: { most: 1.05 },
    }];
  },
};
