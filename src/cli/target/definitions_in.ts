import { loadAll, YAMLException } from "js-yaml";
import { type DocumentPart, isDocumentObject, memberOf, objectAt, pathTo } from "../../codegen/document_part.ts";
import { UsageError } from "../errors/usage_error.ts";

const KIND = "CustomResourceDefinition";

/** The depth of nested values that is read. Two levels are one level of a schema. */
const MAX_DEPTH = 400;

/**
 * Returns the CustomResourceDefinitions in the text of a file: YAML of any number of documents, or JSON. Those in lists are
 * found too; objects of other kinds are skipped.
 *
 * @param file The path of the file, for messages.
 * @throws {UsageError} when it is not YAML, or has no definition.
 * @throws {SchemaError} when a document is no object.
 */
export function definitionsIn(text: string, file: string): DocumentPart[] {
  let documents: unknown[];
  try {
    // Aliases would let a small file grow without bound; generators of definitions write none.
    documents = loadAll(text, { maxAliases: 0, maxDepth: MAX_DEPTH });
  } catch (cause) {
    const place = cause instanceof YAMLException && cause.mark !== undefined
      ? `${cause.reason} at line ${cause.mark.line + 1}, column ${cause.mark.column + 1}`
      : String(cause);
    throw new UsageError(`--file: "${file}" is neither YAML nor JSON that can be read: ${place}`, { cause });
  }
  const parts = documents.map((value, i) => ({
    value,
    path: documents.length === 1 ? `${file}#` : `${file}, document ${i + 1}#`,
  }));
  const objects = parts.filter(({ value }) => value !== null && value !== undefined).flatMap(objectsAt);
  const found = objects.filter((part) => memberOf(objectAt(part), "kind") === KIND);
  if (found.length === 0) {
    throw new UsageError(`--file: "${file}" has no ${KIND} among its ${objects.length} objects; name another file`);
  }
  return found;
}

/** The items of a list, or the object itself. */
function objectsAt(part: DocumentPart): DocumentPart[] {
  const object = objectAt(part);
  const items = memberOf(object, "items");
  const kind = memberOf(object, "kind");
  if (!Array.isArray(items) || !(typeof kind === "string" && kind.endsWith("List"))) return [part];
  // The items of a typed list need not say of which kind they are.
  const typed = kind === `${KIND}List`;
  return items.map((item, i) => ({
    value: typed && isDocumentObject(item) ? { kind: KIND, ...item } : item,
    path: pathTo(part.path, "items", i),
  }));
}
