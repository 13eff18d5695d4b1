/** What is known of a file without reading it. */
export interface FileInfo {
  /** When it was last changed; null where that is not known. */
  mtime: Date | null;
  /** Its length in bytes. */
  size: number;
}

/** Options of {@linkcode eTag}. */
export interface ETagOptions {
  /** The digest the tag is made of. @default {"SHA-256"} */
  algorithm?: AlgorithmIdentifier;
  /** Whether the tag is marked as weak. @default {false, but true for a `FileInfo`} */
  weak?: boolean;
}

/** The entity tag of a body: its length and a part of its digest. */
export async function eTag(entity: string | Uint8Array<ArrayBuffer>, options?: ETagOptions): Promise<string>;
/** The entity tag of a file: its length and a part of the digest of its time; undefined without a time. */
export async function eTag(entity: FileInfo, options?: ETagOptions): Promise<string | undefined>;
/** Both forms. */
export async function eTag(
  entity: string | Uint8Array<ArrayBuffer> | FileInfo,
  options: ETagOptions = {},
): Promise<string | undefined> {
  const file = typeof entity === "object" && "mtime" in entity;
  if (file && entity.mtime === null) return undefined;
  const { algorithm = "SHA-256", weak = file } = options;
  const source = file ? JSON.parse(JSON.stringify(entity.mtime)) : entity;
  const bytes = typeof source === "string" ? new TextEncoder().encode(source) : source;
  const size = file ? entity.size : bytes.length;
  const hash = new Uint8Array(await crypto.subtle.digest(algorithm, bytes));
  const digest = btoa(String.fromCharCode(...hash)).slice(0, 27);
  return `${weak ? "W/" : ""}"${size.toString(16)}-${digest}"`;
}

/** Whether an `If-Match` header lets a request for the entity through; a weak tag never does. */
export function ifMatch(value: string | null, etag: string | undefined): boolean {
  if (!value || !etag || isWeak(etag)) return false;
  return isAny(value) || tagsOf(value).includes(etag);
}

/** Whether an `If-None-Match` header lets a request for the entity through; if not, the client has it already. */
export function ifNoneMatch(value: string | null, etag: string | undefined): boolean {
  if (!value || !etag) return true;
  return !isAny(value) && !tagsOf(value).map(opaque).includes(opaque(etag));
}

function isAny(value: string): boolean {
  return value.trim() === "*";
}

function tagsOf(value: string): string[] {
  return value.split(",").map((tag) => tag.trim());
}

function isWeak(tag: string): boolean {
  return tag.startsWith("W/");
}

function opaque(tag: string): string {
  return isWeak(tag) ? tag.slice(2) : tag;
}
