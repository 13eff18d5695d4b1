import { caseCommand, measureCase, type Numbers } from "../case.ts";
import type { Limit, Measurement } from "../limits/limit.ts";
import { Server } from "../limits/server.ts";
import { Child, run } from "../peers/child.ts";
import { denoRun } from "../peers/peer.ts";
import { median } from "../statistics.ts";

const PODS = 100_000;
/** What the longest turn may take, in milliseconds, but for one in a thousand. */
const TURN_MS = 20;
/** How late the event loop may be, measured by a program that only parses and stores. */
const DELAY = 1.2;

function ratio(id: string, what: string, value: number, most: number): Limit {
  return { id, what, value, accept: { most } };
}

function ms(id: string, what: string, value: number, most: number): Limit {
  return { id, what, value, accept: { most }, unit: "ms" };
}

/** The medians of both modes of a case, in turns. */
async function both(repetitions: number, measure: (mode: string) => Promise<Numbers>): Promise<[Numbers, Numbers]> {
  const runs: Record<string, Numbers[]> = { informers: [], bare: [] };
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const mode of Object.keys(runs)) runs[mode].push(await measure(mode));
  }
  const mediansOf = (all: readonly Numbers[]): Numbers =>
    Object.fromEntries(Object.keys(all[0]).map((name) => [name, median(all.map((numbers) => numbers[name]))]));
  return [mediansOf(runs.informers), mediansOf(runs.bare)];
}

function expectObjects(expected: number, ...measured: readonly Numbers[]): void {
  for (const { objects } of measured) {
    if (objects !== expected) throw new Error(`Cannot measure: ${objects} objects are cached, expected ${expected}`);
  }
}

/** M1: an informer of 100,000 pods beside an informer of events that come every 3 ms; then a relist of the 100,000. */
export const LARGE: Measurement = {
  ids: ["M1a", "M1b", "M1c", "M1d", "M1e", "M1f", "M1g", "M1h", "M1i", "M1j", "M1k"],
  measure: async ({ repetitions }) => {
    await using server = await Server.start({ pods: PODS, changed: PODS / 100 });
    const [ours, bare] = await both(repetitions, async (mode) => {
      await server.reset();
      return await measureCase("many/cases/large.ts", { args: [server.url, mode], v8Flags: [] });
    });
    expectObjects(PODS, ours, bare);
    return [
      ratio("M1a", "100k list: time to sync / parse and store the same bytes", ours.syncMs / bare.syncMs, 1),
      ms("M1b", "100k list: longest turn of ours, p99.9", ours.listTurnP999Ms, TURN_MS),
      ms("M1c", "100k list: the longest turn of all, which commits", ours.listTurnMaxMs, TURN_MS),
      ratio(
        "M1d",
        "100k list: delay of the event loop, p99 / the same",
        ours.listDelayP99Ms / bare.listDelayP99Ms,
        DELAY,
      ),
      ratio("M1e", "100k list: p99.9 / the same", ours.listDelayP999Ms / bare.listDelayP999Ms, DELAY),
      ratio(
        "M1f",
        "100k list: latency of events meanwhile, p50 / the same",
        ours.listLatencyP50Ms / bare.listLatencyP50Ms,
        DELAY,
      ),
      ratio(
        "M1g",
        "100k list: latency of events meanwhile, p99 / the same",
        ours.listLatencyP99Ms / bare.listLatencyP99Ms,
        DELAY,
      ),
      ms("M1h", "100k relist, 1 % changed: longest turn of ours, p99.9", ours.relistTurnP999Ms, TURN_MS),
      ratio(
        "M1i",
        "100k relist: delay of the event loop, p99 / parse and store",
        ours.relistDelayP99Ms / bare.relistDelayP99Ms,
        DELAY,
      ),
      ratio("M1j", "100k relist: p99.9 / the same", ours.relistDelayP999Ms / bare.relistDelayP999Ms, DELAY),
      {
        id: "M1k",
        what: "100k list and relist on default flags: peak RSS",
        value: ours.peakRssMb,
        accept: { most: 1_300 },
        unit: "MB",
      },
    ];
  },
};

/** M2: what is done at once. */
export const AT_ONCE: Measurement = {
  ids: ["M2a", "M2b", "M2c", "M2d"],
  measure: async ({ repetitions }) => {
    const commit = await measureCase("many/cases/commit.ts", { args: [repetitions] });
    const select = await measureCase("many/cases/select.ts", { args: [repetitions] });
    return [
      ratio(
        "M2a",
        "100k staged entries committed, stored, logged in one turn / parse and store",
        commit.oursMs / commit.bareMs,
        DELAY,
      ),
      ms("M2d", "100k staged entries committed, that turn", commit.oursMs, TURN_MS),
      ratio(
        "M2b",
        "first list(selector), 10k unread pods / parse, store, filter",
        select.oursMs / select.bareMs,
        DELAY,
      ),
      ms("M2c", "first list(selector), 10k unread pods, one turn", select.oursMs, TURN_MS),
    ];
  },
};

/** M3: one informer, many handlers. */
export const HANDLERS: Measurement = {
  ids: ["M3a", "M3b", "M3c", "M3d"],
  measure: async ({ repetitions }) => {
    const { bareMs, oursMs, listMaxMs, changesMaxMs, heapBytes } = await measureCase("many/cases/handlers.ts", {
      args: [repetitions],
    });
    return [
      ratio("M3a", "1,000 handlers, 2,000 events each / calling as many functions", oursMs / bareMs, 10),
      ms("M3b", "1,000 handlers told of 1,000 listed objects: worst delay", listMaxMs, TURN_MS),
      ms("M3c", "1,000 handlers told of batches of 100 changes: worst delay", changesMaxMs, TURN_MS),
      { id: "M3d", what: "heap per handler", value: heapBytes, accept: { most: 4_000 }, unit: "bytes" },
    ];
  },
};

/** M4 and M5: many informers in one process, and many namespaces in one informer. */
export const COLLECTIONS: Measurement = {
  ids: ["M4a", "M4b", "M4c", "M4d", "M5a", "M5b"],
  measure: async ({ repetitions }) => {
    await using server = new Child(denoRun("../many/server.ts"));
    const url = await server.line(20_000);
    const sized = (sizes: string): Promise<[Numbers, Numbers]> =>
      both(repetitions, (mode) => measureCase("many/cases/collections.ts", { args: [url, mode, sizes] }));
    const [ours, bare] = await sized("200-1-50,30000-12-3");
    const [many, bareMany] = await sized("20000-10000-1");
    const [few, bareFew] = await sized("20000-12-1");
    expectObjects(100_000, ours, bare);
    expectObjects(20_000, many, bareMany, few, bareFew);
    const inInformers = "50 informers of 200 and 3 of 30,000 leases";
    return [
      ratio("M4a", `${inInformers}: time to sync / .json() and Maps`, ours.syncMs / bare.syncMs, 1.2),
      ratio(
        "M4b",
        `${inInformers}: delay of the event loop, p99 / the same`,
        ours.listDelayP99Ms / bare.listDelayP99Ms,
        DELAY,
      ),
      ms("M4c", `${inInformers}: longest turn, p99.9`, ours.listTurnP999Ms, TURN_MS),
      ratio("M4d", `${inInformers}: peak RSS / the same`, ours.peakRssMb / bare.peakRssMb, 1),
      ratio("M5a", "20,000 leases in 10,000 namespaces: time to sync / in 12", many.syncMs / few.syncMs, 1.3),
      ratio("M5b", "20,000 leases in 10,000 namespaces: heap of each / in 12", many.heapBytes / few.heapBytes, 1.3),
    ];
  },
};

/** M6: what it costs to import the toolkit. */
export const IMPORT: Measurement = {
  ids: ["M6"],
  measure: async ({ repetitions }) => {
    const times: Record<string, number[]> = { "empty.ts": [], "imported.ts": [] };
    for (let repetition = -1; repetition < 5 * repetitions; repetition++) {
      for (const [file, tookMs] of Object.entries(times)) {
        const began = performance.now();
        await run(caseCommand(`many/cases/${file}`, { v8Flags: [] }));
        if (repetition >= 0) tookMs.push(performance.now() - began); // the first ones fill the cache of compiled sources
      }
    }
    return [
      ratio(
        "M6",
        "a process that imports mod.ts / an empty module",
        median(times["imported.ts"]) / median(times["empty.ts"]),
        1.5,
      ),
    ];
  },
};
