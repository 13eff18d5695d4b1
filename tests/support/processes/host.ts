import type { FoundConnection } from "../../../src/host/connect/connect_options.ts";
import type { Host } from "../../../src/host/connect/host.ts";
import { runProgram } from "../../../src/host/connect/runtime/programs.ts";
import type { Seen } from "../servers/tls_server.ts";

/** A machine that has the real files and only these variables. */
export function hostWith(env: Readonly<Record<string, string>> = {}, overrides: Partial<Host> = {}): Host {
  return {
    env: (name) => env[name],
    readTextFile: (path) => Deno.readTextFile(path),
    runProgram,
    isTerminal: () => false,
    windows: false,
    serviceAccountFolder: "/nonexistent/serviceaccount",
    ...overrides,
  };
}

/** Throws the error that Deno throws when a permission is missing. */
export function notCapable(): never {
  throw new Deno.errors.NotCapable("Requires access, run again with the --allow flag");
}

/** Sends one request as a client does, and answers with what the server saw. */
export async function ask(
  connection: FoundConnection,
  path = "/version",
  options: { refresh?: boolean } = {},
): Promise<Seen> {
  const headers = new Headers();
  await connection.credentials?.apply(headers, { refresh: options.refresh ?? false });
  const response = await connection.transport.fetch(new Request(new URL(path, connection.server), { headers }));
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`Cannot get "${path}": ${response.status}`);
  }
  return await response.json();
}

/** Writes a kubeconfig (JSON is YAML) with one context, "home". */
export async function writeKubeconfig(
  path: string,
  cluster: Record<string, unknown>,
  user: Record<string, unknown> = {},
  context: Record<string, unknown> = {},
): Promise<string> {
  await Deno.writeTextFile(
    path,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "home",
      clusters: [{ name: "farm", cluster }],
      users: [{ name: "ada", user }],
      contexts: [{ name: "home", context: { cluster: "farm", user: "ada", ...context } }],
    }),
  );
  return path;
}
