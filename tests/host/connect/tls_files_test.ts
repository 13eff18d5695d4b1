import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { findConnection } from "../../../src/host/connect/connect.ts";
import { KubeconfigError } from "../../../src/host/connect/kubeconfig/parse_kubeconfig.ts";
import { validityOf } from "../../../src/host/connect/kubeconfig/certificates.ts";
import { validityProblem } from "../../../src/host/connect/tls_files.ts";
import { makeCertificates, openssl } from "../../support/servers/certificates.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { ask, hostWith, writeKubeconfig } from "../../support/processes/host.ts";
import { serve } from "../../support/servers/tls_server.ts";

/** Commands that make keys and write them in a form, and the label of that form. */
const FORMS: Readonly<Record<string, { readonly make: string[]; readonly write: string[]; readonly label: string }>> = {
  "RSA, PKCS#8": { make: ["-algorithm", "RSA"], write: ["pkcs8", "-topk8", "-nocrypt"], label: "PRIVATE KEY" },
  "RSA, PKCS#1": { make: ["-algorithm", "RSA"], write: ["rsa", "-traditional"], label: "RSA PRIVATE KEY" },
  "EC, PKCS#8": {
    make: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    write: ["pkcs8", "-topk8", "-nocrypt"],
    label: "PRIVATE KEY",
  },
  "EC, SEC1": {
    make: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    write: ["ec"],
    label: "EC PRIVATE KEY",
  },
  "Ed25519, PKCS#8": { make: ["-algorithm", "ED25519"], write: ["pkcs8", "-topk8", "-nocrypt"], label: "PRIVATE KEY" },
};

Deno.test("connect accepts client keys of every form that openssl writes, except encrypted ones", async (t) => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, requestCert: true });
  const { folder } = certificates;
  const user = { "client-certificate": "any.crt", "client-key": "any.key" };
  const cluster = { server: server.url, "certificate-authority": "ca.crt" };
  const kubeconfig = await writeKubeconfig(certificates.path("config"), cluster, user);
  for (const [form, { make, write, label }] of Object.entries(FORMS)) {
    await t.step(form, async () => {
      await openssl(folder, "genpkey", ...make, "-out", "made.key");
      await openssl(folder, ...write, "-in", "made.key", "-out", "any.key");
      await openssl(
        folder,
        ...["req", "-x509", "-key", "any.key", "-CA", "ca.crt", "-CAkey", "ca.key", "-subj", `/CN=${label}`],
        ...["-days", "1", "-out", "any.crt", "-addext", "extendedKeyUsage=clientAuth"],
        ...["-addext", "basicConstraints=critical,CA:FALSE"],
      );
      assertStringIncludes(await Deno.readTextFile(certificates.path("any.key")), `-----BEGIN ${label}-----`);
      const connection = await findConnection({ kubeconfig }, hostWith());
      using _transport = connection.transport;
      assertEquals((await ask(connection)).clientName, label);
    });
  }
  const encrypted = [
    ["pkcs8", "-topk8", "-in", "made.key", "-passout", "pass:x"],
    ["ec", "-aes256", "-in", "client.key", "-passout", "pass:x"],
  ];
  for (const args of encrypted) {
    await t.step(`${args[0]}, encrypted`, async () => {
      await openssl(folder, ...args, "-out", "any.key");
      const error = await assertRejects(() => findConnection({ kubeconfig }, hostWith()), KubeconfigError);
      assertEquals(error.field, "client-key");
      assertStringIncludes(
        error.message,
        `is encrypted, and Deno cannot read encrypted keys: decrypt it with "openssl pkey`,
      );
    });
  }
});

/** Returns the bytes of a certificate, a character each. */
function derOf(pem: string): string {
  return atob(pem.split("\n").filter((line) => !line.startsWith("-")).join(""));
}

function pemOf(der: string): string {
  return `-----BEGIN CERTIFICATE-----\n${btoa(der).replaceAll(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}

Deno.test("validityOf reads certificates of openssl, with both forms of years", async () => {
  await using certificates = await makeCertificates();
  const { folder } = certificates;
  // What ends after 2049 has a year of four digits.
  await openssl(folder, "req", "-x509", "-key", "client.key", "-subj", "/CN=far", "-days", "12000", "-out", "far.crt");
  for (const file of ["client.crt", "far.crt"]) {
    const dates = await openssl(folder, "x509", "-in", file, "-noout", "-dates");
    const [fromMs, untilMs] = dates.split("\n").map((line) => Date.parse(line.split("=")[1]));
    const pem = await Deno.readTextFile(certificates.path(file));
    const chain = `a certificate\n${pem}${certificates.text("ca.crt")}`;
    assertEquals(validityOf(chain), { fromMs, untilMs });
  }
  const far = derOf(await Deno.readTextFile(certificates.path("far.crt")))
    .replace(/(?<=[^]\r)\d{12}Z(?=[^]{2}\d{14}Z)/, "991231235959Z").replace(/\d{14}Z/, "99991231235959Z");
  assertEquals(validityOf(pemOf(far)), {
    fromMs: Date.UTC(1999, 11, 31, 23, 59, 59),
    untilMs: Date.UTC(9999, 11, 31, 23, 59, 59),
  });
});

Deno.test("validityOf is undefined for other data, and for a certificate that was cut off", async () => {
  await using certificates = await makeCertificates();
  const broken = "-----BEGIN CERTIFICATE-----\n***\n-----END CERTIFICATE-----";
  for (const text of ["", "x", broken, pemOf("0\x05\x02\x02\x02\x02\x02")]) {
    assertEquals(validityOf(text), undefined);
  }
  const der = derOf(certificates.text("ca.crt"));
  for (let length = 0; length < der.length; length++) {
    assertEquals(validityOf(pemOf(der.slice(0, length))), undefined);
  }
});

Deno.test("validityProblem distinguishes certificates that are not valid yet, have expired, or expire soon", () => {
  const validity = { fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 1, 1) };
  assertEquals(validityProblem(validity, Date.UTC(2026, 0, 15)), undefined);
  assertEquals(
    validityProblem(validity, Date.UTC(2025, 11, 31)),
    "is valid only from 2026-01-01T00:00:00.000Z on, or this machine's clock is wrong",
  );
  assertEquals(validityProblem(validity, Date.UTC(2026, 1, 1) + 1), "expired on 2026-02-01T00:00:00.000Z");
  assertEquals(validityProblem(validity, Date.UTC(2026, 0, 31, 23, 30)), "expires on 2026-02-01T00:00:00.000Z");
});

Deno.test("connect warns of a client certificate that has expired, and reports when one will expire", async () => {
  await using certificates = await makeCertificates();
  const kubeconfig = await writeKubeconfig(
    certificates.path("config"),
    { server: "https://farm.example" },
    { "client-certificate": "client.crt", "client-key": "client.key" },
  );
  const warnings: string[] = [];
  const onWarning = (warning: string): void => void warnings.push(warning);
  const now = await findConnection({ kubeconfig, onWarning }, hostWith());
  now.transport[Symbol.dispose]();
  assertEquals(warnings, []);
  const expires = now.origin.certificateExpires;
  assertInstanceOf(expires, Date);
  const hours = (expires.getTime() - Date.now()) / 3_600_000;
  assert(hours > 47 && hours <= 48, `${hours}`);
  using _time = new FakeTime(expires.getTime() + 1);
  const later = await findConnection({ kubeconfig, onWarning }, hostWith());
  later.transport[Symbol.dispose]();
  assertEquals(warnings, [
    `Cannot use user "ada" of kubeconfig "${kubeconfig}": field "client-certificate" names ` +
    `"${certificates.path("client.crt")}": the certificate expired on ${expires.toISOString()}`,
  ]);
});
