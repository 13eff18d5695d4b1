import { utf8AsLatin1 } from "../../kubeconfig/entry/impersonation.ts";
import { Redacted } from "../../kubeconfig/text/secret.ts";
import { tokenProblem } from "../../kubeconfig/entry/resolve_user.ts";

/** A bearer token that stays the same. Prints as `[redacted]`. */
export class BearerToken extends Redacted {
  readonly #header: string;

  /** The token `token`. @throws {TypeError} when it cannot be sent. */
  constructor(token: string) {
    super();
    const problem = tokenProblem(token);
    if (problem !== undefined) throw new TypeError(`Cannot use token: it ${problem}`);
    this.#header = `Bearer ${token}`;
  }

  /** Sets `Authorization`, unless the request brings its own. */
  apply(headers: Headers): void {
    if (!headers.has("authorization")) headers.set("authorization", this.#header);
  }
}

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
