/**
 * The checks of `informer doctor` for configuration, credentials and rights.
 *
 * Each function is one check, which records its findings in a `Checkup`. Checks of address, certificate and server are
 * in `connection_checks.ts`. `doctor.ts` decides their order.
 *
 * @module
 */
import type { WatchChange } from "../../engine/api/lister_watcher.ts";
import { objectOr } from "../../engine/api/members.ts";
import type { KubernetesObject } from "../../engine/api/object.ts";
import type { WatchOptions } from "../../engine/api/call_options.ts";
import { type ApiResource, apiVersionOf, type Resource, resourceName } from "../../engine/api/resource.ts";
import { isForbidden, StatusError } from "../../engine/api/status.ts";
import { findResource } from "../../engine/client/find_resource.ts";
import type { ResourceClient } from "../../engine/client/resource_client.ts";
import { findConnection } from "../../host/connect/connect.ts";
import type { ConnectOptions } from "../../host/connect/connect_options.ts";
import { termOfToken } from "../../host/connect/kubeconfig/secrets.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import { explainError } from "../shared/explain_error.ts";
import { EXIT_CODE } from "../shared/usage.ts";
import { type Checkup, type Expiry, expiryOf, type Finding, reasonFor, span } from "./checkup.ts";
import { type CheckedServer, parseJsonObject, ServerAccess, SLOW_SERVER_ADVICE } from "./connection_checks.ts";

type Connection = ServerAccess["connection"];

/** Finds the configuration; returns `undefined` if there is no usable one. @throws {TypeError} for invalid flags. */
export async function checkConfiguration(checkup: Checkup, options: ConnectOptions): Promise<ServerAccess | undefined> {
  let access: ServerAccess | undefined;
  let usage: unknown;
  await checkup.check(
    "configuration",
    {
      code: EXIT_CODE.connection,
      late: "check the disk or network share that holds the kubeconfig and the files it names",
      advice: "correct it, or choose another one with --kubeconfig or --context",
    },
    async () => {
      try {
        // Warnings, such as expired certificates, have checks of their own.
        const connection = await findConnection({ ...options, pluginTimeoutMs: checkup.limits.pluginMs });
        access = new ServerAccess(connection);
        return configurationFinding(connection);
      } catch (error) {
        // The command line is invalid, not the configuration.
        if (explainError(error).code === EXIT_CODE.usage) usage = error;
        throw error;
      }
    },
  );
  if (usage !== undefined) throw usage;
  return access;
}

function configurationFinding({ origin, namespace }: Connection): Finding {
  const { source, files, context, user, actsAs, insecure } = origin;
  const parts = [
    source === "in-cluster"
      ? "the pod's service account"
      : source === "options"
      ? "only the flags"
      : `kubeconfig ${files.map((file) => JSON.stringify(file)).join(", ")}`,
    ...(context === undefined ? [] : [`context ${JSON.stringify(context)}`]),
    ...(user === undefined ? [] : [`user ${JSON.stringify(user)}`]),
    ...(actsAs === undefined ? [] : [`acting as ${JSON.stringify(actsAs)}`]),
    `namespace ${JSON.stringify(namespace)}`,
  ];
  const what = parts.join(", ");
  if (!insecure) return { status: "ok", what };
  return {
    status: "warn",
    what: `${what}; insecure-skip-tls-verify lets anyone impersonate the server`,
    remedy: "put the authority's certificate into certificate-authority-data instead",
  };
}

const NAME_A_USER = "name a user in the context, or pass --token-file";

/** Gets the credentials and checks their kind and expiry, without the server. Returns `true` if they are usable. */
export async function checkCredentials(checkup: Checkup, access: ServerAccess): Promise<boolean> {
  const { connection } = access;
  const { origin } = connection;
  return await checkup.check(
    "credentials",
    {
      code: EXIT_CODE.connection,
      limitMs: origin.login === "exec" ? checkup.limits.pluginMs : checkup.limits.stepMs,
      late: `run ${JSON.stringify(origin.plugin ?? "the plugin")} by itself, and check whether it waits for a login`,
      advice: "log in again, or renew the credentials in the user entry",
    },
    async (signal) => {
      const startedAt = performance.now();
      const authorization = await access.login(signal);
      const took = performance.now() - startedAt;
      if (authorization !== undefined) checkup.hide(authorization.replace(/^\w+ /, ""));
      const parts = [...ofToken(connection, authorization, took), ...ofCertificate(connection)];
      if (parts.length === 0) return ofNobody(connection);
      const worst = parts.find(({ status }) => status === "fail") ?? parts.find(({ status }) => status === "warn");
      return {
        status: worst?.status ?? "ok",
        what: parts.map(({ words }) => words).join("; "),
        ...(worst &&
          { remedy: "log in again, renew the credentials in the user entry, or correct this machine's clock" }),
      };
    },
  );
}

function ofToken({ origin, credentials }: Connection, authorization: string | undefined, took: number): Expiry[] {
  const { login, plugin } = origin;
  if (login === "none") return [];
  const kind = login === "token"
    ? "bearer token"
    : login === "tokenFile"
    ? "bearer token from a file"
    : `plugin ${JSON.stringify(plugin ?? "")}, which took ${took < 1_000 ? "less than 1 s" : span(took)}, gives `;
  const token = authorization?.startsWith("Bearer ") ? authorization.slice("Bearer ".length) : undefined;
  const said = token === undefined ? undefined : termOfToken(token);
  const endsMs = credentials?.expiresMs;
  const term = endsMs === undefined ? said : { ...said, untilMs: Math.min(endsMs, said?.untilMs ?? Infinity) };
  const brought = login !== "exec" ? "" : token === undefined ? "a certificate" : "a token";
  if (term === undefined) return [{ status: "ok", words: `${kind}${brought}, which does not say how long it lasts` }];
  const { status, words } = expiryOf(term, Date.now(), login !== "token");
  return [{ status, words: `${kind}${brought} ${words}` }];
}

function ofCertificate({ origin }: Connection): Expiry[] {
  if (!origin.clientCertificate) return [];
  if (origin.certificateExpires === undefined) return [{ status: "ok", words: "client certificate" }];
  const { status, words } = expiryOf({ untilMs: origin.certificateExpires.getTime() }, Date.now(), false);
  return [{ status, words: `client certificate ${words}` }];
}

function ofNobody({ server }: Connection): Finding {
  // A proxy on this machine, such as `kubectl proxy`, adds its own credentials.
  if (server.protocol === "http:") return { status: "ok", what: "none, which is usual for plain HTTP" };
  return { status: "warn", what: `none: the server sees "system:anonymous"`, remedy: NAME_A_USER };
}

const REPAIR = "look at the APIService objects: some of their servers are down";

/** What the server says of its resources. */
interface Discovered {
  readonly resources: readonly ApiResource[];
  /** The API versions of which it says nothing, as their servers are down. */
  readonly silent: readonly string[];
}

/** Discovers the resources of the server; returns `undefined` if that fails. */
export async function checkDiscovery(checkup: Checkup, { client }: CheckedServer): Promise<Discovered | undefined> {
  let discovered: Discovered | undefined;
  const options = {
    late: SLOW_SERVER_ADVICE,
    advice: "ask for permission to read /api and /apis (ClusterRole system:discovery)",
  };
  await checkup.check("discovery", options, async (signal) => {
    const failed = new Map<string, string>();
    const found = await client.discover({
      signal,
      onError: (error, groupVersion) => failed.set(groupVersion, `${groupVersion} (${reasonFor(error).what})`),
    });
    discovered = { resources: found, silent: [...failed.keys()] };
    const groups = new Set(found.map(apiVersionOf)).size;
    const what = `${found.length} resources in ${groups} API versions`;
    if (failed.size === 0) return { status: "ok", what };
    const without = [...failed.values()].slice(0, 3).join(", ");
    return { status: "warn", what: `${what}; without ${without}`, remedy: REPAIR };
  });
  return discovered;
}

/** Checks that the server accepts the credentials, and reports the user. */
export async function checkLogin(checkup: Checkup, server: CheckedServer): Promise<boolean> {
  const options = {
    code: EXIT_CODE.connection,
    late: SLOW_SERVER_ADVICE,
    advice: "log in again, or renew the credentials in the user entry",
  };
  return await checkup.check("login", options, async (signal) => {
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
    const headers = { accept: "application/json", "content-type": "application/json" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const response = await server.ask(path, { method: "POST", headers, body, signal });
    return loginFinding(response.status, await response.text());
  });
}

function loginFinding(status: number, text: string): Finding {
  const answer = parseJsonObject(text);
  if (status === 401) {
    const remedy = "log in again, or renew the credentials in the user entry, and check that they are for this cluster";
    return { status: "fail", what: "the server does not accept these credentials (401)", remedy };
  }
  const said = typeof answer.message === "string" ? answer.message : text.replace(/\s+/g, " ").slice(0, 120);
  if (status === 403) {
    if (said.includes("system:anonymous")) {
      return { status: "warn", what: `seen as "system:anonymous", which has almost no rights`, remedy: NAME_A_USER };
    }
    // The server checks the right to impersonate first.
    if (/cannot impersonate/.test(said)) {
      const remedy = `ask for the verb "impersonate", or remove --as, or "as" from the user entry`;
      return { status: "fail", what: said, remedy };
    }
    return { status: "ok", what: "accepted; the server does not say for which user" };
  }
  if (status >= 300) {
    return { status: "warn", what: `not certain: the server answered ${status}: ${said}`, remedy: SLOW_SERVER_ADVICE };
  }
  const userInfo = objectOr(objectOr(answer.status).userInfo);
  const groups = Array.isArray(userInfo.groups) ? userInfo.groups.map(String) : [];
  const shown = groups.slice(0, 4).map((group) => JSON.stringify(group)).join(", ");
  const more = groups.length > 4 ? ` and ${groups.length - 4} more` : "";
  const of = groups.length === 0 ? "" : `, in ${groups.length === 1 ? "group" : "groups"} ${shown}${more}`;
  return { status: "ok", what: `known as ${JSON.stringify(String(userInfo.username ?? ""))}${of}` };
}

/** A resource and its scope. */
interface Target {
  readonly resource: Resource<KubernetesObject>;
  readonly objects: ResourceClient<KubernetesObject>;
  /** `undefined` for all namespaces and for cluster-scoped resources. */
  readonly namespace: string | undefined;
  /** `"in namespace \"shop\""`, for messages. */
  readonly where: string;
}

/** No object has this name, so a watch of it is cheap, however many objects there are. */
const NOBODY = "metadata.name=informer-doctor-looks-for-nothing";

/** Duration of watches, in seconds. */
const WATCH_SECONDS = 3;

const OVERLOADED = "tell the people who run the server: the server or its etcd is overloaded";
const HELD_BACK =
  "look for a proxy or load balancer on the way that buffers whole responses: a watch needs its response line " +
  "by line";

/** Checks that an informer can run on the resource `name`: list, watch, streaming list. */
export async function checkResource(
  checkup: Checkup,
  server: CheckedServer,
  { resources, silent }: Discovered,
  name: string,
  wanted: string | undefined,
): Promise<void> {
  let found: ApiResource;
  try {
    found = findResource(resources, name);
  } catch (error) {
    const [, place = ""] = /\.(.+)/.exec(name.toLowerCase()) ?? []; // "metrics", "metrics.k8s.io", or with the version
    const group = silent.find((it) => place !== "" && `${it} ${it.split("/").reverse().join(".")}`.includes(place));
    const finding = group === undefined
      ? { what: errorLine(error), remedy: "correct the name, or leave it out", code: EXIT_CODE.usage }
      : { what: `not known: the server of ${group} does not answer`, remedy: REPAIR };
    return checkup.note(`list ${name}`, { status: "fail", ...finding });
  }
  const { group, version, plural, kind, scope, verbs } = found;
  const resource: Resource = { group, version, plural, kind, scope };
  const namespace = scope === "Namespaced" ? wanted : undefined;
  const where = namespace === undefined
    ? scope === "Namespaced" ? "in all namespaces" : "in the cluster"
    : `in namespace ${JSON.stringify(namespace)}`;
  const objects = server.client.resource(resource, namespace === undefined ? {} : { namespace });
  const target: Target = { resource, objects, namespace, where };
  const full = resourceName(resource);
  if (!verbs.includes("list")) {
    const what = `${full} cannot be listed on this server`;
    const remedy = "choose another resource";
    return checkup.note(`list ${full}`, { status: "fail", what, remedy, code: EXIT_CODE.usage });
  }
  await checkVerb(checkup, server, target, "list", OVERLOADED, async (signal) => {
    const { items, remainingItemCount = 0 } = await objects.list({ limit: 1, signal });
    const count = items.length + remainingItemCount;
    return (ms) => `${count} ${count === 1 ? "object" : "objects"}, ${ms} ms`;
  });
  if (!verbs.includes("watch")) {
    const what = `${full} cannot be watched on this server, only listed`;
    const remedy = "create the informer with pollMs; informer watch and serve do it by themselves";
    return checkup.note(`watch ${full}`, { status: "warn", what, remedy });
  }
  const isWatched = await checkVerb(checkup, server, target, "watch", HELD_BACK, async (signal) => {
    await watchUntil(target, { timeoutSeconds: WATCH_SECONDS }, signal, () => true);
    return (ms) => `open after ${ms} ms`;
  });
  if (isWatched) await checkStreaming(checkup, target);
}

/** Checks a permission, and that its use works: `attempt` returns the words for the milliseconds that it took. */
async function checkVerb(
  checkup: Checkup,
  server: CheckedServer,
  target: Target,
  verb: "list" | "watch",
  late: string,
  attempt: (signal: AbortSignal) => Promise<(ms: number) => string>,
): Promise<boolean> {
  const options = { late, advice: "look in the server's log" };
  return await checkup.check(`${verb} ${resourceName(target.resource)}`, options, async (signal) => {
    const startedAt = performance.now();
    try {
      const { resource, namespace } = target;
      if (!await server.client.can({ verb, resource, namespace }, { signal })) return forbidden(target);
    } catch {
      signal.throwIfAborted(); // else only an attempt shows it
    }
    try {
      const words = await attempt(signal);
      const ms = Math.round(performance.now() - startedAt);
      return { status: "ok", what: `allowed ${target.where}; ${words(ms)}` };
    } catch (error) {
      if (!isForbidden(error)) throw error; // possible if the permission could not be reviewed
      return forbidden(target);
    }
  });
}

async function checkStreaming(checkup: Checkup, target: Target): Promise<void> {
  const name = `streaming list ${resourceName(target.resource)}`;
  const endless: Finding = {
    status: "warn",
    what: "the bookmark at the end is missing, so informers list in pages instead",
    remedy: `${HELD_BACK}; or run with --streaming-list off`,
  };
  await checkup.check(name, { late: endless, advice: "run with --streaming-list off" }, async (signal) => {
    try {
      const isEnd = (change: WatchChange<KubernetesObject>): boolean =>
        change.type === "BOOKMARK" && change.initialEventsEnd;
      const options = { sendInitialEvents: true, timeoutSeconds: 3 * WATCH_SECONDS };
      const ended = await watchUntil(target, options, signal, (batch) => batch.some(isEnd));
      return ended ? { status: "ok", what: "offered: the first list arrives object by object" } : endless;
    } catch (error) {
      // The feature gate is off, or the server is older.
      if (!(error instanceof StatusError) || ![400, 422].includes(error.status.code)) throw error;
      return { status: "ok", what: "not offered (it needs Kubernetes 1.32), so informers list in pages instead" };
    }
  });
}

/**
 * Watches until `holds` accepts a batch or the server ends the watch. The first batch is empty and means that the watch
 * is open.
 */
async function watchUntil(
  { objects }: Target,
  options: Pick<WatchOptions, "sendInitialEvents" | "timeoutSeconds">,
  signal: AbortSignal,
  holds: (batch: readonly WatchChange<KubernetesObject>[]) => boolean,
): Promise<boolean> {
  const watch = objects.watchChanges({ ...options, fieldSelector: NOBODY, allowBookmarks: true, signal });
  for await (const batch of watch) if (holds(batch)) return true;
  return false;
}

function forbidden({ resource, namespace, where }: Target): Finding {
  const full = resourceName(resource);
  const role = namespace === undefined ? "ClusterRole" : `Role in namespace ${JSON.stringify(namespace)}`;
  const elsewhere = namespace === undefined && resource.scope === "Namespaced" ? ", or choose a namespace with -n" : "";
  const rights = `the verbs "list" and "watch" on ${JSON.stringify(full)}`;
  const remedy = `ask for a ${role} with ${rights} (--rbac prints it)${elsewhere}`;
  return { status: "fail", what: `not allowed ${where}`, remedy, code: EXIT_CODE.connection };
}
