import { assertEquals, assertStringIncludes } from "@std/assert";
import { certificateProblem, privateKeyProblem } from "../../../../src/host/connect/kubeconfig/certificates.ts";
import { pem } from "../../../support/servers/kubeconfig.ts";

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
  assertStringIncludes(certificateProblem("MAUCAgICAg==") ?? "", "it is not PEM");
  assertStringIncludes(certificateProblem(pem("PRIVATE KEY")) ?? "", `only "PRIVATE KEY"`);
  assertStringIncludes(certificateProblem("-----BEGIN CERTIFICATE-----\nMAUC") ?? "", "only the beginning of a block");
});

Deno.test("certificateProblem detects damage", () => {
  const whole = pem("CERTIFICATE", 100);
  const cut = whole.replace(/AgIC\n/, "\n");
  assertEquals(certificateProblem(`${whole}${cut}`), "certificate 2 of 2 is cut short or damaged");
  assertEquals(certificateProblem(whole.replace("AgIC", "Ag*C")), "certificate 1 of 1 is cut short or damaged");
  assertEquals(
    certificateProblem("-----BEGIN CERTIFICATE-----\n\n-----END CERTIFICATE-----"),
    "certificate 1 of 1 is cut short or damaged",
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
    assertStringIncludes(privateKeyProblem(text) ?? "", "its key is encrypted");
  }
});

Deno.test("privateKeyProblem names the PEM blocks that it found instead", () => {
  assertStringIncludes(privateKeyProblem(pem("CERTIFICATE")) ?? "", `only "CERTIFICATE"`);
  assertStringIncludes(privateKeyProblem("") ?? "", "it is empty");
  assertEquals(privateKeyProblem(pem("PRIVATE KEY").replace("MAUC", "MAYC")), "its key is cut short or damaged");
});
