import { InformerError } from "../errors/informer_error.ts";
import { fileURLToPath } from "node:url";
import { certificateProblem } from "../kubeconfig/pem/certificate_problem.ts";
import { serverProblem } from "../kubeconfig/entry/server_problem.ts";
import { credentialsProblem } from "../kubeconfig/entry/credentials_problem.ts";
import type { ConnectOptions } from "./connect_options.ts";
import { BearerToken } from "./credentials/bearer_token.ts";
import type { Host } from "./host/host.ts";
import { type ExplainFileProblem, FileProblem } from "./host/read_checked_file.ts";
import type { Login, Plan } from "./plan.ts";
import { filePemSource, type PemSource } from "./pem_source.ts";
import { tokenLogin } from "./credentials/token_login.ts";
import { TokenFile } from "./credentials/token_file.ts";

/**
 * Validates the options before any file is read.
 *
 * @throws {TypeError} when options contradict each other or are invalid.
 */
export function checkOptions(options: ConnectOptions): void {
  const { server } = options;
  for (const [one, other] of [["token", "tokenFile"], ["ca", "caFile"]] as const) {
    if (options[one] !== undefined && options[other] !== undefined) {
      throw new TypeError(`Cannot connect: "${one}" and "${other}" are both given, expected one of them`);
    }
  }
  for (const name of ["context", "kubeconfig", "server", "token", "tokenFile", "ca", "caFile"] as const) {
    if (options[name] === "") {
      throw new TypeError(`Cannot connect: "${name}" is empty, leave it out or give it a value`);
    }
  }
  if (server === undefined) return;
  const problem = serverProblem(String(server));
  if (problem !== undefined) throw new TypeError(`Cannot connect: "server" ${problem}`);
}

/** Converts a `file:` URL to a path. @throws {TypeError} for a URL of another kind. */
export function pathOfOption(name: string, value: string | URL): string {
  if (typeof value === "string") return value;
  if (value.protocol === "file:") return fileURLToPath(value);
  throw new TypeError(`Cannot connect: "${name}" must be a path or a "file:" URL, found "${value.protocol}"`);
}

/**
 * Returns the credentials given as options, for `server` and its proxy; `undefined` if there are none.
 *
 * @throws {TypeError} when they would be sent in clear text.
 */
export function givenLogin(
  options: ConnectOptions,
  { server, proxy }: Pick<Plan, "server" | "proxy">,
  host: Host,
): Login | undefined {
  const { token, tokenFile, onWarning } = options;
  const login = token !== undefined ? "token" : tokenFile !== undefined ? "tokenFile" : undefined;
  if (login === undefined) return undefined;
  const problem = credentialsProblem(server, proxy);
  if (problem !== undefined) {
    throw new TypeError(`Cannot connect: "${login}" ${problem}; use an "https://" server`);
  }
  if (typeof token === "function") return { type: "token", credentials: tokenLogin(token) };
  if (token !== undefined) return { type: "token", credentials: new BearerToken(token) };
  const path = pathOfOption("tokenFile", tokenFile!);
  const explain = explainOption("tokenFile", path);
  return { type: "tokenFile", credentials: new TokenFile(path, host, { ...(onWarning && { onWarning }), explain }) };
}

/**
 * Returns the certificates of `caFile` or `ca`; `undefined` if neither is given.
 *
 * @throws {TypeError} when the server has no TLS, or `ca` has no certificates.
 */
export function givenCa(options: ConnectOptions, server: URL, host: Host): PemSource | undefined {
  const { ca } = options;
  if (options.caFile === undefined && ca === undefined) return undefined;
  if (server.protocol !== "https:") {
    const name = ca === undefined ? "caFile" : "ca";
    throw new TypeError(
      `Cannot connect: "${name}" does not apply to "${server.origin}", which has no TLS; leave it out`,
    );
  }
  if (ca !== undefined) {
    const explain: ExplainFileProblem = (cause) =>
      new TypeError(`Cannot connect: "ca" cannot be used: ${cause.message}`);
    const problem = certificateProblem(ca);
    if (problem !== undefined) throw explain(new FileProblem(problem));
    return { isFile: false, read: () => Promise.resolve(ca), explain };
  }
  const path = pathOfOption("caFile", options.caFile!);
  return filePemSource(path, host, certificateProblem, explainOption("caFile", path));
}

function explainOption(name: string, path: string): ExplainFileProblem {
  return (cause) =>
    new InformerError(`Cannot connect: "${name}" names ${JSON.stringify(path)}: ${cause.message}`, { cause });
}
