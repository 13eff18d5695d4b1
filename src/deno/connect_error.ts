import { InformerError } from "../errors/informer_error.ts";

/** One place that was searched for a configuration, and the reason why it is not used. */
export interface ConnectAttempt {
  /** The place: `KUBECONFIG`, the path of a file, or `in-cluster`. */
  readonly source: string;
  /** The reason, with the permission flag to add if only a permission is missing. */
  readonly problem: string;
  /** The underlying error, if any. */
  readonly cause?: unknown;
}

/** No usable configuration was found. The message has one line for each place that was tried. */
export class ConnectError extends InformerError {
  /** `"ConnectError"`. */
  override readonly name = "ConnectError";
  /** The places, in the order they were tried. */
  readonly attempts: readonly ConnectAttempt[];

  /** Appends one line for each attempt to `message`; `cause` is the first cause of an attempt. */
  constructor(message: string, attempts: readonly ConnectAttempt[]) {
    const cause = attempts.find((attempt) => attempt.cause !== undefined)?.cause;
    super(
      [message, ...attempts.map(({ source, problem }) => `- ${source}: ${problem}`)].join("\n"),
      cause === undefined ? undefined : { cause },
    );
    this.attempts = attempts;
  }
}
