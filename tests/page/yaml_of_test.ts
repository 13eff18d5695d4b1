import { assertEquals } from "@std/assert";
import { load } from "js-yaml";
import fc from "npm:fast-check@^4.10.2";
import { yamlOf } from "../../page/yaml_of.ts";

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom("a", "b c", "", " x", "#", ":", "- a", "a: b", "\t", "...", "---", "'", '"', "true", "1"), {
    maxLength: 5,
  }).map((lines) => lines.join("\n")),
  fc.constantFrom(
    "null",
    "Yes",
    "~",
    "1e3",
    "0x1f",
    "12:30",
    "nginx:1.2",
    "a #b",
    "a: b",
    "=",
    "<<",
    "\u0085",
    "\ufeff",
    ".inf",
    "\n",
    " \n",
  ),
);

Deno.test("a JSON value as YAML is read back as the same value", () => {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((it) => it === 0 ? 0 : it),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(text.filter((it) => it !== "__proto__"), tie("value")), { maxLength: 4 }).map(
        Object.fromEntries,
      ),
    ),
  }));
  fc.assert(fc.property(value, (value) => assertEquals(load(yamlOf(value)), value)), { numRuns: 3_000 });
});

Deno.test("an object as YAML looks as kubectl prints it", () => {
  const value = {
    spec: { containers: [{ name: "app", image: "nginx:1.2", args: ["--a", "b c"], command: [] }], hosts: {} },
    metadata: {
      name: "cart-0",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { "app.kubernetes.io/name": "cart" },
    },
    data: { script: "#!/bin/sh\nset -e\n\n  echo 1\n", flag: "true", count: 3, none: null },
  };
  assertEquals(
    yamlOf(value),
    `data:
  count: 3
  flag: "true"
  none: null
  script: |
    #!/bin/sh
    set -e

      echo 1
metadata:
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels:
    app.kubernetes.io/name: cart
  name: cart-0
spec:
  containers:
  - args:
    - "--a"
    - b c
    command: []
    image: nginx:1.2
    name: app
  hosts: {}`,
  );
});
