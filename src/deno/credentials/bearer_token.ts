import { Redacted } from "../../kubeconfig/text/secret.ts";
import { tokenProblem } from "../../kubeconfig/text/token_problem.ts";

/** A fixed bearer token. Prints as `[redacted]`. */
export class BearerToken extends Redacted {
  readonly #header: string;

  /** @throws {TypeError} when `token` cannot be sent in a header. */
  constructor(token: string) {
    super();
    const problem = tokenProblem(token);
    if (problem !== undefined) throw new TypeError(`Cannot use token: it ${problem}`);
    this.#header = `Bearer ${token}`;
  }

  /** Sets `Authorization`, unless the request has one already. */
  apply(headers: Headers): void {
    if (!headers.has("authorization")) headers.set("authorization", this.#header);
  }
}
