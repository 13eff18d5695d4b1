import { assert, assertEquals } from "@std/assert";
import {
  cloneJson,
  equalJson,
  isList,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
} from "../../../src/engine/api/json.ts";
import { applyPatch } from "../../../src/testing/fake/apply/patches.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { patchOf } from "../../../src/operator/webhooks/json_patch.ts";
import { bigPod } from "../../support/sources/big_pods.ts";
import { randomSchema, randomValue } from "../../support/schema/random_schemas.ts";

const SCHEMA = { type: "any" } as unknown as Parameters<typeof applyPatch>[3];

/** Returns the document after a patch went over the wire. */
function applied(before: JsonObject, patch: unknown): JsonObject {
  return applyPatch(before, JSON.parse(JSON.stringify(patch)), "json", SCHEMA);
}

Deno.test("a patch has the fewest plain operations, with escapes and absent parents", () => {
  const cases: [JsonObject, JsonObject, unknown[]][] = [
    [{ a: 1 }, { a: 1 }, []],
    [{ a: undefined }, {}, []],
    [{}, { a: { b: { c: 1 } } }, [{ op: "add", path: "/a", value: { b: { c: 1 } } }]],
    [{ "a/b~c": 1, "": 2 }, { "a/b~c": 2 }, [{ op: "replace", path: "/a~1b~0c", value: 2 }, {
      op: "remove",
      path: "/",
    }]],
    [{ a: null }, { a: 0 }, [{ op: "replace", path: "/a", value: 0 }]],
    [{ a: [] }, { a: {} }, [{ op: "replace", path: "/a", value: {} }]],
    [{ a: [1, 2, 3, 4] }, { a: [1, 3, 4] }, [{ op: "remove", path: "/a/1" }]],
    [{ a: [1, 4] }, { a: [1, 2, 3, 4] }, [{ op: "add", path: "/a/1", value: 2 }, {
      op: "add",
      path: "/a/2",
      value: 3,
    }]],
    [{ a: [1] }, { a: [1, 2] }, [{ op: "add", path: "/a/1", value: 2 }]],
    [{ a: [{ b: 1, c: 2 }, 0] }, { a: [{ b: 1, c: 3 }, 0] }, [{ op: "replace", path: "/a/0/c", value: 3 }]],
    [{ a: [1, 2, 3] }, { a: [] }, [2, 1, 0].map((at) => ({ op: "remove", path: `/a/${at}` }))],
    [{}, { constructor: "x" }, [{ op: "add", path: "/constructor", value: "x" }]],
    [{ toString: "x" }, {}, [{ op: "remove", path: "/toString" }]],
    [{ a: [{}] }, { a: [{ constructor: "x" }] }, [{ op: "add", path: "/a/0/constructor", value: "x" }]],
    [JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 2}'), [{ op: "replace", path: "/__proto__", value: 2 }]],
  ];
  for (const [before, after, patch] of cases) {
    assertEquals(patchOf(before, after) as unknown[], patch);
    assert(equalJson(applied(before, patch), after), JSON.stringify(after));
  }
});

/** Changes a value at random places: members and elements are set, removed, added, swapped and repeated. */
function mutated(random: Random, value: Json, depth = 0): Json {
  const few = random.below(4) !== 0;
  if (isObject(value)) {
    const copy: MutableJson = {};
    for (const [key, member] of Object.entries(value)) {
      const fate = random.below(few ? 30 : 6);
      if (fate !== 0) copy[key] = fate === 1 ? leaf(random) : mutated(random, member ?? null, depth + 1);
    }
    if (random.below(8) === 0) copy[random.pick(["x/y", "~1", "constructor", "ä", ""])] = leaf(random);
    return copy;
  }
  if (isList(value)) {
    const copy = value.flatMap((item): Json[] => {
      const fate = random.below(few ? 20 : 5);
      return fate === 0
        ? []
        : fate === 1
        ? [item, cloneJson(item)]
        : fate === 2
        ? [leaf(random), item]
        : [mutated(random, item, depth + 1)];
    });
    if (copy.length > 1 && random.below(6) === 0) copy.reverse();
    return copy;
  }
  return random.below(few ? 30 : 8) === 0 ? leaf(random) : value;
}

function leaf(random: Random): Json {
  return random.pick<Json>([null, 0, -1.5, "", "text\n\u0000", true, [], {}, [1, [2]], { a: { b: null } }]);
}

Deno.test("property: random objects, mutated at random: the patch makes the draft, and no other", () => {
  const random = new Random(45);
  let operations = 0;
  let unchanged = 0;
  for (let run = 0; run < 3_000; run++) {
    const before = run % 3 === 0
      ? bigPod(run) as unknown as JsonObject
      : { spec: randomValue(random, randomSchema(random)) } as JsonObject;
    const copy = cloneJson(before);
    const after = mutated(random, before) as JsonObject;
    const patch = patchOf(before, after);
    assert(equalJson(before, copy), "the object is as it was");
    assertEquals(patchOf(before, copy), []);
    const result = applied(before, patch);
    assertEquals(patchOf(result, after), [], `run ${run}: ${JSON.stringify(patch)}`);
    assert(equalJson(result, after) && equalJson(after, result), `run ${run}`);
    assert(patch.every(({ op }) => ["add", "remove", "replace"].includes(op)));
    operations += patch.length;
    if (patch.length === 0) unchanged++;
  }
  assert(operations > 10_000 && unchanged > 50, `${operations} operations, ${unchanged} unchanged`);
});

/** A value of lists and objects within each other. */
function deep(levels: number, inner: Json): JsonObject {
  let value = inner;
  for (let at = 0; at < levels; at++) value = at % 2 === 0 ? { a: value, b: 1 } : [value, 2];
  return { value };
}

Deno.test("values of any depth are copied, compared and patched, in a time that grows with their size", () => {
  const before = deep(50_000, { last: 1 });
  const after = cloneJson(before);
  assert(equalJson(before, after));
  let inner = after as MutableJson;
  while (inner.last === undefined) inner = (inner.value ?? inner.a ?? (inner as unknown as Json[])[0]) as MutableJson;
  inner.last = 2;
  assertEquals(equalJson(before, after), false);
  const [{ op, path, value }, ...others] = patchOf(before, after);
  // Deeper than objects are, the whole value is replaced.
  assertEquals([op, path, others], ["replace", `/value${"/0/a".repeat(50).slice(0, -2)}`, []]);
  let old: Json | undefined = before;
  for (const name of path.split("/").slice(1)) old = (old as JsonObject)[name];
  assert(old !== undefined && value !== undefined && !equalJson(old, value));
  // The last of many elements differs, at the end of many lists.
  const list = (last: number): Json => deep(20_000, [...Array.from({ length: 100_000 }, (_, at) => at), last]);
  assertEquals(patchOf(list(1), list(2)).length, 1);
});
