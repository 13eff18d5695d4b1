/**
 * Credentials that change: tokens in files, credential plugins, and kubeconfigs that are read again.
 *
 * {@linkcode KubeconfigLogin} is the entry point. Requests name the credentials that they were sent with, so one
 * refresh serves all requests that were refused for the same ones. It sends no requests to the server.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import { utf8AsLatin1 } from "../../engine/api/impersonation.ts";
import type { Abortable } from "../../engine/api/call_options.ts";
import { CredentialsError } from "../../engine/api/status.ts";
import { DerivedController } from "../../engine/async/signals.ts";
import { LongTimer, monotonicMs } from "../../engine/async/time.ts";
import type { Credentials } from "../../engine/client/http/connection.ts";
import { messageOf, redactSecrets, withoutSecrets, withSentence } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import type { InClusterOptions } from "./connect_options.ts";
import { type ExplainFileProblem, pathBeside, readCheckedFile } from "./files.ts";
import type { Host } from "./host.ts";
import {
  type ExecCluster,
  ExecCredential,
  execInfo,
  ExecOutputError,
  type ExecPlugin,
  parseExecCredential,
} from "./kubeconfig/exec_plugin.ts";
import { Redacted, Secret, termOfToken, tokenProblem } from "./kubeconfig/secrets.ts";
import { isSameMaterial, type TlsMaterial } from "./runtime/connections.ts";
import { tlsProblem } from "./runtime/open_connections.ts";
import { runFlag } from "./runtime/permissions.ts";
import { failureKind } from "./runtime/runtime.ts";
import type { PemSources, TlsFiles } from "./tls_files.ts";

/** A header that does not change. Prints as `[redacted]`. */
export class FixedLogin extends Redacted {
  readonly #header: string;

  private constructor(header: string) {
    super();
    this.#header = header;
  }

  /** Basic authentication; `username` must not contain a colon (RFC 7617). */
  static basic(username: string, password: string): FixedLogin {
    return new FixedLogin(`Basic ${btoa(utf8AsLatin1(`${username}:${password}`))}`);
  }

  /** A bearer token. @throws {TypeError} when it cannot be sent in a header. */
  static bearer(token: string): FixedLogin {
    const problem = tokenProblem(token);
    if (problem !== undefined) throw new TypeError(`Cannot use token: it ${problem}`);
    return new FixedLogin(`Bearer ${token}`);
  }

  /** Sets `Authorization`, unless the request has one already. Returns `false`: a refresh finds nothing new. */
  apply(headers: Headers): false {
    if (!headers.has("authorization")) headers.set("authorization", this.#header);
    return false;
  }
}

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

/** Credentials are renewed this long before they expire, in milliseconds, because a request takes time to arrive. */
const LEEWAY_MS = 10_000;

/** Minimum use of new credentials, in milliseconds, even if they are already expired by this machine's clock. */
const LEAST_USE_MS = 5_000;

/** Back-off after a failed run, in milliseconds, doubled with each further failure. */
const FAILURE_MS = { first: 1_000, most: 60_000 } as const;

/** Minimum time between two renewals after a 401, in milliseconds, doubled each time. */
const REFUSAL_MS = { first: 10_000, most: 60_000 } as const;

/**
 * Caches the credentials of a plugin until they expire or the server rejects them. Prints as `[redacted]`.
 *
 * - The plugin runs with the first request, shortly before the credentials expire, and after a 401. Concurrent requests
 *   share one run, which is aborted when the last of them is aborted.
 * - Runs back off: after a failure, requests get the same error for 1 s, then 2 s, up to a minute; while the server
 *   keeps answering 401, they get the same credentials for 10 s, then 20 s, up to a minute.
 */
export class ExecLogin extends Redacted implements Credentials {
  readonly #login: (signal: AbortSignal) => Promise<ExecCredential>;
  /** The result of the last successful run; an expired or rejected one stays until the next run succeeds. */
  #credential: ExecCredential | undefined;
  /** The certificate of {@linkcode ExecLogin.certificate}: replaced only when certificate or key has changed. */
  #certificate: { readonly cert: string; readonly key: string } | undefined;
  /** Time of day at which the credentials are renewed: the server uses the time of day too. */
  #endsMs = 0;
  /** End of the minimum use, by the monotonic clock, as are the back-off times. */
  #leastUntilMs = 0;
  /** The run in progress, with the number of requests that wait for it; `undefined` between runs. */
  #run: { readonly promise: Promise<void>; readonly controller: AbortController; waiting: number } | undefined;
  /** The error of the last run, if that failed: requests get it until `untilMs`, when the plugin may run again. */
  #failure: { readonly error: unknown; readonly untilMs: number; readonly pauseMs: number } | undefined;
  /** The last renewal after a 401: until `untilMs` another 401 does not run the plugin. */
  #renewal: { readonly untilMs: number; readonly pauseMs: number } | undefined;

  /** `login` runs the plugin, not yet; its errors name it. */
  constructor(login: (signal: AbortSignal) => Promise<ExecCredential>) {
    super();
    this.#login = login;
  }

  /** The client certificate that the plugin returned: the same object until it returns another one. */
  get certificate(): { readonly cert: string; readonly key: string } | undefined {
    return this.#certificate;
  }

  /** Expiry of the credentials, in milliseconds since 1970; `undefined` if not known. */
  get expiresMs(): number | undefined {
    return this.#credential?.expiresMs;
  }

  /** Sets `Authorization` if there is a token, unless the request has one already; then the plugin is not run. */
  async apply(headers: Headers, options: Parameters<Credentials["apply"]>[1]): Promise<void> {
    if (headers.has("authorization")) return;
    const { refresh, signal } = options;
    signal?.throwIfAborted();
    const isFresh = this.#credential !== undefined &&
      (Date.now() < this.#endsMs || monotonicMs() < this.#leastUntilMs);
    if (!isFresh || (refresh && this.#mayRenew(monotonicMs()))) await this.#shared(signal);
    const token = this.#credential?.token;
    if (token !== undefined) headers.set("authorization", `Bearer ${token.reveal()}`);
  }

  /** Returns `true` if rejected credentials may be renewed now, and records the renewal. */
  #mayRenew(now: number): boolean {
    const last = this.#renewal;
    if (this.#run !== undefined) return true;
    if (last !== undefined && now < last.untilMs) return false;
    const isAgain = last !== undefined && now < last.untilMs + last.pauseMs;
    const pauseMs = isAgain ? Math.min(last.pauseMs * 2, REFUSAL_MS.most) : REFUSAL_MS.first;
    this.#renewal = { untilMs: now + pauseMs, pauseMs };
    return true;
  }

  /** Waits for the current run; starts one if there is none. */
  async #shared(signal: AbortSignal | undefined): Promise<void> {
    if (this.#run === undefined) {
      const failure = this.#failure;
      if (failure !== undefined && monotonicMs() < failure.untilMs) throw failure.error;
      const controller = new AbortController();
      const promise = this.#renew(controller.signal).finally(() => this.#run = undefined);
      this.#run = { promise, controller, waiting: 0 };
    }
    const run = this.#run;
    run.waiting++;
    try {
      await (signal === undefined ? run.promise : abortable(run.promise, signal));
    } finally {
      if (--run.waiting === 0 && signal?.aborted) run.controller.abort(signal.reason);
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    let credential: ExecCredential;
    try {
      credential = await this.#login(signal);
    } catch (error) {
      if (!signal.aborted) {
        const pauseMs = Math.min((this.#failure?.pauseMs ?? FAILURE_MS.first / 2) * 2, FAILURE_MS.most);
        this.#failure = { error, untilMs: monotonicMs() + pauseMs, pauseMs };
      }
      throw error;
    }
    this.#failure = undefined;
    this.#credential = credential;
    const { expiresMs = Infinity, certificate } = credential;
    // Short-lived credentials are renewed after half of their lifetime.
    this.#endsMs = expiresMs - Math.min(LEEWAY_MS, (expiresMs - Date.now()) / 2);
    this.#leastUntilMs = monotonicMs() + LEAST_USE_MS;
    const next = certificate && { cert: certificate.cert, key: certificate.key.reveal() };
    if (!isSameMaterial(next ?? {}, this.#certificate ?? {})) this.#certificate = next;
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

/** Time until the file is read again, in milliseconds: a minute less ten seconds, as in client-go `token_source.go`. */
const FRESH_MS = 50_000;

/**
 * A bearer token in a file that another program, such as the kubelet, keeps up to date. Prints as `[redacted]`.
 *
 * - The file is read again 50 s after the last read, and at once after a 401.
 * - Concurrent requests share one read.
 * - If the file can no longer be read, the last token stays in use and each request tries again; a token that the
 *   server rejected is not used again.
 */
export class TokenFile extends Redacted {
  readonly #path: string;
  readonly #host: Pick<Host, "readTextFile">;
  readonly #explain: ExplainFileProblem;
  readonly #options: Pick<InClusterOptions, "onWarning">;
  readonly #fallback: Secret | undefined;
  /**
   * The token of the last successful read; `undefined` before it, and after the server rejected it and a read failed.
   */
  #token: Secret | undefined;
  /** Time of the last successful read, by the monotonic clock; of no meaning while there is no token. */
  #readAt = 0;
  /** `true` from a warning until the file has been read again, so that an outage is reported once. */
  #warned = false;
  /** The read in progress, which concurrent requests share; `undefined` between reads. */
  #reading: Promise<Secret> | undefined;

  /**
   * The file at `path` is read with the first request. `fallback` is used while it cannot be read and never was.
   * `onWarning` is called once when it can no longer be read and the last token stays in use.
   */
  constructor(
    path: string,
    host: Pick<Host, "readTextFile">,
    explain: ExplainFileProblem,
    options: Pick<InClusterOptions, "onWarning"> = {},
    fallback?: Secret,
  ) {
    super();
    this.#path = path;
    this.#host = host;
    this.#explain = explain;
    this.#options = options;
    this.#fallback = fallback;
  }

  /**
   * Sets `Authorization`, unless the request has one already.
   *
   * @throws {Error} when there is no token: the file cannot be read or is empty.
   */
  async apply(headers: Headers, options: Parameters<Credentials["apply"]>[1]): Promise<void> {
    if (headers.has("authorization")) return;
    options.signal?.throwIfAborted();
    const token = await this.#current(options.refresh);
    options.signal?.throwIfAborted();
    headers.set("authorization", `Bearer ${token.reveal()}`);
  }

  /** Reads the file, if it was not read yet. @throws {Error} when there is no token. */
  async ready(): Promise<void> {
    await this.#current(false);
  }

  async #current(refresh: boolean): Promise<Secret> {
    const isFresh = monotonicMs() - this.#readAt < FRESH_MS;
    if (this.#token !== undefined && isFresh && !refresh) return this.#token;
    try {
      this.#reading ??= this.#read().finally(() => this.#reading = undefined);
      return await this.#reading;
    } catch (error) {
      if (refresh) this.#token = undefined;
      const known = refresh ? undefined : this.#token ?? this.#fallback;
      if (known === undefined) throw error;
      if (!this.#warned) this.#options.onWarning?.(withSentence(messageOf(error), "The previous token stays in use"));
      this.#warned = true;
      return known;
    }
  }

  async #read(): Promise<Secret> {
    const problemOf = (content: string): string | undefined => {
      const problem = tokenProblem(content.trim());
      return problem && `its content ${problem}`;
    };
    const text = await readCheckedFile(this.#path, this.#host, problemOf, this.#explain);
    this.#token = new Secret(text.trim());
    this.#readAt = monotonicMs();
    this.#warned = false;
    return this.#token;
  }
}

/** Returns credentials of the option `token` that is a function: its tokens are used as those of a plugin are. */
export function tokenLogin(token: (options: Required<Abortable>) => string | Promise<string>): ExecLogin {
  return new ExecLogin(async (signal) => {
    let text: string;
    try {
      text = await token({ signal });
    } catch (cause) {
      throw new InformerError(`Cannot get a token: the function of option "token" failed`, { cause });
    }
    const problem = typeof text === "string" ? tokenProblem(text) : `is of type ${typeof text} and not a string`;
    if (problem !== undefined) throw new TypeError(`Cannot use the token that option "token" returned: it ${problem}`);
    return new ExecCredential({ token: new Secret(text), expiresMs: termOfToken(text)?.untilMs });
  });
}

/** The credentials and certificates of a context, as a kubeconfig had them when it was read. */
interface ContextLogin extends PemSources {
  /** The credentials sent as `Authorization`. */
  readonly login?: { readonly credentials: Credentials & Partial<Pick<ExecLogin, "certificate" | "expiresMs">> };
  /** A text that is another one when cluster or user of the context have changed. */
  readonly entries?: Secret;
}

/**
 * The credentials and certificates of a kubeconfig's context. Prints as `[redacted]`.
 *
 * - The kubeconfig is read again after a 401 to what it has, and by the first request after one that failed. Concurrent
 *   requests share one read, and one whose 401 comes after it uses what that has found.
 * - Where the context has changed, the request that was refused is sent again with what is new. Else only credentials
 *   that can be refreshed by themselves are: those of a plugin or of a token file.
 * - A kubeconfig that cannot be used any more is an error of the request, unless the credentials can be refreshed.
 */
export class KubeconfigLogin extends Redacted implements Credentials {
  readonly #load: () => Promise<ContextLogin>;
  readonly #first: ContextLogin;
  #current: ContextLogin;
  #files: TlsFiles;
  /** The read in progress, which concurrent requests share; `undefined` between reads. */
  #reading: Promise<void> | undefined;
  /** The login that each request under way was last sent with, by its signal, unless it is `#first`. */
  readonly #sent = new WeakMap<AbortSignal, ContextLogin>();
  /** `true` from a change until the certificates have been read. */
  isReplaced = false;

  /** `files` are those of `current`; `load` reads the kubeconfig again, and its errors name the file. */
  constructor(current: ContextLogin, files: TlsFiles, load: () => Promise<ContextLogin>) {
    super();
    this.#first = this.#current = current;
    this.#files = files;
    this.#load = load;
  }

  /** The client certificate of a plugin. */
  get certificate(): ExecLogin["certificate"] {
    return this.#current.login?.credentials.certificate;
  }

  /** Expiry of a plugin's credentials, in milliseconds since 1970; `undefined` if not known. */
  get expiresMs(): number | undefined {
    return this.#current.login?.credentials.expiresMs;
  }

  /** Sets `Authorization` if there is one to send. Resolves with `false` if a refresh has found nothing new. */
  async apply(headers: Headers, options: Parameters<Credentials["apply"]>[1]): Promise<boolean> {
    const { refresh, signal } = options;
    const before = signal && refresh ? this.#sent.get(signal) ?? this.#first : this.#current;
    let failure: unknown;
    if (refresh && before === this.#current) await this.#renew().catch((error) => failure = error);
    signal?.throwIfAborted();
    const { login } = this.#current;
    const isNew = this.#current !== before;
    if (signal && this.#current !== this.#first) this.#sent.set(signal, this.#current);
    const applied = await login?.credentials.apply(headers, { ...options, refresh: refresh && !isNew });
    const isRefreshed = login !== undefined && applied !== false;
    if (failure === undefined) return isNew || isRefreshed;
    if (!isRefreshed) throw failure;
    this.warn(withSentence(messageOf(failure), "The previous credentials stay in use"));
    return true;
  }

  /** Returns the certificates and key; `isStale` after a failed request, when the kubeconfig may have others. */
  async read(isStale: boolean): Promise<TlsMaterial> {
    if (isStale) {
      const stay = "The previous credentials stay in use";
      await this.#renew().catch((error) => this.warn(withSentence(messageOf(error), stay)));
    }
    this.isReplaced = false;
    return await this.#files.read();
  }

  /** Reports a problem after which what was read last stays in use. */
  warn(warning: string): void {
    this.#files.warn(warning);
  }

  async #renew(): Promise<void> {
    this.#reading ??= this.#reload().finally(() => this.#reading = undefined);
    await this.#reading;
  }

  async #reload(): Promise<void> {
    const found = await this.#load();
    if (found.entries?.reveal() === this.#current.entries?.reveal()) return;
    this.#current = found;
    this.#files = this.#files.of(found);
    this.isReplaced = true;
  }
}
