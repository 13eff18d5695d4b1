// The fake beside this server: the same random requests, and what is equal today stays equal.
import { assert } from "@std/assert";
import { caseOf } from "../support/twin/cases.ts";
import type { Category } from "../support/twin/compare.ts";
import { readDrafts } from "../support/twin/drafts.ts";
import { TwinPlayer } from "../support/twin/play.ts";
import { defineCustomKinds, fakeServer, realServer, typesOf } from "../support/twin/servers.ts";
import { Summary } from "../support/twin/summary.ts";
import { clusterTests, report } from "./_cluster.ts";
import { isNewest, minorOfServer } from "./_versions.ts";

const cluster = clusterTests({ flags: ["--allow-privileged"] });

/** The number of cases; their seeds begin at 1. */
const CASES = 60;

/** The percentage of cases that are equal at least. It only rises. */
const FLOORS: Readonly<Record<Exclude<Category, "texts">, number>> = { answer: 95, object: 95, fields: 95 };

/** Of older servers, which lack fields, defaults and rules that the fake has: 1.32 is equal in 65 % of the objects. */
const FLOOR_OF_OLDER = 60;

cluster.withPlane("the fake answers random requests as this server does", async ({ client, kubeconfig }) => {
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
  const newest = isNewest(await minorOfServer(client));
  for (const [category, wanted] of Object.entries(FLOORS) as [keyof typeof FLOORS, number][]) {
    const floor = newest ? wanted : FLOOR_OF_OLDER;
    const percent = 100 * summary.share(category);
    report(`${category}: ${percent.toFixed(1)} % of ${CASES} cases are equal`);
    assert(percent >= floor, `${category}: ${percent} % of the cases are equal, expected at least ${floor} %`);
  }
});
