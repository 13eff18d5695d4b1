/**
 * Credentials that a function returns: a credential plugin's, and the tokens of the option `token`.
 *
 * {@linkcode ExecLogin} is the entry point. It caches credentials until they expire or the server rejects them. It does
 * not know how a plugin is run.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import type { Abortable } from "../../engine/api/call_options.ts";
import { monotonicMs } from "../../engine/async/time.ts";
import type { Credentials } from "../../engine/client/http/connection.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { ExecCredential } from "./kubeconfig/exec_plugin.ts";
import { Redacted, Secret, termOfToken, tokenProblem } from "./kubeconfig/secrets.ts";
import { isSameMaterial } from "./runtime/connections.ts";

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

/** Returns credentials of the option `token` that is a function. Its tokens are cached like a plugin's. */
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
