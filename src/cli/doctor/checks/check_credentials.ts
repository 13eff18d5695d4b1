import type { FoundConnection } from "../../../deno/found_connection.ts";
import { ExecLogin } from "../../../deno/credentials/exec_login.ts";
import type { Checkup, Finding } from "../checkup/checkup.ts";
import { termOfToken } from "../../../kubeconfig/text/term_of_token.ts";
import { type Expiry, expiryOf, span } from "../checkup/expiry.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";
import type { ServerAccess } from "./server_access.ts";

/** Gets the credentials and checks their kind and expiry, without the server. Returns `true` if they are usable. */
export async function checkCredentials(checkup: Checkup, access: ServerAccess): Promise<boolean> {
  const { connection } = access;
  const { origin } = connection;
  return await checkup.check(
    "credentials",
    {
      code: EXIT_CODE.connection,
      limitMs: origin.login === "exec" ? checkup.limits.pluginMs : checkup.limits.stepMs,
      late: `run ${JSON.stringify(origin.plugin ?? "the plugin")} by itself; does it wait for a login`,
      advice: "log in again, or renew what the user entry holds",
    },
    async (signal) => {
      const startedAt = performance.now();
      const authorization = await access.login(signal);
      const took = performance.now() - startedAt;
      if (authorization !== undefined) hideAuthorization(checkup, authorization);
      const parts = [...ofToken(connection, authorization, took), ...ofCertificate(connection)];
      if (parts.length === 0) return ofNobody(connection);
      const worst = parts.find(({ status }) => status === "fail") ?? parts.find(({ status }) => status === "warn");
      return {
        status: worst?.status ?? "ok",
        what: parts.map(({ words }) => words).join("; "),
        ...(worst && { remedy: "log in again, or renew what the user entry holds; or set this machine's clock" }),
      };
    },
  );
}

function hideAuthorization(checkup: Checkup, authorization: string): void {
  const secret = authorization.replace(/^\w+ /, "");
  checkup.hide(secret);
  if (!authorization.startsWith("Basic ")) return;
  const login = atob(secret);
  checkup.hide(login);
  checkup.hide(login.slice(login.indexOf(":") + 1));
}

function ofToken({ origin, credentials }: FoundConnection, authorization: string | undefined, took: number): Expiry[] {
  const { login, plugin } = origin;
  if (login === "none") return [];
  if (login === "basic") return [{ status: "ok", words: "user name and password" }];
  const kind = login === "token"
    ? "bearer token"
    : login === "tokenFile"
    ? "bearer token of a file"
    : `plugin ${JSON.stringify(plugin ?? "")}, which took ${
      span(took) === "0 s" ? "less than 1 s" : span(took)
    }, gives `;
  const token = authorization?.startsWith("Bearer ") ? authorization.slice("Bearer ".length) : undefined;
  const said = token === undefined ? undefined : termOfToken(token);
  const endsMs = credentials instanceof ExecLogin ? credentials.expiresMs : undefined;
  const term = endsMs === undefined ? said : { ...said, untilMs: Math.min(endsMs, said?.untilMs ?? Infinity) };
  const brought = login !== "exec" ? "" : token === undefined ? "a certificate" : "a token";
  if (term === undefined) return [{ status: "ok", words: `${kind}${brought}, which does not say how long it lasts` }];
  const { status, words } = expiryOf(term, Date.now(), login !== "token");
  return [{ status, words: `${kind}${brought} ${words}` }];
}

function ofCertificate({ origin }: FoundConnection): Expiry[] {
  if (!origin.clientCertificate) return [];
  if (origin.certificateExpires === undefined) return [{ status: "ok", words: "client certificate" }];
  const { status, words } = expiryOf({ untilMs: origin.certificateExpires.getTime() }, Date.now(), false);
  return [{ status, words: `client certificate ${words}` }];
}

function ofNobody({ server }: FoundConnection): Finding {
  // A proxy on this machine, such as `kubectl proxy`, adds its own credentials.
  if (server.protocol === "http:") return { status: "ok", what: "none, as is usual with plain HTTP" };
  return {
    status: "warn",
    what: `none: the server sees "system:anonymous"`,
    remedy: "name a user in the context, or pass --token-file",
  };
}
