import { ConfigMap } from "@kube/informer/kinds/core/v1";
import type { FakeApiServer } from "@kube/informer/testing";
import { assertEquals } from "@std/assert";
import { keyOf } from "../../../src/engine/api/object.ts";
import { LabelSelector } from "../../../src/engine/api/selector.ts";
import { cacheStateOf, type Following, serverKeyOf } from "./following.ts";
import type { InformerPlan, SnapshotFault } from "./script.ts";
import type { CacheState, Restored } from "./snapshot.ts";

/** The numbers of newest and oldest objects of a snapshot of which the server must have one. */
const ASKED = [3, 2];

/** The plan of an informer that a snapshot of `plan` is none of, if that is the fault. */
export function otherPlan(plan: InformerPlan, { kind }: SnapshotFault): InformerPlan {
  switch (kind) {
    case "selection":
      return { ...plan, namespace: plan.namespace === undefined ? "a" : undefined };
    case "form":
      return { ...plan, metadataOnly: !plan.metadataOnly, fields: undefined, deliverUnchanged: undefined };
    case "transform":
      return { ...plan, transform: !plan.transform };
    default:
      return plan;
  }
}

/** The beginning of an informer that is restored now, on a server that has versions from `compacted` on. */
export function beginningOf(
  { plan }: Following,
  cache: CacheState,
  server: FakeApiServer,
  compacted: number,
  epoch: number,
): Restored {
  const selector = LabelSelector.parse(plan.labelSelector ?? "");
  const selected = server.list(ConfigMap).filter(({ metadata }) => selector.matches(metadata.labels ?? {}));
  const present = new Map(selected.map((object) => [keyOf(object), object.metadata]));
  const oldest = [...cache.objects].sort(([, a], [, b]) => Number(a.version) - Number(b.version));
  const sample = [...new Set([...oldest.toReversed().slice(0, ASKED[0]), ...oldest.slice(0, ASKED[1])])];
  /** Has the answer that decides: the same object, or another one that was there at the version of the cache. */
  const decisive = sample.findIndex(([key, { uid }]) => {
    const found = present.get(serverKeyOf(key));
    return found !== undefined && (found.uid === uid || Number(found.resourceVersion) <= Number(cache.version));
  });
  const isKnown = decisive >= 0 && present.get(serverKeyOf(sample[decisive][0]))!.uid === sample[decisive][1].uid;
  const isAhead = Number(cache.version) > Number(server.resourceVersion);
  const gets = isAhead ? Math.min(1, sample.length) : decisive < 0 ? sample.length : decisive + 1;
  const isFound = gets > 0 && (isAhead || !isKnown);
  const expired = Number(cache.version) < compacted;
  const lists = expired || isFound ? 1 : 0;
  return { cache, wentBack: cache.epoch < epoch, expired, gets, isAhead, isFound, lists, listedAt: undefined };
}

/** Checks an informer that was restored, or not, and does not run yet. */
export function checkBeginning(following: Following): void {
  const { informer, restored } = following;
  const { state, resourceVersion, staleForMs } = informer.status();
  if (restored === undefined) {
    return assertEquals([state, informer.hasSynced, informer.indexer.size], ["idle", false, 0], "nothing is restored");
  }
  const { cache } = restored;
  assertEquals(
    [state, informer.hasSynced, resourceVersion, staleForMs],
    ["stale", true, cache.version, Date.now() - cache.at],
    "a restored informer is stale, with the version and age of the snapshot",
  );
  assertEquals(cacheStateOf(following), cache, "a restored cache equals the one before");
}

/** Checks the first of the requests that a server has received since an informer was restored. */
export function checkFirstRequests(
  { cache, gets, isAhead, isFound }: Restored,
  requests: FakeApiServer["requests"],
): void {
  const expected = [
    ...Array.from({ length: gets }, () => `get at ${cache.version}`),
    // A version that the server has not reached is asked for again, for some seconds.
    ...(isFound && isAhead ? [] : [isFound ? "list" : `watch from ${cache.version}`]),
  ];
  const asked = requests.slice(0, expected.length).map(({ url }) => {
    const { searchParams } = new URL(url, "http://fake");
    const version = searchParams.get("resourceVersion");
    if (searchParams.has("fieldSelector")) return `get at ${version}`;
    return searchParams.has("watch") && !searchParams.has("sendInitialEvents") ? `watch from ${version}` : "list";
  });
  assertEquals(asked, expected, "one of the objects is asked for, then the watch resumes, or a list follows");
}
