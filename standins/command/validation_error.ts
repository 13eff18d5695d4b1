import type { HelpOptions } from "./settings.ts";

/** Options of {@linkcode ValidationError}. */
export interface ValidationErrorOptions extends ErrorOptions {
  /** What the process exits with when nobody catches the error. @default {2} */
  exitCode?: number;
}

/** As much of a command as a handler of errors needs. */
export interface Helpful {
  /** The text of `--help`. */
  getHelp(options?: HelpOptions): string;
  /** Prints the text of `--help`. */
  showHelp(options?: HelpOptions): void;
}

/** The command was used wrongly: by default its help and the message are printed, and the process exits. */
export class ValidationError extends Error {
  /** What the process exits with when nobody catches the error. */
  readonly exitCode: number;
  /** The command that was used wrongly, once `parse` has seen the error. */
  cmd?: Helpful;

  /** An error with the words for the user. */
  constructor(message: string, options: ValidationErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? 2;
  }
}
