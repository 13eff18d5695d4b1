import { assert, assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../../src/cli/errors/usage_error.ts";
import { definitionsIn } from "../../../src/cli/target/definitions_in.ts";
import { readCrds } from "../../../src/codegen/read_crd.ts";
import { SchemaError } from "../../../src/codegen/schema_error.ts";
import { CRONTAB_FILE, crontabDefinition } from "../../support/crontab.ts";

const TEXT = Deno.readTextFileSync(CRONTAB_FILE);

function pathsIn(text: string): string[] {
  return definitionsIn(text, "crd.yaml").map(({ path }) => path);
}

Deno.test("definitionsIn finds definitions among other documents, and in lists", () => {
  assertEquals(definitionsIn(TEXT, "crd.yaml"), [{ value: crontabDefinition(), path: "crd.yaml, document 2#" }]);
  const definition = crontabDefinition();
  assertEquals(pathsIn(JSON.stringify(definition)), ["crd.yaml#"]);
  assertEquals(pathsIn(`---\n---\n${JSON.stringify(definition)}\n---\n`), ["crd.yaml, document 2#"]);
  const list = { apiVersion: "v1", kind: "List", items: [{ kind: "Pod" }, definition] };
  assertEquals(pathsIn(JSON.stringify(list)), ["crd.yaml#/items/1"]);
  const { kind: _kind, apiVersion: _apiVersion, ...item } = definition;
  const typed = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinitionList", items: [item] };
  assertEquals(pathsIn(JSON.stringify(typed)), ["crd.yaml#/items/0"]);
});

Deno.test("definitionsIn refuses text that is not YAML, or has no definitions", () => {
  const cases: [string, RegExp][] = [
    ["", /^--file: "crd.yaml" has no CustomResourceDefinition among its 0 objects/],
    ["kind: Pod\n---\nkind: Service", /no CustomResourceDefinition among its 2 objects/],
    ["spec:\n  group: 'stable", /neither YAML nor JSON that can be read: unexpected end .* at line 2, column 17$/],
    ['{"kind": "CustomResourceDefinition", "spec": {', /neither YAML nor JSON that can be read: .* at line 1/],
    ["kind: A\nkind: B", /duplicated mapping key at line 2, column 1$/],
    ["a: &a [1]\nb: *a", /aliases exceeded .* at line 2/],
    ["[".repeat(100_000), /nesting exceeded/],
    ["a: !!js/function x", /unknown scalar tag/],
  ];
  for (const [text, message] of cases) {
    const error = assertThrows(() => definitionsIn(text, "crd.yaml"), UsageError);
    assert(message.test(error.message), error.message);
  }
  const error = assertThrows(() => definitionsIn("kind: Pod\n---\njust text", "crd.yaml"), SchemaError);
  assertEquals(error.path, "crd.yaml, document 2#");
});

Deno.test("a definition that is cut off anywhere is refused, or gives kinds that are complete", () => {
  const complete = new Map(readCrds(definitionsIn(TEXT, "crd.yaml")).kinds.map((kind) => [kind.name, kind]));
  const lines = TEXT.split("\n");
  let refused = 0;
  for (let count = 0; count < lines.length; count++) {
    // At the end of a line, and within one.
    for (const text of [lines.slice(0, count).join("\n"), lines.slice(0, count + 1).join("\n").slice(0, -3)]) {
      try {
        for (const kind of readCrds(definitionsIn(text, "crd.yaml")).kinds) {
          assertEquals(kind, complete.get(kind.name), `cut off in line ${count}`);
        }
      } catch (error) {
        if (!(error instanceof SchemaError || error instanceof UsageError)) throw error;
        refused++;
      }
    }
  }
  assert(refused > 250, `${refused} of ${lines.length * 2} refused`);
});
