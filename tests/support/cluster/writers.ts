import {
  type Client,
  copyOf,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubernetesObject,
  type MergePatch,
  type ObjectDraft,
  type Resource,
  type SharedIndexInformer,
} from "@kube/informer";
import type { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { pooledMap } from "@std/async";
import { Random } from "../../../src/testing/fake/random.ts";
import { withDeadline } from "./with_deadline.ts";

/** The number of concurrent requests of a test, for two cores. */
const CONCURRENCY = 12;

/** The end of a collection: written last, seen last. */
const LAST = "zz-last";

/** A pod that no scheduler takes: it stays as it is written. */
export function podDraft(
  name: string,
  labels: Readonly<Record<string, string>> = {},
  nodeName?: string,
): ObjectDraft<Pod> {
  const spec = {
    containers: [{ name: "app", image: "registry.example/app:1", env: [{ name: "GREETING", value: "ça va, 世界" }] }],
    ...(nodeName === undefined ? { schedulerName: "nobody" } : { nodeName }),
  };
  return { metadata: { name, labels }, spec };
}

/** A config map of about a kilobyte. */
export function mapDraft(name: string, labels: Readonly<Record<string, string>> = {}): ObjectDraft<ConfigMap> {
  return { metadata: { name, labels }, data: { text: "0123456789abcdef".repeat(64) } };
}

/** Calls `work` for every item, a few at a time, and waits for all. */
export async function forEach<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  for await (const _ of pooledMap(CONCURRENCY, items, work));
}

/** `count` names, `"prefix-0007"`. */
export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}-${String(i).padStart(4, "0")}`);
}

/**
 * Writes an object in the end, and waits until the informer's cache has everything up to it. Answers with the
 * milliseconds between the server's answer and that.
 */
export async function settle<T extends KubernetesObject>(
  informers: readonly SharedIndexInformer<T, string>[],
  client: Client,
  resource: Resource<T>,
  namespace: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const kind = resource.plural === "pods" ? podDraft(LAST, labels) : mapDraft(LAST, labels);
  const collection = client.resource(resource, { namespace });
  const annotations = { written: crypto.randomUUID() };
  let last: T;
  try {
    last = await collection.patch(LAST, { type: "merge", body: { metadata: { annotations } } as MergePatch<T> });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    last = await collection.create(
      { ...kind, metadata: { ...kind.metadata, annotations } } as unknown as ObjectDraft<T>,
    );
  }
  const startedAt = performance.now();
  const { resourceVersion } = last.metadata;
  await withDeadline(
    `version ${resourceVersion} of ${resource.plural}`,
    (signal) => Promise.all(informers.map((informer) => informer.waitForVersion(resourceVersion, { signal }))),
  );
  return performance.now() - startedAt;
}

/** The numbers of granted requests of a writer. */
export interface WriteCounts {
  readonly created: number;
  readonly patched: number;
  readonly deleted: number;
}

/**
 * One writer of several on the same names: creates, patches (labels too, so that objects enter and leave selections),
 * replaces and deletes at random. What another writer did first is not an error.
 */
export async function writeAtRandom(
  client: Client,
  resource: Resource<Pod> | Resource<ConfigMap>,
  namespace: string,
  options: { readonly seed: number; readonly writes: number; readonly objects: number },
): Promise<WriteCounts> {
  const random = new Random(options.seed);
  const collection = client.resource<Pod | ConfigMap>(resource, { namespace });
  const done = { created: 0, patched: 0, deleted: 0 };
  for (let write = 0; write < options.writes; write++) {
    const name = `written-${random.below(options.objects)}`;
    const labels = { tier: random.pick(["web", "db"]), writer: String(options.seed) };
    const dice = random.below(10);
    try {
      if (dice < 4) {
        await collection.create(resource.plural === "pods" ? podDraft(name, labels) : mapDraft(name, labels));
        done.created++;
      } else if (dice < 7) {
        const metadata = { labels, annotations: { write: String(write) } };
        await collection.patch(name, { type: random.pick(["merge", "strategic"]), body: { metadata } });
        done.patched++;
      } else if (dice < 8) {
        const object = copyOf(await collection.get(name));
        object.metadata.labels = labels;
        await collection.update(object);
        done.patched++;
      } else {
        await collection.delete(name);
        done.deleted++;
      }
    } catch (error) {
      if (!isNotFound(error) && !isAlreadyExists(error) && !isConflict(error)) throw error;
    }
  }
  return done;
}
