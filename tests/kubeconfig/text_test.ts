import { assertEquals } from "@std/assert";
import { nearest } from "../../src/errors/nearest_name.ts";
import { describeValue, quote, quoteAll } from "../../src/kubeconfig/text.ts";

Deno.test("nearest finds a name with a typo, and none that differs much", () => {
  const names = ["production", "staging", "dev"];
  assertEquals(nearest("prodution", names), "production");
  assertEquals(nearest("Staging", names), "staging");
  assertEquals(nearest("dve", names), "dev");
  assertEquals(nearest("de", names), "dev");
  assertEquals(nearest("kind", names), undefined);
  assertEquals(nearest("a", []), undefined);
  assertEquals(nearest("a".repeat(10_000), names), undefined);
});

Deno.test("quote and quoteAll shorten long values", () => {
  assertEquals(quote(`a"b`), `"a\\"b"`);
  assertEquals(quote("x".repeat(100)).length, 82);
  assertEquals(quoteAll(["a", "b"]), `"a", "b"`);
  assertEquals(quoteAll(Array.from({ length: 13 }, (_, index) => `n${index}`)).endsWith(`"n9" and 3 more`), true);
});

Deno.test("describeValue names the type of a value, never the value", () => {
  assertEquals([null, undefined, [], {}, "x", true, 5].map(describeValue), [
    "nothing",
    "nothing",
    "a list",
    "a mapping",
    "text",
    "a boolean",
    "a number",
  ]);
});
