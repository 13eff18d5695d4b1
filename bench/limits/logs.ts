/**
 * Follows the logs of 50 pods, and prints their lines: KUBECONFIG. It is one of the clients that are compared; kubectl,
 * stern and `informer logs` are others.
 */
import { SharedIndexInformer } from "../../mod.ts";
import { connect, shutdownSignal } from "../../src/host/connect/mod.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { followLogs } from "../../src/operator/logs/mod.ts";
import { Child, type Command, statOf } from "../peers/child.ts";
import { median } from "../statistics.ts";
import { caseCommand, type Limit, type Measurement, type Numbers, ratio } from "./measurement.ts";

const PODS = 50;
/** Lines a second, from all pods together. */
const RATE = 5_000;
/** kubectl opens five streams a second. */
const WARM_UP_SECONDS = 12;
const SECONDS = 10;
/** For the growth of memory. */
const LONG_SECONDS = 60;

const CLI = new URL("../../src/cli/main.ts", import.meta.url).pathname;
const SELECTED = ["-l", "app=web", "-n", "shop", "--kubeconfig"];

/** Returns the clients by their names. A client that is not on this machine fails when it is started. */
function clientsFor(kubeconfig: string): Readonly<Record<string, Command>> {
  return {
    cli: [Deno.execPath(), "run", "-A", "--no-lock", "--no-check", CLI, "logs", "-f", ...SELECTED, kubeconfig],
    program: caseCommand(import.meta.url, { args: [kubeconfig], v8Flags: [] }),
    kubectl: ["kubectl", "logs", "-f", "--prefix", `--max-log-requests=${PODS}`, ...SELECTED, kubeconfig],
    stern: [Deno.env.get("STERN") ?? "stern", "--color=never", "--only-log-lines", ...SELECTED, kubeconfig],
  };
}

/** CPU and memory of programs that print 5,000 lines a second, compared with kubectl and stern. */
export const LOGS: Measurement = {
  ids: ["logs-cli", "logs-program", "logs-stern", "logs-kubectl", "logs-memory", "logs-flat", "logs-flat-program"],
  onlyNamed: true,
  measure: async ({ repetitions }) => {
    await using server = new Child(
      caseCommand(new URL("_logs_server.ts", import.meta.url).href, { args: [PODS, RATE], v8Flags: [] }),
    );
    const kubeconfig = await Deno.makeTempFile({ suffix: ".json" });
    try {
      await Deno.writeTextFile(kubeconfig, configFor(await server.line(60_000)));
      const clients = clientsFor(kubeconfig);
      const runs: Record<string, Numbers[]> = Object.fromEntries(Object.keys(clients).map((name) => [name, []]));
      let absent = "";
      for (let repetition = 0; repetition < repetitions; repetition++) {
        for (const [name, client] of Object.entries(clients)) {
          try {
            runs[name].push(await measureClient(client, SECONDS));
          } catch (error) {
            if (!(error instanceof Deno.errors.NotFound) || name !== "stern") throw error;
            absent = " (stern is not there: name it by STERN)";
          }
        }
      }
      const of = (client: string, figure: string): number =>
        median((runs[client] as Record<string, number>[]).map((numbers) => numbers[figure]));
      for (const [name, measured] of Object.entries(runs)) console.error(name, JSON.stringify(measured));
      const flat = await measureClient(clients.cli, LONG_SECONDS);
      const flatProgram = await measureClient(clients.program, LONG_SECONDS);
      const what = `CPU of ${RATE} lines a second from ${PODS} pods`;
      const grown = `resident memory at the end of ${LONG_SECONDS} s / in the middle`;
      const limits: Limit[] = [
        ratio("logs-cli", `${what}: informer logs -f / kubectl logs -f`, of("cli", "cpu") / of("kubectl", "cpu"), 3),
        ratio(
          "logs-program",
          `${what}: followLogs in a program / kubectl logs -f`,
          of("program", "cpu") / of("kubectl", "cpu"),
          3,
        ),
        {
          id: "logs-stern",
          what: `${what}: informer logs -f / stern${absent}`,
          value: absent === "" ? of("cli", "cpu") / of("stern", "cpu") : NaN,
        },
        { id: "logs-kubectl", what: `CPU of a line: kubectl logs -f`, value: of("kubectl", "cpu"), unit: "µs" },
        { id: "logs-memory", what: "peak RSS of informer logs -f", value: of("cli", "peakMb"), unit: "MB" },
        ratio("logs-flat", `informer logs -f: ${grown}`, flat.grown, 1.05),
        ratio("logs-flat-program", `followLogs in a program: ${grown}`, flatProgram.grown, 1.05),
      ];
      return limits;
    } finally {
      await Deno.remove(kubeconfig);
    }
  },
};

function configFor(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "bench",
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    clusters: [{ name: "bench", cluster: { server } }],
    users: [{ name: "bench", user: {} }],
  });
}

/**
 * Runs a client that prints lines. Returns its CPU for a line in microseconds, the lines a second, its peak memory in
 * MB, and how its memory has grown: the median of the last tenth of the time, as a ratio to a tenth in the middle.
 *
 * @throws {Error} if it does not keep up with the lines.
 * @throws {Deno.errors.NotFound} if there is no such program.
 */
async function measureClient([program, ...args]: Command, seconds: number): Promise<Numbers> {
  const child = new Deno.Command(program, { args, stdin: "null", stdout: "piped", stderr: "null" }).spawn();
  let lines = 0;
  const reading = (async (): Promise<void> => {
    for await (const chunk of child.stdout) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
    }
  })();
  try {
    const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    for (let waited = 0; lines === 0; waited++) {
      if (waited > 300) throw new Error(`Cannot measure ${program}: it has printed nothing for 30 s`);
      await wait(100);
    }
    await wait(WARM_UP_SECONDS * 1_000);
    const [before, first, beganMs] = [await statOf(child.pid), lines, performance.now()];
    const residentMb: number[] = [];
    for (let sample = 0; sample < 100; sample++) {
      await wait(beganMs + (sample + 1) * seconds * 10 - performance.now());
      residentMb.push(await residentOf(child.pid));
    }
    const after = await statOf(child.pid);
    const tookSeconds = (performance.now() - beganMs) / 1_000;
    const perSecond = (lines - first) / tookSeconds;
    if (perSecond < 0.8 * RATE) {
      throw new Error(`Cannot measure ${program}: it prints ${Math.round(perSecond)} of ${RATE} lines a second`);
    }
    return {
      cpu: (after.cpuSeconds - before.cpuSeconds) / (lines - first) * 1e6,
      perSecond,
      peakMb: after.peakRssMb,
      grown: median(residentMb.slice(90)) / median(residentMb.slice(45, 55)),
    };
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await reading;
  }
}

/** Returns the memory of a process that is resident now, in MB. */
async function residentOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1_024 / 1e6;
}

async function main(): Promise<void> {
  using signal = shutdownSignal();
  using client = await connect({ kubeconfig: Deno.args[0] });
  await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop", labelSelector: "app=web" }));
  pods.run({ signal });
  for await (const { pod, container, time, text } of followLogs(client, pods, { signal })) {
    console.log(pod, container, time, text);
  }
}

if (import.meta.main) await main();
