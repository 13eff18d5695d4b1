// Informers of Secrets on a real server: they keep no data, and no write of what they cache removes any.
import { metadataOf, path, type SharedIndexInformer, SharedInformerFactory } from "@kube/informer";
import { Secret } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { clusterTests } from "./_cluster.ts";
import { needsOf } from "./_versions.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";

const cluster = clusterTests();

/** The texts and objects that an informer keeps. */
function keptBy({ entries }: Pick<SharedIndexInformer<Secret>, "entries">): string {
  return JSON.stringify(
    [...entries].map((entry) => [(entry as { readonly text?: unknown }).text ?? null, entry.object]),
  );
}

for (const [title, streamingList] of [["pages", "off"], ["a streaming list", "on"]] as const) {
  cluster.anywhere(
    `an informer of Secrets keeps no data, by ${title} and by a watch, and writes of them are refused`,
    async (setting) => {
      const { client, namespace } = setting;
      const secrets = client.resource(Secret, { namespace });
      // As `kubectl apply` writes it: a copy of the data is in an annotation.
      const annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ stringData: { password: "PLANTED" } }),
        "example.com/owner": "ä shop",
      };
      for (const name of ["a", "b"]) {
        await secrets.create({
          metadata: { name, annotations, labels: { app: "web" } },
          stringData: { password: "PLANTED" },
        });
      }
      const encoded = btoa("PLANTED");
      await using informers = new SharedInformerFactory(client, {
        namespace,
        reflector: { streamingList },
        onError: () => {},
      });
      const lean = informers.forResource(Secret, {
        indexers: { owner: path('metadata.annotations["example.com/owner"]') },
      });
      const metadata = informers.forResource(metadataOf(Secret));
      const whole = informers.forResource(Secret, { keep: "data" });
      const earlier: string[] = [];
      lean.addEventHandler({
        onAdd: ({ object }) => earlier.push(JSON.stringify(object)),
        onUpdate: ({ previous, object }) => earlier.push(JSON.stringify([previous, object])),
        onDelete: ({ object }) => earlier.push(JSON.stringify(object)),
      });
      informers.start();
      await withDeadline("the first sync", (signal) => informers.waitForCacheSync({ signal }));
      await secrets.patch("a", {
        type: "merge",
        body: { data: { more: encoded }, metadata: { labels: { app: "db" } } },
      });
      await secrets.create({ metadata: { name: "c", annotations }, data: { password: encoded } });
      await secrets.delete("b");
      const last = await secrets.create({ metadata: { name: "d", annotations }, data: { password: encoded } });
      for (const informer of [lean, metadata, whole]) {
        await informer.atLeast(last.metadata.resourceVersion, { signal: AbortSignal.timeout(30_000) });
      }
      assertEquals(lean.indexer.indexKeys("owner", "ä shop"), ["a", "c", "d"].map((name) => `${namespace}/${name}`));
      const kept = [keptBy(lean as never), keptBy(metadata as never), ...earlier];
      assertEquals(kept.filter((text) => text.includes("PLANTED") || text.includes(encoded)), []);
      assert(earlier.length >= 6, earlier.join("\n"));
      assertEquals(lean.lister.list("app=db").map(({ metadata, type }) => [metadata.name, type]), [["a", "Opaque"]]);
      assertEquals(whole.lister.get(`${namespace}/a`)?.data, { password: encoded, more: encoded });

      const cached = lean.lister.get(`${namespace}/a`) as Secret;
      assertThrows(() => cached.data, TypeError, 'keep: "data"');
      const labelled = { ...cached, metadata: { ...cached.metadata, labels: { app: "x" } } };
      await assertRejects(() => secrets.update(cached as never), TypeError, "it is reduced to");
      await assertRejects(() => secrets.update(labelled as never), TypeError, "it is reduced to");
      await assertRejects(
        () => secrets.apply(cached as never, { fieldManager: "test" }),
        TypeError,
        "it is reduced to",
      );
      assertEquals((await secrets.get("a")).data, { password: encoded, more: encoded });
    },
    ...needsOf(streamingList),
  );
}
