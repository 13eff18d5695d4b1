import { assertEquals } from "@std/assert";
import { decodeBase64 } from "../../../../src/host/connect/kubeconfig/secrets.ts";

Deno.test("decodeBase64 accepts line breaks and refuses text that is not base64", () => {
  assertEquals(decodeBase64("aGVs\n  bG8=\n"), "hello");
  assertEquals(decodeBase64("w7w="), "ü");
  for (const data of ["a", "a===", "aGVsbG8", "aGVs_G8=", "=aaa"]) assertEquals(decodeBase64(data), undefined, data);
});
