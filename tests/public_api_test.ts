import { assertEquals } from "@std/assert";
import { API_FILE, guides, lineOf, publicNames, unexplained } from "../tools/api.ts";

Deno.test("the entry points export the names that tests/public_api.txt lists, each of which is explained", async () => {
  const names = await publicNames();
  const listed = new Set((await Deno.readTextFile(API_FILE)).trimEnd().split("\n"));
  const exported = new Set(names.map(lineOf));
  const message =
    "the public API has changed: run deno task api --update, and from 0.1.0 on add a line to CHANGELOG.md";
  assertEquals(
    { added: [...exported.difference(listed)], removed: [...listed.difference(exported)] },
    { added: [], removed: [] },
    message,
  );
  const lost = unexplained(names, await guides()).filter(({ entry }) => !entry.startsWith("./kinds/"));
  assertEquals(
    lost.map(lineOf),
    [],
    "use them in a guide or an example, or export them not",
  );
});
