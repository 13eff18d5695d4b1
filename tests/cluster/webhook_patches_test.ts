// Random changes of drafts: the patch that a real server applies gives the draft.
import { startControlPlane } from "@kube/informer/testing/control-plane";
import { defineKind, installCrds } from "@kube/informer/schema";
import { Webhooks } from "@kube/informer/webhooks";
import { assertEquals } from "@std/assert";
import { cloneJson, type Json, type MutableJson } from "../../src/engine/api/json.ts";
import { Random } from "../../src/testing/fake/random.ts";
import { onceServed } from "../support/cluster/definitions.ts";
import { report, testOfAssets } from "./_cluster.ts";

const [KINDS, OBJECTS] = [20, 15];
/** Names that JSON pointers escape, and names that look like indexes. */
const NAMES = ["a", "b", "a/b", "~", "~1", "0", "-", "", "ü", "constructor"];

function randomJson(random: Random, depth: number): Json {
  const kind = random.below(depth === 0 ? 4 : 6);
  if (kind === 0) return random.below(100) / 4;
  if (kind === 1) return random.pick(["", "text", "ü", `"`]);
  if (kind === 2) return random.below(2) === 0;
  if (kind === 3) return random.below(5);
  const size = random.below(4);
  if (kind === 4) return Array.from({ length: size }, () => randomJson(random, depth - 1));
  return Object.fromEntries(Array.from({ length: size }, () => [random.pick(NAMES), randomJson(random, depth - 1)]));
}

/** Changes a value in place, at random places. */
function change(random: Random, value: Json): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    const list = value as Json[];
    list.splice(
      random.below(list.length + 1),
      random.below(3),
      ...(random.below(2) === 0 ? [randomJson(random, 1)] : []),
    );
    for (const item of list) if (random.below(2) === 0) change(random, item);
    return;
  }
  const object = value as MutableJson;
  for (const name of Object.keys(object)) {
    const choice = random.below(4);
    if (choice === 0) delete object[name];
    else if (choice === 1) object[name] = randomJson(random, 2);
    else if (choice === 2) change(random, object[name] ?? null);
  }
  if (random.below(2) === 0) object[random.pick(NAMES)] = randomJson(random, 2);
}

testOfAssets("a real server makes the draft of each changed object", async (assets) => {
  const random = new Random(45);
  const drafts = new Map<string, Json>();
  const webhooks = new Webhooks();
  const kinds = Array.from({ length: KINDS }, (_, at) =>
    defineKind({
      group: "patches.example.com",
      version: "v1",
      kind: `Kind${at}`,
      plural: `kind${at}s`,
      spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    }));
  for (const kind of kinds) {
    webhooks.mutate(kind, ({ draft }) => {
      change(random, draft.spec as Json);
      drafts.set(`${kind.kind} ${draft.metadata.name}`, cloneJson(draft.spec as Json));
    });
  }
  await using server = await startControlPlane({ assets, webhooks });
  using client = server.client({ namespace: "default" });
  await installCrds(client, kinds);
  let changed = 0;
  await Promise.all(kinds.map(async (kind) => {
    const objects = client.resource(kind);
    for (let at = 0; at < OBJECTS; at++) {
      const spec = { x: randomJson(random, 3), y: randomJson(random, 3), z: randomJson(random, 2) };
      const draft = { metadata: { name: `o${at}` }, spec };
      const made = await onceServed(() => objects.create(draft as never));
      const wanted = drafts.get(`${kind.kind} o${at}`)!;
      assertEquals(made.spec as Json, wanted, JSON.stringify(spec));
      if (JSON.stringify(wanted) !== JSON.stringify(spec)) changed++;
    }
  }));
  report(`${changed} of ${KINDS * OBJECTS} objects were changed`);
  assertEquals(changed > KINDS * OBJECTS / 2, true);
});
