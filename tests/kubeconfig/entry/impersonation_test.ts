import { assertEquals } from "@std/assert";
import { impersonationHeaders, isHeaderValue } from "../../../src/kubeconfig/entry/impersonation.ts";

Deno.test("impersonationHeaders returns one header per group and per extra value", () => {
  const lines = impersonationHeaders({
    user: "grace",
    uid: "42",
    groups: ["dev", "ops, all"],
    extra: [["Acme.com/Some%Thing", ["a", "b"]], ["empty", []]],
  });
  assertEquals(lines, [
    ["Impersonate-User", "grace"],
    ["Impersonate-Uid", "42"],
    ["Impersonate-Group", "dev"],
    ["Impersonate-Group", "ops, all"],
    ["Impersonate-Extra-acme.com%2Fsome%25thing", "a"],
    ["Impersonate-Extra-acme.com%2Fsome%25thing", "b"],
  ]);
});

Deno.test("impersonationHeaders encodes UTF-8", () => {
  const lines = impersonationHeaders({ user: "Jürgen ✓", groups: [], extra: [["ü", ["ü"]]] });
  assertEquals(lines, [["Impersonate-User", "J\u00c3\u00bcrgen \u00e2\u009c\u0093"], [
    "Impersonate-Extra-%C3%BC",
    "\u00c3\u00bc",
  ]]);
  // None of it is more than a byte, so Headers takes it.
  assertEquals(new Headers(lines.map(([name, value]) => [name, value])).has("impersonate-extra-%c3%bc"), true);
});

Deno.test("isHeaderValue is false for values that HTTP would change or refuse", () => {
  for (const text of ["a", "a b", "ops, all", "ü", "✓", ""]) assertEquals(isHeaderValue(text), true, text);
  for (const text of [" a", "a ", "a\nb", "a\r", "a\u0000b", "a\u007f", "\ud800"]) {
    assertEquals(isHeaderValue(text), false, text);
  }
});
