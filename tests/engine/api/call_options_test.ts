import { assertEquals, assertThrows } from "@std/assert";
import { namespacesOf } from "../../../src/engine/api/call_options.ts";

Deno.test("namespacesOf returns each namespace once, in the order given, and none for all namespaces", () => {
  assertEquals(namespacesOf({ namespaces: ["b", "a", "b"] }), ["b", "a"]);
  assertEquals(namespacesOf({ namespaces: ["a"] }), ["a"]);
  assertEquals(namespacesOf({ namespace: "a" }), ["a"]);
  assertEquals(namespacesOf({ namespace: "a", namespaces: undefined }), ["a"]);
  for (const all of [{}, { namespace: "" }, { namespace: undefined }]) assertEquals(namespacesOf(all), undefined);
});

Deno.test("namespacesOf refuses an empty list, an empty name, and namespace together with namespaces", () => {
  const wrong: [Parameters<typeof namespacesOf>[0], string][] = [
    [
      { namespaces: [] },
      'Cannot select namespaces: "namespaces" is []. Name at least one, or leave the option out for all namespaces',
    ],
    [{ namespaces: "a" as unknown as string[] }, 'Cannot select namespaces: "namespaces" is "a". Name at least one'],
    [{ namespaces: ["a", ""] }, 'Cannot select namespaces: "" is not a name'],
    [{ namespaces: [7 as unknown as string] }, "Cannot select namespaces: 7 is not a name"],
    [
      { namespace: "a", namespaces: ["b"] },
      'Cannot select namespaces: "namespace" ("a") and "namespaces" (["b"]) cannot be combined. Remove one of them',
    ],
    [{ namespace: "", namespaces: ["b"] }, "cannot be combined. Remove one of them"],
  ];
  for (const [selection, message] of wrong) assertThrows(() => namespacesOf(selection), TypeError, message);
});
