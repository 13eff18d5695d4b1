// upgrade_test.ts: upgrades the first release to the second one, with users, faults and a rollback. For more seeds:
// deno test examples/website_v2/upgrade_test.ts -- 1000
import { upgrade } from "@kube/informer/testing/chaos";
import process from "node:process";
import { test } from "node:test";
import { websiteUpgrade } from "./releases.ts";

const SEEDS = Number(process.argv[2] ?? 10);

test(`the second release takes over, and goes back, in ${SEEDS} seeds of users and faults`, async () => {
  await upgrade({ ...websiteUpgrade, seeds: SEEDS });
});
