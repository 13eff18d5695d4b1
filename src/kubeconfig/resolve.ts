import { EntryFields } from "./fields.ts";
import { type EntryKind, isEmpty, type Kubeconfig, type KubeconfigEntry } from "./kubeconfig.ts";
import { type KubeconfigError, kubeconfigError } from "./kubeconfig_error.ts";
import { type Material, readMaterial } from "./material.ts";
import { certificateProblem } from "./pem.ts";
import { serverProblem } from "./server.ts";
import { type ResolvedUser, resolveUser } from "./user.ts";
import { quote, quoteAll, suggestion } from "./wording.ts";

/** Which context to resolve, and what replaces what it says. */
export interface ResolveOptions {
  /** Name of a context. @default {the kubeconfig's current context} */
  readonly context?: string;
  /** Address to use in place of the cluster's. */
  readonly server?: string;
  /** Leaves the user entry unread: the caller has credentials of their own. @default {false} */
  readonly withoutUser?: boolean;
}

/** A server, and how it proves who it is. */
export interface ResolvedCluster {
  /** Name of the cluster entry. */
  readonly name: string;
  /** Address of the API server; a path in it comes before all API paths. */
  readonly server: URL;
  /** Who may sign the server's certificate, beside those that Deno trusts. */
  readonly certificateAuthority?: Material;
  /** Whether the server is to send everything as it is. */
  readonly disableCompression: boolean;
}

/** A context with all it refers to, checked. Paths are as they were written. */
export interface ResolvedContext {
  /** Name of the context. */
  readonly name: string;
  /** The namespace to use where nothing else names one. */
  readonly namespace?: string;
  /** Where to connect to. */
  readonly cluster: ResolvedCluster;
  /** Who connects; absent when the context names no user. */
  readonly user?: ResolvedUser;
}

/**
 * What a context comes to. Only the entries it refers to are looked at.
 *
 * Every field is applied, is by definition for others (`extensions`, `preferences`), or ends in an error.
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
  return {
    name: entry.name,
    ...(namespace !== undefined && { namespace }),
    cluster,
    ...(user && { user: resolveUser(user, cluster.server) }),
  };
}

function chooseContext(config: Kubeconfig, named: string | undefined): KubeconfigEntry {
  if (isEmpty(config)) throw wholeError(config, "it has no clusters, contexts or users");
  const name = named ?? config.currentContext?.name;
  const names = [...config.contexts.keys()];
  const choice = names.length === 0 ? "there are no contexts in it" : `the contexts are ${quoteAll(names)}`;
  if (name === undefined) {
    throw wholeError(config, `is missing: set it, or pass "context"; ${choice}`, "current-context");
  }
  const entry = config.contexts.get(name);
  if (entry !== undefined) return entry;
  const missing = `which does not exist${suggestion(name, names)}: ${choice}`;
  if (named !== undefined) throw wholeError(config, `it was asked for context ${quote(name)}, ${missing}`);
  throw kubeconfigError(
    { file: config.currentContext?.file, field: "current-context" },
    `names ${quote(name)}, ${missing}`,
  );
}

/** An error about all files together. */
function wholeError(config: Kubeconfig, problem: string, field?: string): KubeconfigError {
  if (config.files.length === 1) return kubeconfigError({ file: config.files[0], field }, problem);
  const files = config.files.length === 0 ? "" : ` (in ${quoteAll(config.files)})`;
  return kubeconfigError({ field }, `${problem}${files}`);
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

function resolveCluster(entry: KubeconfigEntry, override: string | undefined): ResolvedCluster {
  const fields = new EntryFields(entry);
  refuseWhatDenoLacks(fields, override !== undefined);
  const server = readServer(fields, override);
  const disableCompression = fields.flag("disable-compression");
  const certificateAuthority = readMaterial(fields, "certificate-authority", certificateProblem);
  if (certificateAuthority !== undefined && server.protocol !== "https:") {
    // It belongs to the address that is replaced.
    if (override !== undefined) return { name: entry.name, server, disableCompression };
    throw fields.error(
      certificateAuthority.place.field,
      `has no use for ${quote(server.origin)}, which has no TLS: use an "https://" server or remove it`,
    );
  }
  return { name: entry.name, server, ...(certificateAuthority && { certificateAuthority }), disableCompression };
}

function readServer(fields: EntryFields, override: string | undefined): URL {
  const server = override ?? fields.text("server");
  if (server === undefined) {
    throw fields.error("server", `is missing: write the address, such as "https://10.0.0.1:6443"`);
  }
  const problem = serverProblem(server);
  if (problem === undefined) return new URL(server);
  if (override !== undefined) throw new TypeError(`Cannot use server: it ${problem}`);
  throw fields.error("server", problem);
}

function refuseWhatDenoLacks(fields: EntryFields, hasOtherServer: boolean): void {
  if (fields.flag("insecure-skip-tls-verify")) {
    throw fields.error(
      "insecure-skip-tls-verify",
      "cannot be applied, as Deno always checks certificates: give the cluster's CA as certificate-authority, " +
        "or remove the field and start Deno with --unsafely-ignore-certificate-errors=HOST",
    );
  }
  // It belongs to the address that is replaced (clientcmd overrides).
  if (fields.text("tls-server-name") !== undefined && !hasOtherServer) {
    throw fields.error(
      "tls-server-name",
      "cannot be applied, as Deno checks certificates for the host of the URL only: use a server URL whose host is in the certificate",
    );
  }
  if (fields.text("proxy-url") !== undefined) {
    throw fields.error(
      "proxy-url",
      "is not applied by this toolkit: remove it, and start the program with HTTPS_PROXY set, which Deno obeys",
    );
  }
}
