/**
 * Certificates and keys in PEM, which are checked without being shown.
 *
 * {@linkcode certificateProblem} and {@linkcode privateKeyProblem} are the entry points. No signature is verified.
 *
 * @module
 */
import { decoder } from "../../api/object.ts";
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
    return `it holds no PEM certificate ("-----BEGIN CERTIFICATE-----"), ${found(text, blocks)}`;
  }
  const broken = certificates.findIndex((block) => !isDer(block.body));
  return broken === -1
    ? undefined
    : `certificate ${broken + 1} of ${certificates.length} in it is cut short or damaged`;
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
    return `the key in it is encrypted, which Deno cannot read: decrypt it with "openssl pkey -in FILE -out FILE"`;
  }
  const key = blocks.find((block) => KEY_LABELS.includes(block.label));
  if (key === undefined) return `it holds no PEM private key ("-----BEGIN PRIVATE KEY-----"), ${found(text, blocks)}`;
  return isDer(key.body) ? undefined : "the key in it is cut short or damaged";
}

function blocksOf(text: string): { readonly label: string; readonly body: string }[] {
  return [...text.matchAll(BLOCK)].map(([, label, body]) => ({ label, body }));
}

export function found(text: string, blocks: readonly { readonly label: string }[]): string {
  if (text.trim() === "") return "it is empty";
  if (blocks.length === 0) return text.includes("-----BEGIN ") ? "only the beginning of a block" : "no PEM at all";
  return `only ${[...new Set(blocks.map((block) => `"${block.label}"`))].join(", ")}`;
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

/** The validity period of a certificate. */
interface Validity {
  /** Not before this, in milliseconds since 1970. */
  readonly fromMs: number;
  /** Not after this, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** DER tags before and in the validity (X.690, RFC 5280 4.1). */
const SEQUENCE = 0x30;
const VERSION = 0xa0;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

/** Returns the validity of the first certificate in a PEM text; `undefined` if it cannot be read. */
export function validityOf(pem: string): Validity | undefined {
  const body = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/.exec(pem)?.[1];
  const bytes = base64Bytes(body ?? "");
  if (bytes === undefined) return undefined;
  const certificate = elementAt(bytes, 0);
  const tbs = certificate && elementAt(bytes, certificate.start);
  if (tbs?.tag !== SEQUENCE) return undefined;
  let at = tbs.start;
  if (bytes[at] === VERSION) at = elementAt(bytes, at)?.end ?? bytes.length;
  // Serial number, signature algorithm and issuer precede it.
  for (let skipped = 0; skipped < 3; skipped++) at = elementAt(bytes, at)?.end ?? bytes.length;
  const validity = elementAt(bytes, at);
  if (validity?.tag !== SEQUENCE) return undefined;
  const from = elementAt(bytes, validity.start);
  const until = from && elementAt(bytes, from.end);
  const fromMs = from && timeOf(bytes, from);
  const untilMs = until && timeOf(bytes, until);
  return fromMs === undefined || untilMs === undefined ? undefined : { fromMs, untilMs };
}

/**
 * Returns the problem with the validity of a certificate, to follow its name in a sentence; `undefined` if it is valid
 * for the next hour.
 */
export function validityProblem(validity: Validity, nowMs: number): string | undefined {
  const { fromMs, untilMs } = validity;
  if (nowMs < fromMs) return `is valid only from ${new Date(fromMs).toISOString()} on; is this machine's clock right`;
  if (nowMs > untilMs) return `expired on ${new Date(untilMs).toISOString()}`;
  return untilMs - nowMs < 3_600_000 ? `expires on ${new Date(untilMs).toISOString()}` : undefined;
}

interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** Returns the element that begins at `at`; `undefined` if it does not end within the bytes. */
function elementAt(bytes: Uint8Array, at: number): Element | undefined {
  if (at + 2 > bytes.length) return undefined;
  const first = bytes[at + 1];
  const count = first < 0x80 ? 0 : first & 0x7f;
  if (count > 4) return undefined;
  const start = at + 2 + count;
  let length = first < 0x80 ? first : 0;
  for (const byte of bytes.subarray(at + 2, start)) length = length * 256 + byte;
  const end = start + length;
  return end > bytes.length ? undefined : { tag: bytes[at], start, end };
}

/** Parses `260131120000Z`, in which years from 50 mean 19xx, or `20260131120000Z` (RFC 5280 4.1.2.5). */
function timeOf(bytes: Uint8Array, { tag, start, end }: Element): number | undefined {
  if (tag !== UTC_TIME && tag !== GENERALIZED_TIME) return undefined;
  const text = decoder.decode(bytes.subarray(start, end));
  const match =
    (tag === UTC_TIME ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/ : /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/)
      .exec(text);
  if (match === null) return undefined;
  const [year, month, ...rest] = match.slice(1).map(Number);
  const full = tag === GENERALIZED_TIME ? year : year + (year >= 50 ? 1900 : 2000);
  const [day, hour, minute, second] = rest;
  return Date.UTC(full, month - 1, day, hour, minute, second);
}
