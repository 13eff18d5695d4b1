import type { EntryFields, FieldPlace } from "../model/entry_fields.ts";
import { decodeBase64 } from "../pem/decode_base64.ts";
import { Secret } from "../text/secret.ts";

/** A certificate or key inside the kubeconfig. */
export interface InlineMaterial {
  /** Always `"inline"`. */
  readonly type: "inline";
  /** The PEM text, validated. */
  readonly pem: Secret;
  /** Its field. */
  readonly place: FieldPlace;
}

/** A file whose path is in the kubeconfig. */
export interface FileMaterial {
  /** Always `"file"`. */
  readonly type: "file";
  /** The path as written; a relative path starts from the folder of `place.file`. */
  readonly path: string;
  /** The field that holds the path. */
  readonly place: FieldPlace;
}

/** A certificate or key. */
export type Material = InlineMaterial | FileMaterial;

/** Reads `field` (a path) or `field-data` (base64 of PEM, validated here); returns `undefined` if both are absent. */
export function readMaterial(
  fields: EntryFields,
  field: string,
  problemOf: (pem: string) => string | undefined,
): Material | undefined {
  const dataField = `${field}-data`;
  const path = fields.text(field);
  const data = fields.text(dataField);
  if (path !== undefined && data !== undefined) {
    throw fields.error(dataField, `is set together with "${field}", and they may differ: remove one of them`);
  }
  if (path !== undefined) return { type: "file", path, place: fields.place(field) };
  if (data === undefined) return undefined;
  const pem = decodeBase64(data);
  if (pem === undefined) throw fields.error(dataField, `is not base64: use "${field}" for the path of a file`);
  const problem = problemOf(pem);
  if (problem !== undefined) throw fields.error(dataField, `cannot be used: ${problem}`);
  return { type: "inline", pem: new Secret(pem), place: fields.place(dataField) };
}
