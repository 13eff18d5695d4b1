/**
 * Parses and merges kubeconfigs by the rules of kubectl.
 *
 * {@linkcode parseKubeconfig} and {@linkcode mergeKubeconfigs} are the entry points. Fields of an entry are checked
 * when the entry is used, in `resolve_context.ts`. It reads no files.
 *
 * @module
 */
import { defined, isObject } from "../../../engine/api/json.ts";
import { messageOf, nearest } from "../../../engine/errors/errors.ts";
import { InformerError } from "../../../engine/errors/informer_error.ts";
import { readYaml } from "./yaml.ts";

/** Name of the cluster extension for credential plugins. */
const EXEC_EXTENSION = "client.authentication.k8s.io/exec";

/** Returns the extension of a cluster for plugins; `undefined` if it has none. */
export function execExtension(extensions: unknown): unknown {
  if (!Array.isArray(extensions)) return undefined;
  const found = extensions.find((item) => isObject(item) && item.name === EXEC_EXTENSION);
  return isObject(found) ? found.extension : undefined;
}

/** The kinds of named entries. */
export type EntryKind = "cluster" | "context" | "user";

/**
 * One named entry, as written. Its fields are validated when it is used, so that one entry that is not supported does
 * not make the others unusable. Printing it shows neither tokens nor keys.
 */
export class KubeconfigEntry {
  readonly kind: EntryKind;
  /** Its name, unique among the entries of its kind. */
  readonly name: string;
  /** Path of its file; its relative paths start from the folder of this file. */
  readonly file: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  /** `fields` are the parsed values, not validated. */
  constructor(kind: EntryKind, name: string, file: string, fields: Readonly<Record<string, unknown>>) {
    this.kind = kind;
    this.name = name;
    this.file = file;
    this.#fields = fields;
  }

  /** Returns the fields as written, including secrets. A method, because consoles can print getters. */
  fields(): Readonly<Record<string, unknown>> {
    return this.#fields;
  }
}

/** One kubeconfig file, or several merged. Paths in it are as written. */
export interface Kubeconfig {
  /** The files, in order of precedence. */
  readonly files: readonly string[];
  /** The context used when none is named, and the path of the file that says so. */
  readonly currentContext?: { readonly name: string; readonly file: string };
  /** Servers, with their TLS settings. */
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>;
  /** Pairs of cluster and user, with a namespace. */
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>;
  /** Credentials. */
  readonly users: ReadonlyMap<string, KubeconfigEntry>;
}

/** Returns `true` if there is no entry and no current context (clientcmd `IsConfigEmpty`). */
export function isEmptyKubeconfig(config: Kubeconfig): boolean {
  return config.currentContext === undefined && config.clusters.size === 0 && config.contexts.size === 0 &&
    config.users.size === 0;
}

/** A place in a kubeconfig. */
export interface KubeconfigPlace {
  /** The file's path, as it was given. */
  readonly file?: string;
  /** The entry, such as `user "admin"`. */
  readonly entry?: string;
  /** The field in the entry, or in the file if there is no entry, such as `"client-key-data"`. */
  readonly field?: string;
}

/**
 * Thrown if a kubeconfig is missing, invalid, or has a field that is not supported. The message never contains
 * credentials.
 */
export class KubeconfigError extends InformerError {
  /** `"KubeconfigError"`. */
  override readonly name = "KubeconfigError";
  /** The file's path, if the error is about one file. */
  readonly file?: string;
  /** The entry, such as `user "admin"`, if the error is about one entry. */
  readonly entry?: string;
  /** The field, such as `"client-key-data"`, if the error is about one field. */
  readonly field?: string;
  /**
   * `"missing-file"` if an option names a file that does not exist. `"missing-context"` if no context is chosen, or the
   * chosen one does not exist. With a reason, another option helps. Without one, you need another kubeconfig.
   */
  readonly reason?: "missing-file" | "missing-context";

  /** `options` names the place and the reason. */
  constructor(message: string, options: ErrorOptions & KubeconfigPlace & Pick<KubeconfigError, "reason"> = {}) {
    super(message, options);
    if (options.reason !== undefined) this.reason = options.reason;
    if (options.file !== undefined) this.file = options.file;
    if (options.entry !== undefined) this.entry = options.entry;
    if (options.field !== undefined) this.field = options.field;
  }
}

/**
 * Creates the error about a place. The message names file, entry and field, followed by `problem`, which says what to
 * do.
 */
export function kubeconfigError(
  place: KubeconfigPlace,
  problem: string,
  options: ErrorOptions & Pick<KubeconfigError, "reason"> = {},
): KubeconfigError {
  const { file, entry, field } = place;
  const kubeconfig = file === undefined ? "kubeconfig" : `kubeconfig ${JSON.stringify(file)}`;
  const subject = entry === undefined ? kubeconfig : `${entry} of ${kubeconfig}`;
  const where = field === undefined ? "" : `field ${quote(field)} `;
  return new KubeconfigError(`Cannot use ${subject}: ${where}${problem}`, { ...options, ...place });
}

/**
 * Fields of a file (clientcmd/api/v1 `Config`). `preferences` and `extensions` belong to other programs and are
 * ignored.
 */
const FIELDS = ["apiVersion", "kind", "preferences", "clusters", "users", "contexts", "current-context", "extensions"];

/** What to do about a text that YAML takes for a number or a boolean. */
const QUOTES = "in quotes if need be";

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
  const [unknown, problem] = unknownField(root, FIELDS, "a kubeconfig") ?? [];
  if (problem !== undefined) throw kubeconfigError({ file, field: unknown }, problem);
  expectValue(root, "kind", "Config", file);
  expectValue(root, "apiVersion", "v1", file);
  const current = root["current-context"] ?? "";
  if (typeof current !== "string") {
    throw kubeconfigError(
      { file, field: "current-context" },
      `must be the name of a context, ${QUOTES}, but it is ${describeValue(current)}`,
    );
  }
  return {
    files: [file],
    ...(current === "" ? {} : { currentContext: { name: current, file } }),
    clusters: parseEntries(root, "clusters", "cluster", file),
    contexts: parseEntries(root, "contexts", "context", file),
    users: parseEntries(root, "users", "user", file),
  };
}

/** Returns the first field of `fields` that is not known, and the problem with it; `what` has the known ones. */
function unknownField(
  fields: Readonly<Record<string, unknown>>,
  known: readonly string[],
  what: string,
): readonly [field: string, problem: string] | undefined {
  const field = Object.keys(fields).find((name) => !known.includes(name));
  return field === undefined
    ? undefined
    : [field, `is not known${suggestion(field, known)}: ${what} has ${quoteAll(known)}`];
}

/** Returns the first document: kubectl reads no other. */
function parseYaml(text: string, file: string): Record<string, unknown> {
  let documents: unknown[];
  try {
    documents = readYaml(text);
  } catch (cause) {
    throw kubeconfigError({ file }, `it is neither YAML nor JSON: ${messageOf(cause)}`, { cause });
  }
  const root = documents[0] ?? {};
  if (!isObject(root)) {
    throw kubeconfigError(
      { file },
      `it must be a mapping with "clusters", "users" and "contexts", but it is ${describeValue(root)}`,
    );
  }
  return root;
}

function expectValue(root: Record<string, unknown>, field: string, expected: string, file: string): void {
  const found = root[field] ?? "";
  if (found === "" || found === expected) return;
  const shown = typeof found === "string" ? quote(found) : describeValue(found);
  throw kubeconfigError({ file, field }, `must be "${expected}", but it is ${shown}: this is not a kubeconfig`);
}

function parseEntries(
  root: Record<string, unknown>,
  field: string,
  kind: EntryKind,
  file: string,
): ReadonlyMap<string, KubeconfigEntry> {
  const list = root[field] ?? [];
  if (!Array.isArray(list)) throw kubeconfigError({ file, field }, `must be a list, but it is ${describeValue(list)}`);
  const entries = new Map<string, KubeconfigEntry>();
  for (const [index, item] of list.entries()) {
    const entry = parseEntry(item, kind, { file, field: `${field}[${index}]` });
    if (entries.has(entry.name)) {
      throw kubeconfigError(
        { file, entry: `${kind} ${quote(entry.name)}`, field: `${field}[${index}]` },
        `is a second entry with this name: rename or remove one of them`,
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
  if (!isObject(item)) {
    throw kubeconfigError(place, `must be a mapping with "name" and "${kind}", but it is ${describeValue(item)}`);
  }
  const name = item.name;
  if ((name ?? "") === "") throw kubeconfigError(place, `has no name: it is ${name === "" ? "empty" : "missing"}`);
  if (typeof name !== "string") {
    throw kubeconfigError(place, `must have text as its name, ${QUOTES}, but it is ${describeValue(name)}`);
  }
  const entry = `${kind} ${quote(name)}`;
  const [unknown, problem] = unknownField(item, ["name", kind], "an entry") ?? [];
  if (problem !== undefined) throw kubeconfigError({ ...place, entry, field: unknown }, problem);
  const fields = item[kind] ?? {};
  if (!isObject(fields)) {
    throw kubeconfigError({ ...place, entry, field: kind }, `must be a mapping, but it is ${describeValue(fields)}`);
  }
  return new KubeconfigEntry(kind, name, place.file, fields);
}

/**
 * Merges kubeconfigs by kubectl's rules: of entries with the same name, the first one is taken unchanged, and the first
 * `current-context` that is not empty wins. Each entry keeps the path of its file.
 */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const currentContext = configs.find((config) => config.currentContext !== undefined)?.currentContext;
  return defined({
    files: configs.flatMap((config) => config.files),
    currentContext,
    clusters: firstOfEach(configs.map((config) => config.clusters)),
    contexts: firstOfEach(configs.map((config) => config.contexts)),
    users: firstOfEach(configs.map((config) => config.users)),
  });
}

function firstOfEach(maps: readonly ReadonlyMap<string, KubeconfigEntry>[]): ReadonlyMap<string, KubeconfigEntry> {
  const merged = new Map<string, KubeconfigEntry>();
  for (const map of maps) {
    for (const [name, entry] of map) if (!merged.has(name)) merged.set(name, entry);
  }
  return merged;
}

/** The fields of each kind of entry (clientcmd/api/v1 `Cluster`, `Context`, `AuthInfo`). */
export const ENTRY_FIELDS: Readonly<Record<EntryKind, readonly string[]>> = {
  cluster: (
    "server certificate-authority certificate-authority-data insecure-skip-tls-verify tls-server-name " +
    "proxy-url disable-compression extensions"
  ).split(" "),
  context: ["cluster", "user", "namespace", "extensions"],
  user: (
    "client-certificate client-certificate-data client-key client-key-data token tokenFile username password " +
    "as as-uid as-groups as-user-extra exec auth-provider extensions"
  ).split(" "),
};

/** The place of a setting, for messages and as the base of relative paths. */
export type FieldPlace = Required<KubeconfigPlace>;

/** A mapping within an entry. */
interface Section {
  /** The field that holds it. */
  readonly name: string;
  /** The fields it may have. */
  readonly known: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Reads the fields of one entry, or of a mapping in it. Each method throws a {@linkcode KubeconfigError} when the field
 * has another type.
 */
export class EntryFields {
  readonly #entry: KubeconfigEntry;
  readonly #section: Section | undefined;

  /** The fields of `entry`, or of `section` in it. @throws {KubeconfigError} when a field is unknown. */
  constructor(entry: KubeconfigEntry, section?: Section) {
    this.#entry = entry;
    this.#section = section;
    const { known, fields } = section ?? { known: ENTRY_FIELDS[entry.kind], fields: entry.fields() };
    const what = section === undefined ? `a ${entry.kind}` : `"${section.name}"`;
    const unknown = unknownField(fields, known, what);
    if (unknown !== undefined) throw this.error(...unknown);
  }

  /** Returns the fields of the mapping in `field`, which messages name `field.name`; `undefined` if it is absent. */
  section(field: string, known: readonly string[]): EntryFields | undefined {
    const value = this.raw(field);
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw this.error(field, this.#expected("a mapping", value));
    return new EntryFields(this.#entry, { name: field, known, fields: value });
  }

  place(field: string): FieldPlace {
    const path = this.#section === undefined ? field : `${this.#section.name}.${field}`;
    return { file: this.#entry.file, entry: `${this.#entry.kind} ${quote(this.#entry.name)}`, field: path };
  }

  /** Creates an error about a field; `problem` says what is wrong and what to do. */
  error(field: string, problem: string, options?: ErrorOptions): KubeconfigError {
    return kubeconfigError(this.place(field), problem, options);
  }

  /** Returns `false` if the field is absent, null, an empty text, or an empty list or mapping. */
  has(field: string): boolean {
    const value = this.raw(field);
    if (value === undefined || value === null || value === "") return false;
    return typeof value !== "object" || Object.keys(value).length > 0;
  }

  /** Returns a text; an empty text counts as absent. */
  text(field: string): string | undefined {
    const value = this.raw(field) ?? "";
    if (typeof value !== "string") throw this.error(field, this.#expected(`text, ${QUOTES}`, value));
    return value === "" ? undefined : value;
  }

  /** Returns a boolean; absent counts as false. */
  flag(field: string): boolean {
    const value = this.raw(field) ?? false;
    // A quoted value is a text.
    if (typeof value !== "boolean") throw this.error(field, this.#expected("true or false", value));
    return value;
  }

  /** Returns a list of texts; absent counts as empty. */
  texts(field: string): readonly string[] {
    return this.#texts(field, this.raw(field) ?? []);
  }

  /** Returns lists of texts by name; absent counts as empty. */
  textLists(field: string): readonly (readonly [name: string, values: readonly string[]])[] {
    const value = this.raw(field) ?? {};
    if (!isObject(value)) throw this.error(field, this.#expected("a mapping of lists", value));
    return Object.entries(value).map(([name, values]) => [name, this.#texts(field, values ?? [])] as const);
  }

  /** Returns a list of `{ name, value }`; absent counts as empty. */
  pairs(field: string): readonly (readonly [name: string, value: string])[] {
    const value = this.raw(field) ?? [];
    const expected = `a list of "name" and "value"`;
    if (!Array.isArray(value)) throw this.error(field, this.#expected(expected, value));
    return value.map((item: unknown) => {
      if (!isObject(item)) throw this.error(field, this.#expected(expected, item));
      const { name, value: text = "" } = item;
      if (typeof name !== "string" || name === "") throw this.error(field, "has an item without a name");
      const [start] = name.split(/[=\0]/, 1);
      if (start !== name) {
        // The rest may be a secret: "NAME=value".
        throw this.error(field, `has a name that begins with ${quote(start)} and holds "=" or a zero byte`);
      }
      if (typeof text !== "string" && text !== null) {
        throw this.error(field, `must have text as the value of ${quote(name)}, but it is ${describeValue(text)}`);
      }
      if (text?.includes("\0")) throw this.error(field, `has a value of ${quote(name)} that holds a zero byte`);
      return [name, text ?? ""] as const;
    });
  }

  #texts(field: string, value: unknown): readonly string[] {
    if (!Array.isArray(value)) throw this.error(field, this.#expected("a list of texts", value));
    for (const item of value) {
      if (typeof item !== "string") throw this.error(field, this.#expected("a list of texts", item));
    }
    return value;
  }

  /** Returns the value as written. */
  raw(field: string): unknown {
    const fields = this.#section?.fields ?? this.#entry.fields();
    return Object.hasOwn(fields, field) ? fields[field] : undefined;
  }

  #expected(what: string, value: unknown): string {
    return `must be ${what}, but it is ${describeValue(value)}`;
  }
}

/** Returns the type of an invalid value, for messages; never the value itself, which may be a credential. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}

/** Quotes a name for a message, shortened to 80 characters. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
}

/** Quotes names for a message, `"a", "b"`: the first ten, in their order. */
export function quoteAll(names: Iterable<string>): string {
  const all = [...names];
  const shown = all.slice(0, 10).map(quote).join(", ");
  return all.length > 10 ? `${shown} and ${all.length - 10} more` : shown;
}

/** Returns ` (did you mean "prod"?)` if one of the candidates is similar to the name, else an empty text. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  const found = nearest(name, candidates);
  return found === undefined ? "" : ` (did you mean ${quote(found)}?)`;
}
