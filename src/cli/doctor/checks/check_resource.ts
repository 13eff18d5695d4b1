import type { Change } from "../../../api/lister_watcher.ts";
import { isForbidden, StatusError } from "../../../api/errors.ts";
import type { KubernetesObject } from "../../../api/object.ts";
import type { WatchOptions } from "../../../api/options.ts";
import { type Resource, resourceName } from "../../../api/resource.ts";
import type { ApiResource } from "../../../api/api_resource.ts";
import { findResource } from "../../../client/find_resource.ts";
import type { ResourceClient } from "../../../client/resource_client.ts";
import type { Checkup, Finding } from "../checkup/checkup.ts";
import type { CheckedServer } from "./server_access.ts";
import { parseJsonObject } from "./parse_json_object.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";
import { errorLine } from "../../../errors/error_line.ts";

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

/** Duration of watches, in seconds: bookmarks come 2 s before the end (apiserver `cacheWatcher.nextBookmarkTime`). */
const WATCH_SECONDS = 3;

const HELD_BACK = "look for a proxy or load balancer on the way that holds back answers until they are whole: " +
  "watches need theirs line by line";

/** Checks that an informer can run on the resource `name`: list, watch, streaming list, bookmarks. */
export async function checkResource(
  checkup: Checkup,
  server: CheckedServer,
  known: readonly ApiResource[],
  name: string,
  wanted: string | undefined,
): Promise<void> {
  let found: ApiResource;
  try {
    found = findResource(known, name);
  } catch (error) {
    return checkup.note(`list ${name}`, {
      status: "fail",
      what: errorLine(error),
      remedy: "correct the name, or leave it out",
      code: EXIT_CODE.usage,
    });
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
  for (const verb of ["list", "watch"] as const) {
    if (verbs.includes(verb)) continue;
    const what = `${full} cannot be ${verb === "list" ? "listed" : "watched"} on this server`;
    const finding = { status: "fail", what, remedy: "choose another resource", code: EXIT_CODE.usage } as const;
    return checkup.note(`${verb} ${full}`, finding);
  }
  await checkList(checkup, server, target);
  if (!await checkWatch(checkup, server, target)) return;
  const ended = await checkStreaming(checkup, target);
  await checkBookmarks(checkup, target, ended);
}

async function checkList(checkup: Checkup, server: CheckedServer, target: Target): Promise<boolean> {
  const { resource, objects, where } = target;
  const options = {
    late: "ask who runs the server: it is overloaded, or its etcd is",
    advice: "look into the server's log",
  };
  return await checkup.check(`list ${resourceName(resource)}`, options, async (signal) => {
    const startedAt = performance.now();
    if (await mayI(server, target, "list", signal) === false) return forbidden(target);
    const list = await unlessForbidden(objects.list({ limit: 1, signal }));
    if (list === undefined) return forbidden(target);
    const { items, remainingItemCount = 0 } = list;
    const count = items.length + remainingItemCount;
    const ms = Math.round(performance.now() - startedAt);
    return { status: "ok", what: `allowed ${where}; ${count} ${count === 1 ? "object" : "objects"}, ${ms} ms` };
  });
}

async function checkWatch(checkup: Checkup, server: CheckedServer, target: Target): Promise<boolean> {
  const { resource, where } = target;
  const options = { late: HELD_BACK, advice: "look into the server's log" };
  return await checkup.check(`watch ${resourceName(resource)}`, options, async (signal) => {
    const startedAt = performance.now();
    if (await mayI(server, target, "watch", signal) === false) return forbidden(target);
    const open = await unlessForbidden(watchUntil(target, { timeoutSeconds: WATCH_SECONDS }, signal, () => true));
    if (open === undefined) return forbidden(target);
    return { status: "ok", what: `allowed ${where}; open after ${Math.round(performance.now() - startedAt)} ms` };
  });
}

/** Returns `true` if a bookmark marked the end of the streaming list. */
async function checkStreaming(checkup: Checkup, target: Target): Promise<boolean> {
  let ended = false;
  const name = `streaming list ${resourceName(target.resource)}`;
  const endless: Finding = {
    status: "warn",
    what: "the bookmark at its end is missing; informers list in pages instead",
    remedy: `${HELD_BACK}; or run with --streaming-list off`,
  };
  await checkup.check(name, { late: endless, advice: "run with --streaming-list off" }, async (signal) => {
    try {
      const isEnd = (change: Change<KubernetesObject>): boolean =>
        change.type === "BOOKMARK" && change.initialEventsEnd;
      const options = { sendInitialEvents: true, timeoutSeconds: 3 * WATCH_SECONDS };
      ended = await watchUntil(target, options, signal, (batch) => batch.some(isEnd));
    } catch (error) {
      // The feature gate is off, or the server is older.
      if (!(error instanceof StatusError) || ![400, 422].includes(error.status.code)) throw error;
      return { status: "ok", what: "not offered, as before Kubernetes 1.32; informers list in pages instead" };
    }
    return ended ? { status: "ok", what: "offered: the first list comes object by object" } : endless;
  });
  return ended;
}

async function checkBookmarks(checkup: Checkup, target: Target, ended: boolean): Promise<void> {
  const name = `bookmarks ${resourceName(target.resource)}`;
  if (ended) return checkup.note(name, { status: "ok", what: "sent: the streaming list ended with one" });
  const none: Finding = { status: "skip", what: `none in ${WATCH_SECONDS} s, as is usual where little changes` };
  const options = { late: none, advice: "look into the server's log", limitMs: checkup.limits.stepMs * 4 / 3 };
  await checkup.check(name, options, async (signal) => {
    const isBookmark = (change: Change<KubernetesObject>): boolean => change.type === "BOOKMARK";
    const seen = await watchUntil(
      target,
      { timeoutSeconds: WATCH_SECONDS },
      signal,
      (batch) => batch.some(isBookmark),
    );
    return seen ? { status: "ok", what: "sent" } : none;
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
  holds: (batch: readonly Change<KubernetesObject>[]) => boolean,
): Promise<boolean> {
  const watch = objects.watchChanges({ ...options, fieldSelector: NOBODY, allowBookmarks: true, signal });
  for await (const batch of watch) if (holds(batch)) return true;
  return false;
}

/**
 * Asks the server for the permission; returns `undefined` if it does not answer that, so that only an attempt shows it.
 */
async function mayI(
  server: CheckedServer,
  { resource, namespace }: Target,
  verb: "list" | "watch",
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { group, version, plural } = resource;
  const resourceAttributes = { verb, group, version, resource: plural, ...(namespace !== undefined && { namespace }) };
  const response = await server.ask("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    method: "POST",
    headers: { accept: "application/json", "content-type": "application/json" },
    body: JSON.stringify({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    }),
    signal,
  });
  const answer = parseJsonObject(await response.text());
  if (!response.ok) return undefined;
  const { allowed } = (answer.status ?? {}) as { readonly allowed?: unknown };
  return typeof allowed === "boolean" ? allowed : undefined;
}

/** Returns the result; `undefined` after a 403, which is possible if the permission could not be reviewed. */
async function unlessForbidden<R>(result: Promise<R>): Promise<R | undefined> {
  try {
    return await result;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return undefined;
  }
}

function forbidden({ resource, namespace, where }: Target): Finding {
  const full = resourceName(resource);
  const role = namespace === undefined ? "ClusterRole" : `Role in namespace ${JSON.stringify(namespace)}`;
  const elsewhere = namespace === undefined && resource.scope === "Namespaced" ? ", or choose a namespace with -n" : "";
  return {
    status: "fail",
    what: `not allowed ${where}`,
    remedy: `ask for a ${role} with the verbs "list" and "watch" on ${
      JSON.stringify(full)
    }, as --rbac prints it${elsewhere}`,
    code: EXIT_CODE.connection,
  };
}
