/** What a kubeconfig has named entries of. */
export type EntryKind = "cluster" | "context" | "user";

/**
 * One named entry, as it was written. What it says is checked when it is used, so that a file with one entry beyond this
 * toolkit serves for all others. Printing it shows neither tokens nor keys.
 */
export class KubeconfigEntry {
  /** What it describes. */
  readonly kind: EntryKind;
  /** Its name, unique among the entries of its kind. */
  readonly name: string;
  /** The file it stands in: its relative paths start from there. */
  readonly file: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  /** The entry `name` of `file`. */
  constructor(kind: EntryKind, name: string, file: string, fields: Readonly<Record<string, unknown>>) {
    this.kind = kind;
    this.name = name;
    this.file = file;
    this.#fields = fields;
  }

  /** The fields as they were written, secrets among them: a call, because printing can be told to show getters. */
  fields(): Readonly<Record<string, unknown>> {
    return this.#fields;
  }
}

/** A name, and the file that says it. */
export interface CurrentContext {
  /** The name of a context. */
  readonly name: string;
  /** The file whose `current-context` this is. */
  readonly file: string;
}

/** One kubeconfig file, or several merged. Paths in it are as they were written. */
export interface Kubeconfig {
  /** The files it was read from, in order of precedence. */
  readonly files: readonly string[];
  /** The context used when none is named. */
  readonly currentContext?: CurrentContext;
  /** Servers, and how they prove who they are. */
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>;
  /** Pairs of cluster and user, with a namespace. */
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>;
  /** Credentials. */
  readonly users: ReadonlyMap<string, KubeconfigEntry>;
}

/** Whether it says nothing: no entry and no current context (clientcmd `IsConfigEmpty`). */
export function isEmptyKubeconfig(config: Kubeconfig): boolean {
  return config.currentContext === undefined && config.clusters.size === 0 && config.contexts.size === 0 &&
    config.users.size === 0;
}
