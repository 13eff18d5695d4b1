import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import { decodeBase64, FixedLogin } from "../../../../src/host/connect/kubeconfig/secrets.ts";

Deno.test("decodeBase64 accepts line breaks and refuses text that is not base64", () => {
  assertEquals(decodeBase64("aGVs\n  bG8=\n"), "hello");
  assertEquals(decodeBase64("w7w="), "ü");
  for (const data of ["a", "a===", "aGVsbG8", "aGVs_G8=", "=aaa"]) assertEquals(decodeBase64(data), undefined, data);
});

function sent(credentials: { apply(headers: Headers): void }, init?: HeadersInit): string | null {
  const headers = new Headers(init);
  credentials.apply(headers);
  return headers.get("authorization");
}

Deno.test("FixedLogin.bearer sends its token", () => {
  assertEquals(sent(FixedLogin.bearer("abc.def")), "Bearer abc.def");
});

Deno.test("FixedLogin.bearer refuses characters that a header cannot have, without showing the token", () => {
  for (const token of ["", "hunter2\nhunter3", "hunter✓"]) {
    const error = assertThrows(() => FixedLogin.bearer(token), TypeError, "Cannot use token: it ");
    assertFalse(Deno.inspect(error).includes("hunter"));
  }
});
