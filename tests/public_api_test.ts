import { assert, assertEquals } from "@std/assert";
import { API_FILE, lineOf, publicNames } from "../tools/api.ts";

Deno.test("the entry points export the names that tests/public_api.txt lists", async () => {
  const listed = new Set((await Deno.readTextFile(API_FILE)).trimEnd().split("\n"));
  const exported = new Set((await publicNames()).map(lineOf));
  assertEquals(
    { added: [...exported.difference(listed)], removed: [...listed.difference(exported)] },
    { added: [], removed: [] },
    "the public API has changed: run deno task api --update",
  );
});

Deno.test("the root exports at most 160 names, at most 80 of them types, and no namespaces of modules", async () => {
  const root = (await Deno.readTextFile(API_FILE)).split("\n").filter((line) => line.startsWith(". "));
  const types = root.filter((line) => /^\. (?:interface|typeAlias) /.test(line));
  assert(root.length > 100 && root.length <= 160, `${root.length} names`);
  assert(types.length > 40 && types.length <= 80, `${types.length} types; src/types.ts has those for declarations`);
  assertEquals(/export \*/.exec(await Deno.readTextFile(new URL("../mod.ts", import.meta.url))), null);
});

Deno.test("no documentation points to the signature before it: an editor shows only the one that a call takes", async () => {
  const found = (await publicNames()).filter(({ texts }) =>
    [...texts].some((text) => /^As (?:above|before)\b/.test(text))
  );
  assertEquals(found.map(lineOf), []);
});
