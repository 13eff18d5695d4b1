/**
 * Credentials that do not change: a bearer token, or a username with its password.
 *
 * {@linkcode FixedLogin} is the entry point. It reads no files.
 *
 * @module
 */
import { utf8AsLatin1 } from "../../engine/api/impersonation.ts";
import { Redacted, tokenProblem } from "./kubeconfig/secrets.ts";

/** A header that does not change. Prints as `[redacted]`. */
export class FixedLogin extends Redacted {
  readonly #header: string;

  private constructor(header: string) {
    super();
    this.#header = header;
  }

  /** Basic authentication; `username` must not contain a colon (RFC 7617). */
  static basic(username: string, password: string): FixedLogin {
    return new FixedLogin(`Basic ${btoa(utf8AsLatin1(`${username}:${password}`))}`);
  }

  /** A bearer token. @throws {TypeError} when it cannot be sent in a header. */
  static bearer(token: string): FixedLogin {
    const problem = tokenProblem(token);
    if (problem !== undefined) throw new TypeError(`Cannot use token: it ${problem}`);
    return new FixedLogin(`Bearer ${token}`);
  }

  /** Sets `Authorization`, unless the request has one already. Returns `false`: a refresh finds nothing new. */
  apply(headers: Headers): false {
    if (!headers.has("authorization")) headers.set("authorization", this.#header);
    return false;
  }
}
