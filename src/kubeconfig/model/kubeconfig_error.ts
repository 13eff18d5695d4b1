import { quote } from "../text/quote.ts";

/** Where in a kubeconfig something is. */
export interface KubeconfigPlace {
  /** Path of the file, as it was given. */
  readonly file?: string;
  /** The entry, `user "admin"`. */
  readonly entry?: string;
  /** The field of the entry, or of the file when there is no entry: `"client-key-data"`. */
  readonly field?: string;
}

/**
 * A kubeconfig that is missing, malformed, or says something this toolkit does not do. The message never holds a
 * credential.
 */
export class KubeconfigError extends Error {
  /** `"KubeconfigError"`. */
  override readonly name = "KubeconfigError";
  /** Path of the file, where one file is at fault. */
  readonly file?: string;
  /** The entry at fault, `user "admin"`, where it is one. */
  readonly entry?: string;
  /** The field at fault, `"client-key-data"`, where it is one. */
  readonly field?: string;

  /** An error with this message about this place. */
  constructor(message: string, options: ErrorOptions & KubeconfigPlace = {}) {
    super(message, options);
    if (options.file !== undefined) this.file = options.file;
    if (options.entry !== undefined) this.entry = options.entry;
    if (options.field !== undefined) this.field = options.field;
  }
}

/** The error about a place, in one form of words: what cannot be used, where, and `problem`, which says what to do. */
export function kubeconfigError(place: KubeconfigPlace, problem: string, options: ErrorOptions = {}): KubeconfigError {
  const { file, entry, field } = place;
  const kubeconfig = file === undefined ? "kubeconfig" : `kubeconfig ${JSON.stringify(file)}`;
  const subject = entry === undefined ? kubeconfig : `${entry} of ${kubeconfig}`;
  const where = field === undefined ? "" : `field ${quote(field)} `;
  return new KubeconfigError(`Cannot use ${subject}: ${where}${problem}`, { ...options, ...place });
}
