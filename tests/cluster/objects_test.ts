import { defineResource, isConflict, type KubernetesObject, type ObjectDraft, type Resource } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Node, Pod } from "@kube/informer/kinds/core/v1";
import { ClusterRole } from "@kube/informer/kinds/rbac/v1";
import {
  createOrUpdate,
  EventRecorder,
  finalize,
  type ReconcileContext,
  Reconciler,
  upgradeManagedFields,
  withController,
  writeStatus,
} from "@kube/informer/reconcile";
import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { delay } from "@std/async";
import { ApplyPlayer, isLeftOut, type Outcome } from "../support/applies/play.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { podDraft } from "../support/cluster/writers.ts";
import { readDrafts } from "../support/twin/drafts.ts";
import { defineCustomKinds, realServer, typesOf } from "../support/twin/servers.ts";
import { clusterTests, report } from "./_cluster.ts";

// The writes of controllers, as a real server checks them.

const cluster = clusterTests({ flags: ["--allow-privileged"] });

cluster.anywhere(
  "finalize guards an object on a real server, cleans it up and lets it go",
  async ({ client, namespace }) => {
    const maps = client.resource(ConfigMap, { namespace });
    const stale = await maps.create({ metadata: { name: "tab" } });
    await maps.patch("tab", { type: "merge", body: { data: { a: "1" } } });
    const cleaned: string[] = [];
    const guard = (object: ConfigMap): Promise<ConfigMap | undefined> =>
      finalize(maps, object, {
        finalizer: "example.com/backups",
        cleanup: ({ metadata }) => void cleaned.push(metadata.name),
      });
    const guarded = await guard(stale);
    assertEquals([guarded?.metadata.finalizers, guarded?.data], [["example.com/backups"], { a: "1" }]);
    await maps.delete("tab");
    const deleted = await maps.get("tab");
    await maps.patch("tab", { type: "merge", body: { data: { a: "2" } } });
    assertEquals([await guard(deleted), cleaned], [undefined, ["tab"]]);
    assertEquals((await maps.list()).items.filter(({ metadata }) => metadata.name === "tab"), []);
    // A stale copy of an object that is gone.
    assertEquals([await guard(stale), cleaned], [undefined, ["tab"]]);
  },
);

cluster.anywhere(
  "upgradeManagedFields on a real server lets an apply remove what updates wrote, and says so before",
  async ({ client, namespace }) => {
    const by = { fieldManager: "shop", force: true } as const;
    const maps = client.resource(ConfigMap, { namespace });
    const draft = { metadata: { name: "moved" }, data: { key: "v" } };
    let current = await maps.create({ ...draft, data: { key: "v", legacy: "old" } });
    await maps.patch("moved", { type: "merge", body: { data: { theirs: "1" } } }, { fieldManager: "kubectl-edit" });
    const results: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const { object, reason, kept } = await maps.applyIfChanged(draft, { ...by, current });
      results.push([reason === undefined, kept]);
      current = object;
    }
    const kept = '"kube-informer" owns data.legacy by an update';
    assertEquals(results, [[false, kept], [true, kept]]);
    const from = { from: "kube-informer", fieldManager: "shop" };
    const upgraded = await upgradeManagedFields(maps, current, from);
    const managers = upgraded.metadata.managedFields?.map(({ manager, operation }) => `${manager}/${operation}`);
    assertEquals(managers?.sort(), ["kubectl-edit/Update", "shop/Apply"]);
    assertEquals(upgraded.data, { key: "v", legacy: "old", theirs: "1" });
    const { metadata: { resourceVersion } } = await upgradeManagedFields(maps, current, from);
    assertEquals(resourceVersion, upgraded.metadata.resourceVersion); // nothing was written
    const last = await maps.applyIfChanged(draft, { ...by, current: upgraded });
    assertEquals([last.reason, last.kept, last.object.data], ["data.legacy differs", undefined, {
      key: "v",
      theirs: "1",
    }]);

    // A Deployment that was created by an update: the fields that the server filled in are filled in again.
    const deployments = client.resource(Deployment, { namespace });
    const web = (proxy: boolean): ObjectDraft<Deployment> & { readonly metadata: { readonly name: string } } => ({
      metadata: { name: "moved" },
      spec: {
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: { containers: [{ name: "app", image: "a" }, ...(proxy ? [{ name: "proxy", image: "b" }] : [])] },
        },
      },
    });
    const first = await deployments.create(web(true));
    await deployments.patch("moved", { type: "merge", body: { status: { replicas: 1 } } }, { subresource: "status" });
    const own = await upgradeManagedFields(deployments, first, from);
    assertEquals(
      own.metadata.managedFields?.map((it) => `${it.manager}/${it.operation}/${it.subresource ?? ""}`).sort(),
      [
        ...["kube-informer/Update/status", "shop/Apply/"],
      ],
    );
    const moved = await deployments.apply(web(false) as never, by);
    assertEquals(moved.spec.template.spec?.containers?.map(({ name }) => name), ["app"]);
    assertEquals(moved.spec.progressDeadlineSeconds, first.spec.progressDeadlineSeconds);
    // Each try reads the object again, so writes by others do not fail it.
    const busy = Array.from(
      { length: 4 },
      (_, i) => maps.patch("moved", { type: "merge", body: { data: { n: `${i}` } } }),
    );
    await Promise.all([...busy, upgradeManagedFields(maps, current, from)]);
  },
);

cluster.anywhere(
  "an owner's namespace decides where a draft goes, and the server drops the namespace of a cluster-scoped object",
  async (setting) => {
    const { client, namespace } = setting;
    const other = await setting.newNamespace();
    const maps = client.resource(ConfigMap);
    const owner = await maps.namespace(namespace).create({ metadata: { name: "parent" } });
    const elsewhere = client.resource(ConfigMap, { namespace: other });
    const draft = withController({ metadata: { name: "child" } }, owner);
    await assertRejects(() => elsewhere.apply(draft, { fieldManager: "shop" }), TypeError, "covers only namespace");
    assertEquals((await maps.apply(draft, { fieldManager: "shop" })).metadata.namespace, namespace);
    const roles = client.resource(ClusterRole);
    const { metadata: { name } } = await roles.create({ metadata: { generateName: "scoped-" } });
    await assertRejects(() => roles.apply({ metadata: { name, namespace } }, { fieldManager: "shop" }), TypeError);
    const patched = await roles.patch(name, { type: "merge", body: { metadata: { namespace } as never } });
    assertEquals(patched.metadata.namespace, undefined); // which the client refuses where it sees it
    await roles.delete(name);
  },
);

cluster.anywhere(
  "createOrUpdate and writeStatus write on a real server once, and refuse stale objects",
  async ({ client, namespace }) => {
    const maps = client.resource(ConfigMap, { namespace });
    const owner = await maps.create({ metadata: { name: "owner" } });
    const draft = withController({ metadata: { name: "owned" }, data: { colour: "red" } }, owner);
    const operations: string[] = [];
    for (const colour of ["red", "red", "blue"]) {
      const { operation } = await createOrUpdate(maps, draft, (map) => ({
        ...withController(map, owner),
        data: { colour },
      }));
      operations.push(operation);
    }
    assertEquals(operations, ["created", "unchanged", "updated"]);

    const pods = client.resource(Pod, { namespace });
    const pod = await pods.create(podDraft("web"));
    const written = await writeStatus(pods, pod, { ...pod.status, phase: "Running" });
    assertEquals(written.status?.phase, "Running");
    assertStrictEquals(await writeStatus(pods, written, { ...written.status, phase: "Running" }), written);
    assert(isConflict(await assertRejects(() => writeStatus(pods, pod, { ...pod.status, phase: "Failed" }))));
  },
);

// Own writes of a reconciler, read at once, and their events, on a real server.

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const WEB: ObjectDraft<Deployment> = {
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
    await using reconciler = new Reconciler(client, Deployment, async (context) => {
      calls.push(context.triggers.map(({ event, type }) => event ?? type).join("+"));
      await write(context, namespace);
      assertEquals(context.object?.status?.replicas, 1); // its own write
    }, { informer: { namespace } });
    const running = reconciler.run();
    /** Waits until the cache has the present state, and its events were answered. */
    const settled = async (): Promise<void> => {
      await withDeadline("the reconciler to be idle", async (signal) => {
        await reconciler.idle({ signal });
        const { metadata } = await webs.get("web", { signal });
        await reconciler.informer.waitForVersion(metadata.resourceVersion, { signal });
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
    await using reconciler = new Reconciler(
      client,
      Deployment,
      async ({ triggers: causes, client, cache, object }) => {
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
      },
      { informer: { namespace } },
    );
    reconciler.watches(ConfigMap, ({ name }) => name === "web" ? [`${namespace}/web`] : [], {
      ownWrites: "ignore",
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

// Applies that are left out, beside applies that are always sent: random drafts, whose seeds begin at 1.

/** The number of cases. */
const CASES = 170;

/** The percentage of applies that change nothing and are not sent: of 1,000 cases 95, of a sample of this size less. */
const FLOOR = 90;

cluster.withPlane(
  "applyIfChanged leaves out nothing but what changes nothing",
  async ({ client, kubeconfig, namespace }) => {
    const drafts = readDrafts();
    using real = await realServer(kubeconfig);
    await defineCustomKinds(real);
    await using player = new ApplyPlayer(client, namespace, drafts, await typesOf(real, drafts.kinds));
    await player.start();
    const outcomes: Outcome[] = [];
    for (let seed = 1; seed <= CASES; seed++) outcomes.push(await player.play(seed));
    for (const outcome of outcomes.filter(isLeftOut)) {
      assertEquals(outcome.after, outcome.before, `left out: seed ${outcome.seed}, ${outcome.kind}, ${outcome.way}`);
    }
    const idle = outcomes.filter(({ apply }) => apply === "changes nothing");
    const percent = 100 * idle.filter(({ reason }) => reason === undefined).length / idle.length;
    report(`${percent.toFixed(1)} % of ${idle.length} applies that change nothing were not sent`);
    assert(
      percent >= FLOOR,
      `${percent} % of the applies that change nothing were not sent, expected at least ${FLOOR} %`,
    );
  },
);

// Events of controllers as a real server checks and stores them.

/** Events as `kubectl describe` reads them. */
interface CoreEvent extends KubernetesObject {
  readonly message?: string;
  readonly reason?: string;
  readonly type?: string;
  readonly involvedObject: { readonly name?: string };
  readonly series?: { readonly count?: number };
}
const CoreEvent: Resource<CoreEvent> = defineResource<CoreEvent>({ version: "v1", plural: "events", kind: "Event" });

async function until(what: string, holds: () => boolean): Promise<void> {
  await withDeadline(what, async (signal) => {
    while (!holds()) await delay(10, { signal });
  });
}

cluster.anywhere("EventRecorder writes events and series that the server accepts and kubectl sees", async (setting) => {
  const { namespace } = setting;
  const warnings: string[] = [];
  const client = await setting.connect({ onWarning: (warning) => void warnings.push(warning) });
  const map = await client.resource(ConfigMap, { namespace }).create({ metadata: { name: "wall" } });
  const node = await client.resource(Node).create({ metadata: { name: `node-${namespace}` } });
  const errors: unknown[] = [];
  const recorder = new EventRecorder(client, {
    controller: "example.com/painter",
    onError: (error) => errors.push(error),
  });
  recorder.record(map, { reason: "Painted", action: "Paint", note: "ä".repeat(2_000), related: node });
  await until(`created to be 1`, () => recorder.status().created === 1);
  recorder.record(map, { reason: "Painted", action: "Paint", related: node });
  await until(`updated to be 1`, () => recorder.status().updated === 1);
  for (let time = 0; time < 3; time++) recorder.record(map, { reason: "Painted", action: "Paint", related: node });
  recorder.record(node, { type: "Warning", reason: "Dirty", action: "Look", note: "Clean it." });
  await recorder[Symbol.asyncDispose]();
  assertEquals([errors, warnings], [[], []]);
  assertEquals(recorder.status(), { queued: 0, created: 2, updated: 2, dropped: 0, lastError: undefined });
  const selectors = { [namespace]: "involvedObject.name=wall", default: `involvedObject.name=${node.metadata.name}` };
  const seen: unknown[] = [];
  for (const [namespace, fieldSelector] of Object.entries(selectors)) {
    for (const event of (await client.resource(CoreEvent, { namespace }).list({ fieldSelector })).items) {
      seen.push([event.involvedObject.name, event.type, event.reason, event.message?.length, event.series?.count]);
    }
  }
  assertEquals(seen, [
    ["wall", "Normal", "Painted", 511, 5],
    [node.metadata.name, "Warning", "Dirty", 9, undefined],
  ]);
  await client.resource(Node).delete(node.metadata.name);
});
