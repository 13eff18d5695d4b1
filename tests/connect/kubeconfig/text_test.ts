import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  certificateProblem,
  decodeBase64,
  describeValue,
  lastCertificate,
  privateKeyProblem,
  quote,
  quoteAll,
} from "../../../src/connect/kubeconfig/text.ts";
import { nearest } from "../../../src/errors/errors.ts";
import { pem } from "../../support/kubeconfig.ts";

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
  assertEquals(
    [null, undefined, [], {}, "x", true, 5].map(describeValue),
    ["nothing", "nothing", "a list", "a mapping", "text", "a boolean", "a number"],
  );
});

Deno.test("certificateProblem accepts one certificate or several, with text between them", () => {
  assertEquals(certificateProblem(pem("CERTIFICATE")), undefined);
  assertEquals(
    certificateProblem(`# the old - one\n${pem("CERTIFICATE")}\n# the new one\n${pem("CERTIFICATE", 100)}`),
    undefined,
  );
  assertEquals(certificateProblem(pem("CERTIFICATE").replaceAll("\n", "\r\n")), undefined);
});

Deno.test("certificateProblem names the PEM blocks that it found instead", () => {
  assertStringIncludes(certificateProblem(" \n") ?? "", "it is empty");
  assertStringIncludes(certificateProblem("MAUCAgICAg==") ?? "", "no PEM at all");
  assertStringIncludes(certificateProblem(pem("PRIVATE KEY")) ?? "", `only "PRIVATE KEY"`);
  assertStringIncludes(certificateProblem("-----BEGIN CERTIFICATE-----\nMAUC") ?? "", "only the beginning of a block");
});

Deno.test("certificateProblem detects damage", () => {
  const whole = pem("CERTIFICATE", 100);
  const cut = whole.replace(/AgIC\n/, "\n");
  assertEquals(certificateProblem(`${whole}${cut}`), "certificate 2 of 2 in it is cut short or damaged");
  assertEquals(certificateProblem(whole.replace("AgIC", "Ag*C")), "certificate 1 of 1 in it is cut short or damaged");
  assertEquals(
    certificateProblem("-----BEGIN CERTIFICATE-----\n\n-----END CERTIFICATE-----"),
    "certificate 1 of 1 in it is cut short or damaged",
  );
});

Deno.test("privateKeyProblem accepts PKCS#8, PKCS#1 and SEC1", () => {
  for (const label of ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]) {
    assertEquals(privateKeyProblem(pem(label)), undefined);
  }
  assertEquals(privateKeyProblem(`${pem("EC PARAMETERS")}${pem("EC PRIVATE KEY")}`), undefined);
});

Deno.test("privateKeyProblem explains encrypted keys of both forms", () => {
  const old =
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nMAUCAgICAg==\n-----END RSA PRIVATE KEY-----\n";
  for (const text of [pem("ENCRYPTED PRIVATE KEY"), old]) {
    assertStringIncludes(privateKeyProblem(text) ?? "", "the key in it is encrypted");
  }
});

Deno.test("privateKeyProblem names the PEM blocks that it found instead", () => {
  assertStringIncludes(privateKeyProblem(pem("CERTIFICATE")) ?? "", `only "CERTIFICATE"`);
  assertStringIncludes(privateKeyProblem("") ?? "", "it is empty");
  assertEquals(privateKeyProblem(pem("PRIVATE KEY").replace("MAUC", "MAYC")), "the key in it is cut short or damaged");
});

Deno.test("decodeBase64 accepts line breaks and refuses text that is not base64", () => {
  assertEquals(decodeBase64("aGVs\n  bG8=\n"), "hello");
  assertEquals(decodeBase64("w7w="), "ü");
  for (const data of ["a", "a===", "aGVsbG8", "aGVs_G8=", "=aaa"]) assertEquals(decodeBase64(data), undefined, data);
});

Deno.test("the last certificate of a chain is complete, also where its base64 has END", () => {
  const own = "-----BEGIN CERTIFICATE-----\nMIIBENDx\n-----END CERTIFICATE-----";
  const authority = "-----BEGIN CERTIFICATE-----\nMIIC\nENDz\nMIID\n-----END CERTIFICATE-----";
  assertEquals(lastCertificate(`${own}\n${authority}\n`), authority);
  assertEquals(lastCertificate(`${authority}\n-----BEGIN CERTIFICATE-----\nMIIC`), authority);
  assertEquals(lastCertificate("-----BEGIN CERTIFICATE-----\nMIIC\nENDz\n"), undefined);
});
