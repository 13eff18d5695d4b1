// Own writes of a reconciler, read at once, and their events, on a real server.
import type { Draft } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { type ReconcileContext, Reconciler, writeStatus } from "@kube/informer/reconcile";
import { assert, assertEquals } from "@std/assert";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { clusterTests } from "./_cluster.ts";

const cluster = clusterTests();

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const WEB: Draft<Deployment> = {
  metadata: { name: "web" },
  spec: { selector: { matchLabels: template.metadata.labels }, template },
};
const STATUS = { observedGeneration: 1, replicas: 1 };
/** Kubernetes sends fields without omitempty, and times in whole seconds. */
const CONDITIONS = [{ type: "Available", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] as const;

/** The ways to write the status of the Deployment "web". */
const WRITES: Readonly<Record<string, (context: ReconcileContext<Deployment>, namespace: string) => Promise<unknown>>> =
  {
    "writeStatus()": ({ client, object }, namespace) =>
      writeStatus(client.resource(Deployment, { namespace }), object!, { ...STATUS, conditions: CONDITIONS }),
    "a merge patch": ({ client }, namespace) =>
      client.resource(Deployment, { namespace }).patch(
        "web",
        { type: "merge", body: { status: { ...STATUS, conditions: CONDITIONS } } },
        { subresource: "status" },
      ),
    "an update": ({ client, object }, namespace) =>
      client.resource(Deployment, { namespace }).update({ ...structuredClone(object!), status: STATUS } as never, {
        subresource: "status",
      }),
    "an apply": ({ client }, namespace) =>
      client.resource(Deployment, { namespace }).apply(
        { metadata: { name: "web" }, status: STATUS } as never,
        { fieldManager: "webs", force: true, subresource: "status" },
      ),
  };

for (const [name, write] of Object.entries(WRITES)) {
  cluster.anywhere(`a reconcile that writes its status by ${name} runs once`, async ({ client, namespace }) => {
    const webs = client.resource(Deployment, { namespace });
    const calls: string[] = [];
    await using reconciler = new Reconciler(client, Deployment, async (_key, context) => {
      calls.push(context.causes.map(({ event, type }) => event ?? type).join("+"));
      await write(context, namespace);
      assertEquals(context.object?.status?.replicas, 1); // its own write
    }, { informer: { namespace } });
    const running = reconciler.run();
    /** Waits until the cache has the present state, and its events were answered. */
    const settled = async (): Promise<void> => {
      await withDeadline("the reconciler to be idle", async (signal) => {
        await reconciler.idle({ signal });
        const { metadata } = await webs.get("web", { signal });
        await reconciler.informer.atLeast(metadata.resourceVersion, { signal });
        await reconciler.idle({ signal });
      });
    };
    await withDeadline("the reconciler to run", (signal) => reconciler.idle({ signal }));
    await webs.create(WEB);
    await settled();
    assertEquals(calls, ["added"]);
    await webs.patch("web", { type: "merge", body: { metadata: { annotations: { by: "somebody" } } } });
    await settled();
    await webs.patch("web", { type: "merge", body: { status: { replicas: 2 } } }, { subresource: "status" });
    await settled();
    assertEquals(calls, ["added", "updated", "updated"]);
    await reconciler[Symbol.asyncDispose]();
    await running;
  });
}

cluster.anywhere(
  "a reconcile reads what it has written, and skips its events where asked",
  async ({ client, namespace }) => {
    const seen: unknown[] = [];
    const calls: string[] = [];
    await using reconciler = new Reconciler(client, Deployment, async (_key, { causes, client, cache, object }) => {
      calls.push(causes.map(({ event, type }) => event ?? type).join("+"));
      if (object === undefined || calls.length > 1) return;
      const maps = client.resource(ConfigMap, { namespace });
      const read = (): unknown => cache(ConfigMap).get(`${namespace}/web`)?.data?.n;
      await maps.apply({ metadata: { name: "web" }, data: { n: "1" } }, { fieldManager: "webs" });
      seen.push(read());
      await maps.apply({ metadata: { name: "web" }, data: { n: "2" } }, { fieldManager: "webs" });
      seen.push(read());
      await maps.update({ ...structuredClone(await maps.get("web")), data: { n: "3" } } as never);
      seen.push(read(), cache(ConfigMap).list().length);
      await maps.delete("web");
      seen.push(read(), cache(ConfigMap).list().length);
      await maps.create({ metadata: { name: "web" }, data: { n: "4" } });
      seen.push(read());
    }, { informer: { namespace } });
    reconciler.watches(ConfigMap, ({ name }) => name === "web" ? [`${namespace}/web`] : [], {
      echoes: "skip",
      informer: { namespace, fieldSelector: "metadata.name=web" },
    });
    const running = reconciler.run();
    await withDeadline("the reconciler to run", (signal) => reconciler.idle({ signal }));
    await client.resource(Deployment, { namespace }).create(WEB);
    await withDeadline("the write to be seen", async (signal) => {
      await reconciler.informers.forResource(ConfigMap, {
        namespace,
        fieldSelector: "metadata.name=web",
      }).until(({ data }) => data?.n === "4", { signal });
      await reconciler.idle({ signal });
    });
    assertEquals(seen, ["1", "2", "3", 1, undefined, 0, "4"]);
    // A deletion has no version in its answer, so that its event is a cause; the creation may supersede it, too.
    assertEquals([calls[0], calls.filter((causes) => /added|updated/.test(causes)).length], ["added", 1]);
    assert(calls.slice(1).some((causes) => causes.includes("deleted")), `${calls}`);
    await reconciler[Symbol.asyncDispose]();
    await running;
  },
);
