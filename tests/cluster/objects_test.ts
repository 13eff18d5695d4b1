// The writes of controllers, as a real server checks them.
import { isConflict } from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { createOrUpdate, finalize, withController, writeStatus } from "@kube/informer/reconcile";
import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { clusterTests } from "./_cluster.ts";
import { podDraft } from "../support/cluster/writers.ts";

const cluster = clusterTests();

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
