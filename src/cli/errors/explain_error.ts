import { errorLine, oneLine } from "./error_line.ts";
import { UsageError } from "./usage_error.ts";
import { ValidationError } from "@cliffy/command";
import { CredentialsError, isForbidden, isNotFound, isUnauthorized, UnreachableError } from "../../api/errors.ts";
import { ConnectError } from "../../deno/connect_error.ts";
import { KubeconfigError } from "../../kubeconfig/model/kubeconfig_error.ts";
import { EXIT_CODE } from "./exit_code.ts";

/** The exit code and the one line for people that an error ends the program with. */
export function explainError(error: unknown): { readonly code: number; readonly message: string } {
  if (error instanceof UsageError) return { code: EXIT_CODE.usage, message: oneLine(error.message) };
  if (error instanceof ValidationError) {
    return { code: EXIT_CODE.usage, message: oneLine(error.message).replace(/\.$/, "") };
  }
  if (error instanceof ConnectError) return { code: EXIT_CODE.connection, message: connectLine(error) };
  if (error instanceof KubeconfigError) {
    const message = oneLine(error.message).replace(`pass "context"`, "pass --context");
    const advice = message.includes("--context")
      ? ""
      : "; correct it, or choose another with --kubeconfig or --context";
    return { code: EXIT_CODE.connection, message: message + advice };
  }
  const message = errorLine(error);
  // The library refuses arguments by these, before anything is sent; a defect of ours would not begin like that.
  const refused = (error instanceof TypeError || error instanceof RangeError) && message.startsWith("Cannot ");
  if (error instanceof SyntaxError || refused) return { code: EXIT_CODE.usage, message: withFlags(message) };
  // A token file or certificate that cannot be used.
  if (message.startsWith("Cannot connect: ")) return { code: EXIT_CODE.connection, message: withFlags(message) };
  if (error instanceof UnreachableError) {
    return { code: EXIT_CODE.connection, message: `${message}; ${wayOut(message)}` };
  }
  if (error instanceof CredentialsError) return { code: EXIT_CODE.connection, message };
  if (isUnauthorized(error)) {
    return {
      code: EXIT_CODE.connection,
      message: `${message}; the credentials are not known to the server, renew them`,
    };
  }
  if (isForbidden(error)) {
    return {
      code: EXIT_CODE.connection,
      message: `${message}; ask for the right to do that, or choose a namespace with -n`,
    };
  }
  if (isNotFound(error)) return { code: EXIT_CODE.failed, message: `${message}; check the name and the namespace` };
  return { code: EXIT_CODE.failed, message };
}

/** What to do about a server that cannot be reached, by what the connection said. */
function wayOut(message: string): string {
  if (message.includes("InvalidContentType")) return `no TLS is spoken there; check whether it should be "http://"`;
  if (/certificate|UnknownIssuer|NotValidForName/i.test(message)) {
    return "check certificate-authority in the kubeconfig, and the server's certificate";
  }
  return "check the address, and whether the server runs";
}

/** What was tried, behind what to do. */
function connectLine({ message, attempts }: ConnectError): string {
  const [first] = message.split("\n");
  const tried = attempts.map(({ source, problem }) => `${source}: ${problem}`).join("; ");
  return oneLine(`${withFlags(first.replace(/:$/, ""))} (${tried})`);
}

/** Options of the library, by the names that they have on the command line. */
function withFlags(message: string): string {
  return message
    .replaceAll(`"server"`, "--server")
    .replaceAll(`"kubeconfig"`, "--kubeconfig")
    .replaceAll(`"context"`, "--context")
    .replaceAll(`"tokenFile"`, "--token-file");
}
