import { PEERS } from "../peers/peer.ts";
import { race, type Result } from "../peers/race.ts";
import { median } from "../statistics.ts";
import { type Limit, type Measurement, ratio } from "./measurement.ts";

const JOB = { pods: 10_000, events: 50_000, changed: 100 };

/** Medians of some peers, from interleaved runs. @throws {Error} when one of them could not be run. */
async function medians(
  ids: readonly string[],
  repetitions: number,
): Promise<(id: string, field: keyof Result) => number> {
  const peers = PEERS.filter(({ id }) => ids.includes(id));
  const results = await race(peers, { job: JOB, repetitions });
  for (const runs of results.values()) if (!Array.isArray(runs)) throw runs;
  return (id, field) => median((results.get(id) as Result[]).map((run) => run[field] ?? NaN));
}

/** L7 to L9: events per second over HTTP, one write each, against a bare loop. */
export const EVENTS: Measurement = {
  ids: ["L7", "L8", "L9"],
  measure: async ({ repetitions }) => {
    const of = await medians(["bare", "full", "eager", "keys"], repetitions);
    const limit = (id: string, ours: string, what: string, least: number): Limit => ({
      id,
      what: `events/s, ${what} / bare loop`,
      value: of(ours, "eventsPerSecond") / of("bare", "eventsPerSecond"),
      accept: { least },
    });
    return [
      limit("L7", "full", "eager, managedFields kept", 0.85),
      limit("L8", "eager", "eager", 1.15),
      limit("L9", "keys", "keys to a work queue", 2.5),
    ];
  },
};

/** The events of an informer of three fields, which a handler reads, against those of complete objects. */
export const FIELDS_EVENTS: Measurement = {
  ids: ["fields-events"],
  measure: async ({ repetitions }) => {
    const of = await medians(["fields", "read"], repetitions);
    return [
      ratio(
        "fields-events",
        "events/s, three fields read / complete objects read",
        of("fields", "eventsPerSecond") / of("read", "eventsPerSecond"),
        { least: 0.95 },
      ),
    ];
  },
};

/** L16: against the client that most people use. */
export const CLIENT_NODE: Measurement = {
  ids: ["L16t", "L16e", "L16k", "L16m"],
  measure: async ({ repetitions }) => {
    const of = await medians(["client-node", "eager", "keys"], repetitions);
    const relative = (ours: string, field: keyof Result): number => of(ours, field) / of("client-node", field);
    return [
      ratio("L16t", "time to sync, eager / client-node", relative("eager", "syncMs"), 0.6),
      ratio("L16e", "events/s, eager / client-node", relative("eager", "eventsPerSecond"), { least: 1.3 }),
      ratio("L16k", "events/s, keys to a work queue / client-node", relative("keys", "eventsPerSecond"), { least: 3 }),
      ratio("L16m", "peak RSS, eager / client-node", relative("eager", "peakRssMb"), 0.6),
    ];
  },
};
