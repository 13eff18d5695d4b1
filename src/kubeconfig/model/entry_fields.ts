import type { EntryKind, KubeconfigEntry } from "./kubeconfig.ts";
import { type KubeconfigError, kubeconfigError, type KubeconfigPlace } from "./kubeconfig_error.ts";
import { isRecord } from "../text/is_record.ts";
import { quote, quoteAll } from "../text/quote.ts";
import { describeValue } from "../text/describe_value.ts";
import { suggestion } from "../text/suggestion.ts";

/** The fields of each kind of entry (clientcmd/api/v1 `Cluster`, `Context`, `AuthInfo`). */
export const ENTRY_FIELDS: Readonly<Record<EntryKind, readonly string[]>> = {
  cluster: [
    "server",
    "certificate-authority",
    "certificate-authority-data",
    "insecure-skip-tls-verify",
    "tls-server-name",
    "proxy-url",
    "disable-compression",
    "extensions",
  ],
  context: ["cluster", "user", "namespace", "extensions"],
  user: [
    "client-certificate",
    "client-certificate-data",
    "client-key",
    "client-key-data",
    "token",
    "tokenFile",
    "username",
    "password",
    "as",
    "as-uid",
    "as-groups",
    "as-user-extra",
    "exec",
    "auth-provider",
    "extensions",
  ],
};

/** The place of a setting, for messages and as the base of relative paths. */
export interface FieldPlace extends KubeconfigPlace {
  /** Path of the file, as it was given. */
  readonly file: string;
  /** The entry, `user "admin"`. */
  readonly entry: string;
  /** The field of the entry. */
  readonly field: string;
}

/** A mapping within an entry. */
interface Section {
  /** The field that holds it. */
  readonly name: string;
  /** The fields it may have. */
  readonly known: readonly string[];
  /** The fields it has. */
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
    for (const field of Object.keys(fields)) {
      if (known.includes(field)) continue;
      throw this.error(field, `is not known${suggestion(field, known)}: ${what} has ${quoteAll(known)}`);
    }
  }

  /** Returns the fields of the mapping in `field`, which messages name `field.name`; `undefined` if it is absent. */
  section(field: string, known: readonly string[]): EntryFields | undefined {
    const value = this.#get(field);
    if (value === undefined || value === null) return undefined;
    if (!isRecord(value)) throw this.error(field, this.#expected("a mapping", value));
    return new EntryFields(this.#entry, { name: field, known, fields: value });
  }

  /** Returns the place of a field. */
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
    const value = this.#get(field);
    if (value === undefined || value === null || value === "") return false;
    return typeof value !== "object" || Object.keys(value).length > 0;
  }

  /** Returns a text; an empty text counts as absent. */
  text(field: string): string | undefined {
    const value = this.#get(field) ?? "";
    if (typeof value !== "string") throw this.error(field, this.#expected("text, in quotes if need be", value));
    return value === "" ? undefined : value;
  }

  /** Returns a boolean; absent counts as false. */
  flag(field: string): boolean {
    const value = this.#get(field) ?? false;
    // A quoted value, or `yes` of YAML 1.1, is a text.
    if (typeof value !== "boolean") throw this.error(field, this.#expected("true or false", value));
    return value;
  }

  /** Returns a list of texts; absent counts as empty. */
  texts(field: string): readonly string[] {
    return this.#texts(field, this.#get(field) ?? []);
  }

  /** Returns lists of texts by name; absent counts as empty. */
  textLists(field: string): readonly (readonly [name: string, values: readonly string[]])[] {
    const value = this.#get(field) ?? {};
    if (!isRecord(value)) throw this.error(field, this.#expected("a mapping of lists", value));
    return Object.entries(value).map(([name, values]) => [name, this.#texts(field, values ?? [])] as const);
  }

  /** Returns a list of `{ name, value }`; absent counts as empty. */
  pairs(field: string): readonly (readonly [name: string, value: string])[] {
    const value = this.#get(field) ?? [];
    const expected = `a list of "name" and "value"`;
    if (!Array.isArray(value)) throw this.error(field, this.#expected(expected, value));
    return value.map((item: unknown) => {
      if (!isRecord(item)) throw this.error(field, this.#expected(expected, item));
      const { name, value: text = "" } = item;
      if (typeof name !== "string" || name === "") throw this.error(field, "has an item without a name");
      const [start] = name.split(/[=\0]/, 1);
      if (start !== name) {
        // The rest may be a secret: "NAME=value".
        throw this.error(field, `has a name that begins with ${quote(start)} and holds "=" or a zero byte`);
      }
      if (typeof text !== "string" && text !== null) {
        throw this.error(field, `must have text as the value of ${quote(name)}, found ${describeValue(text)}`);
      }
      if (text?.includes("\0")) throw this.error(field, `has a value of ${quote(name)} that holds a zero byte`);
      return [name, text ?? ""] as const;
    });
  }

  /** Returns the value as written. */
  raw(field: string): unknown {
    return this.#get(field);
  }

  #texts(field: string, value: unknown): readonly string[] {
    if (!Array.isArray(value)) throw this.error(field, this.#expected("a list of texts", value));
    for (const item of value) {
      if (typeof item !== "string") throw this.error(field, this.#expected("a list of texts", item));
    }
    return value;
  }

  #get(field: string): unknown {
    const fields = this.#section?.fields ?? this.#entry.fields();
    return Object.hasOwn(fields, field) ? fields[field] : undefined;
  }

  #expected(what: string, value: unknown): string {
    return `must be ${what}, found ${describeValue(value)}`;
  }
}
