import { assertEquals, assertNotEquals } from "@std/assert";
import { NamespaceKeys } from "../../../../src/engine/informer/sync/changing_namespaces.ts";
import { Indexer } from "../../../../src/engine/store/indexer.ts";

Deno.test("NamespaceKeys has the keys that its namespace has brought, and another revision after each change", () => {
  const store = new Indexer<string>({ keyOf: (word) => word[0] });
  const keys = new NamespaceKeys<string>("shop", store);
  const state = (): unknown => [[...keys.keys()], keys.size, keys.getByKey("a"), keys.getByKey("b")];
  const revisions = [keys.revision];
  store.replace(["ant", "bee"], "1");
  assertEquals([state(), keys.revision], [[[], 0, undefined, undefined], revisions[0]]);
  keys.touched("a");
  revisions.push(keys.revision);
  assertEquals(state(), [["a"], 1, "ant", undefined]);
  store.set("a", "ape");
  keys.touched("a");
  revisions.push(keys.revision);
  assertEquals(state(), [["a"], 1, "ape", undefined]);
  store.deleteByKey("a");
  keys.touched("a");
  revisions.push(keys.revision);
  assertEquals(state(), [[], 0, undefined, undefined]);
  revisions.reduce((before, after) => (assertNotEquals(before, after), after));
});
