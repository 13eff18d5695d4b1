/**
 * Reads kubeconfigs in three steps: `parseKubeconfig` for each file, `mergeKubeconfigs`, and {@linkcode
 * resolveContext}.
 *
 * The result is a validated {@linkcode ResolvedContext}: server, TLS settings, proxy and credentials. This folder reads
 * no files, runs no plugins and sends no requests; `src/deno` does.
 *
 * @module
 */
import { resolveCluster, type ResolvedCluster } from "./entry/resolve_cluster.ts";
import { EntryFields } from "./model/entry_fields.ts";
import { type EntryKind, isEmptyKubeconfig, type Kubeconfig, type KubeconfigEntry } from "./model/kubeconfig.ts";
import { type KubeconfigError, kubeconfigError } from "./model/kubeconfig_error.ts";
import { type ResolvedUser, resolveUser } from "./entry/resolve_user.ts";
import { quote, quoteAll } from "./text/quote.ts";
import { suggestion } from "./text/suggestion.ts";

/** Options for {@linkcode resolveContext}. */
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
  return {
    name: entry.name,
    ...(namespace !== undefined && { namespace }),
    cluster,
    ...(user && { user: resolveUser(user, cluster) }),
  };
}

function chooseContext(config: Kubeconfig, named: string | undefined): KubeconfigEntry {
  if (isEmptyKubeconfig(config)) throw wholeError(config, "it has no clusters, contexts or users");
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

/** Creates an error about the merged kubeconfig. */
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
