/**
 * Messages about errors for people.
 *
 * {@linkcode explainError} is the entry point: every error of a command passes it once, and is what loads this file. It
 * adds what to do on a command line, and does not print.
 *
 * @module
 */
import { ValidationError } from "@cliffy/command";
import {
  CredentialsError,
  ForeignServerError,
  isForbidden,
  isNotFound,
  isUnauthorized,
  UnreachableError,
} from "../../engine/api/status.ts";
import { ConnectError } from "../../host/connect/connect_options.ts";
import { KubeconfigError } from "../../host/connect/kubeconfig/parse_kubeconfig.ts";
import { failureKind } from "../../host/connect/runtime/runtime.ts";
import { causesOf, errorLine, messageOf, withSentence } from "../../engine/errors/errors.ts";
import { plain } from "../terminal/terminal.ts";
import { didYouMean, EXIT_CODE, UsageError } from "./usage.ts";

/** Returns `true` for an error of the parser: the command line is invalid. */
export function isOfParser(error: unknown): boolean {
  return error instanceof ValidationError;
}

/** Returns the exit code for an error, and one line for people. */
export function explainError(error: unknown): { readonly code: number; readonly message: string } {
  if (error instanceof UsageError) return { code: EXIT_CODE.usage, message: plain(error.message) };
  if (error instanceof ValidationError) {
    return { code: EXIT_CODE.usage, message: oneOf(plain(error.message).replace(/\.$/, "")) };
  }
  // The command line names a file that does not exist, no context, or one that is not in the file. Files of KUBECONFIG
  // may be missing.
  const named = error instanceof KubeconfigError ? error.reason : error instanceof ConnectError && error.reason;
  const code = named === "missing-file" || named === "missing-context" ? EXIT_CODE.usage : EXIT_CODE.connection;
  if (error instanceof ConnectError) return { code, message: connectLine(error) };
  if (error instanceof KubeconfigError) {
    const message = plain(error.message).replace(`pass "context"`, "pass --context");
    const isAdvised = isDenied(error) || (named === "missing-context" && error.field === "current-context");
    const advice = "Correct it, or choose another one with --kubeconfig or --context";
    return { code, message: isAdvised ? message : withSentence(message, advice) };
  }
  const message = errorLine(error);
  // The library rejects arguments with this reason, before it sends a request; an error from a defect has none.
  const { reason } = (error ?? {}) as { readonly reason?: unknown };
  if (error instanceof SyntaxError || reason === "argument") {
    return { code: EXIT_CODE.usage, message: withFlags(message) };
  }
  if (error instanceof UnreachableError) {
    // The message ends with the flag that is missing.
    return unconnected(isDenied(error) ? plain(messageOf(error)) : withSentence(message, wayOut(message)));
  }
  if (error instanceof CredentialsError || error instanceof ForeignServerError || isUnauthorized(error)) {
    return unconnected(message);
  }
  if (isForbidden(error)) {
    // Definitions have no namespace.
    const other = error.status.details?.kind === "customresourcedefinitions"
      ? "pass a file with the definitions to --file"
      : "choose a namespace with -n";
    return unconnected(withSentence(message, `Ask for this permission, or ${other}`));
  }
  if (reason === "discovery") {
    return unconnected(withSentence(message, "Check that the address belongs to an API server"));
  }
  if (isNotFound(error)) {
    return { code: EXIT_CODE.failed, message: withSentence(message, "Check the name and the namespace") };
  }
  return { code: EXIT_CODE.failed, message };
}

function unconnected(message: string): ReturnType<typeof explainError> {
  return { code: EXIT_CODE.connection, message };
}

/** Returns `true` if Deno lacks a permission. The message names the flag. */
function isDenied(error: unknown): boolean {
  return causesOf(error).some((cause) => failureKind(cause) === "no permission flag");
}

/**
 * Returns the parser's message; if it is about a value that is none of a few, the message names the one meant. A guess
 * of the parser that is not similar is left out.
 */
function oneOf(message: string): string {
  // Words of the parser: it has no code.
  const [, unknown, word, guess] = /^(Unknown \w+ "(.*)")\. Did you mean \w+ "(.*)"\?$/.exec(message) ?? [];
  if (unknown !== undefined && didYouMean(word, [guess]) === "") return unknown;
  const said = /^\w+ ("[^"]+") must be of type "\w+", but got "(.*)"\. Expected values: "(.*)"$/.exec(message);
  if (said === null) return message;
  const [, name, value, values] = said;
  return `${name} must be one of "${values}", but got "${value}"${didYouMean(value, values.split('", "'))}`;
}

/** Returns the remedy for a server that cannot be reached, by the connection error. */
function wayOut(message: string): string {
  // Words of the runtimes: errors of TLS have no code.
  if (message.includes("InvalidContentType")) {
    return `The server does not speak TLS. Check whether its address should begin with "http://"`;
  }
  if (/certificate|UnknownIssuer|NotValidForName/i.test(message)) {
    return "Check certificate-authority in the kubeconfig, and the server's certificate";
  }
  return "Check the address, and whether the server is running";
}

/** Formats a {@linkcode ConnectError} in one line: the remedy, followed by the places that were tried. */
function connectLine({ message, attempts }: ConnectError): string {
  const [first] = message.split("\n");
  const tried = attempts.map(({ source, problem }) => `${source}: ${problem}`).join("; ");
  return plain(withFlags(first.replace(/:$/, "")) + (tried === "" ? "" : ` (${tried})`));
}

/** Replaces names of library options by those of flags. */
function withFlags(message: string): string {
  return message
    .replaceAll(`"server"`, "--server")
    .replaceAll(`"kubeconfig"`, "--kubeconfig")
    .replaceAll(`"context"`, "--context")
    .replaceAll(`"tokenFile"`, "--token-file")
    .replace(`"as.user"`, "--as").replace(/"as\.(group|uid)s?"/, "--as-$1");
}
