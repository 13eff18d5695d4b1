import type { EntryFields, FieldPlace } from "../model/entry_fields.ts";
import { decodeBase64 } from "../pem/decode_base64.ts";
import { Secret } from "../text/secret.ts";

/** A certificate or key that stands in the kubeconfig itself. */
export interface InlineMaterial {
  /** Always `"inline"`. */
  readonly type: "inline";
  /** The PEM text, checked. */
  readonly pem: Secret;
  /** Where it stands. */
  readonly place: FieldPlace;
}

/** A file that the kubeconfig names. */
export interface FileMaterial {
  /** Always `"file"`. */
  readonly type: "file";
  /** The path as written: a relative one starts from the folder of `place.file`. */
  readonly path: string;
  /** Where it is named. */
  readonly place: FieldPlace;
}

/** A certificate or key. */
export type Material = InlineMaterial | FileMaterial;

/** What `field` (a path) or `field-data` (base64 of PEM, which is checked here) gives; nothing when neither does. */
export function readMaterial(
  fields: EntryFields,
  field: string,
  problemOf: (pem: string) => string | undefined,
): Material | undefined {
  const dataField = `${field}-data`;
  const path = fields.text(field);
  const data = fields.text(dataField);
  if (path !== undefined && data !== undefined) {
    throw fields.error(dataField, `stands beside "${field}", and they may differ: remove one of them`);
  }
  if (path !== undefined) return { type: "file", path, place: fields.place(field) };
  if (data === undefined) return undefined;
  const pem = decodeBase64(data);
  if (pem === undefined) throw fields.error(dataField, `is not base64: use "${field}" for the path of a file`);
  const problem = problemOf(pem);
  if (problem !== undefined) throw fields.error(dataField, `cannot be used: ${problem}`);
  return { type: "inline", pem: new Secret(pem), place: fields.place(dataField) };
}
