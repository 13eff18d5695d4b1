import type { CheckedServer } from "./server_access.ts";
import { asRecord, parseJsonObject } from "./parse_json_object.ts";
import type { Checkup, Finding } from "../checkup/checkup.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";
import { SLOW_SERVER_ADVICE } from "./check_server.ts";

/** Checks that the server accepts the credentials, and reports the user. */
export async function checkLogin(checkup: Checkup, server: CheckedServer): Promise<boolean> {
  const options = {
    code: EXIT_CODE.connection,
    late: SLOW_SERVER_ADVICE,
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
        what: `seen as "system:anonymous", which has almost no rights`,
        remedy: "name a user in the context, or pass --token-file",
      };
    }
    // The server checks the right to impersonate first.
    if (/cannot impersonate/.test(said)) {
      const remedy = `ask for the verb "impersonate", or take "as" out of the user entry`;
      return { status: "fail", what: said, remedy, code: EXIT_CODE.connection };
    }
    return { status: "ok", what: "known; the server does not say as whom" };
  }
  if (status === 404 || status === 405) {
    return { status: "ok", what: "known; the user name needs Kubernetes 1.28 or later" };
  }
  if (status >= 300) {
    return { status: "warn", what: `not certain: the server answered ${status}: ${said}`, remedy: SLOW_SERVER_ADVICE };
  }
  const { userInfo = {} } = asRecord(answer.status) as { readonly userInfo?: Record<string, unknown> };
  const groups = Array.isArray(userInfo.groups) ? userInfo.groups.map(String) : [];
  const shown = groups.slice(0, 4).map((group) => JSON.stringify(group)).join(", ");
  const more = groups.length > 4 ? ` and ${groups.length - 4} more` : "";
  const of = groups.length === 0 ? "" : `, in ${groups.length === 1 ? "group" : "groups"} ${shown}${more}`;
  return { status: "ok", what: `known as ${JSON.stringify(String(userInfo.username ?? ""))}${of}` };
}
