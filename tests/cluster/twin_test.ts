import { ConfigMap, Pod, Secret } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals } from "@std/assert";
import { differences } from "../support/cluster/compare.ts";
import { forEach, mapDraft, names, podDraft } from "../support/cluster/writers.ts";
import { informer } from "../support/processes/program.ts";
import { replayed, untilText } from "../support/processes/recorded.ts";
import { ACCEPTED } from "../support/twin/accepted.ts";
import { caseOf } from "../support/twin/cases.ts";
import type { Category } from "../support/twin/compare.ts";
import { readDrafts } from "../support/twin/drafts.ts";
import { TwinPlayer } from "../support/twin/play.ts";
import { defineCustomKinds, fakeServer, realServer, typesOf } from "../support/twin/servers.ts";
import { checkStrictBodies } from "../support/twin/strict_bodies.ts";
import { compareValues } from "../support/twin/values.ts";
import { Summary } from "../support/twin/summary.ts";
import { clusterTests, report } from "./_cluster.ts";
import { isNewest, minorOfServer, strictYamlText } from "./_versions.ts";

// The fake beside this server: the same random requests, and what is equal today stays equal.

const cluster = clusterTests({ flags: ["--allow-privileged"] });

/** The number of cases; their seeds begin at 1. */
const CASES = 60;

/** The number of values that three checks are asked for. */
const VALUES = 1_500;

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
  const summary = new Summary(ACCEPTED);
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

cluster.withPlane("the fake and validate() take and refuse the values that this server does", async (context) => {
  using real = await realServer(context.kubeconfig);
  using fake = fakeServer();
  const minor = await minorOfServer(context.client);
  const tally = await compareValues(real, fake, { count: VALUES, from: 1, minor, onKind: () => {} });
  report(`${tally.values} values, ${tally.refused} refused`);
  assertEquals(tally.differences.filter((text) => !text.startsWith("message")), []);
  assertEquals([tally.answers, tally.causes], [VALUES, VALUES]);
});

cluster.withPlane(
  "the fake reports what a body has twice, as this server does",
  async (context) => {
    using real = await realServer(context.kubeconfig);
    await defineCustomKinds(real);
    await checkStrictBodies(real, context.namespace, strictYamlText(await minorOfServer(context.client)));
  },
);

// A recording of a real server, of which a replay leaves the same objects.

cluster.withPlane(
  "a recording of changes, while the API server is killed, is replayed to the objects that the server has",
  async ({ client, namespace, plane }) => {
    const pods = client.resource(Pod, { namespace });
    const maps = client.resource(ConfigMap, { namespace });
    const secrets = client.resource(Secret, { namespace });
    await forEach(names("pod", 40), (name) => pods.create(podDraft(name)));
    await secrets.create({ metadata: { name: "login" }, data: { password: btoa("planted") } });
    const path = `${plane.folder}/incident.jsonl`;
    const kinds = "pods,cm,secrets";
    await using program = informer("record", kinds, "-n", namespace, "--out", path, "--kubeconfig", plane.kubeconfig);
    await program.err.line(/^recording/);
    await untilText(path, (text) => text.split(`"LISTED"`).length === 4);
    const change = async (round: string, from: number): Promise<void> => {
      const some = names("pod", from + 10).slice(from);
      await forEach(some, (name) => pods.patch(name, { type: "merge", body: { metadata: { labels: { round } } } }));
      await forEach(some.slice(5), (name) => pods.delete(name, { gracePeriodSeconds: 0 }));
      await forEach(names(round, 10), (name) => maps.create(mapDraft(name)));
    };
    await change("before", 0);
    await plane.kill9("apiserver");
    await plane.ensureRunning();
    await change("after", 20);
    await pods.create(podDraft("zz-last"));
    await maps.create(mapDraft("zz-last"));
    await secrets.patch("login", { type: "merge", body: { metadata: { labels: { last: "zz-last" } } } });
    await untilText(path, (text) => ["Pod", "ConfigMap", "Secret"].every((kind) => lastOf(kind, text)));
    program.kill("SIGTERM");
    const { code, errors } = await program.ended();
    assertEquals(code, 0, errors);
    const text = await Deno.readTextFile(path);
    assert(!text.includes(btoa("planted")));
    const ends = text.match(/"type":"ENDED"/g) ?? [];
    assert(ends.length > 0, "no watch was broken");
    report(`${text.split("\n").length} lines, ${text.length} bytes, ${ends.length} broken watches: ${errors.trim()}`);

    for (const collection of [pods, maps]) {
      const { items } = await collection.list();
      assertEquals(differences(await replayed(path, collection.resource, 100), items), [], collection.resource.plural);
    }
    const { items } = await secrets.list({ secretData: "drop" });
    assertEquals(differences(await replayed(path, Secret, 100), items), []);
  },
);

/** True if the text has the last write of a kind. */
function lastOf(kind: string, text: string): boolean {
  return text.split("\n").some((line) => line.includes("zz-last") && line.includes(`"kind":"${kind}"`));
}
