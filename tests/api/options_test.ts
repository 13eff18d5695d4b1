import { assertEquals, assertThrows } from "@std/assert";
import { namespacesOf } from "../../src/api/options.ts";

Deno.test("namespacesOf returns each namespace once, in the order given, and none for all namespaces", () => {
  assertEquals(namespacesOf({ namespaces: ["b", "a", "b"] }), ["b", "a"]);
  assertEquals(namespacesOf({ namespaces: ["a"] }), ["a"]);
  assertEquals(namespacesOf({ namespace: "a" }), ["a"]);
  assertEquals(namespacesOf({ namespace: "a", namespaces: undefined }), ["a"]);
  for (const all of [{}, { namespace: "" }, { namespace: undefined }]) assertEquals(namespacesOf(all), undefined);
});

Deno.test("namespacesOf refuses an empty list, an empty name, and namespace together with namespaces", () => {
  const wrong: [Parameters<typeof namespacesOf>[0], string][] = [
    [{ namespaces: [] }, "Cannot select namespaces: found []; name at least one, or leave them out for all"],
    [{ namespaces: "a" as unknown as string[] }, 'Cannot select namespaces: found "a"; name at least one'],
    [{ namespaces: ["a", ""] }, 'Cannot select namespaces: found "" among them'],
    [{ namespaces: [7 as unknown as string] }, "Cannot select namespaces: found 7 among them"],
    [
      { namespace: "a", namespaces: ["b"] },
      'Cannot select namespaces: found both namespace "a" and namespaces ["b"]; give one of the two',
    ],
    [{ namespace: "", namespaces: ["b"] }, "give one of the two"],
  ];
  for (const [selection, message] of wrong) assertThrows(() => namespacesOf(selection), TypeError, message);
});
