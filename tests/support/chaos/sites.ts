import { defineResource, isNotFound, type KubernetesObject, type Resource } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { Reconciler } from "@kube/informer/reconcile";
import type { ChaosOptions } from "@kube/informer/testing/chaos";
import { OwnCalls } from "../../../src/operator/controllers/reconcile/own_calls.ts";
import { Answer } from "../../../src/operator/controllers/reconcile/pending_writes.ts";
import { CacheOverlay } from "../../../src/engine/informer/cache/cache_overlay.ts";
import { isWatched } from "../../../src/engine/informer/events/event.ts";
import { deletes, meddles, patches, writes } from "./users.ts";

interface Site extends KubernetesObject {
  readonly spec: { readonly text: string };
  /** `seen` and the uid of the config map are written by the controller, `approved` by somebody else. */
  readonly status?: { readonly seen?: string; readonly map?: string; readonly approved?: string };
}
const Site: Resource<Site> = defineResource<Site>({
  group: "example.com",
  version: "v1",
  plural: "sites",
  kind: "Site",
});

const IN = { namespace: "default" };

function dataOf({ metadata: { uid }, spec: { text }, status }: Site): Record<string, string> {
  return { uid: uid!, text, approved: status?.approved ?? "no" };
}

const approve = patches(Site, (random) => ({ status: { approved: random.pick(["yes", "no", "later"]) } }));

/**
 * A controller that depends on reads of own writes, and on events that are theirs alone being no causes: it keeps a
 * config map for each site, and writes its status at each call without a version, so that most of these writes change
 * nothing.
 */
export const sites: ChaosOptions = {
  controller: async ({ client, signal }) => {
    await using sites = new Reconciler(client, Site, async ({ key, object: site, client, cache }) => {
      const maps = client.resource(ConfigMap, IN);
      const name = key.slice("default/".length);
      const map = cache(ConfigMap).get(key);
      if (site === undefined) {
        if (map === undefined) return;
        const preconditions = { uid: map.metadata.uid };
        await maps.delete(name, { preconditions }).catch((error) => {
          if (!isNotFound(error)) throw error;
        });
        if (cache(ConfigMap).get(key)?.metadata.uid === map.metadata.uid) throw new Error("the deletion is not read");
        return;
      }
      const data = dataOf(site);
      if (map === undefined) await maps.create({ metadata: { name }, data });
      else if (Object.entries(data).some(([name, value]) => map.data?.[name] !== value)) {
        await maps.update({ ...structuredClone(map), data } as never);
      }
      const made = cache(ConfigMap).get(key);
      if (made === undefined) throw new Error("the config map is not read");
      const body = { status: { seen: site.spec.text, map: made.metadata.uid } };
      await client.resource(Site, IN).patch(name, { type: "merge", body }, { subresource: "status" });
    }).watches(ConfigMap, ({ key }) => [key], { ownWrites: "ignore" });
    await sites.run({ signal });
  },
  resources: [Site],
  setup: (server) => void server.create(Site, { metadata: { name: "a" }, spec: { text: "1" } }),
  changes: {
    ...writes(Site, () => ({ spec: { text: "1" } })),
    write: patches(Site, (random) => ({ spec: { text: String(random.below(3)) } })),
    // Under several names, as it is the change that can be missed.
    approve,
    "approve again": approve,
    "approve at last": approve,
    "approve a site without its config map": (server, random) => {
      const done = approve(server, random);
      const [name] = done?.split(" ", 1) ?? [];
      if (name !== undefined && server.get(ConfigMap, name) !== undefined) server.delete(ConfigMap, name);
      return done;
    },
    "delete a config map": deletes(ConfigMap),
    "change a config map": meddles(ConfigMap, (server, key) => {
      server.patch(ConfigMap, key, { data: { text: "by hand" } });
    }),
  },
  converges: (server) => {
    const [all, maps] = [server.list(Site), server.list(ConfigMap)];
    for (const site of all) {
      const { metadata: { name }, spec, status } = site;
      const { metadata: { uid } = {}, data = {} } = server.get(ConfigMap, name) ?? {};
      if (status?.seen !== spec.text) return `the status of "${name}" has seen ${status?.seen}, not ${spec.text}`;
      if (status.map !== uid) return `the status of "${name}" has the map ${status.map}, not ${uid}`;
      for (const [field, value] of Object.entries(dataOf(site))) {
        if (data[field] !== value) return `the config map of "${name}" has the ${field} ${data[field]}, not ${value}`;
      }
    }
    return maps.length === all.length || `there are ${maps.length} config maps for ${all.length} sites`;
  },
};

type IsEcho = OwnCalls["isOwnWrite"];
type Event = Parameters<IsEcho>[1];

/** Returns an event as if it changed nothing, and came by a watch. */
function unchecked(event: Event): Event {
  return Object.create(event, {
    before: { value: event },
    object: { get: () => event.object },
    entry: { value: Object.create((event as unknown as { readonly entry: object }).entry) },
  });
}

/** Bugs of the library itself, each with the first seed that finds it, and how it is planted. */
export const OWN_WRITE_BUGS: Readonly<Record<string, readonly [found: number, plant: () => Disposable]>> = {
  "reads an old answer instead of a newer event": [44, () =>
    planted((replace) => {
      replace(CacheOverlay, "uncover", () => {});
      const isOver = Answer.prototype.isOver;
      replace(Answer, "isOver", function (this: Answer): boolean {
        const { cached, write } = this;
        if (write.isDeleted || cached === undefined) return isOver.call(this);
        return cached.resourceVersion === write.resourceVersion;
      });
    })],
  "reads an answer that revives a deleted object": [13, () =>
    planted((replace) => {
      replace(CacheOverlay, "uncover", () => {});
      const isOver = Answer.prototype.isOver;
      replace(Answer, "isOver", function (this: Answer): boolean {
        return (this.write.isDeleted || this.cached !== undefined) && isOver.call(this);
      });
    })],
  "takes a change by others for the event of its own write": [25, () =>
    planted((replace) => {
      const isOwnWrite = OwnCalls.prototype.isOwnWrite;
      replace(OwnCalls, "isOwnWrite", function (this: OwnCalls, ...[key, event, ofAll]: Parameters<IsEcho>): boolean {
        return isOwnWrite.call(this, key, event, ofAll) ||
          (isWatched(event) && isOwnWrite.call(this, key, unchecked(event), ofAll));
      });
    })],
  "misses a change that a list hides behind its own version": [207, () =>
    planted((replace) => {
      const isOwnWrite = OwnCalls.prototype.isOwnWrite;
      replace(OwnCalls, "isOwnWrite", function (this: OwnCalls, ...[key, event, ofAll]: Parameters<IsEcho>): boolean {
        return isOwnWrite.call(this, key, event, ofAll) ||
          (!isWatched(event) && isOwnWrite.call(this, key, unchecked(event), ofAll));
      });
    })],
};

type Replace = <T extends object>(of: { readonly prototype: T }, name: keyof T & string, by: unknown) => void;

/** Replaces methods until it is disposed. */
export function planted(plant: (replace: Replace) => void): Disposable {
  const stack = new DisposableStack();
  plant((of, name, by) => {
    const method = of.prototype[name];
    stack.defer(() => void Object.assign(of.prototype, { [name]: method }));
    Object.assign(of.prototype, { [name]: by });
  });
  return stack;
}
