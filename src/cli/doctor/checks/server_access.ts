import { Client } from "../../../client/client.ts";
import type { ConnectOptions, FoundConnection } from "../../../deno/found_connection.ts";
import { ExecLogin } from "../../../deno/credentials/exec_login.ts";
import { findConnection } from "../../../deno/find_connection.ts";
import type { Checkup, Finding } from "../checkup/checkup.ts";
import { type Expiry, expiryOf, span, termOfToken } from "../checkup/expiry.ts";
import { EXIT_CODE, explainError } from "../../errors/exit_code.ts";

/** A way to the server as the configuration says, and who goes it. Disposing it ends what is under way. */
export class ServerAccess implements Disposable {
  /** Where it leads, and where that is written. */
  readonly connection: FoundConnection;
  /** The same by the library's own client, which repeats nothing. */
  readonly client: Client;
  #authorization: string | undefined;

  /** Nothing is sent yet. */
  constructor(connection: FoundConnection) {
    this.connection = connection;
    this.client = new Client({ ...connection, retries: 0 });
  }

  /** What to send as `Authorization`; a plugin runs for it. */
  async login(signal: AbortSignal): Promise<string | undefined> {
    const headers = new Headers();
    await this.connection.credentials?.apply(headers, { refresh: false, signal });
    this.#authorization = headers.get("authorization") ?? undefined;
    return this.#authorization;
  }

  /** Sends a request once; whatever the status, the answer is an answer. Without a login that has been made, nobody asks. */
  async ask(path: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
    const { server, transport } = this.connection;
    const headers = new Headers(init.headers);
    if (this.#authorization !== undefined) headers.set("authorization", this.#authorization);
    const url = `${server.origin}${server.pathname.replace(/\/+$/, "")}${path}`;
    return await transport.fetch(new Request(url, { redirect: "manual", ...init, headers }));
  }

  /** Ends what is under way. */
  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
  }
}

/** Finds the configuration. Nothing when there is none that can be used. @throws {TypeError} for flags that cannot be. */
export async function checkConfiguration(checkup: Checkup, options: ConnectOptions): Promise<ServerAccess | undefined> {
  let access: ServerAccess | undefined;
  let usage: unknown;
  await checkup.check(
    "configuration",
    {
      code: EXIT_CODE.connection,
      late: "check the disk or network share that holds the kubeconfig and what it names",
      advice: "correct it, or choose another with --kubeconfig or --context",
    },
    async () => {
      try {
        // What it warns of, expired certificates and such, is looked at below.
        const connection = await findConnection({ ...options, pluginTimeoutMs: checkup.limits.pluginMs });
        access = new ServerAccess(connection);
        return configurationFinding(connection);
      } catch (error) {
        // The command line is wrong, not what it names.
        if (explainError(error).code === EXIT_CODE.usage) usage = error;
        throw error;
      }
    },
  );
  if (usage !== undefined) throw usage;
  return access;
}

function configurationFinding({ origin, namespace }: FoundConnection): Finding {
  const { source, files, context, user, actsAs, insecure } = origin;
  const parts = [
    source === "in-cluster"
      ? "the pod's service account"
      : source === "options"
      ? "the flags alone"
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
    what: `${what}; insecure-skip-tls-verify lets anybody answer in the server's place`,
    remedy: "put the authority's certificate into certificate-authority-data instead",
  };
}

/** Makes the login, without the server: which kind it is and how long it lasts. Answers whether there is one to use. */
export async function checkCredentials(checkup: Checkup, access: ServerAccess): Promise<boolean> {
  const { connection } = access;
  const { origin } = connection;
  return await checkup.check(
    "credentials",
    {
      code: EXIT_CODE.connection,
      limitMs: origin.login === "exec" ? checkup.limits.pluginMs : checkup.limits.stepMs,
      late: `run ${JSON.stringify(origin.plugin ?? "the plugin")} by itself; does it wait for somebody to log in`,
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
  // A proxy on this machine, kubectl's for one, adds its own.
  if (server.protocol === "http:") return { status: "ok", what: "none, as is usual with plain HTTP" };
  return {
    status: "warn",
    what: `none: the server sees "system:anonymous"`,
    remedy: "name a user in the context, or pass --token-file",
  };
}
