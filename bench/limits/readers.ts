/** Readers of the Kubernetes API of a relay; `relay.ts` is the program that plays them. */
import { median } from "../statistics.ts";
import { type Measurement, type Numbers, ratio } from "./measurement.ts";
import { measureClients } from "./relay.ts";

const READERS = 100;
/** Changes a second, each of which is an event to each reader. */
const RATE = 20;

/**
 * 100 watches of one collection, below `/kubernetes` of a relay, beside the fake server that it follows; the process of
 * the relay has the fake server, too.
 */
export const KUBERNETES_READERS: Measurement = {
  ids: ["readers-cpu", "readers-p99", "readers-memory", "readers-watches"],
  name: "readers",
  onlyNamed: true,
  measure: async ({ repetitions }) => {
    const runs: Record<string, Numbers[]> = { readers: [], watches: [], relay: [] };
    for (let repetition = 0; repetition < repetitions; repetition++) {
      for (const mode of Object.keys(runs)) runs[mode].push(await measureClients(mode, READERS, RATE));
    }
    const of = (run: string, name: string): number => median(runs[run].map((numbers) => numbers[name]));
    const what = `of one of ${READERS} readers at ${RATE} changes/s`;
    return [
      ratio(
        "readers-cpu",
        `CPU ${what}, /kubernetes / a watch each of the fake`,
        of("readers", "cpuUs") / of("watches", "cpuUs"),
        1.5,
      ),
      ratio(
        "readers-p99",
        `event ${what}, p99, /kubernetes / event stream`,
        of("readers", "p99Ms") / of("relay", "p99Ms"),
        2,
      ),
      {
        id: "readers-memory",
        what: `resident memory ${what}, /kubernetes`,
        value: of("readers", "clientKb"),
        unit: "kB",
      },
      { id: "readers-watches", what: `resident memory ${what}, fake`, value: of("watches", "clientKb"), unit: "kB" },
    ];
  },
};
