import type { CheckedServer } from "./server_access.ts";
import { type Checkup, type Finding, seconds } from "../checkup/checkup.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";

/** Maximum difference between the clocks, in milliseconds. */
const SKEW_MS = 5_000;

export const SLOW_SERVER_ADVICE =
  "ask who runs the server: it is overloaded, or something on the way holds its answers back";

/** Checks that an API server answers, and its version and clock. */
export async function checkServer(checkup: Checkup, server: CheckedServer): Promise<boolean> {
  let clock: Finding = { status: "skip", what: "the server does not say what time it is" };
  const options = {
    code: EXIT_CODE.connection,
    late: SLOW_SERVER_ADVICE,
    advice: "check the address, and whether the server runs",
  };
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
    return { status: "ok", what: `answers, and shows its version only to some users (${status})` };
  }
  if (status >= 300 && status < 400) {
    const to = JSON.stringify(headers.get("location") ?? "somewhere");
    return { status: "fail", what: `redirects to ${to}, which is not followed`, remedy: isApiServer };
  }
  const said = text.replace(/\s+/g, " ").trim().slice(0, 120);
  if (said.includes("HTTP request to an HTTPS server")) {
    return {
      status: "fail",
      what: "the server does not speak plain HTTP",
      remedy: `write "https://" instead of "http://"`,
    };
  }
  if (status >= 500) {
    const remedy = "look into the log of the server, or of the load balancer in front of it";
    return { status: "fail", what: `answers with ${status}: ${said}`, remedy };
  }
  const version = status === 200 ? versionIn(text) : undefined;
  if (version !== undefined) {
    return { status: "ok", what: `Kubernetes ${version}, answered in ${Math.round(took)} ms` };
  }
  const what = `the server that answers is not an API server: ${status} with ${
    headers.get("content-type") ?? "no content type"
  }`;
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

/** Compares the clocks, by a `Date` header that the server sent at `hereMs`. */
function clockFinding(date: string | null, hereMs: number): Finding | undefined {
  const dateMs = Date.parse(date ?? "");
  if (Number.isNaN(dateMs)) return undefined;
  // `Date` is truncated to seconds: half a second on average.
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
