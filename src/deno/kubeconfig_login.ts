import { messageOf } from "../errors/errors.ts";
import { Redacted, type Secret } from "../kubeconfig/text.ts";
import type { Credentials } from "../client/http/connection.ts";
import type { ExecLogin } from "./credentials.ts";
import type { PemSources, TlsFiles, TlsMaterial } from "./http_client.ts";

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
  #current: ContextLogin;
  #files: TlsFiles;
  /** The read in progress, which concurrent requests share; `undefined` between reads. */
  #reading: Promise<void> | undefined;
  /** The login that each request under way was last sent with, by its signal. */
  readonly #sent = new WeakMap<AbortSignal, ContextLogin>();
  /** `true` from a change until the certificates have been read. */
  isReplaced = false;

  /** `files` are those of `current`; `load` reads the kubeconfig again, and its errors name the file. */
  constructor(current: ContextLogin, files: TlsFiles, load: () => Promise<ContextLogin>) {
    super();
    this.#current = current;
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
    const before = (signal && this.#sent.get(signal)) ?? this.#current;
    let failure: unknown;
    if (refresh && before === this.#current) await this.#renew().catch((error) => failure = error);
    signal?.throwIfAborted();
    const { login } = this.#current;
    const isNew = this.#current !== before;
    if (signal) this.#sent.set(signal, this.#current);
    const applied = await login?.credentials.apply(headers, { ...options, refresh: refresh && !isNew });
    const isRefreshed = login !== undefined && applied !== false;
    if (failure === undefined) return isNew || isRefreshed;
    if (!isRefreshed) throw failure;
    this.warn(`${messageOf(failure)}; what it had stays in use`);
    return true;
  }

  /** Returns the certificates and key; `isStale` after a failed request, when the kubeconfig may have others. */
  async read(isStale: boolean): Promise<TlsMaterial> {
    if (isStale) await this.#renew().catch((error) => this.warn(`${messageOf(error)}; what it had stays in use`));
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
