/** One place where a configuration was looked for, and why it is not used. */
export interface ConnectAttempt {
  /** The place: `KUBECONFIG`, the path of a file, or `in-cluster`. */
  readonly source: string;
  /** What is missing there, with the permission flag where that is all. */
  readonly problem: string;
  /** What was thrown, where something was. */
  readonly cause?: unknown;
}

/** There is no usable configuration. The message has a line for each place that was tried. */
export class ConnectError extends Error {
  /** `"ConnectError"`. */
  override readonly name = "ConnectError";
  /** The places, in the order they were tried. */
  readonly attempts: readonly ConnectAttempt[];

  /** An error that lists `attempts` after `message`, and has the first of their causes. */
  constructor(message: string, attempts: readonly ConnectAttempt[]) {
    const cause = attempts.find((attempt) => attempt.cause !== undefined)?.cause;
    super(
      [message, ...attempts.map(({ source, problem }) => `- ${source}: ${problem}`)].join("\n"),
      cause === undefined ? undefined : { cause },
    );
    this.attempts = attempts;
  }
}
