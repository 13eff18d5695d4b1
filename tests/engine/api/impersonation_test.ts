import { assertEquals } from "@std/assert";
import {
  impersonating,
  type Impersonation,
  impersonationHeaders,
  impersonationProblem,
  isHeaderValue,
} from "../../../src/engine/api/impersonation.ts";

Deno.test("impersonationHeaders returns one header per group and per extra value", () => {
  const lines = impersonationHeaders({
    user: "grace",
    uid: "42",
    groups: ["dev", "ops, all"],
    extra: { "Acme.com/Some%Thing": ["a", "b"], empty: [] },
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
  const lines = impersonationHeaders({ user: "Jürgen ✓", groups: [], extra: { ü: ["ü"] } });
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

Deno.test("impersonationProblem names the member that cannot be sent", () => {
  const cases: [Impersonation, string | undefined][] = [
    [{ user: "ada", uid: "1", groups: ["a, b"], extra: { k: ["v"] } }, undefined],
    [{ user: "" }, "user is empty"],
    [{ user: "a\nb" }, "user contains line ends or control characters, or begins or ends with a blank"],
    [{ user: "ada", uid: " 1" }, "uid contains line ends or control characters, or begins or ends with a blank"],
    [
      { user: "ada", groups: ["a", "b "] },
      "groups contains line ends or control characters, or begins or ends with a blank",
    ],
    [
      { user: "ada", extra: { k: ["\ud800"] } },
      "extra contains line ends or control characters, or begins or ends with a blank",
    ],
    [{ user: "ada", extra: { "": ["v"] } }, "extra has a key that cannot be sent: it is empty or malformed"],
  ];
  for (const [user, problem] of cases) assertEquals(impersonationProblem(user)?.join(" "), problem);
});

Deno.test("impersonating replaces the user of a request", () => {
  const headers = { "impersonate-uid": "7", "Impersonate-Extra-Scopes": "all", "user-agent": "test" };
  const request = new Request("http://fake", { headers });
  const user = { user: "ada", groups: ["a", "b, c"] };
  const set = impersonating(user);
  user.user = "eve"; // a change of the object changes nothing
  set(request);
  const found = [["impersonate-group", "a, b, c"], ["impersonate-user", "ada"], ["user-agent", "test"]];
  assertEquals([...request.headers], found);
});
