import type { ApiResource } from "../../../client/discovery.ts";
import type { Client } from "../../../client/client.ts";
import { apiVersionOf } from "../../../api/resource.ts";
import { type Checkup, type Finding, seconds } from "../checkup/checkup.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";
import { reasonFor } from "../checkup/reason_for.ts";

/** What the checks of a server need. */
export interface CheckedServer {
  /** The library's own client. */
  readonly client: Client;
  /** Sends one request; whatever the status, the answer is an answer. */
  ask(path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response>;
}

/** Clocks that differ by more than this, in milliseconds, make trouble sooner or later. */
const SKEW_MS = 5_000;

const SLOW = "ask who runs the server: it is overloaded, or something on the way holds its answers back";

/** Whether an API server answers, which version it has, and how its clock stands. */
export async function checkServer(checkup: Checkup, server: CheckedServer): Promise<boolean> {
  let clock: Finding = { status: "skip", what: "the server does not say what time it is" };
  const options = { code: EXIT_CODE.connection, late: SLOW, advice: "check the address, and whether the server runs" };
  const well = await checkup.check("server", options, async (signal) => {
    const beganAt = performance.now();
    const response = await server.ask("/version", { signal, headers: { accept: "application/json" } });
    const took = performance.now() - beganAt;
    clock = clockFinding(response.headers.get("date"), Date.now() - took / 2) ?? clock;
    return serverFinding(response, await response.text(), took);
  });
  if (well) checkup.note("clock", clock);
  return well;
}

function serverFinding({ status, headers }: Response, text: string, took: number): Finding {
  const isApiServer = `check that the address is an API server's, and not that of a proxy or a login page`;
  if (status === 401 || status === 403) {
    return { status: "ok", what: `answers, and tells its version only to some (${status})` };
  }
  if (status >= 300 && status < 400) {
    const to = JSON.stringify(headers.get("location") ?? "somewhere");
    return { status: "fail", what: `redirects to ${to}, which is not followed`, remedy: isApiServer };
  }
  const said = text.replace(/\s+/g, " ").trim().slice(0, 120);
  if (said.includes("HTTP request to an HTTPS server")) {
    return { status: "fail", what: "no plain HTTP is spoken there", remedy: `write "https://" instead of "http://"` };
  }
  if (status >= 500) {
    const remedy = "look into the log of the server, or of the load balancer in front of it";
    return { status: "fail", what: `answers with ${status}: ${said}`, remedy };
  }
  const version = status === 200 ? versionIn(text) : undefined;
  if (version !== undefined) {
    return { status: "ok", what: `Kubernetes ${version}, answered in ${Math.round(took)} ms` };
  }
  const what = `what answers is no API server: ${status} with ${headers.get("content-type") ?? "no content type"}`;
  return { status: "fail", what, remedy: isApiServer };
}

function versionIn(text: string): string | undefined {
  try {
    const { gitVersion } = JSON.parse(text) as { readonly gitVersion?: unknown };
    return typeof gitVersion === "string" ? gitVersion : undefined;
  } catch {
    // Not JSON, so not the version.
    return undefined;
  }
}

/** How far the clocks are apart, by a `Date` that the server sent at `hereMs`. */
function clockFinding(date: string | null, hereMs: number): Finding | undefined {
  const dateMs = Date.parse(date ?? "");
  if (Number.isNaN(dateMs)) return undefined;
  // Seconds are cut off, so that it is half of one later on average.
  const ahead = dateMs + 500 - hereMs;
  const apart = Math.max(0, Math.abs(ahead) - 500);
  if (apart < SKEW_MS) return { status: "ok", what: `as the server's, to ${seconds(Math.max(1_000, apart))}` };
  return {
    status: "warn",
    what:
      `${seconds(apart)} ${
        ahead > 0 ? "behind" : "ahead of"
      } the server's: certificates, tokens and leases end at the ` +
      "wrong time",
    remedy: "set this machine's clock, or the server's, by NTP",
  };
}

/** Whether the server knows who asks, and as whom. */
export async function checkLogin(checkup: Checkup, server: CheckedServer): Promise<boolean> {
  const options = {
    code: EXIT_CODE.connection,
    late: SLOW,
    advice: "log in again, or renew what the user entry holds",
  };
  return await checkup.check("login", options, async (signal) => {
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const response = await server.ask("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json" },
      body: JSON.stringify(review),
      signal,
    });
    return loginFinding(response.status, await response.text());
  });
}

function loginFinding(status: number, text: string): Finding {
  const answer = parseJsonObject(text);
  if (status === 401) {
    const remedy = "log in again, or renew what the user entry holds, and check that it is for this cluster";
    return {
      status: "fail",
      what: "the server does not know these credentials (401)",
      remedy,
      code: EXIT_CODE.connection,
    };
  }
  const said = typeof answer.message === "string" ? answer.message : text.replace(/\s+/g, " ").slice(0, 120);
  if (status === 403) {
    if (said.includes("system:anonymous")) {
      return {
        status: "warn",
        what: `taken for "system:anonymous", who may do next to nothing`,
        remedy: "name a user in the context, or pass --token-file",
      };
    }
    // Impersonation that is not allowed is refused before everything else.
    if (/cannot impersonate/.test(said)) {
      const remedy = `ask for the verb "impersonate", or take "as" out of the user entry`;
      return { status: "fail", what: said, remedy, code: EXIT_CODE.connection };
    }
    return { status: "ok", what: "known; as whom, the server does not tell" };
  }
  if (status === 404 || status === 405) {
    return { status: "ok", what: "known; as whom, only Kubernetes 1.28 and later tell" };
  }
  if (status >= 300) {
    return { status: "warn", what: `not certain: the server answered ${status}: ${said}`, remedy: SLOW };
  }
  const { userInfo = {} } = asRecord(answer.status) as { readonly userInfo?: Record<string, unknown> };
  const groups = Array.isArray(userInfo.groups) ? userInfo.groups.map(String) : [];
  const shown = groups.slice(0, 4).map((group) => JSON.stringify(group)).join(", ");
  const more = groups.length > 4 ? ` and ${groups.length - 4} more` : "";
  const of = groups.length === 0 ? "" : `, in ${groups.length === 1 ? "group" : "groups"} ${shown}${more}`;
  return { status: "ok", what: `known as ${JSON.stringify(String(userInfo.username ?? ""))}${of}` };
}

/** What the server has; nothing when it does not say. */
export async function checkDiscovery(checkup: Checkup, { client }: CheckedServer): Promise<ApiResource[] | undefined> {
  let resources: ApiResource[] | undefined;
  const options = { late: SLOW, advice: "ask for the right to read /api and /apis (ClusterRole system:discovery)" };
  await checkup.check("discovery", options, async (signal) => {
    const failed: string[] = [];
    const found = await client.discover({
      signal,
      onError: (error, groupVersion) => failed.push(`${groupVersion} (${reasonFor(error).what})`),
    });
    resources = found;
    const groups = new Set(found.map(apiVersionOf)).size;
    const what = `${found.length} resources of ${groups} API versions`;
    if (failed.length === 0) return { status: "ok", what };
    const remedy = "look at the APIService objects: the servers behind some of them are down";
    return { status: "warn", what: `${what}; without ${failed.slice(0, 3).join(", ")}`, remedy };
  });
  return resources;
}

/** The JSON object in a text, or an empty one. */
export function parseJsonObject(text: string): Record<string, unknown> {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    // A proxy's page, or plain text: it has none of the fields that are looked for.
    return {};
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
