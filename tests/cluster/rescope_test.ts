// An informer whose scope changes while somebody writes.
import { SharedIndexInformer } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { assertEquals } from "@std/assert";
import { Random } from "../../src/testing/fake/random.ts";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { clusterTests, report, seconds } from "./_cluster.ts";

const cluster = clusterTests();

cluster.anywhere(
  "SharedIndexInformer.rescope() follows each scope of 50 random histories, and delivers each object once",
  async (setting) => {
    const { client, namespace: first } = setting;
    const places = [first, await setting.newNamespace(), await setting.newNamespace()];
    const mine = { rescoped: "yes" };
    const beganMs = performance.now();
    let [changes, events, longestMs] = [0, 0, 0];
    for (let seed = 1; seed <= 50; seed++) {
      const random = new Random(seed);
      const source = client.resource(ConfigMap, { namespace: first, labelSelector: "rescoped" });
      await using maps = new SharedIndexInformer(source, {
        compact: seed % 2 === 0,
        reflector: { pageSize: random.pick([2, 500]), streamingList: random.pick(["auto", "off"]) },
      });
      const checker = new EventChecker(maps);
      maps.run();
      await withDeadline("the first list", (signal) => maps.waitForCacheSync({ signal }));
      const write = async (): Promise<void> => {
        const namespace = random.pick(places);
        const name = `map-${random.below(4)}`;
        const objects = client.resource(ConfigMap, { namespace });
        if (random.next() < 0.25) return void await objects.delete(name).catch(() => {});
        const metadata = { name, labels: { ...mine, tier: random.pick(["web", "db"]) } };
        await objects.apply({ metadata, data: { value: String(random.below(1_000)) } }, {
          fieldManager: "rescopes",
          force: true,
        });
      };
      for (let step = 0; step < 4; step++) {
        const some = places.filter(() => random.next() < 0.5);
        const namespaces = some.length === 0 || random.next() < 0.3 ? null : some;
        const labelSelector = `rescoped${random.pick(["", "", ",tier=web", ",tier=db"])}`;
        const change = random.pick([{ namespaces }, { labelSelector }, { namespaces, labelSelector }]);
        const began = performance.now();
        const rescoped = withDeadline("a new scope", (signal) => maps.rescope(change, { signal }));
        await Promise.all([
          write(),
          write(),
          rescoped.then(() => longestMs = Math.max(longestMs, performance.now() - began)),
        ]);
        await write();
        changes++;
      }
      const selected = async (): Promise<string[]> => {
        const lists = maps.selections.map((selection) => client.resource(ConfigMap, selection).list());
        return (await Promise.all(lists)).flatMap(({ items }) => items).map(({ metadata }) =>
          `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`
        ).sort();
      };
      const expected = await selected();
      const cached = (): string[] => [...maps.entries].map((it) => `${it.key}@${it.resourceVersion}`).sort();
      await withDeadline("the cache", async (signal) => {
        for await (const _event of maps.events({ signal })) if (cached().join() === expected.join()) return;
      });
      assertEquals([cached(), await checker.end()], [expected, []], `seed ${seed}`);
      const { added, updated, deleted } = checker.counts;
      events += added + updated + deleted;
    }
    report(
      `${changes} changes of scope, ${events} events, in ${seconds(beganMs)}; the longest took ${
        Math.round(longestMs)
      } ms`,
    );
  },
);
