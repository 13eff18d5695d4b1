/**
 * A certificate authority and a server certificate, made in memory for development and tests.
 *
 * {@linkcode makeCertificates} is the entry point. It loads the packages `pkijs` and `asn1js` when it is called. It
 * writes no files.
 *
 * @module
 */
import { isIP } from "node:net";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";

/** Options for {@linkcode makeCertificates}. */
export interface MakeCertificatesOptions {
  /** The IP addresses and names for which the certificate is valid. @default {["127.0.0.1", "::1", "localhost"]} */
  readonly hosts?: readonly string[];
}

/** PEM texts from {@linkcode makeCertificates}. */
export interface MadeCertificates {
  /** The authority's certificate, for clients: `caCerts` or `caBundle`. Its key is thrown away. */
  readonly ca: string;
  /** The server's certificate. */
  readonly cert: string;
  /** The server's unencrypted key, in PKCS #8. */
  readonly key: string;
}

/** The time for which certificates are valid, in milliseconds: a year. */
const VALID_MS = 365 * 86_400_000;

/** The time by which clocks of other machines may be behind, in milliseconds. */
const SKEW_MS = 300_000;

const CURVE = { name: "ECDSA", namedCurve: "P-256" };

/** Object identifiers (RFC 5280, 4.1 and 4.2.1). */
const OIDS = { name: "2.5.4.3", usage: "2.5.29.15", hosts: "2.5.29.17", limits: "2.5.29.19", purpose: "2.5.29.37" };

/**
 * Makes an authority and a server certificate that it has signed, with ECDSA keys, valid for a year. Use it to serve
 * HTTPS in tests and on your machine. In a cluster, use cert-manager.
 *
 * @throws {InformerError} if there are no hosts.
 *
 * @example
 * ```ts
 * import { makeCertificates } from "@kube/informer/testing/control-plane";
 * import { assertMatch } from "@std/assert";
 *
 * const { ca, cert, key } = await makeCertificates({ hosts: ["127.0.0.1", "hooks.shop.svc"] });
 * for (const text of [ca, cert]) assertMatch(text, /^-----BEGIN CERTIFICATE-----\n/);
 * assertMatch(key, /^-----BEGIN PRIVATE KEY-----\n/);
 * ```
 */
export async function makeCertificates(options: MakeCertificatesOptions = {}): Promise<MadeCertificates> {
  checkNames("make certificates", options, "hosts");
  const { hosts = ["127.0.0.1", "::1", "localhost"] } = options;
  if (hosts.length === 0) throw new InformerError('Cannot make certificates: "hosts" is empty. Add at least one');
  const [{ AttributeTypeAndValue, BasicConstraints, Certificate, ExtKeyUsage, Extension, GeneralName, GeneralNames }, {
    BitString,
    Integer,
    OctetString,
    Utf8String,
  }] = await Promise.all([import("pkijs"), import("asn1js")]);
  const extension = (extnID: string, value: { toBER(): ArrayBuffer }, critical = false) =>
    new Extension({ extnID, critical, extnValue: value.toBER() });
  const certify = async (
    [subject, keys]: readonly [string, CryptoKeyPair],
    [issuer, signer]: readonly [string, CryptoKeyPair],
    extensions: InstanceType<typeof Extension>[],
  ): Promise<string> => {
    const certificate = new Certificate({
      version: 2, // which is X.509 v3
      serialNumber: new Integer({ valueHex: crypto.getRandomValues(new Uint8Array(8)).fill(1, 0, 1) }),
      extensions,
    });
    for (const [side, name] of [["subject", subject], ["issuer", issuer]] as const) {
      const value = new Utf8String({ value: name });
      certificate[side].typesAndValues.push(new AttributeTypeAndValue({ type: OIDS.name, value }));
    }
    certificate.notBefore.value = new Date(Date.now() - SKEW_MS);
    certificate.notAfter.value = new Date(Date.now() + VALID_MS);
    await certificate.subjectPublicKeyInfo.importKey(keys.publicKey);
    await certificate.sign(signer.privateKey, "SHA-256");
    return pem("CERTIFICATE", certificate.toSchema().toBER());
  };
  // Clients find an authority by its name, so each has its own.
  const authority = [`informer-ca-${crypto.randomUUID()}`, await generateKeys()] as const;
  const server = ["informer-server", await generateKeys()] as const;
  const names = hosts.map((host) =>
    isIP(host) === 0
      ? new GeneralName({ type: 2, value: host })
      : new GeneralName({ type: 7, value: new OctetString({ valueHex: addressBytes(host) }) })
  );
  return {
    ca: await certify(authority, authority, [
      extension(OIDS.limits, new BasicConstraints({ cA: true }).toSchema(), true),
      // Bit 5: it signs certificates.
      extension(OIDS.usage, new BitString({ valueHex: new Uint8Array([0x04]), unusedBits: 2 }), true),
    ]),
    cert: await certify(server, authority, [
      extension(OIDS.limits, new BasicConstraints({ cA: false }).toSchema(), true),
      extension(OIDS.purpose, new ExtKeyUsage({ keyPurposes: ["1.3.6.1.5.5.7.3.1"] }).toSchema()), // serverAuth
      extension(OIDS.hosts, new GeneralNames({ names }).toSchema()),
    ]),
    key: pem("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", server[1].privateKey)),
  };
}

/** Generates a pair of keys that can be exported. */
export function generateKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(CURVE, true, ["sign", "verify"]);
}

/** Returns bytes as a PEM block. */
export function pem(label: string, bytes: ArrayBuffer): string {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return `-----BEGIN ${label}-----\n${base64.match(/.{1,64}/g)!.join("\n")}\n-----END ${label}-----\n`;
}

/** Returns the 4 or 16 bytes of an IP address. */
function addressBytes(address: string): Uint8Array<ArrayBuffer> {
  if (isIP(address) === 4) return new Uint8Array(address.split(".").map(Number));
  // The URL has the short form, without a dotted part.
  const [head, tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::")
    .map((part) => part.split(":").filter(Boolean));
  const groups = tail === undefined ? head : [...head, ...Array(8 - head.length - tail.length).fill("0"), ...tail];
  return new Uint8Array(groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]));
}

/** Returns the last certificate of a PEM text, of a chain the one of the authority; `undefined` if there is none. */
export function lastCertificate(text: string): string | undefined {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)?.at(-1);
}
