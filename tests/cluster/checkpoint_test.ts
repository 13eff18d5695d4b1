// Positions on a real server: a reader that is killed again and again, and a ConfigMap.
import { Checkpoint, CheckpointError, isNotFound, type ResourceClient, SharedIndexInformer } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { ConfigMapCheckpoints } from "@kube/informer/reconcile";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { Program } from "../support/processes/program.ts";
import { Folder } from "../support/servers/serve.ts";
import { clusterTests } from "./_cluster.ts";

const cluster = clusterTests();

/** An event as the reader prints it. */
interface Line {
  readonly type: "added" | "updated" | "deleted";
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The state of an object that was delivered last, as `"uid@version"`; `"gone"` after a deletion. */
type Delivered = Map<string, string>;

/** Adds the lines of a process to what was delivered, and returns the number of those that were repeated. */
function deliver(delivered: Delivered, ended: Set<string>, lines: readonly string[]): number {
  let repeats = 0;
  for (const line of lines) {
    const { type, key, uid, resourceVersion } = JSON.parse(line) as Line;
    const last = delivered.get(key);
    if (type === "deleted") {
      // Of an addition that was announced, and not delivered, the version is not known.
      if (last === "gone" || (last === undefined && resourceVersion !== "")) repeats++;
      else assert(last === undefined || last.startsWith(uid), `${line}: it is another object than ${last}`);
      ended.add(uid);
      delivered.set(key, "gone");
      continue;
    }
    assert(!ended.has(uid), `${line}: its deletion was delivered before`);
    const [lastUid, lastVersion] = last === undefined || last === "gone" ? [uid, "0"] : last.split("@");
    assertEquals(uid, lastUid, `${line}: the deletion of ${last} is missing`);
    assert(Number(resourceVersion) >= Number(lastVersion), `${line}: ${last} was delivered before`);
    if (resourceVersion === lastVersion) repeats++;
    delivered.set(key, `${uid}@${resourceVersion}`);
  }
  return repeats;
}

/** Creates, changes and deletes ConfigMaps by chance. */
async function change(configMaps: ResourceClient<ConfigMap>, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const name = `object-${Math.floor(Math.random() * 8)}`;
    try {
      if (Math.random() < 0.3) await configMaps.delete(name);
      else await configMaps.patch(name, { type: "merge", body: { data: { value: crypto.randomUUID() } } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await configMaps.create({ metadata: { name } });
    }
  }
}

cluster.withPlane(
  "a reader that is killed ten times misses no last state, and repeats calls that were interrupted",
  async (setting) => {
    const { client, namespace, kubeconfig, plane } = setting;
    await using folder = new Folder();
    const configMaps = client.resource(ConfigMap, { namespace });
    const delivered: Delivered = new Map();
    const ended = new Set<string>();
    let repeats = 0;
    const KILLS = 10;
    for (let round = 0; round <= KILLS; round++) {
      await change(configMaps, 12); // while nobody reads
      await using reader = new Program("tests/cluster/_checkpoint_reader.ts", [namespace, folder.path], {
        KUBECONFIG: kubeconfig,
      });
      const expected = async (): Promise<Delivered> => {
        const { items } = await configMaps.list();
        return new Map(
          items.map((
            { metadata: { name, uid, resourceVersion } },
          ) => [`${namespace}/${name}`, `${uid}@${resourceVersion}`]),
        );
      };
      if (round === KILLS) {
        const last = await expected();
        await reader.out.until((lines) => {
          const now = new Map(delivered);
          deliver(now, new Set(ended), lines);
          return [...now].filter(([, state]) => state !== "gone").sort().join() === [...last].sort().join();
        });
        reader.kill("SIGINT");
        assertEquals(await reader.code, 0, reader.err.text);
        repeats += deliver(delivered, ended, reader.out.lines);
        break;
      }
      await reader.out.until((lines) => lines.length > round % 3);
      if (round === 4) {
        await plane.kill9("apiserver");
        await plane.compact();
        await plane.ensureRunning(); // the version of its watch has expired
      }
      await change(configMaps, 5 + Math.floor(Math.random() * 60));
      reader.kill("SIGKILL");
      await reader.code;
      repeats += deliver(delivered, ended, reader.out.lines);
    }
    assert(delivered.size > 0);
    assert(repeats <= KILLS, `${repeats} calls were repeated`);
  },
);

cluster.anywhere(
  "a checkpoint in a ConfigMap is no event of its reader, and one that is too large is refused before",
  async ({ client, namespace }) => {
    const configMaps = client.resource(ConfigMap, { namespace });
    const store = new ConfigMapCheckpoints(configMaps);
    const keys: string[] = [];
    {
      await using checkpoint = await Checkpoint.open(store, { name: "checkpoint", intervalMs: 100 });
      await using informer = new SharedIndexInformer<ConfigMap>(configMaps);
      informer.addEventHandler({ onAdd: ({ key }) => keys.push(key), onUpdate: ({ key }) => keys.push(key) }, {
        checkpoint,
      });
      void informer.run();
      await configMaps.create({ metadata: { name: "a" } });
      await withDeadline("the event to be written", async (signal) => {
        while (!(await configMaps.get("checkpoint")).data!.objects.includes("/a")) await delay(20, { signal });
      });
      await delay(1_000); // ten times intervalMs: a write that is an event would be followed by another
      const { resourceVersion } = (await configMaps.get("checkpoint")).metadata;
      await delay(1_000);
      assertEquals((await configMaps.get("checkpoint")).metadata.resourceVersion, resourceVersion);
    }
    assertEquals(keys.filter((key) => !key.endsWith("/kube-root-ca.crt")), [`${namespace}/a`]);

    const objectsOf = (bytes: number): Map<string, readonly [string, string]> =>
      new Map([["k", ["u", "1".repeat(bytes)]]]);
    const record = { holder: "h", version: "" };
    const fits = 1_048_576 - '[["k","u",""]]'.length - record.holder.length;
    await store.set("large", { ...record, objects: objectsOf(fits) }, { stamp: undefined, keys: [] });
    await assertRejects(
      () => store.set("larger", { ...record, objects: objectsOf(fits + 1) }, { stamp: undefined, keys: [] }),
      CheckpointError,
    );
  },
);
