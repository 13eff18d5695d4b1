/**
 * Certificates and keys in PEM, which are checked without being shown.
 *
 * {@linkcode certificateProblem}, {@linkcode privateKeyProblem} and {@linkcode validityOf} are the entry points. No
 * signature is verified.
 *
 * @module
 */
import { decoder } from "../../../engine/api/object.ts";
import { base64Bytes, type Term } from "./secrets.ts";

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\s([^-]*(?:-(?!----)[^-]*)*)-----END \1-----/g;

/** Labels of keys that TLS stacks read without a password (RFC 7468 and its predecessors). */
const KEY_LABELS = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];

/** Returns the problem with a PEM text, to follow its name in a sentence; `undefined` if it is valid. */
export type PemCheck = (pem: string) => string | undefined;

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

/** Returns the validity of the first certificate in a PEM text; `undefined` if it cannot be read. */
export function validityOf(text: string): Required<Term> | undefined {
  // Loading node:crypto for this would take 15 ms, and each run of the command line would wait for it.
  const block = blocksOf(text).find(({ label }) => label === "CERTIFICATE");
  const [certificate] = derParts(block && base64Bytes(block.body));
  const [signed] = derParts(certificate?.body);
  // After an optional version: the serial number, the algorithm, the issuer, and the validity (RFC 5280 4.1).
  const validity = derParts(signed?.body).filter(({ tag }) => tag !== 0xa0)[3];
  const [fromMs = NaN, untilMs = NaN] = derParts(validity?.body).map(timeOf);
  return Number.isNaN(fromMs + untilMs) ? undefined : { fromMs, untilMs };
}

function timeOf({ tag, body }: DerPart): number {
  const digits = decoder.decode(body);
  const text = tag === 0x17 ? `${digits < "5" ? 20 : 19}${digits}` : digits; // the short form has two digits of the year
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

/** Returns `true` if the base64 holds exactly one ASN.1 sequence, as each complete certificate and key does. */
function isDer(body: string): boolean {
  const parts = derParts(base64Bytes(body));
  return parts.length === 1 && parts[0].tag === 0x30;
}

/** One ASN.1 value. */
interface DerPart {
  readonly tag: number;
  readonly body: Uint8Array;
}

/** Returns the ASN.1 values that bytes consist of; none if one is cut short. */
function derParts(bytes: Uint8Array = new Uint8Array()): DerPart[] {
  const parts: DerPart[] = [];
  for (let at = 0; at < bytes.length;) {
    const [tag, first = 0] = bytes.subarray(at, at + 2);
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    const from = at + 2 + lengthBytes;
    let length = first < 0x80 ? first : 0;
    for (const byte of bytes.subarray(at + 2, from)) length = length * 256 + byte;
    at = from + length;
    if (at > bytes.length) return [];
    parts.push({ tag, body: bytes.subarray(from, at) });
  }
  return parts;
}
