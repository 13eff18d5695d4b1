/**
 * Credentials of a kubeconfig that is read again when the server rejects them.
 *
 * {@linkcode KubeconfigLogin} is the entry point. Requests name the credentials that they were sent with, so one read
 * serves all requests that were rejected with the same ones. It parses no kubeconfig itself.
 *
 * @module
 */
import type { Credentials } from "../../engine/client/http/connection.ts";
import { messageOf, withSentence } from "../../engine/errors/errors.ts";
import type { ExecLogin } from "./exec_login.ts";
import { Redacted, type Secret } from "./kubeconfig/secrets.ts";
import type { TlsMaterial } from "./runtime/connections.ts";
import type { PemSources, TlsFiles } from "./tls_files.ts";

/** The credentials and certificates of a context, from one read of the kubeconfig. */
interface ContextLogin extends PemSources {
  /** The credentials sent as `Authorization`. */
  readonly login?: { readonly credentials: Credentials & Partial<Pick<ExecLogin, "certificate" | "expiresMs">> };
  /** The text of the context's cluster and user. If it differs between two reads, one of them has changed. */
  readonly entries?: Secret;
}

/**
 * The credentials and certificates of a kubeconfig's context. Prints as `[redacted]`.
 *
 * - The kubeconfig is read again when the server answers 401 to its credentials, and by the first request after a
 *   failed one. Concurrent requests share one read. A request whose 401 arrives later uses the result of that read.
 * - If the context has changed, the rejected request is sent again with the new credentials. If it has not changed, the
 *   request is sent again only if the credentials can be refreshed: a plugin's, or a token file's.
 * - If the kubeconfig can no longer be used, the request fails, unless its credentials can be refreshed.
 */
export class KubeconfigLogin extends Redacted implements Credentials {
  readonly #load: () => Promise<ContextLogin>;
  readonly #first: ContextLogin;
  #current: ContextLogin;
  #files: TlsFiles;
  /** The read in progress, which concurrent requests share; `undefined` between reads. */
  #reading: Promise<void> | undefined;
  /** The login that each pending request was last sent with, by its signal. A request without an entry had `#first`. */
  readonly #sent = new WeakMap<AbortSignal, ContextLogin>();
  /** `true` after the context has changed, until the certificates are read. */
  isReplaced = false;

  /** `files` are the files of `current`. `load` reads the kubeconfig again, and its errors name the file. */
  constructor(current: ContextLogin, files: TlsFiles, load: () => Promise<ContextLogin>) {
    super();
    this.#first = this.#current = current;
    this.#files = files;
    this.#load = load;
  }

  /** The client certificate that a plugin returned. */
  get certificate(): ExecLogin["certificate"] {
    return this.#current.login?.credentials.certificate;
  }

  /** Expiry of a plugin's credentials, in milliseconds since 1970; `undefined` if not known. */
  get expiresMs(): number | undefined {
    return this.#current.login?.credentials.expiresMs;
  }

  /** Sets `Authorization`, if the context has credentials. Resolves with `false` if a refresh found nothing new. */
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

  /** Returns certificates and key. After a failed request, pass `isStale`: the kubeconfig may have new ones. */
  async read(isStale: boolean): Promise<TlsMaterial> {
    if (isStale) {
      const stay = "The previous credentials stay in use";
      await this.#renew().catch((error) => this.warn(withSentence(messageOf(error), stay)));
    }
    this.isReplaced = false;
    return await this.#files.read();
  }

  /** Reports a problem. The last certificates and credentials stay in use. */
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
