import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { X509Certificate } from "node:crypto";
import { lastCertificate } from "../../../src/testing/control_plane/certificates.ts";
import { makeCertificates } from "../../../src/testing/control_plane/mod.ts";
import { openssl } from "../../support/servers/certificates.ts";

Deno.test("makeCertificates makes a certificate of its authority for addresses and names", async () => {
  const hosts = ["127.0.0.1", "::1", "fd00:1::a", "::ffff:10.0.0.1", "hooks.shop.svc"];
  const { ca, cert, key } = await makeCertificates({ hosts });
  const server = new X509Certificate(cert);
  for (const host of hosts.slice(0, -1)) assertEquals(server.checkIP(host), host);
  assertEquals([server.checkIP("127.0.0.2"), server.checkHost("other.shop.svc")], [undefined, undefined]);
  assertEquals(server.checkHost("hooks.shop.svc"), "hooks.shop.svc");
  const authority = new X509Certificate(ca);
  assert(server.verify(authority.publicKey));
  assertEquals([authority.ca, server.ca, server.issuer], [true, false, authority.subject]);
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries({ ca, cert, key })) await Deno.writeTextFile(`${folder}/${name}`, text);
    assertEquals(await openssl(folder, "verify", "-purpose", "sslserver", "-CAfile", "ca", "cert"), "cert: OK\n");
    const publicKey = await openssl(folder, "pkey", "-in", "key", "-pubout");
    assertEquals(await openssl(folder, "x509", "-in", "cert", "-noout", "-pubkey"), publicKey);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("makeCertificates makes another authority each time, and needs hosts", async () => {
  const [one, other] = [await makeCertificates(), await makeCertificates()];
  assertNotEquals(new X509Certificate(one.ca).subject, new X509Certificate(other.ca).subject);
  assertEquals(new X509Certificate(one.cert).verify(new X509Certificate(other.ca).publicKey), false);
  for (const host of ["127.0.0.1", "::1"]) assertEquals(new X509Certificate(one.cert).checkIP(host), host);
  await assertRejects(() => makeCertificates({ hosts: [] }), Error, '"hosts" is empty. Add at least one');
});

Deno.test("the last certificate of a chain is complete, also where its base64 has END", () => {
  const own = "-----BEGIN CERTIFICATE-----\nMIIBENDx\n-----END CERTIFICATE-----";
  const authority = "-----BEGIN CERTIFICATE-----\nMIIC\nENDz\nMIID\n-----END CERTIFICATE-----";
  assertEquals(lastCertificate(`${own}\n${authority}\n`), authority);
  assertEquals(lastCertificate(`${authority}\n-----BEGIN CERTIFICATE-----\nMIIC`), authority);
  assertEquals(lastCertificate("-----BEGIN CERTIFICATE-----\nMIIC\nENDz\n"), undefined);
});
