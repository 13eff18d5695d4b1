/**
 * E3: idle event streams of a server in a process of its own, opened by two other processes. MODE CLIENTS; the modes
 * are those of `_relay_server.ts`.
 */
import { Child, run } from "../peers/child.ts";
import { median } from "../statistics.ts";
import { caseCommand, measureCase, type Measurement, type Numbers } from "./measurement.ts";

const CLIENTS = 10_000;
const PROCESSES = 2;
/** Open files of the server beside its clients. */
const OTHER_FILES = 200;
/** The longest time until all streams are open, and until all have received a change. */
const DEADLINE_MS = 60_000;

/** E3: 10,000 clients that wait for changes, beside a server that does nothing but write the same bytes. */
export const IDLE: Measurement = {
  ids: ["E3a", "E3b", "E3c", "E3d"],
  name: "idle",
  onlyNamed: true,
  measure: async ({ repetitions }) => {
    const runs: Record<string, Numbers[]> = { relay: [], bare: [] };
    for (let repetition = 0; repetition < repetitions; repetition++) {
      for (const mode of Object.keys(runs)) {
        runs[mode].push(await measureCase(import.meta.url, { args: [mode, CLIENTS], v8Flags: [] }));
      }
    }
    const of = (run: string, name: string): number => median(runs[run].map((numbers) => numbers[name]));
    const [kb, reachMs] = [of("relay", "clientKb"), of("relay", "reachMs")];
    return [
      { id: "E3a", what: `resident memory of one of ${CLIENTS} idle streams`, value: kb, unit: "kB" },
      { id: "E3b", what: "that memory, relay / bare", value: kb / of("bare", "clientKb"), accept: { most: 1.5 } },
      { id: "E3c", what: `change to the last of ${CLIENTS} clients`, value: reachMs, unit: "ms" },
      { id: "E3d", what: "that time, relay / bare", value: reachMs / of("bare", "reachMs"), accept: { most: 2 } },
    ];
  },
};

/** Checks that a process may have so many open files. Deno has raised its soft limit to the hard one. */
async function checkOpenFiles(wanted: number): Promise<void> {
  const limit = Number(await run(["sh", "-c", "ulimit -Hn"])); // NaN where it is "unlimited"
  if (limit < wanted) throw new Error(`Cannot open ${wanted} files: the hard limit is ${limit}; raise it by ulimit -n`);
}

async function main(): Promise<void> {
  const [mode, clients] = [Deno.args[0], Number(Deno.args[1])];
  await checkOpenFiles(clients + OTHER_FILES);
  const program = (name: string, ...args: (string | number)[]): Child =>
    new Child(caseCommand(new URL(name, import.meta.url).href, { args, v8Flags: [] }));
  const json = async (url: string): Promise<Numbers> =>
    await (await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) })).json();

  await using server = program("_relay_server.ts", mode);
  const url = await server.line(DEADLINE_MS);
  const before = await json(`${url}/use`);
  const began = performance.now();
  await using stack = new AsyncDisposableStack();
  const processes = Array.from({ length: PROCESSES }, () => {
    return stack.use(program("_idle_clients.ts", url, clients / PROCESSES));
  });
  const addresses = await Promise.all(processes.map((process) => process.line(DEADLINE_MS)));
  const openMs = performance.now() - began;
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const after = await json(`${url}/use`);
  const received = addresses.map(json);
  await json(`${url}/change`);
  const lastMs = (await Promise.all(received)).map((numbers) => numbers.lastMs);
  const { rssMb } = await json(`${url}/use`);
  console.log(JSON.stringify({
    openMs,
    clientKb: (after.rssMb - before.rssMb) * 1_000 / clients,
    reachMs: Math.max(...lastMs),
    rssMb,
  }));
}

if (import.meta.main) await main();
