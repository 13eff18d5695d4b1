/**
 * Certificates and keys in PEM, which are checked without being shown.
 *
 * {@linkcode certificateProblem} and {@linkcode privateKeyProblem} are the entry points. No signature is verified.
 *
 * @module
 */
import { base64Bytes } from "./secrets.ts";

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\s([^-]*(?:-(?!----)[^-]*)*)-----END \1-----/g;

/** Labels of keys that TLS stacks read without a password (RFC 7468 and its predecessors). */
const KEY_LABELS = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];

/**
 * Returns the problem with a text that should hold PEM certificates; `undefined` if it has certificates and none is
 * damaged.
 *
 * Deno accepts a CA that is not PEM, and each handshake fails later with `UnknownIssuer`.
 */
export function certificateProblem(text: string): string | undefined {
  const blocks = blocksOf(text);
  const certificates = blocks.filter((block) => block.label === "CERTIFICATE");
  if (certificates.length === 0) {
    return `it has no PEM certificate ("-----BEGIN CERTIFICATE-----"): ${found(text, blocks)}`;
  }
  const broken = certificates.findIndex((block) => !isDer(block.body));
  return broken === -1 ? undefined : `certificate ${broken + 1} of ${certificates.length} is cut short or damaged`;
}

/** Returns the last certificate of a PEM text, of a chain the one of the authority; `undefined` if there is none. */
export function lastCertificate(text: string): string | undefined {
  return [...text.matchAll(BLOCK)].findLast(([, label]) => label === "CERTIFICATE")?.[0];
}

/** Returns the problem with a text that should hold a private key; `undefined` if it is valid. */
export function privateKeyProblem(text: string): string | undefined {
  const blocks = blocksOf(text);
  const encrypted = blocks.some((block) =>
    block.label === "ENCRYPTED PRIVATE KEY" || (KEY_LABELS.includes(block.label) && block.body.includes("ENCRYPTED"))
  );
  if (encrypted) {
    return `its key is encrypted, and Deno cannot read encrypted keys: decrypt it with "openssl pkey -in FILE -out FILE"`;
  }
  const key = blocks.find((block) => KEY_LABELS.includes(block.label));
  if (key === undefined) return `it has no PEM private key ("-----BEGIN PRIVATE KEY-----"): ${found(text, blocks)}`;
  return isDer(key.body) ? undefined : "its key is cut short or damaged";
}

function blocksOf(text: string): { readonly label: string; readonly body: string }[] {
  return [...text.matchAll(BLOCK)].map(([, label, body]) => ({ label, body }));
}

export function found(text: string, blocks: readonly { readonly label: string }[]): string {
  if (text.trim() === "") return "it is empty";
  if (blocks.length === 0) {
    return text.includes("-----BEGIN ") ? "it has only the beginning of a block" : "it is not PEM";
  }
  return `it has only ${[...new Set(blocks.map((block) => `"${block.label}"`))].join(", ")}`;
}

/** Returns `true` if the base64 holds exactly one ASN.1 sequence, as each complete certificate and key does. */
function isDer(body: string): boolean {
  const bytes = base64Bytes(body);
  if (bytes === undefined || bytes.length < 2 || bytes[0] !== 0x30) return false;
  const lengthBytes = bytes[1] < 0x80 ? 0 : bytes[1] & 0x7f;
  if (lengthBytes > 4 || bytes.length < 2 + lengthBytes) return false;
  let length = bytes[1] < 0x80 ? bytes[1] : 0;
  for (const byte of bytes.subarray(2, 2 + lengthBytes)) length = length * 256 + byte;
  return bytes.length === 2 + lengthBytes + length;
}
