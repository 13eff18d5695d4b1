import { ValidationError } from "@cliffy/command";
import {
  CredentialsError,
  isForbidden,
  isNotFound,
  isUnauthorized,
  StatusError,
  UnreachableError,
} from "../../api/errors.ts";
import { ConnectError } from "../../deno/connect_error.ts";
import { KubeconfigError } from "../../kubeconfig/model/kubeconfig_error.ts";

/** What the process ends with. */
export const EXIT_CODE = {
  /** What was asked for is done. */
  done: 0,
  /** It was tried, and failed. */
  failed: 1,
  /** It was not asked for in a way that makes sense. */
  usage: 2,
  /** There is no server, or it does not let us. */
  connection: 3,
} as const;

/** The command line itself is wrong: exit code 2. The message says all there is to say. */
export class UsageError extends Error {
  /** `"UsageError"`. */
  override readonly name = "UsageError";
}

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

/** An error in one line, with the innermost reason where the error itself does not say it. */
export function errorLine(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  let line = oneLine(error.message || error.name);
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    const reason = oneLine(inner.message);
    if (reason !== "" && !line.includes(reason)) line += `: ${reason}`;
    if (isComplete(inner)) break;
  }
  return line;
}

/** Whether the message of an error says what its cause says, in better words. */
function isComplete(error: Error): boolean {
  return error instanceof UnreachableError || error instanceof StatusError || error instanceof UsageError ||
    error.message.startsWith("Cannot connect: ");
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

function oneLine(text: string): string {
  return text.trim().split(/\s*\n\s*/).join(" ");
}
