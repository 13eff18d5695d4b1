import { CredentialPluginError } from "./credential_plugin_error.ts";
import type { ExecPlugin } from "../../kubeconfig/exec/exec_plugin.ts";
import { type ExecCluster, execInfo } from "../../kubeconfig/exec/exec_info.ts";
import { type ExecCredential, ExecOutputError, parseExecCredential } from "../../kubeconfig/exec/exec_credential.ts";
import { LongTimer } from "../../async/time/long_timer.ts";
import { pathBeside } from "../host/read_checked_file.ts";
import { type Host, runFlag } from "../host/host.ts";
import { redactMessage } from "./redact_message.ts";

/** Default time limit of a plugin, in milliseconds; five times as long if it may prompt on the terminal. */
export const PLUGIN_TIMEOUT_MS = 60_000;

/** Options for {@linkcode runPlugin}. */
export interface RunPluginOptions {
  /** Returns the cluster information for the plugin; called only if the plugin requests it. */
  readonly cluster: () => Promise<ExecCluster>;
  /** Time limit, in milliseconds; five times as long if it may prompt on the terminal. */
  readonly timeoutMs: number;
  /** Returns the problem with a certificate and key as a pair; `undefined` if they are valid. */
  readonly pairProblem: (cert: string, key: string) => string | undefined;
}

/** Returns the program to run: a path is relative to the kubeconfig's folder, a name is searched in `PATH`. */
export function pluginCommand(plugin: ExecPlugin, host: Pick<Host, "windows">): string {
  const isPath = plugin.command.includes("/") || (host.windows && plugin.command.includes("\\"));
  if (!isPath) return plugin.command;
  const path = pathBeside(plugin.place.file, plugin.command);
  // A path without a separator would be searched in PATH.
  return /[/\\]/.test(path) ? path : `./${path}`;
}

/**
 * Runs a plugin once (client-go `plugin/pkg/client/auth/exec`).
 *
 * It inherits this program's environment. It uses the terminal if `interactiveMode` allows it and there is one;
 * otherwise its standard input is empty, and its standard error becomes part of the error.
 *
 * @throws {CredentialPluginError} when it returns no valid credentials.
 */
export async function runPlugin(
  plugin: ExecPlugin,
  host: Host,
  options: RunPluginOptions,
  signal: AbortSignal,
): Promise<ExecCredential> {
  const command = pluginCommand(plugin, host);
  const fail = (problem: string, more: ErrorOptions & { readonly exitCode?: number } = {}): CredentialPluginError =>
    new CredentialPluginError(
      `Cannot get credentials from plugin ${JSON.stringify(plugin.command)} of ${plugin.place.entry} of kubeconfig ` +
        `${JSON.stringify(plugin.place.file)}: ${problem}`,
      plugin.command,
      more,
    );
  const interactive = plugin.interactiveMode !== "Never" && host.isTerminal();
  if (plugin.interactiveMode === "Always" && !interactive) {
    throw fail(`its "interactiveMode" is "Always", and standard input is not a terminal: run this program in one`);
  }
  const cluster = plugin.provideClusterInfo ? await options.cluster() : undefined;
  const info = execInfo(plugin, { interactive, ...(cluster && { cluster }) });
  const env = { ...Object.fromEntries(plugin.env), KUBERNETES_EXEC_INFO: info };
  const timeoutMs = options.timeoutMs * (interactive ? 5 : 1);
  const deadline = new AbortController();
  const stop = (): void => deadline.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  using timer = new LongTimer(() => {
    deadline.abort(fail(`it did not end within ${timeoutMs / 1_000} s and was killed`));
  });
  timer.arm(timeoutMs);
  let result;
  try {
    result = await host.runProgram({ command, args: plugin.args, env, interactive }, deadline.signal);
  } catch (cause) {
    if (deadline.signal.aborted) throw deadline.signal.reason;
    throw fail(startProblem(cause, command, plugin), { cause });
  } finally {
    signal.removeEventListener("abort", stop);
  }
  const { code, stdout, stderr } = result;
  if (code !== 0) {
    const said = redactMessage(stderr, plugin);
    throw fail(`it ended with exit code ${code}${said === "" ? "" : `, saying: ${said}`}`, { exitCode: code });
  }
  try {
    const credential = parseExecCredential(stdout, plugin.apiVersion);
    const { certificate } = credential;
    const problem = certificate && options.pairProblem(certificate.cert, certificate.key.reveal());
    if (problem !== undefined) throw new ExecOutputError(`printed a certificate that cannot be used: ${problem}`);
    return credential;
  } catch (cause) {
    if (cause instanceof ExecOutputError) throw fail(`it ${cause.message}`, { cause });
    throw cause;
  }
}

function startProblem(error: unknown, command: string, plugin: ExecPlugin): string {
  if (error instanceof Deno.errors.NotFound) {
    const place = command === plugin.command ? "there is no such program in PATH" : `there is no file "${command}"`;
    const hint = plugin.installHint === undefined ? "" : `; ${plugin.installHint}`;
    return `${place}: install it${hint}`;
  }
  if (error instanceof Deno.errors.NotCapable) {
    // Deno requires the permission to run any program when these variables are set.
    const loader = plugin.env.some(([name]) => /^(?:LD|DYLD)_/.test(name));
    return `this program may not run it, run it with ${loader ? "--allow-run" : runFlag(command)}`;
  }
  if (error instanceof Deno.errors.PermissionDenied) return "the user who runs this program may not run it";
  return error instanceof Error ? error.message : String(error);
}
