import { assertEquals, assertMatch } from "@std/assert";
import { type Fleet, fleetItem, FLEETS } from "../../bench/fleets.ts";

interface Named {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
}

/** An object of each of 150 workloads, so that all shapes come. */
function some(fleet: Fleet): Record<string, unknown>[] {
  return Array.from({ length: 150 }, (_, index) => fleetItem(fleet, index * 20));
}

/** The names of all fields and the lengths of all arrays, without values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

function shapes(fleet: Fleet): number {
  return new Set(some(fleet).map(({ spec, status }) => JSON.stringify(shapeOf({ spec, status })))).size;
}

Deno.test("fleets: the same objects in every run, each with a name and a uid of its own", () => {
  for (const fleet of FLEETS) {
    assertEquals(JSON.stringify(some(fleet)) === JSON.stringify(some(fleet)), true, fleet);
    const all = some(fleet) as unknown as Named[];
    assertEquals(new Set(all.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).size, all.length);
    assertEquals(new Set(all.map(({ metadata }) => metadata.uid)).size, all.length);
  }
});

Deno.test("fleets: one template, sixty shapes, or none", () => {
  assertEquals([shapes("template"), shapes("workloads"), shapes("random")], [1, 60, 150]);
});

Deno.test("fleets: workloads have 20 pods of 4 to 15 kB, named as a ReplicaSet names them", () => {
  const names = Array.from(
    { length: 40 },
    (_, index) => (fleetItem("workloads", index) as unknown as Named).metadata.name,
  );
  assertMatch(names[0], /^checkout-[a-z0-9]{10}-[a-z0-9]{5}$/);
  assertEquals(new Set(names.map((name) => name.replace(/-\w+$/, ""))).size, 2);
  const sizes = some("workloads").map((pod) => JSON.stringify(pod).length);
  assertEquals([Math.min(...sizes) > 4_000, Math.max(...sizes) < 15_000], [true, true]);
  assertEquals(Math.max(...sizes) > 2 * Math.min(...sizes), true);
});
