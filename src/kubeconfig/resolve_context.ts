import { resolveCluster, type ResolvedCluster } from "./entry/resolve_cluster.ts";
import { EntryFields } from "./model/entry_fields.ts";
import { type EntryKind, isEmptyKubeconfig, type Kubeconfig, type KubeconfigEntry } from "./model/kubeconfig.ts";
import { type KubeconfigError, kubeconfigError } from "./model/kubeconfig_error.ts";
import { type ResolvedUser, resolveUser } from "./entry/resolve_user.ts";
import { quote, quoteAll } from "./text/quote.ts";
import { suggestion } from "./text/suggestion.ts";

/** Which context to resolve, and what replaces what it says. */
export interface ResolveOptions {
  /** Name of a context. @default {the kubeconfig's current context} */
  readonly context?: string;
  /** Address to use in place of the cluster's. */
  readonly server?: string;
  /** Leaves the user entry unread: the caller has credentials of their own. @default {false} */
  readonly withoutUser?: boolean;
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
