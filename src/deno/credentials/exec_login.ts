/**
 * Credentials for requests: a fixed bearer token, basic authentication, a token file, or a credential plugin.
 *
 * {@linkcode ExecLogin} is the entry point for plugins: it decides when `runPlugin` runs, and caches the result.
 * This folder does not parse kubeconfigs or the output of plugins; `src/kubeconfig` does.
 *
 * @module
 */
import type { Credentials } from "../../client/http/credentials.ts";
import type { ExecCredential } from "../../kubeconfig/exec/exec_credential.ts";
import { Redacted } from "../../kubeconfig/text/secret.ts";
import { monotonicMs } from "../../async/time/monotonic_ms.ts";

/** Options for {@linkcode ExecLogin}. */
export interface ExecLoginOptions {
  /** Runs the plugin; its errors name the plugin. */
  readonly run: (signal: AbortSignal) => Promise<ExecCredential>;
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
  readonly #options: ExecLoginOptions;
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

  /** The plugin is not run yet. */
  constructor(options: ExecLoginOptions) {
    super();
    this.#options = options;
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
    const gone = Promise.withResolvers<never>();
    const leave = (): void => gone.reject(signal!.reason);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      await Promise.race([run.promise, gone.promise]);
    } finally {
      signal?.removeEventListener("abort", leave);
      if (--run.waiting === 0 && signal?.aborted) run.controller.abort(signal.reason);
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    let credential: ExecCredential;
    try {
      credential = await this.#options.run(signal);
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
    const last = this.#certificate;
    const key = certificate?.key.reveal();
    if (last?.cert === certificate?.cert && last?.key === key) return;
    this.#certificate = certificate && { cert: certificate.cert, key: key! };
  }
}
