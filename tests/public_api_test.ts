import { assertEquals } from "@std/assert";
import { API_FILE, publicNames } from "../tools/api.ts";

Deno.test("the entry points export the names that tests/public_api.txt lists", async () => {
  const listed = new Set((await Deno.readTextFile(API_FILE)).trimEnd().split("\n"));
  const exported = new Set(await publicNames());
  const message = "the public API has changed: mention it in CHANGELOG.md, then run deno task api --update";
  assertEquals(
    { added: [...exported.difference(listed)], removed: [...listed.difference(exported)] },
    { added: [], removed: [] },
    message,
  );
});
