// Applies that are left out, beside applies that are always sent: random drafts, whose seeds begin at 1.
import { assert, assertEquals } from "@std/assert";
import { ApplyPlayer, isLeftOut, type Outcome } from "../support/applies/play.ts";
import { readDrafts } from "../support/twin/drafts.ts";
import { defineCustomKinds, realServer, typesOf } from "../support/twin/servers.ts";
import { clusterTests, report } from "./_cluster.ts";

const cluster = clusterTests({ flags: ["--allow-privileged"] });

/** The number of cases. */
const CASES = 170;

/** The percentage of applies that change nothing and are not sent: of 1,000 cases 95, of a sample of this size less. */
const FLOOR = 90;

cluster.withPlane(
  "applyIfChanged leaves out nothing but what changes nothing",
  async ({ client, kubeconfig, namespace }) => {
    const drafts = readDrafts();
    using real = await realServer(kubeconfig);
    await defineCustomKinds(real);
    await using player = new ApplyPlayer(client, namespace, drafts, await typesOf(real, drafts.kinds));
    await player.start();
    const outcomes: Outcome[] = [];
    for (let seed = 1; seed <= CASES; seed++) outcomes.push(await player.play(seed));
    for (const outcome of outcomes.filter(isLeftOut)) {
      assertEquals(outcome.after, outcome.before, `left out: seed ${outcome.seed}, ${outcome.kind}, ${outcome.way}`);
    }
    const idle = outcomes.filter(({ apply }) => apply === "changes nothing");
    const percent = 100 * idle.filter(({ reason }) => reason === undefined).length / idle.length;
    report(`${percent.toFixed(1)} % of ${idle.length} applies that change nothing were not sent`);
    assert(
      percent >= FLOOR,
      `${percent} % of the applies that change nothing were not sent, expected at least ${FLOOR} %`,
    );
  },
);
