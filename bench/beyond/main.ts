/**
 * What lies beyond JSON text: the job of `bench:peers` for our informer over protobuf and CBOR, beside what it does with
 * JSON and what client-go does; then what one pod costs in each encoding.
 *
 * `deno task bench:beyond [--only keys,protobuf-keys] [--reps 3] [--pods 10000] [--events 50000] [--part race]`
 *
 * Before that, 300 pods with chance values in all fields are decoded from each encoding and held to their JSON.
 *
 * Needs Go. `--part race` and `--part pods` leave the other part out.
 */
import { Child } from "../peers/child.ts";
import { denoRun, goProgram } from "../peers/peer.ts";
import { race, type Result } from "../peers/race.ts";
import { Flags } from "../flags.ts";
import { measureCase, type Numbers } from "../case.ts";
import { median } from "../statistics.ts";
import { rounded, table } from "../table.ts";
import { CLIENTS } from "./clients.ts";
import { MEMORY_MODES } from "./modes.ts";
import { checkRandom } from "./random.ts";
import { makeDecoders } from "./samples.ts";
import { writeSchema } from "./schema.ts";

const flags = new Flags(Deno.args, ["only", "reps", "pods", "events", "part"]);
const only = flags.list("only");
const clients = CLIENTS.filter(({ id }) => only === undefined || only.includes(id));
if (clients.length === 0) throw new RangeError(`Cannot measure: there are ${CLIENTS.map(({ id }) => id).join(", ")}`);
const pods = flags.count("pods", 10_000);
const job = { pods, events: flags.count("events", 50_000), changed: Math.max(1, Math.round(pods / 100)) };
const repetitions = flags.count("reps", 3);
const part = flags.text("part", "all");
await writeSchema();
await checkRandom(await makeDecoders(), 1, 300);

if (part !== "pods") {
  const results = await race(clients, {
    job,
    repetitions,
    onRun: ({ name }, outcome) => {
      console.error(outcome instanceof Error ? `${name}: ${outcome.message}` : `${name}: ${JSON.stringify(outcome)}`);
    },
  });
  const medianOf = (id: string, field: keyof Result): number => {
    const runs = results.get(id);
    return Array.isArray(runs) ? median(runs.map((run) => run[field] ?? NaN)) : NaN;
  };
  const goPeer = "client-go-protobuf";
  console.log(
    `${job.pods} pods, then ${job.events} events, one write each, then a relist with ${job.changed} changed; ` +
      `medians of ${repetitions}, interleaved; Deno ${Deno.version.deno}\n`,
  );
  const fields = ["syncMs", "eventsPerSecond", "stallMs", "relistMs", "peakRssMb", "cpuSeconds"] as const;
  console.log(table([
    ["client", "sync ms", "events/s", "worst stall ms", "relist ms", "peak RSS MB", "CPU s", "x client-go"],
    ...clients.map(({ id, name }) => [
      name,
      ...fields.map((field) => rounded(medianOf(id, field))),
      rounded(medianOf(id, "eventsPerSecond") / medianOf(goPeer, "eventsPerSecond")),
    ]),
  ]));
}

if (part !== "race") {
  // Both servers, with as many pods as are kept; nothing is told.
  const size = [pods, 0, 1].map(String);
  await using json = new Child([...denoRun("server.ts"), ...size, "off"]);
  const jsonUrl = await json.line(60_000);
  await using binary = new Child([await goProgram(), "serve", jsonUrl, ...size]);
  const binaryUrl = await binary.line(120_000);
  const runs: Numbers[] = [];
  for (let i = 0; i < repetitions; i++) {
    runs.push(await measureCase("beyond/per_pod.ts", { args: [jsonUrl, binaryUrl] }));
  }
  const medianOf = (name: string): number => median(runs.map((run) => run[name]));
  const base = medianOf("parse: JSON.parse of the text");
  console.log(`\none pod without managedFields; medians of ${repetitions}\n`);
  console.log(table([
    ["what", "µs", "x JSON.parse", "bytes"],
    ...Object.keys(runs[0]).filter((name) => !name.startsWith("bytes: ")).map((name) => [
      name,
      rounded(medianOf(name)),
      rounded(medianOf(name) / base),
      rounded(runs[0][`bytes: ${name}`]),
    ]),
  ]));
  const kept: string[][] = [];
  for (const [mode, name] of Object.entries(MEMORY_MODES)) {
    const { heapBytes, externalBytes } = await measureCase("beyond/kept.ts", {
      args: [jsonUrl, binaryUrl, mode],
    });
    kept.push([name, ...[heapBytes, externalBytes].map((bytes) => rounded(bytes * pods / 1e6))]);
  }
  console.log(`\n${pods} pods kept in a Map\n`);
  console.log(table([["what is kept", "heap MB", "external MB"], ...kept]));
}
