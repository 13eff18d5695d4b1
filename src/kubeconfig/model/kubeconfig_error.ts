import { InformerError } from "../../errors/informer_error.ts";
import { quote } from "../text/quote.ts";

/** A place in a kubeconfig. */
export interface KubeconfigPlace {
  /** Path of the file, as it was given. */
  readonly file?: string;
  /** The entry, `user "admin"`. */
  readonly entry?: string;
  /** The field of the entry, or of the file when there is no entry: `"client-key-data"`. */
  readonly field?: string;
}

/**
 * A kubeconfig is missing, invalid, or has a field that is not supported. The message never holds credentials.
 */
export class KubeconfigError extends InformerError {
  /** `"KubeconfigError"`. */
  override readonly name = "KubeconfigError";
  /** Path of the file, if the error is about one file. */
  readonly file?: string;
  /** The entry, such as `user "admin"`, if the error is about one entry. */
  readonly entry?: string;
  /** The field, such as `"client-key-data"`, if the error is about one field. */
  readonly field?: string;

  /** `options` name the place. */
  constructor(message: string, options: ErrorOptions & KubeconfigPlace = {}) {
    super(message, options);
    if (options.file !== undefined) this.file = options.file;
    if (options.entry !== undefined) this.entry = options.entry;
    if (options.field !== undefined) this.field = options.field;
  }
}

/**
 * Creates the error about a place. The message names file, entry and field, followed by `problem`, which says what to
 * do.
 */
export function kubeconfigError(place: KubeconfigPlace, problem: string, options: ErrorOptions = {}): KubeconfigError {
  const { file, entry, field } = place;
  const kubeconfig = file === undefined ? "kubeconfig" : `kubeconfig ${JSON.stringify(file)}`;
  const subject = entry === undefined ? kubeconfig : `${entry} of ${kubeconfig}`;
  const where = field === undefined ? "" : `field ${quote(field)} `;
  return new KubeconfigError(`Cannot use ${subject}: ${where}${problem}`, { ...options, ...place });
}
