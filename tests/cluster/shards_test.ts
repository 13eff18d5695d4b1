// Shards on a real server that ignores them, and on one that filters.
import { fixedShard, SharedInformerFactory } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals } from "@std/assert";
import { type HashRange, hashRange, ShardFilter, type ShardSource } from "../../src/engine/api/shard.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { mapDraft } from "../support/cluster/writers.ts";
import { clusterTests, MINOR } from "./_cluster.ts";
import { hasFeature } from "./_versions.ts";

const COUNT = 4;

/** Ranges that the test changes. */
class Held implements ShardSource {
  readonly name = "held";
  readonly by = "uid";
  #indexes: readonly number[] = [0];
  #listener: (() => void) | undefined;

  ranges(): readonly HashRange[] {
    return this.#indexes.map((index) => hashRange(index, COUNT));
  }

  onChange(listener: () => void): Disposable {
    this.#listener = listener;
    return { [Symbol.dispose]: () => this.#listener = undefined };
  }

  hold(...indexes: number[]): void {
    this.#indexes = indexes;
    this.#listener?.();
  }
}

for (const filters of [false, true]) {
  const isThere = MINOR === undefined || hasFeature(MINOR, "server-side shards");
  // On by default since 1.38.
  const flags = isThere ? [`--feature-gates=ShardedListAndWatch=${filters}`] : [];
  clusterTests({ flags }).withPlane(
    `Informers of shards have each object once, and ranges come and go, on a server that ${
      filters ? "filters" : "ignores shards"
    }`,
    async ({ client, namespace }) => {
      const maps = client.resource(ConfigMap, { namespace });
      for (let i = 0; i < 40; i++) await maps.create(mapDraft(`m-${i}`));
      await using informers = new SharedInformerFactory(client, { namespace });
      const held = new Held();
      const moving = informers.forResource(ConfigMap, { shard: held });
      const shards = Array.from({ length: COUNT }, (_, index) => {
        return informers.forResource(ConfigMap, { shard: `${index}/${COUNT}` });
      });
      const names = informers.forResource(ConfigMap, { shard: fixedShard("0/1", "namespace") });
      informers.start();
      await withDeadline("the sync", (signal) => informers.waitForCacheSync({ signal }));
      const later = await maps.create(mapDraft("later"));
      const version = (await maps.delete("m-3") as ConfigMap).metadata?.resourceVersion ??
        later.metadata.resourceVersion;
      const current = (await maps.list()).items;
      await withDeadline("the writes", async (signal) => {
        await names.waitForVersion(version, { signal });
        while (shards.reduce((sum, { indexer }) => sum + indexer.size, 0) !== current.length) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          signal.throwIfAborted();
        }
      });
      for (const [index, { indexer }] of shards.entries()) {
        const ours = new ShardFilter("uid", [hashRange(index, COUNT)]);
        const expected = current.filter(({ metadata: { uid } }) => ours.has({ uid, namespace }));
        assertEquals(
          [...indexer.keys()].sort(),
          expected.map(({ metadata: { name } }) => `${namespace}/${name}`).sort(),
        );
      }
      // What the server selects by several ranges is what the hash selects here.
      const two = new ShardFilter("uid", [hashRange(0, COUNT), hashRange(2, COUNT)]);
      const { items } = await maps.list({ shard: two });
      assertEquals(items.length, shards[0].indexer.size + shards[2].indexer.size);
      assertEquals(two.dropped, filters ? 0 : current.length - items.length);
      const seen: string[] = [];
      moving.addEventHandler({ onDelete: ({ key, reason }) => void seen.push(`${key} ${reason}`) });
      const before = [...moving.indexer.keys()];
      held.hold(1, 3);
      assertEquals(moving.indexer.size, 0);
      await withDeadline("the ranges that came", async (signal) => {
        while (moving.indexer.size !== shards[1].indexer.size + shards[3].indexer.size) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          signal.throwIfAborted();
        }
      });
      assertEquals(seen.sort(), before.map((key) => `${key} moved`).sort());
      assert(before.length > 0);
      const [key] = moving.indexer.keys();
      await maps.delete(key.split("/")[1]);
      await withDeadline("a deletion", (signal) => moving.untilDeleted(key, { signal }));
    },
    ...filters ? ["server-side shards"] as const : [],
  );
}
