/**
 * Caches behind a flaky network: ours and client-go's behind proxies that play the same random faults at the same time.
 *
 * All seeds run at the same time. A marker is written every 200 ms past the proxies; a cache is current while it holds
 * one that is at most 1 s old. `current %` is the share of the time until the last fault has ended, `recovery s` the
 * time from then until the cache is current and stays so for 3 s. Lists and watches count requests of informers.
 */
import { connect } from "../src/host/connect/mod.ts";
import { FakeApiServer } from "../src/testing/mod.ts";
import { BreakableControlPlane } from "../tests/support/cluster/control_plane.ts";
import { FaultProxy } from "../tests/support/recovery/fault_proxy.ts";
import { faultSchedule } from "../tests/support/recovery/fault_schedule.ts";
import { MarkerWriter } from "../tests/support/recovery/marker.ts";
import { InformerFollower, recoveriesOf, type Recovery } from "../tests/support/recovery/recovery.ts";
import { serve } from "../tests/support/servers/serve.ts";
import { choice, count, quit, readFlags } from "../tools/flags.ts";
import { rounded, table } from "../tools/table.ts";
import { ClientGo } from "./recovery/client_go.ts";
import { median } from "./statistics.ts";

/** The time after the last fault after which a cache counts as not recovered. */
const PATIENCE_MS = 90_000;

/** The greatest accepted ratio of ours to client-go: times to recover. */
const MOST = 1.2;

const flags = readFlags({
  task: "recovery",
  summary:
    "Measures caches behind a flaky network: ours and, where there is Go, client-go's, behind proxies that play the\n" +
    "same random faults at the same time.",
  flags: {
    seeds: count("number of schedules of faults, all at the same time", 10),
    from: count("seed of the first one", 1),
    seconds: count("time of the faults; caches then have 90 s to recover", 60),
    server: choice(
      ["fake", "cluster"],
      "a fake server over HTTP/1.1, or kube-apiserver of the folder KUBEBUILDER_ASSETS",
      "fake",
    ),
  },
  examples: ["--seeds 2 --seconds 20", "--server cluster"],
});
const { seconds, server } = flags;
const seeds = Array.from({ length: flags.seeds }, (_, i) => flags.from + i);

await using target = await (server === "fake" ? fakeTarget() : clusterTarget());
await using stack = new AsyncDisposableStack();
const login = target.kubeconfig === undefined ? {} : { kubeconfig: target.kubeconfig };
const ours = await Promise.all(seeds.map(async () => {
  const proxy = new FaultProxy(target.url);
  return stack.use(new InformerFollower(proxy, await connect({ ...login, server: proxy.url })));
}));
const clientGo = await startClientGo();
if (clientGo !== undefined) stack.use(clientGo);
const writer = stack.use(await connect({ ...login, server: target.url }));
const marker = stack.use(new MarkerWriter(writer));

console.error(`${seeds.length} schedules of ${seconds} s each, at the same time …`);
const runs = await Promise.all(seeds.map(async (seed, i) => {
  const schedule = faultSchedule(seed, { totalMs: seconds * 1_000 });
  const followers = [ours[i], ...clientGo === undefined ? [] : [clientGo.followers[i]]];
  return { schedule, recoveries: await recoveriesOf(schedule, followers, PATIENCE_MS) };
}));

const names = ["ours", ...clientGo === undefined ? [] : ["client-go"]];
console.log(`${seeds.length} schedules of random faults in ${seconds} s, ${server}; Deno ${Deno.version.deno}\n`);
console.log(table([
  [
    "seed",
    "faults",
    "last fault",
    ...names.flatMap((name) => [`${name}: current %`, "recovery s", "lists", "watches"]),
  ],
  ...runs.map(({ schedule, recoveries }, i) => {
    const { verb, forMs } = schedule.at(-1)!;
    const last = `${verb}, ${(forMs / 1_000).toFixed(1)} s`;
    return [String(seeds[i]), String(schedule.length), last, ...recoveries.flatMap(cells)];
  }),
  ["median", "", "", ...names.flatMap((_, i) => summary(i, median, median))],
  [
    "worst",
    "",
    "",
    ...names.flatMap((_, i) => summary(i, (values) => Math.min(...values), (values) => Math.max(...values))),
  ],
]));
console.log(`\nlongest time between two writes of the marker: ${marker.longestGapMs} ms`);
if (clientGo !== undefined) {
  console.log(`\n${table([["ours : client-go", "measured", "goal", "reached"], ...goals()])}`);
}

/** client-go where there is Go; else `undefined`, and a line that says so. */
async function startClientGo(): Promise<ClientGo | undefined> {
  try {
    return await ClientGo.start(target, seeds.map(() => stack.use(new FaultProxy(target.url))));
  } catch (error) {
    console.error(`client-go is left out: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

function cells({ share, recoveryMs, lists, watches }: Recovery): string[] {
  return [percent(share), inSeconds(recoveryMs), String(lists), String(watches)];
}

type Statistic = (values: readonly number[]) => number;

function summary(client: number, ofShares: Statistic, ofOthers: Statistic): string[] {
  const values = (field: keyof Recovery): number[] => runs.map(({ recoveries }) => recoveries[client][field]);
  return [
    percent(ofShares(values("share"))),
    inSeconds(ofOthers(values("recoveryMs"))),
    String(ofOthers(values("lists"))),
    String(ofOthers(values("watches"))),
  ];
}

function goals(): string[][] {
  const shares = [0, 1].map((client) => median(runs.map(({ recoveries }) => recoveries[client].share)));
  const rows = ([["median", median], ["worst", (values) => Math.max(...values)]] as [string, Statistic][])
    .map(([name, statistic]) => {
      const [mine, theirs] = [0, 1].map((client) =>
        statistic(runs.map(({ recoveries }) => recoveries[client].recoveryMs))
      );
      const goal = `<= ${MOST}`;
      return [`${name} time to recover`, rounded(mine / theirs), goal, mine <= MOST * theirs ? "yes" : "no"];
    });
  const ratio = shares[0] / shares[1];
  return [...rows, ["median share of time current", rounded(ratio), ">= 1", ratio >= 1 ? "yes" : "no"]];
}

function percent(share: number): string {
  return (share * 100).toFixed(1);
}

function inSeconds(ms: number): string {
  return Number.isFinite(ms) ? (ms / 1_000).toFixed(2) : "never";
}

/** The server at the far end of the proxies. */
interface Target extends AsyncDisposable {
  /** Its address. */
  readonly url: string;
  /** Path of a kubeconfig with its certificates; `undefined` where none is needed. */
  readonly kubeconfig?: string;
}

/** The fake over plain HTTP. */
function fakeTarget(): Promise<Target> {
  return serve(new FakeApiServer());
}

/** kube-apiserver over TLS and HTTP/2. Ends this process where there is none. */
async function clusterTarget(): Promise<Target> {
  const assets = Deno.env.get("KUBEBUILDER_ASSETS");
  if (assets !== undefined) return await BreakableControlPlane.start(assets);
  quit("Cannot start a cluster: set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver", 1);
}
