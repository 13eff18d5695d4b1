import { Redacted } from "../../kubeconfig/text/secret.ts";
import { tokenProblem } from "../../kubeconfig/text/token_problem.ts";

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
