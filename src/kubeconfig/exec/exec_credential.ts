import { isRecord } from "../text/is_record.ts";
import { certificateProblem, privateKeyProblem } from "../pem/certificate_problem.ts";
import { Redacted, Secret } from "../text/secret.ts";
import { tokenProblem } from "../text/token_problem.ts";
import { quote } from "../text/quote.ts";
import { describeValue } from "../text/describe_value.ts";

/** Credentials from a plugin: a token, a certificate with its key, or both. Prints as `[redacted]`. */
export class ExecCredential extends Redacted {
  /** A bearer token. */
  readonly token?: Secret;
  /** A client certificate with its key, PEM. */
  readonly certificate?: { readonly cert: string; readonly key: Secret };
  /** Expiry, in milliseconds since 1970; absent if the plugin does not state it. */
  readonly expiresMs?: number;

  /** Copies `parts`. */
  constructor(parts: Pick<ExecCredential, "token" | "certificate" | "expiresMs">) {
    super();
    if (parts.token !== undefined) this.token = parts.token;
    if (parts.certificate !== undefined) this.certificate = parts.certificate;
    if (parts.expiresMs !== undefined) this.expiresMs = parts.expiresMs;
  }
}

/** The output of a plugin is invalid. The message follows "it" in a sentence, and never quotes the output. */
export class ExecOutputError extends Error {
  /** `"ExecOutputError"`. */
  override readonly name = "ExecOutputError";
}

/**
 * Parses the output of a plugin (client-go `exec.go` `refreshCredsLocked`).
 *
 * @param apiVersion The version in the kubeconfig: the output must have the same.
 * @throws {ExecOutputError} when the output is not a valid `ExecCredential`.
 */
export function parseExecCredential(text: string, apiVersion: string): ExecCredential {
  const root = parseJson(text);
  if (!isRecord(root) || root.kind !== "ExecCredential") {
    throw new ExecOutputError(`must print an object of kind "ExecCredential", found ${kindOf(root)}`);
  }
  if (root.apiVersion !== apiVersion) {
    const found = typeof root.apiVersion === "string" ? quote(root.apiVersion) : describeValue(root.apiVersion);
    throw new ExecOutputError(
      `must print "apiVersion" ${quote(apiVersion)} as in the kubeconfig, found ${found}: make them equal`,
    );
  }
  const { status } = root;
  if (!isRecord(status)) throw new ExecOutputError(`printed no "status"`);
  const token = textOf(status, "token");
  const cert = textOf(status, "clientCertificateData");
  const key = textOf(status, "clientKeyData");
  if ((cert === undefined) !== (key === undefined)) {
    const [has, lacks] = cert === undefined
      ? ["clientKeyData", "clientCertificateData"]
      : ["clientCertificateData", "clientKeyData"];
    throw new ExecOutputError(`printed "${has}" without "${lacks}"`);
  }
  if (token === undefined && cert === undefined) {
    throw new ExecOutputError(`printed neither "token" nor "clientCertificateData" and "clientKeyData"`);
  }
  refuse("token", token === undefined ? undefined : tokenProblem(token));
  refuse("clientCertificateData", cert === undefined ? undefined : certificateProblem(cert));
  refuse("clientKeyData", key === undefined ? undefined : privateKeyProblem(key));
  const expiresMs = expiryOf(status);
  return new ExecCredential({
    ...(token !== undefined && { token: new Secret(token) }),
    ...(cert !== undefined && key !== undefined && { certificate: { cert, key: new Secret(key) } }),
    ...(expiresMs !== undefined && { expiresMs }),
  });
}

/** The parser's error quotes the text, so it is not kept as a cause. */
function parseJson(text: string): unknown {
  if (text.trim() === "") throw new ExecOutputError("printed nothing on standard output");
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ExecOutputError("printed something that is not JSON on standard output");
  }
}

function kindOf(root: unknown): string {
  if (!isRecord(root)) return describeValue(root);
  return typeof root.kind === "string" ? quote(root.kind) : `one without "kind"`;
}

function textOf(status: Record<string, unknown>, field: string): string | undefined {
  const value = status[field] ?? "";
  if (typeof value !== "string") {
    throw new ExecOutputError(`printed ${describeValue(value)} as "${field}", expected text`);
  }
  return value === "" ? undefined : value;
}

function expiryOf(status: Record<string, unknown>): number | undefined {
  const text = textOf(status, "expirationTimestamp");
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (/^\d{4}-\d\d-\d\d[Tt]/.test(text) && !Number.isNaN(ms)) return ms;
  throw new ExecOutputError(
    `printed an "expirationTimestamp" that is not an RFC 3339 time such as "2026-01-31T12:00:00Z"`,
  );
}

function refuse(field: string, problem: string | undefined): void {
  if (problem !== undefined) throw new ExecOutputError(`printed a "${field}" that cannot be used: ${problem}`);
}
