import { SharedIndexInformer } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals } from "@std/assert";
import { untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { mapDraft } from "../support/cluster/writers.ts";
import { InjectingTransport, oddLines } from "../support/sources/odd_events.ts";
import { clusterTests } from "./_cluster.ts";

const cluster = clusterTests();

cluster.anywhere(
  "after an odd event in a watch, informers are live with the next watch, and know what is new",
  async (setting) => {
    const { client, namespace } = setting;
    const maps = client.resource(ConfigMap, { namespace });
    await maps.create(mapDraft("a"));
    // One of ten, and the bookmarks without a version; the fake plays all.
    const lines = [...new Set(oddLines())].filter((line, i) =>
      i % 10 === 0 || /BOOKMARK.*metadata":(\{\}|null)/.test(line)
    );
    assert(lines.length > 30, `${lines.length}`);
    await using stack = new AsyncDisposableStack();
    const followed = await Promise.all(lines.map(async (line) => {
      let transport!: InjectingTransport;
      const own = await setting.connect({ wrapTransport: (to) => transport = new InjectingTransport(to, line, 1) });
      const informer = new SharedIndexInformer<ConfigMap>(own.resource(ConfigMap, { namespace }), {
        onError: () => {}, // what is odd is reported
        reflector: { streamingList: "off", watchTimeoutMs: 2_000 },
      });
      stack.use(informer);
      informer.run();
      return { line, transport, informer };
    }));
    for (const { line, transport, informer } of followed) {
      await untilStatus(informer, line, ({ state }) => state === "live" && transport.watches > 1);
    }
    await maps.create(mapDraft("b"));
    for (const { line, informer } of followed) {
      await withDeadline(line, (signal) => informer.until(() => true, { key: `${namespace}/b`, signal }), 20_000);
      assertEquals(informer.lister.get(`${namespace}/a`)?.metadata.name, "a");
    }
  },
);
