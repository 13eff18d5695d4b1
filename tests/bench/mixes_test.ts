import { assert, assertEquals } from "@std/assert";
import { changedBytes, difference } from "../../bench/peers/changed_bytes.ts";
import { type Job, listVersion, MIXES } from "../../bench/peers/job.ts";
import { mixOf, type Objects, type State } from "../../bench/peers/mixes.ts";

/** An object as a mix has it. */
interface Decoded {
  readonly kind: string;
  readonly metadata: { readonly uid: string; readonly name: string; readonly resourceVersion: string };
}

const decoder = new TextDecoder();

function decode(objects: Objects, state: State): Decoded {
  return JSON.parse(decoder.decode(objects.bytes(state).object));
}

function list(objects: Objects, collection: number, after: boolean): Decoded[] {
  return Array.from({ length: objects.size(collection, after) }, (_, place) => {
    return decode(objects, objects.listed(collection, place, after));
  });
}

/** The paths of the values in which two objects differ. */
function differences(before: unknown, after: unknown, path = ""): string[] {
  if (typeof before !== "object" || before === null) return before === after ? [] : [path];
  return Object.entries(before).flatMap(([key, value]) =>
    differences(value, (after as Record<string, unknown>)[key], `${path}.${key}`)
  );
}

/** The paths of the values that an event of a mix changes. */
function changesIn(mix: Job["mix"], event = 0): string[] {
  const objects = mixOf({ pods: 20, events: 20, changed: 1, mix });
  const step = objects.step(event);
  const before = decode(objects, objects.listed(step.collection, step.index, false));
  return differences(before, decode(objects, step));
}

for (const mix of MIXES) {
  for (const events of [1, 2, 3, 100, 311]) {
    Deno.test(`mixes: ${mix} with ${events} events leads from the first list to the last one`, () => {
      const job = { pods: 20, events, changed: 2, mix };
      const objects = mixOf(job);
      objects.prepare();
      const cache = objects.collections.map((_, collection) => {
        return new Map(list(objects, collection, false).map((object) => [object.metadata.uid, object]));
      });
      let last = listVersion(job, false);
      for (let event = 0; event < events; event++) {
        const step = objects.step(event);
        const [head, line] = decoder.decode(objects.bytes(step).event(step.type)).split("\r\n");
        assertEquals(parseInt(head, 16), line.length, "the size of the chunk");
        const { type, object } = JSON.parse(line) as { type: string; object: Decoded };
        const { uid, resourceVersion } = object.metadata;
        assertEquals(Number(resourceVersion), ++last);
        assertEquals(cache[step.collection].has(uid), type !== "ADDED");
        assertEquals(object.kind, objects.collections[step.collection].kind);
        if (type === "DELETED") cache[step.collection].delete(uid);
        else cache[step.collection].set(uid, object);
      }
      objects.collections.forEach((_, collection) => {
        const listed = list(objects, collection, true);
        assertEquals(listed.map(({ metadata }) => metadata.uid).sort(), [...cache[collection].keys()].sort());
        const names = new Set(listed.map(({ metadata }) => metadata.name));
        assertEquals(names.size, listed.length);
        const changed = listed.filter((object) =>
          differences(cache[collection].get(object.metadata.uid), object).length
        );
        assertEquals(changed.length, collection === 0 ? 2 : 0);
        for (const { metadata } of changed) assert(Number(metadata.resourceVersion) > last);
      });
      // The server begins again with the objects of the first list.
      assertEquals(list(objects, 0, false), list(mixOf(job), 0, false));
    });
  }
}

Deno.test("mixes: an event changes what its mix says, and nothing else", () => {
  assertEquals(changesIn("metadata"), [".metadata.resourceVersion"]);
  const status = [
    ".metadata.resourceVersion",
    ".metadata.managedFields.1.time",
    ".status.conditions.2.status",
    ".status.conditions.2.lastTransitionTime",
    ".status.conditions.3.status",
    ".status.conditions.3.lastTransitionTime",
    ".status.containerStatuses.0.state.running.startedAt",
    ".status.containerStatuses.0.ready",
    ".status.containerStatuses.0.restartCount",
    ".status.containerStatuses.0.started",
  ];
  assertEquals(changesIn("status"), status);
  assertEquals(changesIn("rollout", 1), status.filter((path) => !path.endsWith("restartCount")));
  assertEquals(changesIn("heartbeats"), [
    ".metadata.resourceVersion",
    ".metadata.managedFields.3.time",
    ...[0, 1, 2, 3].map((condition) => `.status.conditions.${condition}.lastHeartbeatTime`),
  ]);
  assertEquals(changesIn("heartbeats", 10), [
    ".metadata.resourceVersion",
    ".metadata.managedFields.0.time",
    ".spec.renewTime",
  ]);
});

Deno.test("mixes: of eleven events of heartbeats one is of a lease; a rollout adds, changes and deletes in turns", () => {
  const heartbeats = mixOf({ pods: 20, events: 110, changed: 1, mix: "heartbeats" });
  const leases = Array.from({ length: 110 }, (_, event) => heartbeats.step(event).collection).filter((it) => it === 1);
  assertEquals([leases.length, heartbeats.size(0, false), heartbeats.size(1, true)], [10, 10, 10]);
  const rollout = mixOf({ pods: 20, events: 30, changed: 1, mix: "rollout" });
  assertEquals([3, 4, 5].map((event) => rollout.step(event).type), ["ADDED", "MODIFIED", "DELETED"]);
});

Deno.test("mixes: the bytes that change are counted in values of the same place", () => {
  assertEquals(difference(`{"a":"True","b":[1,2]}`, `{"a":"False","b":[1,3]}`), { bytes: 5, values: 8 });
  assertEquals(difference(`{"a":"x,\\"y"}`, `{"a":"x,\\"z"}`), { bytes: 1, values: 7 });
});

Deno.test("mixes: an event of metadata changes hardly a byte, one of a status some values", () => {
  const [metadata, status] = (["metadata", "status"] as const).map((mix) => {
    return changedBytes({ pods: 100, events: 300, changed: 1, mix });
  });
  assert(metadata.bytes > 0 && metadata.values < 0.002, JSON.stringify(metadata));
  assert(
    status.bytes > metadata.bytes * 5 && status.bytes < status.values && status.values < 0.05,
    JSON.stringify(status),
  );
  assertEquals(changedBytes({ pods: 100, events: 1, changed: 1, mix: "rollout" }).bytes, NaN);
});
