import { utf8AsLatin1 } from "../../kubeconfig/entry/impersonation.ts";
import { Redacted } from "../../kubeconfig/text/secret.ts";

/** A user name and password. Prints as `[redacted]`. */
export class BasicLogin extends Redacted {
  readonly #header: string;

  /** The user `username`, whose name holds no colon (RFC 7617). */
  constructor(username: string, password: string) {
    super();
    this.#header = `Basic ${btoa(utf8AsLatin1(`${username}:${password}`))}`;
  }

  /** Sets `Authorization`, unless the request brings its own. */
  apply(headers: Headers): void {
    if (!headers.has("authorization")) headers.set("authorization", this.#header);
  }
}
