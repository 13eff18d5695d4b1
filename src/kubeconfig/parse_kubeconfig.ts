import { EXEC_EXTENSION } from "./model/exec_extension.ts";
import { isRecord } from "./text/is_record.ts";
import {
  boolCoreTag,
  CORE_SCHEMA,
  FAILSAFE_SCHEMA,
  loadAll,
  mergeTag,
  nullCoreTag,
  type Schema,
  YAMLException,
} from "js-yaml";
import { type EntryKind, type Kubeconfig, KubeconfigEntry } from "./model/kubeconfig.ts";
import { kubeconfigError, type KubeconfigPlace } from "./model/kubeconfig_error.ts";
import { quote, quoteAll } from "./text/quote.ts";
import { describeValue } from "./text/describe_value.ts";
import { suggestion } from "./text/suggestion.ts";

/** Numbers stay text, so that `password: 0123` keeps its zero; `<<` is supported because kubectl supports it. */
const SCHEMA: Schema = FAILSAFE_SCHEMA.withTags(nullCoreTag, boolCoreTag, mergeTag);

/**
 * Fields of a file (clientcmd/api/v1 `Config`). `preferences` and `extensions` belong to other programs and are
 * ignored.
 */
const FIELDS = ["apiVersion", "kind", "preferences", "clusters", "users", "contexts", "current-context", "extensions"];

/**
 * Parses one kubeconfig file, YAML or JSON. An empty file is a kubeconfig without entries.
 *
 * Validates syntax, kind, version, the lists and the names of their entries. The fields of an entry are validated by
 * {@linkcode resolveContext} when the entry is used.
 *
 * @param file Path of the file, for messages and as the base of its relative paths.
 * @throws {KubeconfigError} when it is not a kubeconfig; a syntax error has line and column.
 */
export function parseKubeconfig(text: string, file: string): Kubeconfig {
  const root = parseYaml(text, file);
  for (const field of Object.keys(root)) {
    if (!FIELDS.includes(field)) {
      throw kubeconfigError(
        { file, field },
        `is not known${suggestion(field, FIELDS)}: a kubeconfig has ${quoteAll(FIELDS)}`,
      );
    }
  }
  expectValue(root, "kind", "Config", file);
  expectValue(root, "apiVersion", "v1", file);
  const current = root["current-context"] ?? "";
  if (typeof current !== "string") {
    throw kubeconfigError(
      { file, field: "current-context" },
      `must be the name of a context, found ${describeValue(current)}`,
    );
  }
  keepTypes(root, text, file);
  return {
    files: [file],
    ...(current === "" ? {} : { currentContext: { name: current, file } }),
    clusters: parseEntries(root, "clusters", "cluster", file),
    contexts: parseEntries(root, "contexts", "context", file),
    users: parseEntries(root, "users", "user", file),
  };
}

function parseYaml(text: string, file: string, schema: Schema = SCHEMA): Record<string, unknown> {
  let documents: unknown[];
  try {
    documents = loadAll(text, { schema });
  } catch (error) {
    const cause = withoutContent(error);
    throw kubeconfigError({ file }, `it is neither YAML nor JSON: ${cause.message}`, { cause });
  }
  if (documents.length > 1) {
    throw kubeconfigError({ file }, `it holds ${documents.length} YAML documents, expected one`);
  }
  const root = documents[0] ?? {};
  if (!isRecord(root)) {
    throw kubeconfigError(
      { file },
      `it must be a mapping with "clusters", "users" and "contexts", found ${describeValue(root)}`,
    );
  }
  return root;
}

/**
 * Restores the types in cluster extensions: credential plugins receive one of them unchanged, so its numbers must stay
 * numbers.
 */
function keepTypes(root: Record<string, unknown>, text: string, file: string): void {
  if (!text.includes(EXEC_EXTENSION) || !Array.isArray(root.clusters)) return;
  const typed = parseYaml(text, file, CORE_SCHEMA.withTags(mergeTag));
  if (!Array.isArray(typed.clusters)) return;
  for (const [index, item] of root.clusters.entries()) {
    const same: unknown = typed.clusters[index];
    if (!isRecord(item) || !isRecord(item.cluster) || !isRecord(same) || !isRecord(same.cluster)) continue;
    if (Object.hasOwn(item.cluster, "extensions")) item.cluster.extensions = same.cluster.extensions;
  }
}

/**
 * Reduces a parser error to reason and position: the original holds the file and quotes the line, which may be a token.
 */
function withoutContent(error: unknown): SyntaxError {
  if (!(error instanceof YAMLException)) return new SyntaxError(error instanceof Error ? error.name : typeof error);
  const reason = error.reason.replaceAll(/"[^"]*"|!<[^>]*>/g, "").replaceAll(/ +/g, " ").trim();
  const place = error.mark ? ` at line ${error.mark.line + 1}, column ${error.mark.column + 1}` : "";
  return new SyntaxError(`${reason}${place}`);
}

function expectValue(root: Record<string, unknown>, field: string, expected: string, file: string): void {
  const found = root[field] ?? "";
  if (found === "" || found === expected) return;
  const shown = typeof found === "string" ? quote(found) : describeValue(found);
  throw kubeconfigError({ file, field }, `must be "${expected}", found ${shown}: this is not a kubeconfig`);
}

function parseEntries(
  root: Record<string, unknown>,
  field: string,
  kind: EntryKind,
  file: string,
): ReadonlyMap<string, KubeconfigEntry> {
  const list = root[field] ?? [];
  if (!Array.isArray(list)) throw kubeconfigError({ file, field }, `must be a list, found ${describeValue(list)}`);
  const entries = new Map<string, KubeconfigEntry>();
  for (const [index, item] of list.entries()) {
    const entry = parseEntry(item, kind, { file, field: `${field}[${index}]` });
    if (entries.has(entry.name)) {
      throw kubeconfigError(
        { file, entry: `${kind} ${quote(entry.name)}`, field: `${field}[${index}]` },
        `is a second entry of that name; rename or remove one of them`,
      );
    }
    entries.set(entry.name, entry);
  }
  return entries;
}

function parseEntry(
  item: unknown,
  kind: EntryKind,
  place: KubeconfigPlace & { readonly file: string },
): KubeconfigEntry {
  if (!isRecord(item)) {
    throw kubeconfigError(place, `must be a mapping with "name" and "${kind}", found ${describeValue(item)}`);
  }
  const name = item.name;
  if (typeof name !== "string" || name === "") {
    throw kubeconfigError(place, `has no name: found ${name === "" ? "an empty text" : describeValue(name)}`);
  }
  for (const key of Object.keys(item)) {
    if (key !== "name" && key !== kind) {
      throw kubeconfigError(
        { ...place, entry: `${kind} ${quote(name)}`, field: key },
        `is not known${suggestion(key, ["name", kind])}: an entry has "name" and "${kind}"`,
      );
    }
  }
  const fields = item[kind] ?? {};
  if (!isRecord(fields)) {
    throw kubeconfigError(
      { ...place, entry: `${kind} ${quote(name)}`, field: kind },
      `must be a mapping, found ${describeValue(fields)}`,
    );
  }
  return new KubeconfigEntry(kind, name, place.file, fields);
}
