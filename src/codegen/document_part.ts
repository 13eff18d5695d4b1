import { SchemaError } from "./schema_error.ts";

/** An object of a JSON document. */
export type DocumentObject = Readonly<Record<string, unknown>>;

/** A value in a document, and its path there. */
export interface DocumentPart {
  /** The value. */
  readonly value: unknown;
  /** The document and the JSON pointer in it. */
  readonly path: string;
}

/** Returns true for objects that are neither lists nor null. */
export function isDocumentObject(value: unknown): value is DocumentObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value as an object. @throws {SchemaError} when it is none. */
export function objectAt({ value, path }: DocumentPart): DocumentObject {
  if (!isDocumentObject(value)) throw new SchemaError(path, `it must be an object, found ${shown(value)}`);
  return value;
}

/** Returns a member of an object, `undefined` if the object itself does not have it. */
export function memberOf(object: DocumentObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns the path of a part. */
export function pathTo(path: string, ...names: readonly (string | number)[]): string {
  return names.reduce<string>((to, name) => `${to}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`, path);
}

/** Returns the texts of an optional list. @throws {SchemaError} when it is anything else. */
export function textsAt({ value, path }: DocumentPart): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new SchemaError(path, `it must be a list of texts, found ${shown(value)}`);
  const wrong = value.findIndex((item) => typeof item !== "string");
  if (wrong !== -1) throw new SchemaError(pathTo(path, wrong), `it must be a text, found ${shown(value[wrong])}`);
  return [...new Set(value as string[])];
}

/** Returns an optional text; a description that is missing is empty. @throws {SchemaError} when it is anything else. */
export function textAt({ value, path }: DocumentPart): string {
  if (value === undefined) return "";
  if (typeof value !== "string") throw new SchemaError(path, `it must be a text, found ${shown(value)}`);
  return value;
}

/** Returns a short form of a value for messages. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
