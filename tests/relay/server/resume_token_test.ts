import { assertEquals, assertMatch } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { parseToken, tokenText } from "../../../src/relay/server/resume_token.ts";

Deno.test("a token is read back from its text", () => {
  const token = { feed: "0f-1", scope: "a_b-C", position: 12, versions: "4711-4712~4711-4713" };
  assertEquals(parseToken(tokenText(token)), token);
});

Deno.test("a token leaves out versions that its text cannot hold", () => {
  const token = { feed: "a", scope: "b", position: 1, versions: "opaque/version" };
  assertEquals(parseToken(tokenText(token)), { ...token, versions: "" });
  assertEquals(parseToken(tokenText({ ...token, versions: `1-${"9".repeat(2_000)}` }))?.versions, "");
});

Deno.test("the text of a token needs no escape in a header or an address", () => {
  assertMatch(tokenText({ feed: "a", scope: "b", position: 1, versions: "1-1~2-3" }), /^[\w.~-]+$/);
});

Deno.test("any other text is no token", () => {
  for (const text of ["", "a.b.1", "a.b.-1.", "a.b.1.2.3", "a.b.1. ", "a.b.1.\n", `a.b.1.${"1".repeat(1_000)}`]) {
    assertEquals(parseToken(text), undefined, text);
  }
  fc.assert(fc.property(fc.string(), (text) => {
    const token = parseToken(text);
    if (token !== undefined) assertEquals(parseToken(tokenText(token)), token);
  }));
});
