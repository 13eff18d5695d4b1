// A collection that is derived from two kinds of a real server, beside what the server has in the end.
import { derive, deriveGroups, path, SharedInformerFactory } from "@kube/informer";
import { ConfigMap, ServiceAccount } from "@kube/informer/kinds/core/v1";
import { assertEquals } from "@std/assert";
import { clusterTests } from "./_cluster.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";

clusterTests().withPlane(
  "derived collections equal the objects of a real server after many writes",
  async ({ client, namespace }) => {
    const maps = client.resource(ConfigMap, { namespace });
    const accounts = client.resource(ServiceAccount, { namespace });
    await using informers = new SharedInformerFactory(client, { namespace });
    const cachedAccounts = informers.forResource(ServiceAccount, { indexers: { tier: path("metadata.labels.tier") } });
    const cachedMaps = informers.forResource(ConfigMap, { labelSelector: "test=derived" });
    await using joined = derive(cachedMaps, ({ metadata: { name }, data }, { fetch }) => ({
      metadata: { name, labels: { tier: data?.tier ?? "" } },
      owner: fetch(cachedAccounts, { key: `${namespace}/${data?.owner}` })?.metadata.labels?.tier ?? "none",
      same: fetch(cachedAccounts, { index: "tier", value: data?.tier ?? "" }).length,
    }), { indexers: { owner: ({ owner }) => [owner] } });
    await using owners = deriveGroups(joined, "owner", ({ value, objects }) => ({
      metadata: { name: value },
      names: objects.map(({ metadata }) => metadata.name).sort(),
    }));
    informers.start();
    await withDeadline("the sync", (signal) => owners.waitForCacheSync({ signal }));
    const labels = { test: "derived" };
    await Promise.all(["a", "b"].map((name, i) => accounts.create({ metadata: { name, labels: { tier: `t${i}` } } })));
    for (let i = 0; i < 6; i++) {
      await maps.create({
        metadata: { name: `m-${i}`, labels },
        data: { tier: `t${i % 3}`, owner: i % 2 ? "a" : "b" },
      });
    }
    await accounts.patch("a", { type: "merge", body: { metadata: { labels: { tier: "t2" } } } });
    await maps.delete("m-0");
    await accounts.delete("b");
    await withDeadline("the last state", async (signal) => {
      await owners.untilDeleted("t1", { signal });
      await owners.until(({ metadata: { name }, names }) => name === "t2" && names.length === 3, { signal });
      await owners.until(({ metadata: { name }, names }) => name === "none" && names.length === 2, { signal });
    });
    assertEquals(owners.lister.list().map(({ metadata: { name }, names }) => [name, ...names]).sort(), [
      ["none", "m-2", "m-4"],
      ["t2", "m-1", "m-3", "m-5"],
    ]);
    assertEquals(joined.lister.list("tier=t2").map(({ metadata: { name }, same }) => [name, same]).sort(), [
      ["m-2", 1],
      ["m-5", 1],
    ]);
  },
);
