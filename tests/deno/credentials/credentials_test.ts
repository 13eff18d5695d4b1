import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import { inspect } from "node:util";
import { BearerToken } from "../../../src/deno/credentials/bearer_token.ts";
import { BasicLogin } from "../../../src/deno/credentials/basic_login.ts";
import { TokenFile } from "../../../src/deno/credentials/token_file.ts";
import { Secret } from "../../../src/kubeconfig/text/secret.ts";
import { hostWith } from "../../support/host.ts";

function sent(credentials: { apply(headers: Headers): void }, init?: HeadersInit): string | null {
  const headers = new Headers(init);
  credentials.apply(headers);
  return headers.get("authorization");
}

Deno.test("BearerToken sends its token", () => {
  assertEquals(sent(new BearerToken("abc.def")), "Bearer abc.def");
});

Deno.test("BasicLogin sends name and password in UTF-8 [C147]", () => {
  assertEquals(sent(new BasicLogin("ada", "a:b")), `Basic ${btoa("ada:a:b")}`);
  assertEquals(sent(new BasicLogin("ada", "ü✓")), "Basic YWRhOsO84pyT");
  assertEquals(sent(new BasicLogin("ada", "")), `Basic ${btoa("ada:")}`);
});

Deno.test("BearerToken and BasicLogin do not replace a request's own Authorization [C138]", () => {
  for (const credentials of [new BearerToken("abc"), new BasicLogin("ada", "b")]) {
    assertEquals(sent(credentials, { authorization: "Bearer own" }), "Bearer own");
  }
});

Deno.test("BearerToken refuses characters that a header cannot have, without showing the token", () => {
  for (const token of ["", "hunter2\nhunter3", "hunter✓"]) {
    const error = assertThrows(() => new BearerToken(token), TypeError, "Cannot use token: it ");
    assertFalse(Deno.inspect(error).includes("hunter"));
  }
});

Deno.test("credentials print as [redacted], however they are printed [F38]", async () => {
  const file = new TokenFile("/run/token", hostWith({}, { readTextFile: () => Promise.resolve("hunter2") }));
  await file.ready();
  for (
    const credentials of [new BearerToken("hunter2"), new BasicLogin("hunter2", "hunter2"), file, new Secret("hunter2")]
  ) {
    const printed = [
      Deno.inspect(credentials),
      Deno.inspect({ nested: { credentials } }).replace("{ nested: { credentials: ", "").replace(" } }", ""),
      inspect(credentials),
      String(credentials),
      JSON.stringify(credentials).replaceAll(`"`, ""),
    ];
    assertEquals(printed, ["[redacted]", "[redacted]", "[redacted]", "[redacted]", "[redacted]"]);
  }
});
