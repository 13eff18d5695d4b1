import { pooledMap } from "@std/async";
import type { Client } from "../../mod.ts";
import { connect } from "../../src/host/connect/mod.ts";
import { BreakableControlPlane } from "../../tests/support/cluster/control_plane.ts";
import { Definition, definitionName, onceServed } from "../../tests/support/cluster/definitions.ts";
import { count, list, readFlags } from "../../tools/flags.ts";
import { rounded, table } from "../../tools/table.ts";
import { median } from "../statistics.ts";
import { Child, type Command, statOf } from "./child.ts";
import { CronTab } from "./clients/crontab.ts";
import { denoRun, goProgram, type Peer, rustProgram } from "./peer.ts";

/** The controllers, in the order of the table. The first is ours. */
export const RECONCILERS: readonly Pick<Peer, "id" | "name" | "command">[] = [
  { id: "ours", name: "our Reconciler", command: () => Promise.resolve(denoRun("clients/reconciler.ts")) },
  {
    id: "ours-small",
    name: "our Reconciler, the flags of examples/in_cluster",
    command: async () => denoRun("clients/reconciler.ts", `--v8-flags=${await imageFlags()}`),
  },
  {
    id: "controller-runtime",
    name: "controller-runtime 0.25.2",
    command: async () => [await goProgram("reconcile", "./reconcile")],
  },
  { id: "kube-rs", name: "kube-rs 5.0.0 Controller", command: async () => [await rustProgram("reconcile")] },
  {
    id: "client-node",
    name: "@kubernetes/client-node 2.0.1, queue by hand",
    command: () => Promise.resolve(denoRun("clients/client_node_reconciler.ts")),
  },
  {
    id: "bare",
    name: "bare fetch of the same patches",
    command: () => Promise.resolve(denoRun("clients/bare_patches.ts")),
  },
];

/** The figures of one run. */
interface Run {
  /** CPU of the client, in seconds for 1,000 objects. */
  readonly clientCpu: number;
  /** CPU of kube-apiserver meanwhile, in seconds for 1,000 objects. */
  readonly serverCpu: number;
  /** The CPU of the client, divided by that of the server. */
  readonly share: number;
  /** The most memory of the client that was resident, in MB. */
  readonly peakRssMb: number;
  /** The time from the start of the process, in seconds. */
  readonly seconds: number;
}

/**
 * Prints a table of controllers that write the status of each object once, on a real kube-apiserver. Each is a process
 * of its own, and done when its cache has all the statuses; CPU and memory are those of the process from its start.
 *
 * @throws {Error} when there is no kube-apiserver.
 */
export async function raceReconcilers(): Promise<void> {
  const ids = RECONCILERS.map(({ id }) => id);
  const flags = readFlags({
    task: "bench:peers",
    summary:
      "Measures controllers that write the status of each object once, on a real kube-apiserver: CPU, beside the\n" +
      "server's, and memory. KUBEBUILDER_ASSETS is a folder with etcd and kube-apiserver.",
    flags: {
      reconcile: count("number of objects", 5_000),
      only: list("IDS", `controllers, comma separated; default all:\n${ids.join(", ")}`, ids),
      reps: count("runs of each controller", 3),
      "timeout-seconds": count("deadline of one run", 180),
    },
    examples: ["--reconcile 5000 --only ours,kube-rs --reps 5"],
  });
  const { reconcile: objects, only, reps: repetitions } = flags;
  const timeoutMs = flags["timeout-seconds"] * 1_000;
  const assets = Deno.env.get("KUBEBUILDER_ASSETS");
  if (assets === undefined) throw new Error("Cannot measure reconcilers: KUBEBUILDER_ASSETS is not set");
  const commands = new Map<string, Command>();
  for (const { id, name, command } of RECONCILERS) {
    if (only !== undefined && !only.includes(id)) continue;
    try {
      commands.set(id, await command());
    } catch (error) {
      console.error(`${name}: left out: ${error instanceof Error ? error.message : error}`);
    }
  }

  await using plane = await BreakableControlPlane.start(assets);
  using client = await connect({ kubeconfig: plane.kubeconfig });
  await define(client);
  await seed(client, objects);
  const server = await plane.pidOf("apiserver");
  const runs = new Map<string, Run[]>();
  let round = 0;
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const [id, command] of commands) {
      round++;
      const run = await measure([...command, plane.kubeconfig, String(objects), String(round)], server, {
        objects,
        timeoutMs,
      });
      runs.set(id, [...runs.get(id) ?? [], run]);
      console.error(`${id}: ${rounded(run.clientCpu)} s per 1,000, ${rounded(run.share)} of the server's`);
    }
  }

  const of = (id: string, field: keyof Run): number => median(runs.get(id)?.map((run) => run[field]) ?? []);
  const fields = ["clientCpu", "share", "peakRssMb", "serverCpu", "seconds"] as const;
  console.log(
    `The status of ${objects} objects written once, 8 at a time, on a real kube-apiserver; medians of ${repetitions}; ` +
      `load ${Deno.loadavg()[0].toFixed(1)}; Deno ${Deno.version.deno}\n`,
  );
  console.log(table([
    ["client", "CPU s per 1,000", "of the server's", "peak RSS MB", "server CPU s per 1,000", "seconds"],
    ...RECONCILERS.filter(({ id }) => runs.has(id))
      .map(({ id, name }) => [name, ...fields.map((field) => rounded(of(id, field)))]),
  ]));
  const goals = [
    ["share of the server's CPU", of("ours", "share"), 0.25],
    ["CPU : controller-runtime", of("ours", "share") / of("controller-runtime", "share"), 0.85],
    [
      "CPU : controller-runtime, the flags of examples/in_cluster",
      of("ours-small", "share") / of("controller-runtime", "share"),
      0.85,
    ],
    ["peak RSS MB, the flags of examples/in_cluster", of("ours-small", "peakRssMb"), 120],
  ] as const;
  const measured = goals.filter(([, value]) => Number.isFinite(value));
  console.log(`\n${
    table([
      ["ours", "measured", "goal", "reached"],
      ...measured.map(([name, value, goal]) => [name, rounded(value), `<= ${goal}`, value <= goal ? "yes" : "no"]),
    ])
  }`);
}

/** The flags of V8 in the image of `examples/in_cluster`. */
async function imageFlags(): Promise<string> {
  const text = await Deno.readTextFile(new URL("../../examples/in_cluster/Dockerfile", import.meta.url));
  const flags = /^ENV DENO_V8_FLAGS=(.*)$/m.exec(text)?.[1];
  if (flags === undefined) throw new Error("The Dockerfile of examples/in_cluster sets no DENO_V8_FLAGS");
  return flags;
}

/** Runs a client to the end of its job. */
async function measure(
  command: Command,
  serverPid: number,
  { objects, timeoutMs }: { readonly objects: number; readonly timeoutMs: number },
): Promise<Run> {
  const before = await statOf(serverPid);
  const startedMs = performance.now();
  await using client = new Child(command);
  await client.line(timeoutMs);
  const seconds = (performance.now() - startedMs) / 1_000;
  const [{ cpuSeconds, peakRssMb }, after] = await Promise.all([client.stat(), statOf(serverPid)]);
  const server = after.cpuSeconds - before.cpuSeconds;
  const thousands = objects / 1_000;
  return {
    clientCpu: cpuSeconds / thousands,
    serverCpu: server / thousands,
    share: cpuSeconds / server,
    peakRssMb,
    seconds,
  };
}

/** Makes the server serve the custom resource, with a subresource `status`. */
async function define(client: Client): Promise<void> {
  const { group, version, plural, kind } = CronTab;
  const fields = (...names: string[]): object =>
    Object.fromEntries(names.map((name) => [name, { type: "object", "x-kubernetes-preserve-unknown-fields": true }]));
  const schema = { openAPIV3Schema: { type: "object", properties: fields("spec", "status") } };
  await client.resource(Definition).create({
    metadata: { name: definitionName(CronTab) },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  });
}

async function seed(client: Client, objects: number): Promise<void> {
  const tabs = client.resource(CronTab, { namespace: "default" });
  const write = async (index: number): Promise<void> => {
    const metadata = { name: `crontab-${index}`, labels: { app: "bench", team: `team-${index % 50}` } };
    const spec = { schedule: `${index % 60} * * * *`, image: "registry.example.com/cron:1.0", replicas: 1 + index % 5 };
    await tabs.create({ metadata, spec });
  };
  await onceServed(() => write(0));
  for await (const _ of pooledMap(8, Array.from({ length: objects - 1 }, (_, index) => index + 1), write));
}
