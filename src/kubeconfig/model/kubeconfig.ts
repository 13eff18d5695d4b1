/**
 * The data model of kubeconfigs: parsed files, their entries and fields, and errors that name file, entry and field.
 *
 * {@linkcode Kubeconfig} is the parsed file, `EntryFields` reads the fields of an entry.
 * This folder does not parse YAML and does not know the meaning of fields.
 *
 * @module
 */

/** The kinds of named entries. */
export type EntryKind = "cluster" | "context" | "user";

/**
 * One named entry, as written. Its fields are validated when it is used, so that one entry that is not supported does
 * not make the others unusable. Printing it shows neither tokens nor keys.
 */
export class KubeconfigEntry {
  /** Kind of the entry. */
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

/** The `current-context`, and its file. */
export interface CurrentContext {
  /** The name of a context. */
  readonly name: string;
  /** Path of the file. */
  readonly file: string;
}

/** One kubeconfig file, or several merged. Paths in it are as written. */
export interface Kubeconfig {
  /** The files, in order of precedence. */
  readonly files: readonly string[];
  /** The context used when none is named. */
  readonly currentContext?: CurrentContext;
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
