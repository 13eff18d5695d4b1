/**
 * Reads kubeconfigs in three steps: `parseKubeconfig` for each file, `mergeKubeconfigs`, and {@linkcode
 * resolveContext}.
 *
 * The result is a validated {@linkcode ResolvedContext}: server, TLS settings, proxy and credentials. It reads no
 * files, runs no plugins and sends no requests: `connect.ts` does.
 *
 * @module
 */
import { type Impersonation, impersonationProblem } from "../../../engine/api/impersonation.ts";
import { defined, isObject } from "../../../engine/api/json.ts";
import { ArgumentError } from "../../../engine/errors/checks.ts";
import { certificateProblem, type PemCheck, privateKeyProblem } from "./certificates.ts";
import { type ExecPlugin, readExec } from "./exec_plugin.ts";
import {
  EntryFields,
  type EntryKind,
  execExtension,
  type FieldPlace,
  isEmptyKubeconfig,
  type Kubeconfig,
  type KubeconfigEntry,
  type KubeconfigError,
  kubeconfigError,
  quote,
  quoteAll,
  suggestion,
} from "./parse_kubeconfig.ts";
import { decodeBase64, Secret, tokenProblem } from "./secrets.ts";

/** A file whose path is in the kubeconfig. */
interface NamedFile {
  /** The path as written; a relative path starts from the folder of `place.file`. */
  readonly path: string;
  /** The field that holds the path. */
  readonly place: FieldPlace;
}

/** A certificate or key: in a file, or a PEM text inside the kubeconfig, validated. */
export type Material = NamedFile | { readonly pem: Secret; readonly place: FieldPlace };

/** Reads `field` (a path) or `field-data` (base64 of PEM, validated here); returns `undefined` if both are absent. */
function readMaterial(fields: EntryFields, field: string, problemOf: PemCheck): Material | undefined {
  const dataField = `${field}-data`;
  const path = fields.text(field);
  const data = fields.text(dataField);
  if (path !== undefined && data !== undefined) {
    throw fields.error(dataField, `is set together with "${field}", and they may differ: remove one of them`);
  }
  if (path !== undefined) return { path, place: fields.place(field) };
  if (data === undefined) return undefined;
  const pem = decodeBase64(data);
  if (pem === undefined) throw fields.error(dataField, `is not base64: use "${field}" for the path of a file`);
  const problem = problemOf(pem);
  if (problem !== undefined) throw fields.error(dataField, `cannot be used: ${problem}`);
  return { pem: new Secret(pem), place: fields.place(dataField) };
}

/** A proxy. Printing it does not show the password. */
export interface ProxyAddress {
  /** Its URL, without user and password: `http://`, `https://` or `socks5://`. */
  readonly url: URL;
  /** User and password, if any. */
  readonly login?: { readonly username: string; readonly password: Secret };
}

/**
 * Reads the proxy of a cluster entry; returns `undefined` if it has none.
 *
 * @throws {KubeconfigError} when it is invalid.
 */
function readProxy(fields: EntryFields): ProxyAddress | undefined {
  const text = fields.text("proxy-url");
  if (text === undefined) return undefined;
  const proxy = parseProxy(text);
  if (typeof proxy === "string") throw fields.error("proxy-url", proxy);
  return proxy;
}

/**
 * Parses the URL of a proxy, or returns the problem with it. The problem follows the name of the setting in a sentence,
 * and never holds the password.
 */
export function parseProxy(text: string): ProxyAddress | string {
  const url = text.includes("://") ? URL.parse(text) : null;
  if (url === null || url.hostname === "") return 'must be a URL such as "http://proxy.example:3128"';
  if (!["http:", "https:", "socks5:"].includes(url.protocol)) {
    return `must begin with "http://", "https://" or "socks5://", but it begins with "${url.protocol}//"`;
  }
  if (url.pathname.length > 1 || url.search !== "" || url.hash !== "") return "must end with the host and port";
  let login: ProxyAddress["login"];
  if (url.username !== "" || url.password !== "") {
    try {
      login = { username: decodeURIComponent(url.username), password: new Secret(decodeURIComponent(url.password)) };
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
      return `holds a user name or password with a "%" that encodes nothing: write "%25" for it`;
    }
    url.username = "";
    url.password = "";
  }
  return { url, ...(login && { login }) };
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Returns the port of a proxy or server: the one of its URL, else the default of its scheme. */
export function proxyPort(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : url.protocol === "http:" ? "80" : "1080");
}

/** Returns the URL of a proxy without user and password, for messages. */
export function proxyName({ url }: ProxyAddress): string {
  return `${url.protocol}//${url.hostname}:${proxyPort(url)}`;
}

/** Returns the URL of a proxy with user and password. */
export function proxyHref({ url, login }: ProxyAddress): string {
  const address = new URL(url);
  if (login !== undefined) {
    address.username = encodeURIComponent(login.username);
    address.password = encodeURIComponent(login.password.reveal());
  }
  return address.href;
}

/**
 * Returns the problem with the address of an API server, to follow the name of its setting in a sentence; `undefined`
 * if it is valid.
 */
export function serverProblem(server: string): string | undefined {
  if (!server.includes("://")) {
    return `must be a full URL: write "https://" (or "http://") before the host`;
  }
  const url = URL.parse(server);
  if (url === null) return 'must be a URL such as "https://10.0.0.1:6443"';
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return `must begin with "https://" or "http://", but it begins with "${url.protocol}//"`;
  }
  // fetch rejects such URLs, with the password in its message.
  if (url.username !== "" || url.password !== "") {
    return `must not hold a user name or password: use a "token" of the user`;
  }
  if (url.search !== "" || url.hash !== "") {
    return `must end with the path, but it contains ${url.search === "" ? `"#"` : `"?"`}`;
  }
  return undefined;
}

/** The server of a cluster entry, with its TLS and proxy settings. */
export interface ResolvedCluster {
  /** Name of the cluster entry. */
  readonly name: string;
  /** Address of the API server; its path is a prefix of all API paths. */
  readonly server: URL;
  /** CA certificates, in addition to those that Deno trusts. */
  readonly certificateAuthority?: Material;
  /** The name that the server's certificate must have, instead of the host of the address. */
  readonly tlsServerName?: string;
  /** `true` if the entry disables verification of the server's certificate, which needs a Deno flag for the process. */
  readonly insecureSkipTlsVerify: boolean;
  /** The proxy, if any. */
  readonly proxy?: ProxyAddress;
  /** `true` if the entry disables compression of responses. */
  readonly disableCompression: boolean;
  /** The extension of the entry for credential plugins. Not a secret. */
  readonly execConfig?: unknown;
}

/**
 * Resolves a cluster entry.
 *
 * @param override An address that replaces the entry's. `tls-server-name`, and without TLS the CA, belong to the
 * replaced address and are ignored.
 * @throws {KubeconfigError} for a field that is invalid or contradicts another.
 */
function resolveCluster(entry: KubeconfigEntry, override: string | undefined): ResolvedCluster {
  const fields = new EntryFields(entry);
  const server = readServer(fields, override);
  const disableCompression = fields.flag("disable-compression");
  const insecureSkipTlsVerify = fields.flag("insecure-skip-tls-verify");
  const proxy = readProxy(fields);
  const tlsServerName = readServerName(fields, server, override);
  const authority = readMaterial(fields, "certificate-authority", certificateProblem);
  if (authority !== undefined && insecureSkipTlsVerify) {
    throw fields.error(
      "insecure-skip-tls-verify",
      `is set together with "${authority.place.field}", and they contradict each other: remove one of them`,
    );
  }
  const hasTls = server.protocol === "https:";
  // It belongs to the address that is replaced.
  const certificateAuthority = hasTls || override === undefined ? authority : undefined;
  if (certificateAuthority !== undefined && !hasTls) {
    throw fields.error(
      certificateAuthority.place.field,
      `does not apply to ${quote(server.origin)}, which has no TLS: use an "https://" server or remove it`,
    );
  }
  const execConfig = execExtension(fields.raw("extensions"));
  return defined({
    name: entry.name,
    server,
    certificateAuthority,
    tlsServerName,
    insecureSkipTlsVerify,
    proxy,
    disableCompression,
    execConfig,
  });
}

function readServer(fields: EntryFields, override: string | undefined): URL {
  const server = override ?? fields.text("server");
  if (server === undefined) {
    throw fields.error("server", `is missing: write the address, such as "https://10.0.0.1:6443"`);
  }
  const problem = serverProblem(server);
  if (problem === undefined) return new URL(server);
  if (override !== undefined) throw new ArgumentError(`Cannot use server: it ${problem}`);
  throw fields.error("server", problem);
}

function readServerName(fields: EntryFields, server: URL, override: string | undefined): string | undefined {
  const name = fields.text("tls-server-name");
  // It belongs to the address that is replaced (clientcmd overrides).
  if (name === undefined || override !== undefined) return undefined;
  const problem = serverNameProblem(name);
  if (problem !== undefined) throw fields.error("tls-server-name", problem);
  if (server.protocol === "https:") return name;
  throw fields.error(
    "tls-server-name",
    `does not apply to ${quote(server.origin)}, which has no TLS: use an "https://" server or remove it`,
  );
}

/**
 * Returns the problem with a server name, to follow the name of its setting in a sentence; `undefined` if it is valid.
 */
export function serverNameProblem(name: string): string | undefined {
  const url = URL.parse(`https://${name.includes(":") && !name.startsWith("[") ? `[${name}]` : name}/`);
  if (
    url !== null && url.port === "" && url.pathname === "/" && url.username === "" && url.href.split("/").length === 4
  ) {
    return undefined;
  }
  return `must be a host name or an IP address, without a port, but it is ${quote(name)}`;
}

/**
 * Returns `true` if the host of a URL is this machine: `localhost` or a loopback address. Subdomains of `localhost` do
 * not count, because many resolvers ask the network for them.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/**
 * Returns the reason why credentials must not be sent to `server`, to follow the name of their field in a sentence.
 * Returns `undefined` if they may be sent: over TLS, and over plain HTTP to this machine without a proxy. client-go
 * omits them silently for any `http://` server.
 */
export function credentialsProblem(server: URL, proxy?: ProxyAddress): string | undefined {
  if (server.protocol === "https:") return undefined;
  const to = `is not sent to ${quote(server.origin)}`;
  if (!isLoopback(server.hostname)) return `${to}, where others could read it`;
  return proxy && `${to} through proxy ${quote(proxyName(proxy))}, which could read it`;
}

/** The credentials of a user entry: a bearer token, a client certificate, or a credential plugin. */
export interface ResolvedUser {
  /** Name of the user entry. */
  readonly name: string;
  readonly clientCertificate?: { readonly certificate: Material; readonly key: Material };
  /** A bearer token. If there is a token file too, this token is used only until the file can be read. */
  readonly token?: Secret;
  /** A file with a bearer token, read again when it changes. */
  readonly tokenFile?: NamedFile;
  /** A credential plugin, which returns a token or a client certificate. */
  readonly exec?: ExecPlugin;
  /** The user to impersonate. */
  readonly impersonation?: Impersonation;
}

/**
 * Resolves a user entry, and validates it for `server` and its proxy.
 *
 * @throws {KubeconfigError} for a field that is invalid, contradicts another, is not supported or would be sent in
 * clear text.
 */
function resolveUser(entry: KubeconfigEntry, { server, proxy }: ResolvedCluster): ResolvedUser {
  const fields = new EntryFields(entry);
  refuseAuthProvider(fields);
  refuseBasic(fields);
  const clientCertificate = readClientCertificate(fields);
  const token = readToken(fields);
  const path = fields.text("tokenFile");
  const exec = readPlugin(fields);
  const impersonation = readImpersonation(fields);
  if (server.protocol !== "https:" && clientCertificate !== undefined) {
    throw fields.error(
      clientCertificate.certificate.place.field,
      `cannot be sent to ${quote(server.origin)}, which has no TLS: use an "https://" server or remove it`,
    );
  }
  const problem = credentialsProblem(server, proxy);
  for (const field of ["token", "tokenFile", "exec"]) {
    if (problem !== undefined && fields.has(field)) {
      throw fields.error(field, `${problem}: use an "https://" server or remove it`);
    }
  }
  const tokenFile = path === undefined ? undefined : { path, place: fields.place("tokenFile") };
  return defined({ name: entry.name, clientCertificate, token, tokenFile, exec, impersonation });
}

/** Replacements of the providers that client-go used to have built in, by name. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  gcp: `install "gke-gcloud-auth-plugin" and run "gcloud container clusters get-credentials"`,
  azure: `install "kubelogin" (github.com/Azure/kubelogin) and run "kubelogin convert-kubeconfig"`,
  oidc: `install "kubectl-oidc_login" (github.com/int128/kubelogin) and write it as "exec"`,
  openstack: `install "client-keystone-auth" (kubernetes/cloud-provider-openstack) and write it as "exec"`,
};

function refuseAuthProvider(fields: EntryFields): void {
  if (!fields.has("auth-provider")) return;
  const provider = fields.raw("auth-provider");
  const name = isObject(provider) && typeof provider.name === "string" ? provider.name : "";
  const instead = Object.hasOwn(REPLACEMENTS, name) ? REPLACEMENTS[name] : `use a credential plugin, written as "exec"`;
  throw fields.error(
    "auth-provider",
    `asks for the login ${quote(name)} of a provider that is no longer built in: ${instead}, ` +
      `or pass a token as "token" or "tokenFile"`,
  );
}

function refuseBasic(fields: EntryFields): void {
  const field = ["username", "password"].find((name) => fields.text(name));
  if (field === undefined) return;
  throw fields.error(
    field,
    "asks for basic authentication, which kube-apiserver no longer has since Kubernetes 1.19: remove it, and use a " +
      `"token", a "tokenFile", a client certificate or a credential plugin ("exec")`,
  );
}

function readPlugin(fields: EntryFields): ExecPlugin | undefined {
  const exec = readExec(fields);
  if (exec === undefined) return undefined;
  const rivals = ["token", "tokenFile", "client-certificate", "client-certificate-data"];
  const rival = rivals.find((field) => fields.has(field));
  if (rival === undefined) return exec;
  throw fields.error("exec", `is set together with "${rival}", and kubectl would not run it then: remove one of them`);
}

function readClientCertificate(fields: EntryFields): ResolvedUser["clientCertificate"] {
  const certificate = readMaterial(fields, "client-certificate", certificateProblem);
  const key = readMaterial(fields, "client-key", privateKeyProblem);
  if (certificate === undefined) {
    if (key === undefined) return undefined;
    throw fields.error(key.place.field, `has no certificate: add "client-certificate" or "client-certificate-data"`);
  }
  if (key === undefined) {
    throw fields.error(certificate.place.field, `has no key: add "client-key" or "client-key-data"`);
  }
  return { certificate, key };
}

function readToken(fields: EntryFields): Secret | undefined {
  const token = fields.text("token");
  if (token === undefined) return undefined;
  const problem = tokenProblem(token);
  if (problem !== undefined) throw fields.error("token", problem);
  return new Secret(token);
}

const IMPERSONATION_FIELDS: Readonly<Record<keyof Impersonation, string>> = {
  user: "as",
  uid: "as-uid",
  groups: "as-groups",
  extra: "as-user-extra",
};

function readImpersonation(fields: EntryFields): Impersonation | undefined {
  const user = fields.text("as");
  const uid = fields.text("as-uid");
  const groups = fields.texts("as-groups");
  const extra = Object.fromEntries(fields.textLists("as-user-extra"));
  if (user === undefined) {
    const lonely = ["as-uid", "as-groups", "as-user-extra"].find((field) => fields.has(field));
    if (lonely !== undefined) throw fields.error(lonely, `needs a user to act as: add "as"`);
    return undefined;
  }
  const impersonation = defined({ user, uid, groups, extra });
  const problem = impersonationProblem(impersonation);
  if (problem !== undefined) throw fields.error(IMPERSONATION_FIELDS[problem[0]], problem[1]);
  return impersonation;
}

export interface ResolveOptions {
  /** Name of a context. @default {the kubeconfig's current context} */
  readonly context?: string;
  /** Address to use instead of the cluster's. */
  readonly server?: string;
  /** If `true`, the user entry is not read, because the caller has other credentials. @default {false} */
  readonly withoutUser?: boolean;
}

/** A context with its cluster and user, validated. Paths are as written in the file. */
export interface ResolvedContext {
  /** Name of the context. */
  readonly name: string;
  /** The default namespace of requests. */
  readonly namespace?: string;
  /** The server. */
  readonly cluster: ResolvedCluster;
  /** The credentials; absent if the context names no user. */
  readonly user?: ResolvedUser;
}

/**
 * Resolves a context to its cluster and user. Other entries are not validated.
 *
 * Each field is applied, belongs to other programs (`extensions`, `preferences`), or is rejected with an error.
 *
 * @throws {KubeconfigError} naming file, entry and field.
 */
export function resolveContext(config: Kubeconfig, options: ResolveOptions = {}): ResolvedContext {
  const entry = chooseContext(config, options.context);
  const fields = new EntryFields(entry);
  const namespace = fields.text("namespace");
  const clusterName = fields.text("cluster");
  if (clusterName === undefined) {
    throw fields.error("cluster", `is missing: name one of the clusters ${quoteAll(config.clusters.keys())}`);
  }
  const cluster = resolveCluster(referred(config.clusters, fields, "cluster", clusterName), options.server);
  const userName = options.withoutUser ? undefined : fields.text("user");
  const user = userName === undefined ? undefined : referred(config.users, fields, "user", userName);
  return defined({ name: entry.name, namespace, cluster, user: user && resolveUser(user, cluster) });
}

function chooseContext(config: Kubeconfig, named: string | undefined): KubeconfigEntry {
  if (isEmptyKubeconfig(config)) throw wholeError(config, "it has no clusters, contexts or users");
  const name = named ?? config.currentContext?.name;
  const names = [...config.contexts.keys()];
  const choice = names.length === 0 ? "there are no contexts in it" : `the contexts are ${quoteAll(names)}`;
  if (name === undefined) {
    throw wholeError(config, `is missing: set it, or pass "context"; ${choice}`, "current-context", "missing-context");
  }
  const entry = config.contexts.get(name);
  if (entry !== undefined) return entry;
  const missing = `which does not exist${suggestion(name, names)}: ${choice}`;
  if (named !== undefined) {
    throw wholeError(config, `it was asked for context ${quote(name)}, ${missing}`, undefined, "missing-context");
  }
  throw kubeconfigError(
    { file: config.currentContext?.file, field: "current-context" },
    `names ${quote(name)}, ${missing}`,
  );
}

/** Creates an error about the merged kubeconfig. */
function wholeError(
  config: Kubeconfig,
  problem: string,
  field?: string,
  reason?: KubeconfigError["reason"],
): KubeconfigError {
  if (config.files.length === 1) return kubeconfigError({ file: config.files[0], field }, problem, { reason });
  const files = config.files.length === 0 ? "" : ` (in ${quoteAll(config.files)})`;
  return kubeconfigError({ field }, `${problem}${files}`, { reason });
}

function referred(
  entries: ReadonlyMap<string, KubeconfigEntry>,
  context: EntryFields,
  kind: EntryKind,
  name: string,
): KubeconfigEntry {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  const names = [...entries.keys()];
  throw context.error(
    kind,
    `names ${quote(name)}, which does not exist${suggestion(name, names)}: ` +
      (names.length === 0 ? `there are no ${kind}s` : `the ${kind}s are ${quoteAll(names)}`),
  );
}
