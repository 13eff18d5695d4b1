/**
 * Runs a credential plugin of a kubeconfig once.
 *
 * {@linkcode runPlugin} is the entry point. It checks what the plugin prints, and redacts secrets in its messages. It
 * caches nothing.
 *
 * @module
 */
import { CredentialsError } from "../../engine/api/status.ts";
import { DerivedController } from "../../engine/async/signals.ts";
import { LongTimer } from "../../engine/async/time.ts";
import { messageOf, redactSecrets, withoutSecrets } from "../../engine/errors/errors.ts";
import { pathBeside } from "./files.ts";
import type { Host } from "./host.ts";
import {
  type ExecCluster,
  type ExecCredential,
  execInfo,
  ExecOutputError,
  type ExecPlugin,
  parseExecCredential,
} from "./kubeconfig/exec_plugin.ts";
import { tlsProblem } from "./runtime/open_connections.ts";
import { runFlag } from "./runtime/permissions.ts";
import { failureKind } from "./runtime/runtime.ts";

/** Thrown if a credential plugin is missing, fails, or prints invalid credentials. */
export class CredentialPluginError extends CredentialsError {
  /** `"CredentialPluginError"`. */
  override readonly name = "CredentialPluginError";
  /** The program's name or path. */
  readonly command: string;
  /** The program's exit code, if it is not 0. */
  readonly exitCode?: number;

  /** `command` is the program. */
  constructor(message: string, command: string, options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.command = command;
    if (options.exitCode !== undefined) this.exitCode = options.exitCode;
  }
}

/** Names of variables and flags that hold secrets. */
const SECRET_NAME = /secret|token|passw|credential|api.?key|private.?key|access.?key|assertion/i;

/** The longest part of a program's message that is kept, in characters. */
const MAX_MESSAGE = 1_000;

/**
 * Redacts secrets in the message of a program: values that it received under the name of a secret, and texts that have
 * the form of one. Removes control characters and returns the end of the message, on one line.
 */
export function redactMessage(text: string, { args, env }: Pick<ExecPlugin, "args" | "env">): string {
  const flags = args.map((arg, index): readonly [string, string] => {
    const [, name = "", value = args[index + 1] ?? ""] = /^--?([\w-]+)(?:=([\s\S]*))?$/.exec(arg) ?? [];
    return [name, value];
  });
  const secrets = [...env, ...flags].filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => value);
  const message = redactSecrets(withoutSecrets(text, secrets));
  return message.length > MAX_MESSAGE ? `...${message.slice(-MAX_MESSAGE)}` : message;
}

/** Default time limit of a plugin, in milliseconds; five times as long if it may prompt on the terminal. */
export const PLUGIN_TIMEOUT_MS = 60_000;

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
 * otherwise its standard input is empty, and its standard error becomes part of the error. The time limit is in
 * milliseconds, five times as long if it may prompt on the terminal. `tellCluster` is called only if the plugin
 * requests the cluster information.
 *
 * @throws {CredentialPluginError} when it returns no valid credentials.
 */
export async function runPlugin(
  plugin: ExecPlugin,
  host: Host,
  tellCluster: () => Promise<ExecCluster>,
  limitMs: number,
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
    throw fail(
      `its "interactiveMode" is "Always", but standard input is not a terminal: run this program in a terminal`,
    );
  }
  const cluster = plugin.provideClusterInfo ? await tellCluster() : undefined;
  const info = execInfo(plugin, { interactive, ...(cluster && { cluster }) });
  const env = { ...Object.fromEntries(plugin.env), KUBERNETES_EXEC_INFO: info };
  const timeoutMs = limitMs * (interactive ? 5 : 1);
  using deadline = new DerivedController(signal);
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
  }
  const { code, stdout, stderr } = result;
  if (code !== 0) {
    const said = redactMessage(stderr, plugin);
    throw fail(`it ended with exit code ${code}${said === "" ? "" : `, saying: ${said}`}`, { exitCode: code });
  }
  try {
    const credential = parseExecCredential(stdout, plugin.apiVersion);
    const { certificate } = credential;
    const problem = certificate && tlsProblem({ cert: certificate.cert, key: certificate.key.reveal() });
    if (problem !== undefined) throw new ExecOutputError(`printed a certificate that cannot be used: ${problem}`);
    return credential;
  } catch (cause) {
    if (cause instanceof ExecOutputError) throw fail(`it ${cause.message}`, { cause });
    throw cause;
  }
}

function startProblem(error: unknown, command: string, plugin: ExecPlugin): string {
  const reason = failureKind(error);
  if (reason === "missing") {
    const place = command === plugin.command ? "the program is not in PATH" : `there is no file "${command}"`;
    const hint = plugin.installHint === undefined ? "" : `; ${plugin.installHint}`;
    return `${place}: install it${hint}`;
  }
  if (reason === "no permission flag") {
    // Deno requires the permission to run any program when these variables are set.
    const loader = plugin.env.some(([name]) => /^(?:LD|DYLD)_/.test(name));
    return `this program may not run it, run it with ${loader ? "--allow-run" : runFlag(command)}`;
  }
  if (reason === "refused") return "the user who runs this program may not run it";
  return messageOf(error);
}
