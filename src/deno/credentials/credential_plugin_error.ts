import { CredentialsError } from "../../api/errors.ts";

/** A credential plugin is missing, failed, or printed something that is no credential. */
export class CredentialPluginError extends CredentialsError {
  /** `"CredentialPluginError"`. */
  override readonly name = "CredentialPluginError";
  /** The program. */
  readonly command: string;
  /** Its exit code, where it ended with one other than 0. */
  readonly exitCode?: number;

  /** An error about the program `command`. */
  constructor(message: string, command: string, options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.command = command;
    if (options.exitCode !== undefined) this.exitCode = options.exitCode;
  }
}
