/**
 * The protocol of credential plugins: settings, input and output.
 *
 * {@linkcode readExec}, {@linkcode execInfo} and {@linkcode parseExecCredential} are the entry points. Nothing runs
 * here; `connect/run_plugin.ts` runs plugins.
 *
 * @module
 */
import { isObject } from "../../../engine/api/json.ts";
import { base64Of } from "../../../engine/api/object.ts";
import { certificateProblem, privateKeyProblem } from "./certificates.ts";
import { describeValue, type EntryFields, type FieldPlace, quote, quoteAll } from "./parse_kubeconfig.ts";
import { Redacted, Secret, tokenProblem } from "./secrets.ts";

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
  if (!isObject(root) || root.kind !== "ExecCredential") {
    throw new ExecOutputError(`must print an object of kind "ExecCredential", but it printed ${kindOf(root)}`);
  }
  if (root.apiVersion !== apiVersion) {
    const version = root.apiVersion ?? undefined;
    const found = version === undefined
      ? "none"
      : typeof version === "string"
      ? quote(version)
      : describeValue(version);
    throw new ExecOutputError(
      `must print "apiVersion" ${quote(apiVersion)} as in the kubeconfig, but it printed ${found}: make them equal`,
    );
  }
  const { status } = root;
  if (!isObject(status)) throw new ExecOutputError(`printed no "status"`);
  const token = textMember(status, "token");
  const cert = textMember(status, "clientCertificateData");
  const key = textMember(status, "clientKeyData");
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
  if (!isObject(root)) return describeValue(root);
  return typeof root.kind === "string" ? quote(root.kind) : `an object without "kind"`;
}

function textMember(status: Record<string, unknown>, field: string): string | undefined {
  const value = status[field] ?? "";
  if (typeof value !== "string") {
    throw new ExecOutputError(`must print text as "${field}", but it printed ${describeValue(value)}`);
  }
  return value === "" ? undefined : value;
}

function expiryOf(status: Record<string, unknown>): number | undefined {
  const text = textMember(status, "expirationTimestamp");
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

/** The API versions of the contract between client and plugin (client-go `plugin/pkg/client/auth/exec`). */
const VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"] as const;

const MODES = ["Never", "IfAvailable", "Always"] as const;

/** Fields of `exec` (clientcmd/api/v1 `ExecConfig`). */
const FIELDS = ["apiVersion", "command", "args", "env", "installHint", "provideClusterInfo", "interactiveMode"];

/** The conditions under which a plugin may prompt on the terminal. */
type InteractiveMode = typeof MODES[number];

/** The `exec` settings of a user entry. Printing them does not show arguments and variables. */
export class ExecPlugin extends Redacted {
  /** The API version of the contract: the plugin's output must have the same. */
  readonly apiVersion: string;
  /** The program: a name to search in `PATH`, or a path as written. */
  readonly command: string;
  /** The conditions under which the plugin may prompt on the terminal. */
  readonly interactiveMode: InteractiveMode;
  /** `true` if the plugin receives the cluster information. */
  readonly provideClusterInfo: boolean;
  /** Instructions to install the program, without control characters. */
  readonly installHint?: string;
  readonly place: FieldPlace;
  readonly #args: readonly string[];
  readonly #env: readonly (readonly [name: string, value: string])[];

  /** `fields` are those of `exec`. @throws {KubeconfigError} when they are invalid. */
  constructor(fields: EntryFields, place: FieldPlace) {
    super();
    this.place = place;
    this.apiVersion = readVersion(fields);
    const command = fields.text("command");
    if (command === undefined) throw fields.error("command", "is missing: name the program to run");
    this.command = command;
    this.interactiveMode = readMode(fields, this.apiVersion);
    this.provideClusterInfo = fields.flag("provideClusterInfo");
    // deno-lint-ignore no-control-regex
    const hint = fields.text("installHint")?.replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "").trim();
    if (hint) this.installHint = hint;
    this.#args = fields.texts("args");
    this.#env = fields.pairs("env");
  }

  /** Arguments of the program. Not enumerable, because they may be secret. */
  get args(): readonly string[] {
    return this.#args;
  }

  /** Environment variables, in addition to the inherited ones. Not enumerable, because they may be secret. */
  get env(): readonly (readonly [name: string, value: string])[] {
    return this.#env;
  }
}

/**
 * Reads the plugin of a user entry; returns `undefined` if it has none.
 *
 * @throws {KubeconfigError} when it is invalid.
 */
export function readExec(fields: EntryFields): ExecPlugin | undefined {
  const section = fields.section("exec", FIELDS);
  return section === undefined ? undefined : new ExecPlugin(section, fields.place("exec"));
}

function readVersion(fields: EntryFields): string {
  const version = fields.text("apiVersion");
  if (version === undefined) throw fields.error("apiVersion", `is missing: write one of ${quoteAll(VERSIONS)}`);
  if (VERSIONS.some((known) => known === version)) return version;
  const removed = version === "client.authentication.k8s.io/v1alpha1";
  throw fields.error(
    "apiVersion",
    `must be one of ${quoteAll(VERSIONS)}, but it is ${quote(version)}` +
      (removed ? ", which Kubernetes has removed: update the plugin, and create the kubeconfig again" : ""),
  );
}

function readMode(fields: EntryFields, apiVersion: string): InteractiveMode {
  const mode = fields.text("interactiveMode");
  if (mode === undefined) {
    // The field is required since v1.
    if (apiVersion !== VERSIONS[0]) return "IfAvailable";
    throw fields.error("interactiveMode", `is missing, which ${VERSIONS[0]} requires: write one of ${quoteAll(MODES)}`);
  }
  const known = MODES.find((one) => one === mode);
  if (known === undefined) {
    throw fields.error("interactiveMode", `must be one of ${quoteAll(MODES)}, but it is ${quote(mode)}`);
  }
  return known;
}

/** Cluster information for plugins (`ExecCredentialSpec.cluster`). */
export interface ExecCluster {
  /** Its address. */
  readonly server: string;
  /** The name that its certificate is verified for. */
  readonly tlsServerName?: string;
  /** `true` if verification of its certificate is disabled. */
  readonly insecureSkipTlsVerify?: boolean;
  /** CA certificates, PEM. */
  readonly certificateAuthority?: string;
  /** URL of the proxy, if any. */
  readonly proxyUrl?: string;
  /** `true` if compression of responses is disabled. */
  readonly disableCompression?: boolean;
  /** The cluster's extension for plugins. */
  readonly config?: unknown;
}

/** The most values in it: aliases of YAML let a small file have millions, and no variable can be that long. */
const MOST_VALUES = 20_000;

/**
 * Returns the value of `KUBERNETES_EXEC_INFO`: an `ExecCredential` with the cluster and the mode of this run.
 *
 * @throws {RangeError} when the cluster's extension for plugins has too many values.
 */
export function execInfo(
  plugin: ExecPlugin,
  occasion: { readonly interactive: boolean; readonly cluster?: ExecCluster },
): string {
  const { interactive, cluster } = occasion;
  let values = 0;
  const info = {
    apiVersion: plugin.apiVersion,
    kind: "ExecCredential",
    spec: { ...(cluster && plugin.provideClusterInfo && { cluster: clusterInfo(cluster) }), interactive },
  };
  return JSON.stringify(info, (_name, value) => {
    if (++values <= MOST_VALUES) return value;
    throw new RangeError(
      `Cannot pass the cluster's extension to the credential plugin: it has more than ${MOST_VALUES} values, including ` +
        "values of aliases. Make it smaller",
    );
  });
}

function clusterInfo(cluster: ExecCluster): Record<string, unknown> {
  const { server, tlsServerName, insecureSkipTlsVerify, certificateAuthority, proxyUrl, disableCompression, config } =
    cluster;
  return {
    server,
    ...(tlsServerName !== undefined && { "tls-server-name": tlsServerName }),
    ...(insecureSkipTlsVerify && { "insecure-skip-tls-verify": true }),
    ...(certificateAuthority !== undefined && { "certificate-authority-data": base64Of(certificateAuthority) }),
    ...(proxyUrl !== undefined && { "proxy-url": proxyUrl }),
    ...(disableCompression && { "disable-compression": true }),
    ...(config !== undefined && { config }),
  };
}
