import { assert, assertEquals } from "@std/assert";
import { apiVersionOf } from "../../mod.ts";
import { CORPUS } from "./_corpus.ts";

Deno.test("the corpus has 200 manifests that type-check as drafts, none of them twice", () => {
  assert(CORPUS.length >= 200, `${CORPUS.length} manifests`);
  const texts = CORPUS.map(({ resource, draft }) => JSON.stringify([apiVersionOf(resource), resource.kind, draft]));
  assertEquals(texts.filter((text, i) => texts.indexOf(text) !== i), []);
});

Deno.test("the apiVersion and kind of a manifest that has them are those of its resource", () => {
  for (const { resource, draft } of CORPUS) {
    assertEquals(draft.apiVersion ?? apiVersionOf(resource), apiVersionOf(resource));
    assertEquals(draft.kind ?? resource.kind, resource.kind);
  }
});
