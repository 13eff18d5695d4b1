import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import {
  differences,
  FieldSelector,
  fieldValues,
  formatFieldPath,
  LabelSelector,
  parseFieldPath,
  type Requirement,
} from "../../../src/engine/api/selector.ts";

Deno.test("parseFieldPath reads keys separated by dots and keys in brackets", () => {
  const cases: readonly [string, readonly string[]][] = [
    ["spec", ["spec"]],
    ["spec.containers.image", ["spec", "containers", "image"]],
    ['metadata.annotations["a.b/c"]', ["metadata", "annotations", "a.b/c"]],
    ['["a"].b["c"]["d"].e', ["a", "b", "c", "d", "e"]],
    ['spec["\\"\\u0041"]', ["spec", '"A']],
    ["data.tls_crt.x-y.$ref", ["data", "tls_crt", "x-y", "$ref"]],
  ];
  for (const [path, keys] of cases) assertEquals(parseFieldPath(path), keys, path);
});

Deno.test("parseFieldPath reads back every list of keys that is written in brackets", () => {
  fc.assert(fc.property(fc.array(fc.string(), { minLength: 1 }), (keys) => {
    assertEquals(parseFieldPath(keys.map((key) => `[${JSON.stringify(key)}]`).join("")), keys);
  }));
});

Deno.test("parseFieldPath names the character at which a text is no path", () => {
  const cases: readonly [string, string][] = [
    ["", "found its end at character 1"],
    [".spec", 'found "." at character 1'],
    ["spec.", "found its end at character 6"],
    ["spec..a", 'found "." at character 6'],
    ['spec.["a"]', 'found "[" at character 6'],
    ["spec[a]", 'found "[" at character 5'],
    ["spec a", 'found " " at character 5'],
    ['a["b"', 'found "[" at character 2'],
    ['a["\\x"]', 'found "[" at character 2'],
    ["spec.containers[*].image", 'found "[" at character 16'],
  ];
  for (const [path, found] of cases) assertThrows(() => parseFieldPath(path), SyntaxError, found, path);
});

Deno.test("formatFieldPath writes a path that parseFieldPath reads back", () => {
  assertEquals(formatFieldPath(["metadata", "annotations", "a.b/c"]), 'metadata.annotations["a.b/c"]');
  fc.assert(fc.property(fc.array(fc.string(), { minLength: 1 }), (keys) => {
    assertEquals(parseFieldPath(formatFieldPath(keys)), keys);
  }));
});

const pod = { metadata: { name: "a,b" }, spec: { nodeName: "n1", hostNetwork: true }, status: { phase: null } };

Deno.test("FieldSelector matches equality and inequality of any field, and takes a missing one for empty", () => {
  const holds = [
    "",
    "spec.nodeName=n1",
    "spec.nodeName==n1,metadata.name!=x",
    "metadata.name=a\\,b",
    "spec.hostNetwork=true",
  ];
  const forms = [
    "metadata.name!=a,",
    ",spec.nodeName=n1",
    "spec.nodeName!=a\\=b",
    "spec.nodeName!=\\\\",
    "spec.nodeName!=d e",
  ];
  const missing = ["status.phase=", "status.none.deep=", "spec=", "spec.nodeName!=n2", "spec.toString="];
  for (const text of [...holds, ...forms, ...missing]) assert(FieldSelector.parse(text).matches(pod), text);
  for (
    const text of ["spec.nodeName=n2", "spec.nodeName!=n1", "spec.nodeName=n1,metadata.name=x", "status.phase=null"]
  ) {
    assertFalse(FieldSelector.parse(text).matches(pod), text);
  }
  assertEquals(String(FieldSelector.parse("a=b")), "a=b");
  assertEquals([FieldSelector.parse("").isEmpty, FieldSelector.parse("a=").isEmpty], [true, false]);
});

Deno.test("FieldSelector passes through arrays, of whose values one is equal or none, and reads keys in brackets", () => {
  const object = { spec: { containers: [{ image: "a" }, { image: "b" }] }, metadata: { labels: { "x.y/z": "1" } } };
  const holds = [
    "spec.containers.image=b",
    "spec.containers.image!=c",
    'metadata.labels["x.y/z"]=1',
    "spec.containers=",
  ];
  for (const text of holds) assert(FieldSelector.parse(text).matches(object), text);
  const fails = ["spec.containers.image=c", "spec.containers.image!=a", "spec.containers.image="];
  for (const text of fails) assertFalse(FieldSelector.parse(text).matches(object), text);
  assertThrows(() => FieldSelector.parse('metadata["a=1'), SyntaxError, "Cannot read the field path");
  assertThrows(() => FieldSelector.parse("metadata.labels.x.y/z=1"), SyntaxError, 'found "/" at character 20');
});

Deno.test("FieldSelector reads arrays in arrays in their order, and leaves an array within itself out", () => {
  const within: unknown[] = [1];
  within.push([2, [within, 3]], 4);
  assertEquals(fieldValues({ at: [[within], [[5, [], [[6]]]]] }, ["at"]), ["1", "2", "3", "4", "5", "6"]);
  const shared = [7, [8]];
  assertEquals(fieldValues({ at: [shared, [shared]] }, ["at"]), ["7", "8", "7", "8"], "twice, but not within itself");
  assert(FieldSelector.parse("at=3,at!=9").matches({ at: within }));
});

Deno.test("FieldSelector names the character that it cannot parse", () => {
  const cases: [string, string][] = [
    ["spec.nodeName", 'found "spec.nodeName" at character 1'],
    ["a=b,c", 'found "c" at character 5'],
    ["=x", 'found "=" at character 1'],
    ["a=b=c", 'found "=" at character 4'],
    ["a=\\x", 'found "\\" at character 3, expected "\\\\" in a value'],
    ["a=b\\", 'found "\\" at character 4'],
    ["a===b", 'found "=" at character 4, expected "\\=" in a value'],
    ["a=b,!=d", 'found "!=" at character 5, expected the name of a field before it'],
  ];
  for (const [text, message] of cases) assertThrows(() => FieldSelector.parse(text), SyntaxError, message);
});

Deno.test("LabelSelector parse reads every operator", async (t) => {
  const cases: readonly [string, readonly Requirement[]][] = [
    ["", []],
    [" \t\r\n", []],
    ["app", [{ key: "app", operator: "Exists", values: [] }]],
    ["!app", [{ key: "app", operator: "DoesNotExist", values: [] }]],
    ["! app", [{ key: "app", operator: "DoesNotExist", values: [] }]],
    ["app=web", [{ key: "app", operator: "In", values: ["web"] }]],
    ["app==web", [{ key: "app", operator: "In", values: ["web"] }]],
    ["app != web", [{ key: "app", operator: "NotIn", values: ["web"] }]],
    ["app=", [{ key: "app", operator: "In", values: [""] }]],
    ["app=,tier", [{ key: "app", operator: "In", values: [""] }, { key: "tier", operator: "Exists", values: [] }]],
    ["app in (web)", [{ key: "app", operator: "In", values: ["web"] }]],
    ["app in(web,api)", [{ key: "app", operator: "In", values: ["web", "api"] }]],
    ["app notin ( web , api )", [{ key: "app", operator: "NotIn", values: ["web", "api"] }]],
    ["app in (,web)", [{ key: "app", operator: "In", values: ["", "web"] }]],
    ["app in ()", [{ key: "app", operator: "In", values: [""] }]],
    ["app notin ( )", [{ key: "app", operator: "NotIn", values: [""] }]],
    ["app in (web,)", [{ key: "app", operator: "In", values: ["web", ""] }]],
    ["size>3", [{ key: "size", operator: "GreaterThan", values: ["3"] }]],
    ["size < 10", [{ key: "size", operator: "LessThan", values: ["10"] }]],
    ["size > 9223372036854775807", [{ key: "size", operator: "GreaterThan", values: ["9223372036854775807"] }]],
    ["in", [{ key: "in", operator: "Exists", values: [] }]],
    ["notin in (in, notin)", [{ key: "notin", operator: "In", values: ["in", "notin"] }]],
    ["example.com/tier=a_b.C-9", [{ key: "example.com/tier", operator: "In", values: ["a_b.C-9"] }]],
    [`${"k".repeat(63)}=${"v".repeat(63)}`, [{ key: "k".repeat(63), operator: "In", values: ["v".repeat(63)] }]],
    ["a,!b,c=d", [
      { key: "a", operator: "Exists", values: [] },
      { key: "b", operator: "DoesNotExist", values: [] },
      { key: "c", operator: "In", values: ["d"] },
    ]],
  ];
  for (const [text, requirements] of cases) {
    await t.step(`"${text}"`, () => assertEquals(LabelSelector.parse(text).requirements, requirements));
  }
});

Deno.test("LabelSelector parse names the character that it cannot parse", async (t) => {
  const cases: readonly [string, string][] = [
    ["app=web tier", `found "tier" at character 9, expected "," or the end`],
    ["app,", "found its end at character 5, expected a label key"],
    [",app", `found "," at character 1, expected a label key`],
    ["a,,b", `found "," at character 3, expected a label key`],
    ["=web", `found "=" at character 1, expected a label key`],
    ["!", "found its end at character 2, expected a label key"],
    ["!!app", `found "!" at character 2, expected a label key`],
    ["!app=web", `found "=" at character 5, expected "," or the end`],
    [
      "app ~ web",
      `found "~" at character 5, expected "=", "==", "!=", "in", "notin", "<", ">", "," or the end`,
    ],
    ["app=-web", `found "-web" at character 5, expected a label value of at most 63 letters`],
    ["app=web-", `found "web-" at character 5, expected a label value`],
    ["app==!web", `found "!" at character 6, expected a label value`],
    [`app=${"v".repeat(64)}`, `found "${"v".repeat(64)}" at character 5, expected a label value`],
    ["app in web", `found "web" at character 8, expected "("`],
    ["app in (web", `found its end at character 12, expected "," or ")"`],
    ["app in (web api)", `found "api" at character 13, expected "," or ")"`],
    ["app in (web))", `found ")" at character 13, expected "," or the end`],
    ["app in (a=b)", `found "=" at character 10, expected "," or ")"`],
    ["size>big", `found "big" at character 6, expected an integer`],
    ["size>", "found its end at character 6, expected an integer"],
    ["size<1.5", `found "1.5" at character 6, expected an integer`],
    ["size>-1", `found "-1" at character 6, expected an integer`],
    ["size>9223372036854775808", `found "9223372036854775808" at character 6, expected an integer`],
    [`size>${"0".repeat(64)}`, `at character 6, expected an integer`],
    ["-app", `found "-app" at character 1, expected a label key such as "app" or "example.com/tier"`],
    ["/app", `found "/app" at character 1, expected a label key such as`],
    ["Example.com/app", `found "Example.com/app" at character 1, expected a label key such as`],
    ["a/b/c", `found "a/b/c" at character 1, expected a label key such as`],
    ["example.com/", `found "example.com/" at character 1, expected a label key such as`],
    [`${"k".repeat(64)}`, `at character 1, expected a label key such as`],
    [`${"k".repeat(254)}/app`, `at character 1, expected a label key such as`],
  ];
  for (const [text, message] of cases) {
    await t.step(`"${text.slice(0, 40)}"`, () => {
      const error = assertThrows(() => LabelSelector.parse(text), SyntaxError, message);
      const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
      assert(error.message.startsWith(`Cannot parse label selector "${shown}": found `), error.message);
    });
  }
});

Deno.test("LabelSelector matches: every operator on a label that is equal, different, or missing", async (t) => {
  const labels = [{ size: "5" }, { size: "7" }, { size: "big" }, { size: "" }, {}, undefined] as const;
  const cases: readonly [string, readonly boolean[]][] = [
    ["size", [true, true, true, true, false, false]],
    ["!size", [false, false, false, false, true, true]],
    ["size=5", [true, false, false, false, false, false]],
    ["size=", [false, false, false, true, false, false]],
    ["size!=5", [false, true, true, true, true, true]],
    ["size in (5,big)", [true, false, true, false, false, false]],
    ["size notin (5,big)", [false, true, false, true, true, true]],
    ["size>5", [false, true, false, false, false, false]],
    ["size<7", [true, false, false, false, false, false]],
    ["", [true, true, true, true, true, true]],
    ["size,size!=7", [true, false, true, true, false, false]],
  ];
  for (const [text, expected] of cases) {
    await t.step(`"${text}"`, () => {
      const selector = LabelSelector.parse(text);
      assertEquals(labels.map((labels) => selector.matches(labels)), expected);
    });
  }
});

Deno.test("LabelSelector matches takes null for no labels, as Go does", () => {
  assertFalse(LabelSelector.parse("app").matches(null as never));
  assert(LabelSelector.parse("!app").matches(null as never));
});

Deno.test("LabelSelector matches compares 64-bit integers exactly, and refuses other values", () => {
  const least = LabelSelector.parse("size>9223372036854775806");
  assert(least.matches({ size: "9223372036854775807" }));
  assertFalse(least.matches({ size: "9223372036854775806" }));
  assertFalse(least.matches({ size: "9223372036854775808" }), "not an integer of 64 bits");
  assert(LabelSelector.parse("size<10").matches({ size: "007" }));
  for (const size of ["1e3", "0x10", "1.5", "1_0"]) assertFalse(LabelSelector.parse("size>0").matches({ size }), size);
});

Deno.test("LabelSelector matches does not mistake properties of Object.prototype for labels", () => {
  assertFalse(LabelSelector.parse("constructor").matches({}));
  assert(LabelSelector.parse("!toString").matches({}));
});

Deno.test("LabelSelector parse reads back any selector that was printed", () => {
  fc.assert(fc.property(fc.array(requirement, { maxLength: 5 }), spacing, (requirements, space) => {
    assertEquals(LabelSelector.parse(print(requirements, space)).requirements, requirements);
  }));
});

Deno.test("LabelSelector prints itself as text that parse reads back, and takes the fields of objects", () => {
  fc.assert(fc.property(fc.array(requirement, { maxLength: 5 }), (requirements) => {
    assertEquals(LabelSelector.parse(String(new LabelSelector(requirements))).requirements, requirements);
  }));
  const selector = LabelSelector.from({
    matchLabels: { app: "web", "example.com/empty": "" },
    matchExpressions: [
      { key: "tier", operator: "NotIn", values: ["cache", "db"] },
      { key: "a", operator: "In", values: ["x", "y"] },
      { key: "b", operator: "Exists" },
      { key: "c", operator: "DoesNotExist", values: [] },
    ],
  });
  assertEquals(String(selector), "app=web,example.com/empty=,tier notin (cache,db),a in (x,y),b,!c");
  assertEquals(LabelSelector.parse(String(selector)).requirements, selector.requirements);
  assert(LabelSelector.from({}).matches({ any: "label" }));
});

Deno.test("LabelSelector.from refuses what is no selector, and names the part at fault", () => {
  const cases: [unknown, string][] = [
    [undefined, "it is not an object"],
    [null, "it is not an object"],
    [{ app: "web" }, '"app" is neither matchLabels nor matchExpressions'],
    [{ matchLabels: { "-": "x" } }, '"-" is not a label key'],
    [{ matchLabels: { app: "a,b" } }, '"a,b" is not a label value'],
    [{ matchLabels: { app: 1 } }, '"1" is not a label value'],
    [{ matchExpressions: [{ key: "a", operator: "In" }] }, 'In has no values for "a"'],
    [{ matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] }, 'Exists of "a" has values'],
    [{ matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] }, 'operator "Gt"'],
  ];
  for (const [selector, message] of cases) {
    assertThrows(() => LabelSelector.from(selector as never), TypeError, message);
  }
});

Deno.test("LabelSelector parse throws only SyntaxErrors, with a position inside the text", () => {
  const piece = fc.oneof(
    fc.constantFrom("a", "in", "notin", "=", "==", "!=", "!", "(", ")", ",", "<", ">", " ", "1", "x/y", "-", "é"),
    fc.string({ maxLength: 3 }),
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
    const text = pieces.join("");
    try {
      assertEquals(LabelSelector.parse(text).matches({}), LabelSelector.parse(text).matches(undefined));
    } catch (error) {
      assert(error instanceof SyntaxError, String(error));
      const found = error.message.slice(`Cannot parse label selector "${text}": found `.length);
      const at = Number(/ at character (\d+), expected /.exec(found)?.[1]);
      assert(at >= 1 && at <= text.length + 1, error.message);
    }
  }));
});

function print(requirements: readonly Requirement[], space: string): string {
  return requirements.map(({ key, operator, values }) => {
    const set = `(${values.join(`${space},${space}`)})`;
    switch (operator) {
      case "Exists":
        return key;
      case "DoesNotExist":
        return `!${space}${key}`;
      case "In":
        return values.length === 1 ? `${key}${space}=${space}${values[0]}` : `${key} in${space}${set}`;
      case "NotIn":
        return values.length === 1 ? `${key}${space}!=${space}${values[0]}` : `${key} notin${space}${set}`;
      case "GreaterThan":
        return `${key}${space}>${space}${values[0]}`;
      case "LessThan":
        return `${key}${space}<${space}${values[0]}`;
      default:
        return operator satisfies never;
    }
  }).join(`${space},${space}`);
}

const spacing = fc.constantFrom("", " ", "\t\n ");
const name = fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?$/);
const prefix = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,5}[a-z0-9])?(\.[a-z0-9]{1,3}){0,2}$/);
const key = fc.oneof(name, fc.tuple(prefix, name).map((parts) => parts.join("/")), fc.constantFrom("in", "notin"));
const value = fc.oneof({ weight: 5, arbitrary: name }, fc.constant(""), fc.constantFrom("in", "notin"));
const requirement: fc.Arbitrary<Requirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom("Exists", "DoesNotExist"), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom("In", "NotIn"), values: fc.array(value, { minLength: 1, maxLength: 4 }) }),
  fc.record({
    key,
    operator: fc.constantFrom("GreaterThan", "LessThan"),
    values: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map((number) => [String(number)]),
  }),
);

Deno.test("differences names fields by the paths that parseFieldPath reads", () => {
  const before = {
    metadata: { name: "web", resourceVersion: "1", managedFields: [{ manager: "a" }], labels: { a: "1", "b/c": "2" } },
    spec: { containers: [{ image: "a", args: ["x"] }, { image: "b", ports: [] }], replicas: 1, host: undefined },
  };
  const after = {
    spec: { replicas: 1, containers: [{ args: ["y"], image: "a2" }, { image: "b2", ports: [80] }], nodes: [[1]] },
    metadata: { name: "web", resourceVersion: "2", managedFields: [{ manager: "b" }], labels: { a: "1", "b/c": "3" } },
    status: {},
  };
  assertEquals(differences(before, structuredClone(before)), []);
  const paths = differences(before, after);
  assertEquals(paths, [
    'metadata.labels["b/c"]',
    "spec.containers.image",
    "spec.containers.args",
    "spec.containers.ports",
    "spec.nodes",
    "status",
  ]);
  assertEquals(paths.map((path) => formatFieldPath(parseFieldPath(path))), paths);
  assertEquals(differences({ a: null, b: {}, c: 0 }, { a: undefined, b: [], c: false }), ["a", "b", "c"]);
});

Deno.test("differences ends at cycles, and names what is far within by its place", () => {
  const cyclic = (replicas: number, image: string): object => {
    const containers = Array.from({ length: 20 }, (_, i): Record<string, unknown> => ({ image: `${image}${i}` }));
    const object = { spec: { containers, replicas } };
    for (const container of containers) container.pod = object;
    return object;
  };
  assertEquals(differences(cyclic(1, "a"), cyclic(1, "a")), []);
  assertEquals(differences(cyclic(1, "a"), cyclic(2, "b")), ["spec.containers.image", "spec.replicas"]);
  const deep = (value: number): object => {
    let object: object = { value };
    for (let level = 0; level < 9_000; level++) object = { a: object, b: 1 };
    return object;
  };
  assertEquals(differences(deep(1), deep(1)), []);
  assertEquals(differences(deep(1), deep(2)), [Array.from({ length: 50 }, () => "a").join(".")]);
  assertEquals(differences({ toString: 1 }, {}), ["toString"]);
  // Of lists of different lengths the list is named, and none of the fields of its items.
  const [one, two] = [[{ name: "a", image: "a" }], [{ name: "b", image: "a" }, { name: "a", image: "c" }]];
  for (const [a, b] of [[one, two], [two, one], [one, []], [[], one]]) {
    assertEquals(differences({ spec: { containers: a } }, { spec: { containers: b } }), ["spec.containers"]);
  }
});
