import type { Abortable } from "../../api/options.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { ExecCredential } from "../../kubeconfig/exec/exec_credential.ts";
import { Secret } from "../../kubeconfig/text/secret.ts";
import { termOfToken } from "../../kubeconfig/text/term_of_token.ts";
import { tokenProblem } from "../../kubeconfig/text/token_problem.ts";
import { ExecLogin } from "./exec_login.ts";

/** Returns credentials of the option `token` that is a function: its tokens are used as those of a plugin are. */
export function tokenLogin(token: (options: Required<Abortable>) => string | Promise<string>): ExecLogin {
  return new ExecLogin({
    run: async (signal) => {
      let text: string;
      try {
        text = await token({ signal });
      } catch (cause) {
        throw new InformerError(`Cannot get a token: the function of option "token" failed`, { cause });
      }
      const problem = typeof text === "string" ? tokenProblem(text) : `is ${typeof text}, expected a string`;
      if (problem !== undefined) {
        throw new TypeError(`Cannot use the token that option "token" returned: it ${problem}`);
      }
      return new ExecCredential({ token: new Secret(text), expiresMs: termOfToken(text)?.untilMs });
    },
  });
}
