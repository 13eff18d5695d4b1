/**
 * Compares `applyIfChanged` with applies that are always sent, on a real kube-apiserver. `--help` prints its flags.
 *
 * @module
 */
import { connect } from "@kube/informer/connect";
import { Namespace } from "@kube/informer/kinds/core/v1";
import { KINDS } from "../tests/support/applies/drafts.ts";
import { ApplyPlayer, isLeftOut, type Outcome } from "../tests/support/applies/play.ts";
import { BreakableControlPlane } from "../tests/support/cluster/control_plane.ts";
import { readDrafts } from "../tests/support/twin/drafts.ts";
import { defineCustomKinds, realServer, typesOf } from "../tests/support/twin/servers.ts";
import { choice, count, quit, readFlags, text, toggle } from "./flags.ts";
import { table } from "./table.ts";

/** The share of applies that change nothing of which nothing is sent. */
const GOAL = 0.95;

/** The number of cases that are under way at a time. */
const AT_ONCE = 8;

const flags = readFlags({
  task: "applies",
  summary:
    "Compares applyIfChanged() with applies that are always sent, on a real kube-apiserver. Each case is a seed:\n" +
    "an object's history, and a draft that changes nothing in half of the cases.",
  flags: {
    cases: count("number of cases", 1_000),
    from: count("the first seed", 1),
    kind: choice(KINDS, "the only kind"),
    kubeconfig: text(
      "FILE",
      "a server without controllers; without it, the programs in KUBEBUILDER_ASSETS are started",
    ),
    show: toggle("prints what was sent for nothing"),
  },
  examples: ["--from 100000", "--kind Secret --cases 1 --from 17 --show"],
  exits: "Exits with 1 when a write was left out that changes something, or when less than " +
    `${GOAL * 100} % of those that\nchange nothing were left out, with 2 when the command line is wrong.`,
});
Deno.exit(await main() ? 0 : 1);

async function main(): Promise<boolean> {
  await using plane = flags.kubeconfig === undefined ? await startedPlane() : undefined;
  const kubeconfig = flags.kubeconfig ?? plane!.kubeconfig;
  using real = await realServer(kubeconfig);
  await defineCustomKinds(real);
  const drafts = readDrafts();
  using client = await connect({ kubeconfig });
  const namespace = `applies-${crypto.randomUUID().slice(0, 6)}`;
  await client.resource(Namespace).create({ metadata: { name: namespace } });
  await using player = new ApplyPlayer(client, namespace, drafts, await typesOf(real, drafts.kinds));
  await player.start();
  const outcomes: Outcome[] = [];
  let next = flags.from;
  const end = flags.from + flags.cases;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < end) outcomes.push(await player.play(next++, flags.kind));
  }));
  return print(outcomes);
}

async function startedPlane(): Promise<BreakableControlPlane> {
  const assets = Deno.env.get("KUBEBUILDER_ASSETS");
  if (assets === undefined) quit('set KUBEBUILDER_ASSETS to a folder with "etcd" and "kube-apiserver"', 2);
  return await BreakableControlPlane.start(assets, { flags: ["--allow-privileged"] });
}

function print(outcomes: readonly Outcome[]): boolean {
  const idle = outcomes.filter(({ apply }) => apply === "changes nothing");
  const spared = idle.filter(({ reason }) => reason === undefined);
  const leftOut = outcomes.filter(isLeftOut);
  const ways = Map.groupBy(outcomes, ({ way }) => way);
  const count = (of: readonly Outcome[], apply: Outcome["apply"]): number =>
    of.filter((it) => it.apply === apply).length;
  console.log(table([
    ["draft", "cases", "refused", "change", "owners", "version", "change nothing", "of these not sent", "left out"],
    ...[["all", outcomes] as const, ...ways].map(([way, of]) =>
      [
        way,
        of.length,
        count(of, "is refused"),
        count(of, "changes"),
        count(of, "changes other owners"),
        count(of, "changes the version alone"),
        count(of, "changes nothing"),
        of.filter((it) => it.apply === "changes nothing" && it.reason === undefined).length,
        of.filter(isLeftOut).length,
      ].map(String)
    ),
  ]));
  for (const outcome of leftOut) show("left out", outcome);
  if (flags.show) {
    for (const outcome of idle.filter(({ reason }) => reason !== undefined)) show("sent for nothing", outcome);
  }
  const share = idle.length === 0 ? 1 : spared.length / idle.length;
  console.log(
    `${leftOut.length} writes left out that change something; ${
      (100 * share).toFixed(1)
    } % of ${idle.length} that change nothing were not sent`,
  );
  return leftOut.length === 0 && share >= GOAL;
}

function show(what: string, { seed, kind, way, apply, reason, draft, before }: Outcome): void {
  console.log(`${what}: seed ${seed}, ${kind}, ${way}: the apply ${apply}; ${reason ?? "nothing was sent"}`);
  console.log(`  draft  ${JSON.stringify(draft)}`);
  console.log(`  before ${JSON.stringify(before)}`);
}
