import { CredentialsError } from "../../api/errors.ts";

/** A credential plugin is missing, failed, or printed invalid credentials. */
export class CredentialPluginError extends CredentialsError {
  /** `"CredentialPluginError"`. */
  override readonly name = "CredentialPluginError";
  /** Name or path of the program. */
  readonly command: string;
  /** Its exit code, if not 0. */
  readonly exitCode?: number;

  /** `command` is the program. */
  constructor(message: string, command: string, options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.command = command;
    if (options.exitCode !== undefined) this.exitCode = options.exitCode;
  }
}
