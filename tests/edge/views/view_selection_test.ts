import { assertEquals } from "@std/assert";
import { ViewSelection } from "../../../src/edge/views/view_selection.ts";

Deno.test("a view selects all objects unless something restricts it, and keeps its place when its window moves", () => {
  const of = (request: object): ViewSelection =>
    ViewSelection.parse(JSON.stringify({ a: { of: "pods", ...request } })).get("a")!;
  assertEquals(of({ sortBy: ["metadata.uid"], fields: ["spec"], offset: 7 }).selectsAll, true);
  for (const request of [{ namespace: "shop" }, { labelSelector: "a" }, { fieldSelector: "a=b" }, { search: "x" }]) {
    assertEquals(of(request).selectsAll, false, JSON.stringify(request));
    assertEquals(of(request).order === of({}).order, false);
  }
  assertEquals(of({ offset: 7, fields: ["spec"] }).order, of({ limit: 9 }).order);
  assertEquals([of({ offset: 7 }).id === of({}).id, of({ fields: ["spec"] }).id === of({}).id], [true, false]);
  assertEquals(of({}).window, { offset: 0, limit: 50 });
});
