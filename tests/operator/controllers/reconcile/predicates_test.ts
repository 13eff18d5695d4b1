import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import type { ReconcilerOptions } from "../../../../src/operator/controllers/reconcile/options.ts";
import {
  annotationsChanged,
  fieldsChanged,
  generationChanged,
  labelsChanged,
  type ObjectChange,
  type Predicate,
} from "../../../../src/operator/controllers/reconcile/predicates.ts";
import { ConfigMap } from "../../../../src/engine/kinds/core/v1.ts";
import { Session } from "./_session.ts";

/** The triggers of the reconciles that `patches` lead to, and of a deletion after them. */
async function causesOf(when: ReconcilerOptions<ConfigMap>["when"], ...patches: object[]): Promise<string[]> {
  await using session = new Session();
  session.create("a");
  const seen: string[] = [];
  const maps = session.reconciler(({ triggers }) => {
    for (const { event, paths } of triggers) seen.push(`${event} ${paths ?? ""}`.trim());
  }, { when });
  await session.start(maps);
  for (const patch of patches) {
    session.server.patch(ConfigMap, "default/a", patch);
    await session.pass();
  }
  session.server.delete(ConfigMap, "default/a");
  await session.pass();
  assertEquals(session.errors, []);
  return seen;
}

const LABEL = { metadata: { labels: { x: "y" } } };

const ANNOTATION = { metadata: { annotations: { x: "y" } } };

const RED = { data: { colour: "red", "size": "1" } };

Deno.test("labelsChanged and annotationsChanged pass updates that change them, and additions and deletions", async () => {
  assertEquals(await causesOf(labelsChanged, LABEL, ANNOTATION, RED), ["added", "updated metadata.labels", "deleted"]);
  assertEquals(
    await causesOf(annotationsChanged, LABEL, ANNOTATION, RED),
    ["added", "updated metadata.annotations", "deleted"],
  );
});

Deno.test("generationChanged passes every update of a kind without generations", async () => {
  assertEquals(await causesOf(generationChanged, LABEL, RED), ["added", "updated", "updated", "deleted"]);
});

Deno.test("fieldsChanged passes updates in which one of its paths differs, and names those", async () => {
  const fields = fieldsChanged("data.colour", "data.size", "data.weight.net");
  assertEquals(
    await causesOf(fields, LABEL, RED, { data: { colour: "blue" } }, { data: null }),
    ["added", "updated data.colour,data.size", "updated data.colour", "updated data.colour,data.size", "deleted"],
  );
});

Deno.test("an event passes when one of several predicates passes it, a program's own among them", async () => {
  const deletions: Predicate<ConfigMap> = ({ type }) => type === "deleted";
  assertEquals(await causesOf(deletions, LABEL), ["deleted"]);
  assertEquals(await causesOf([deletions, labelsChanged], LABEL, RED), ["added", "updated metadata.labels", "deleted"]);
  assertEquals(await causesOf([], RED), ["added", "updated", "deleted"]);
});

Deno.test("a predicate that throws is reported, and its event leads to no reconcile", async () => {
  await using session = new Session();
  session.create("a");
  let calls = 0;
  const maps = session.reconciler(() => void calls++, {
    when: () => {
      throw new Error("cannot decide");
    },
  });
  await session.start(maps);
  assertEquals([calls, session.errors, maps.status().eventErrors], [0, ["default/a: cannot decide"], 1]);
});

Deno.test("fieldsChanged reads the paths that fields of a cache have: keys in brackets, and through arrays", () => {
  const passes = fieldsChanged('metadata.annotations["example.com/owner"]', "spec.containers.image", "spec.tags");
  const update = (before: object, after: object): ObjectChange<KubernetesObject> => {
    return { type: "updated", resync: false, object: after, previous: before } as ObjectChange<KubernetesObject>;
  };
  const images = (...images: string[]): object => ({ spec: { containers: images.map((image) => ({ image })) } });
  const owner = (owner: string): object => ({ metadata: { annotations: { "example.com/owner": owner } } });
  assertEquals(passes(update(owner("one"), owner("two"))), ['metadata.annotations["example.com/owner"]']);
  assertEquals(passes(update(owner("one"), owner("one"))), []);
  assertEquals(passes(update(images("a", "b"), images("a", "c"))), ["spec.containers.image"]);
  assertEquals(passes(update({ spec: {} }, { spec: { tags: [] } })), ["spec.tags"]);
});

Deno.test("fieldsChanged refuses paths that are none", () => {
  assertStringIncludes(assertThrows(() => fieldsChanged(), TypeError).message, "Cannot compare fields");
  for (const path of ["", "spec.", ".spec", "spec[0]"]) {
    assertStringIncludes(assertThrows(() => fieldsChanged(path), SyntaxError).message, "Cannot read the field path");
  }
});
