import { assert, assertEquals } from "@std/assert";
import { identifierOf } from "../../../src/cli/codegen/read_schema.ts";

Deno.test("identifierOf numbers names that become one, also where a name with a number exists", () => {
  const used = new Set(["Job", "Job3"]);
  const named = ["Job", "Job", "Job3", "Spec", "default"].map((text) => {
    const name = identifierOf(text, used);
    used.add(name);
    return name;
  });
  assertEquals(named, ["Job2", "Job4", "Job32", "Spec", "default_"]);
  assertEquals(identifierOf("Job", new Set(["Job"])), "Job2");
});

Deno.test("identifierOf looks for each of 15,000 names that become one a few times only", () => {
  const names = new Set<string>();
  let looks = 0;
  const used = { has: (name: string): boolean => (looks++, names.has(name)) };
  for (let at = 0; at < 15_000; at++) names.add(identifierOf("x.y", used));
  assertEquals(names.size, 15_000);
  assert(looks < 60_000, `${looks}`);
});
