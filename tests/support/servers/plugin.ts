import { assert } from "@std/assert";
import { ExecLogin } from "../../../src/host/connect/exec_login.ts";
import { runPlugin } from "../../../src/host/connect/run_plugin.ts";
import type { Host } from "../../../src/host/connect/host.ts";
import type { ExecCluster, ExecCredential, ExecPlugin } from "../../../src/host/connect/kubeconfig/exec_plugin.ts";
import { parseKubeconfig } from "../../../src/host/connect/kubeconfig/parse_kubeconfig.ts";
import { resolveContext } from "../../../src/host/connect/kubeconfig/resolve_context.ts";
import { hostWith } from "../processes/host.ts";

export const V1 = "client.authentication.k8s.io/v1";

/** A folder with scripts that serve as plugins, removed on disposal. */
export class Scripts implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<Scripts> {
    return new Scripts(await Deno.makeTempDir({ prefix: "informer-plugin-" }));
  }

  /** Writes a shell script; answers with its path. */
  async write(name: string, body: string): Promise<string> {
    const path = `${this.folder}/${name}`;
    await Deno.writeTextFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o700 });
    return path;
  }

  /** A plugin that prints the file `credential.json`, and notes each run in `runs`. */
  async printer(status: Record<string, unknown>): Promise<string> {
    await this.credential(status);
    return await this.write("plugin", `echo run >> "${this.folder}/runs"\ncat "${this.folder}/credential.json"`);
  }

  /** Sets the credential that the printer prints from now on. */
  async credential(status: Record<string, unknown>, apiVersion = V1): Promise<void> {
    const text = JSON.stringify({ apiVersion, kind: "ExecCredential", status });
    await Deno.writeTextFile(`${this.folder}/credential.json`, text);
  }

  /** Returns the number of runs of the printer. */
  async runs(): Promise<number> {
    try {
      return (await Deno.readTextFile(`${this.folder}/runs`)).split("\n").length - 1;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return 0;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** Reads a plugin as a kubeconfig in `folder` configures it. */
export function pluginOf(
  folder: string,
  exec: Record<string, unknown>,
  file: string = `${folder}/config`,
): ExecPlugin {
  const config = parseKubeconfig(
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "ada" } }],
      clusters: [{ name: "c", cluster: { server: "https://farm.example" } }],
      users: [{ name: "ada", user: { exec: { apiVersion: V1, interactiveMode: "Never", ...exec } } }],
    }),
    file,
  );
  const plugin = resolveContext(config).user?.exec;
  assert(plugin !== undefined);
  return plugin;
}

/** Runs a plugin once. */
export function run(
  plugin: ExecPlugin,
  options: {
    readonly cluster?: () => Promise<ExecCluster>;
    readonly timeoutMs?: number;
    readonly host?: Partial<Host>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<ExecCredential> {
  const { host, timeoutMs = 20_000, signal = new AbortController().signal } = options;
  const { cluster = () => Promise.resolve({ server: "https://farm.example" }) } = options;
  return runPlugin(plugin, hostWith({}, host), cluster, timeoutMs, signal);
}

/** A login by a plugin. */
export function loginBy(plugin: ExecPlugin): ExecLogin {
  return new ExecLogin((signal) => run(plugin, { signal }));
}

/** Returns the Authorization header of a login; `null` if it sends none. */
export async function authorization(
  login: ExecLogin,
  options: { readonly refresh?: boolean; readonly signal?: AbortSignal; readonly headers?: HeadersInit } = {},
): Promise<string | null> {
  const headers = new Headers(options.headers);
  const { refresh = false, signal } = options;
  await login.apply(headers, { refresh, ...(signal && { signal }) });
  return headers.get("authorization");
}
