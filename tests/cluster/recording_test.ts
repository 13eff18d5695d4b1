// A recording of a real server, of which a replay leaves the same objects.
import { ConfigMap, Pod, Secret } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals } from "@std/assert";
import { clusterTests, report } from "./_cluster.ts";
import { differences } from "../support/cluster/compare.ts";
import { informer } from "../support/program.ts";
import { replayed, untilText } from "../support/recorded.ts";
import { forEach, mapDraft, names, podDraft } from "../support/cluster/writers.ts";

const cluster = clusterTests();

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
