import { utf8AsLatin1 } from "../../kubeconfig/entry/impersonation.ts";
import { Redacted } from "../../kubeconfig/text/secret.ts";

/** Basic authentication by user name and password. Prints as `[redacted]`. */
export class BasicLogin extends Redacted {
  readonly #header: string;

  /** `username` must not contain a colon (RFC 7617). */
  constructor(username: string, password: string) {
    super();
    this.#header = `Basic ${btoa(utf8AsLatin1(`${username}:${password}`))}`;
  }

  /** Sets `Authorization`, unless the request has one already. */
  apply(headers: Headers): void {
    if (!headers.has("authorization")) headers.set("authorization", this.#header);
  }
}
