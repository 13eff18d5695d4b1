import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import { FixedLogin } from "../../../src/host/connect/fixed_login.ts";

function sent(credentials: { apply(headers: Headers): void }, init?: HeadersInit): string | null {
  const headers = new Headers(init);
  credentials.apply(headers);
  return headers.get("authorization");
}

Deno.test("FixedLogin.bearer sends its token", () => {
  assertEquals(sent(FixedLogin.bearer("abc.def")), "Bearer abc.def");
});

Deno.test("FixedLogin.basic sends name and password in UTF-8 [C147]", () => {
  assertEquals(sent(FixedLogin.basic("ada", "a:b")), `Basic ${btoa("ada:a:b")}`);
  assertEquals(sent(FixedLogin.basic("ada", "ü✓")), "Basic YWRhOsO84pyT");
  assertEquals(sent(FixedLogin.basic("ada", "")), `Basic ${btoa("ada:")}`);
});

Deno.test("FixedLogin.bearer refuses characters that a header cannot have, without showing the token", () => {
  for (const token of ["", "hunter2\nhunter3", "hunter✓"]) {
    const error = assertThrows(() => FixedLogin.bearer(token), TypeError, "Cannot use token: it ");
    assertFalse(Deno.inspect(error).includes("hunter"));
  }
});
