import type { Credentials } from "../../client/http/credentials.ts";
import type { ExecCredential } from "../../kubeconfig/exec/exec_credential.ts";
import { Redacted } from "../../kubeconfig/text/secret.ts";
import { monotonicMs } from "../../async/time/monotonic_ms.ts";

/** What an {@linkcode ExecLogin} may be given. */
export interface ExecLoginOptions {
  /** Runs the plugin; what it throws names the plugin. */
  readonly run: (signal: AbortSignal) => Promise<ExecCredential>;
}

/** What is this close to its end is not used any more: it has a way to go to the server. */
const LEEWAY_MS = 10_000;

/** What has run out when it arrives (one of the clocks is wrong) is used for this long all the same. */
const LEAST_USE_MS = 5_000;

/** After a failure the plugin is left alone for so long, doubled with each further one. */
const FAILURE_MS = { first: 1_000, most: 60_000 } as const;

/** Credentials that the server has refused are renewed once; the next time is this much later, doubled each time. */
const REFUSAL_MS = { first: 10_000, most: 60_000 } as const;

/**
 * The credentials that a plugin gives, kept as long as they are of use. Prints as `[redacted]`.
 *
 * - The plugin runs when credentials are first needed, when they are about to expire, and when the server has refused them.
 *   Requests that come together share one run, which ends when the last of them has given up.
 * - It does not run again and again: after a failure requests get the same error for 1 s, then 2 s, up to a minute; and
 *   when the server goes on refusing, they get the same credentials for 10 s, then 20 s, up to a minute.
 */
export class ExecLogin extends Redacted implements Credentials {
  readonly #options: ExecLoginOptions;
  #credential: ExecCredential | undefined;
  #certificate: { readonly cert: string; readonly key: string } | undefined;
  /** The time of day until which it is used, as the server goes by that too. */
  #endsMs = 0;
  /** Until when it is used in any case, by the monotonic clock, as are the pauses. */
  #leastUntilMs = 0;
  #run: { readonly promise: Promise<void>; readonly controller: AbortController; waiting: number } | undefined;
  #failure: { readonly error: unknown; readonly untilMs: number; readonly pauseMs: number } | undefined;
  #renewal: { readonly untilMs: number; readonly pauseMs: number } | undefined;

  /** Nothing is run yet. */
  constructor(options: ExecLoginOptions) {
    super();
    this.#options = options;
  }

  /** The certificate it has brought: the same object until it brings another. */
  get certificate(): { readonly cert: string; readonly key: string } | undefined {
    return this.#certificate;
  }

  /** When what it has brought expires, in milliseconds since 1970; nothing when that is not known. */
  get expiresMs(): number | undefined {
    return this.#credential?.expiresMs;
  }

  /** Sets `Authorization` if there is a token. A request that brings its own is left alone, and nothing is run for it. */
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

  /** Whether credentials that the server has refused are worth another run; counts as one if so. */
  #mayRenew(now: number): boolean {
    const last = this.#renewal;
    if (this.#run !== undefined) return true;
    if (last !== undefined && now < last.untilMs) return false;
    const isAgain = last !== undefined && now < last.untilMs + last.pauseMs;
    const pauseMs = isAgain ? Math.min(last.pauseMs * 2, REFUSAL_MS.most) : REFUSAL_MS.first;
    this.#renewal = { untilMs: now + pauseMs, pauseMs };
    return true;
  }

  /** Waits for the run under way, or for one that begins. */
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
    // Half the life of what lives for seconds.
    this.#endsMs = expiresMs - Math.min(LEEWAY_MS, (expiresMs - Date.now()) / 2);
    this.#leastUntilMs = monotonicMs() + LEAST_USE_MS;
    const last = this.#certificate;
    const key = certificate?.key.reveal();
    if (last?.cert === certificate?.cert && last?.key === key) return;
    this.#certificate = certificate && { cert: certificate.cert, key: key! };
  }
}
