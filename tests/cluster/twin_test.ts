// The fake beside this server: the same random requests, and what is equal today stays equal.
import { assert } from "@std/assert";
import { caseOf } from "../support/twin/cases.ts";
import type { Category } from "../support/twin/compare.ts";
import { readDrafts } from "../support/twin/drafts.ts";
import { TwinPlayer } from "../support/twin/play.ts";
import { defineCustomKinds, fakeServer, realServer, typesOf } from "../support/twin/servers.ts";
import { Summary } from "../support/twin/summary.ts";
import { clusterTests, report } from "./_cluster.ts";

const cluster = clusterTests({ flags: ["--allow-privileged"] });

/** The number of cases; their seeds begin at 1. */
const CASES = 60;

/** The percentage of cases that are equal at least. It only rises. */
const FLOORS: Readonly<Record<Exclude<Category, "texts">, number>> = { answer: 95, object: 95, fields: 95 };

cluster.withPlane("the fake answers random requests as this server does", async ({ kubeconfig }) => {
  const drafts = readDrafts();
  using real = await realServer(kubeconfig);
  using fake = fakeServer();
  for (const server of [real, fake]) await defineCustomKinds(server);
  const types = await typesOf(real, drafts.kinds);
  const player = new TwinPlayer(real, fake, "test");
  const summary = new Summary();
  for (let seed = 1; seed <= CASES; seed++) {
    const drawn = caseOf(seed, drafts, types);
    summary.add(drawn, await player.play(drawn));
  }
  for (const [category, floor] of Object.entries(FLOORS) as [keyof typeof FLOORS, number][]) {
    const percent = 100 * summary.share(category);
    report(`${category}: ${percent.toFixed(1)} % of ${CASES} cases are equal`);
    assert(percent >= floor, `${category}: ${percent} % of the cases are equal, expected at least ${floor} %`);
  }
});
