/**
 * The cost of making entries from bytes, over the least that reading could cost: JSON.parse of texts that are there
 * already. "unread" is what a controller pays that only wants keys, "read" what it pays that reads every object.
 */
import type { CacheEntry } from "../src/engine/api/entry.ts";
import type { KubernetesObject } from "../src/engine/api/object.ts";
import { defineResource, type Resource } from "../src/engine/api/resource.ts";
import { field, ofEntries } from "../src/engine/entry/path.ts";
import { readChanges, readList } from "../tests/support/sources/bodies.ts";
import { type Item, leaseItem, listBody, podItem, streamOf, typed, watchBody } from "./_data.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });
const Lease = defineResource({ group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" });

const POD_COUNT = 500;
const LEASE_COUNT = 5_000;

/** So many times each, so that the run has an end on a slow machine too. */
const RUNS = { warmup: 5, n: 25 };

async function readWatch(
  body: Uint8Array,
  resource: Resource,
  managedFields: "drop" | "keep",
  use: (object: KubernetesObject) => void,
): Promise<void> {
  for await (const batch of readChanges<KubernetesObject>(streamOf(body), { resource, managedFields })) {
    for (const change of batch) if (change.type !== "BOOKMARK") use(change.entry.object);
  }
}

async function passWatch(body: Uint8Array, resource: Resource, managedFields: "drop" | "keep"): Promise<number> {
  let length = 0;
  for await (const batch of readChanges<KubernetesObject>(streamOf(body), { resource, managedFields })) {
    for (const change of batch) if (change.type !== "BOOKMARK") length += change.entry.key.length;
  }
  return length;
}

/** The baseline of a group. */
function parsing(group: string, texts: readonly string[]): void {
  Deno.bench({
    ...RUNS,
    name: "bare JSON.parse of ready strings",
    group,
    baseline: true,
    fn: () => {
      for (const text of texts) JSON.parse(text);
    },
  });
}

function decoding(group: string, resource: Resource, objects: readonly Item[]): void {
  const texts = objects.map((object) => JSON.stringify(object));
  const body = watchBody(objects);
  const ignore = (_object: KubernetesObject): void => {};

  parsing(group, texts);
  for (const managedFields of ["drop", "keep"] as const) {
    Deno.bench({
      ...RUNS,
      name: `frame and walk, unread, ${managedFields} managedFields`,
      group,
      fn: async () => {
        await passWatch(body, resource, managedFields);
      },
    });
    Deno.bench({
      ...RUNS,
      name: `frame, walk and read, ${managedFields} managedFields`,
      group,
      fn: async () => { // async by name: a function that only returns a promise is not awaited
        await readWatch(body, resource, managedFields, ignore);
      },
    });
  }
}

decoding(
  `decode ${POD_COUNT} × 9.1 kB pods`,
  Pod,
  Array.from({ length: POD_COUNT }, (_, index) => typed("Pod", "v1", podItem(index))),
);
decoding(
  `decode ${LEASE_COUNT} × 0.85 kB leases`,
  Lease,
  Array.from({ length: LEASE_COUNT }, (_, index) => typed("Lease", "coordination.k8s.io/v1", leaseItem(index))),
);

{
  const group = "list of 1k pods";
  const body = listBody("Pod", "v1", Array.from({ length: 1_000 }, (_, index) => podItem(index)));

  Deno.bench({
    ...RUNS,
    name: "Response.json()",
    group,
    baseline: true,
    fn: async () => {
      await new Response(streamOf(body)).json();
    },
  });
  for (const managedFields of ["drop", "keep"] as const) {
    Deno.bench({
      ...RUNS,
      name: `readList, unread, ${managedFields} managedFields`,
      group,
      fn: async () => {
        for await (const _part of readList(streamOf(body), { resource: Pod, managedFields }));
      },
    });
    Deno.bench({
      ...RUNS,
      name: `readList, read, ${managedFields} managedFields`,
      group,
      fn: async () => {
        for await (const { entries } of readList(streamOf(body), { resource: Pod, managedFields })) {
          for (const entry of entries) void entry.object;
        }
      },
    });
  }
}

{
  const group = `one field of ${POD_COUNT} × 6.2 kB pods without managedFields`;
  const pods = Array.from({ length: POD_COUNT }, (_, index) => typed("Pod", "v1", podItem(index)));
  const entries: CacheEntry<KubernetesObject>[] = [];
  const texts: string[] = [];
  const options = { resource: Pod, managedFields: "drop" } as const;
  for await (const batch of readChanges<KubernetesObject>(streamOf(watchBody(pods)), options)) {
    for (const change of batch) if (change.type !== "BOOKMARK") entries.push(change.entry);
  }
  await readWatch(watchBody(pods), Pod, "drop", (object) => void texts.push(JSON.stringify(object)));

  parsing(group, texts);
  const fields = [
    field("metadata.name"),
    field("spec.nodeName"),
    field("status.phase"),
    field("spec.containers.image"),
  ];
  for (const field of fields) {
    const valuesOf = ofEntries<KubernetesObject, readonly string[]>(field as (object: unknown) => readonly string[]);
    Deno.bench({
      ...RUNS,
      name: `${field}, unread`,
      group,
      fn: () => {
        for (const entry of entries) valuesOf(entry);
      },
    });
  }
}
