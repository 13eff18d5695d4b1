import { measureCase } from "../case.ts";
import type { Measurement } from "./limit.ts";
import { Server } from "./server.ts";

/** L15: how long a small event takes from the server's write to a handler. */
export const LATENCY: Measurement = {
  ids: ["L15"],
  measure: async ({ repetitions }) => {
    await using server = await Server.start({ pods: 1 });
    const { rawP50Ms, oursP50Ms } = await measureCase("limits/cases/latency.ts", { args: [server.url, repetitions] });
    return [{
      id: "L15",
      what: "latency of an event, p50, informer's handler / fetch reader",
      value: oursP50Ms / rawP50Ms,
      accept: { most: 1.5 },
    }];
  },
};
