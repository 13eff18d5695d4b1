import { InformerError } from "../../errors/informer_error.ts";
import type { Credentials } from "../../client/http/credentials.ts";
import { Redacted, Secret } from "../../kubeconfig/text/secret.ts";
import { tokenProblem } from "../../kubeconfig/text/token_problem.ts";
import { monotonicMs } from "../../async/time/monotonic_ms.ts";
import { type ExplainFileProblem, FileProblem, readCheckedFile } from "../host/read_checked_file.ts";
import type { Host } from "../host/host.ts";

/** Time until the file is read again, in milliseconds: a minute less ten seconds, as in client-go `token_source.go`. */
const FRESH_MS = 50_000;

/** Options for {@linkcode TokenFile}. */
export interface TokenFileOptions {
  /** Token to use while the file cannot be read and has never been read. */
  readonly fallback?: Secret;
  /** Called once when the file can no longer be read and the last token stays in use. */
  readonly onWarning?: (warning: string) => void;
  /** Creates the error for a file that cannot be used. @default {an error that names the path} */
  readonly explain?: ExplainFileProblem;
}

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
  readonly #options: TokenFileOptions;
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

  /** The file at `path` is read with the first request. */
  constructor(path: string, host: Pick<Host, "readTextFile">, options: TokenFileOptions = {}) {
    super();
    this.#path = path;
    this.#host = host;
    this.#options = options;
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
      const known = refresh ? undefined : this.#token ?? this.#options.fallback;
      if (known === undefined) throw error;
      if (!this.#warned) this.#options.onWarning?.(`${(error as Error).message}; the previous token stays in use`);
      this.#warned = true;
      return known;
    }
  }

  async #read(): Promise<Secret> {
    let text: string;
    try {
      text = await readCheckedFile(this.#path, this.#host, (content) => {
        const problem = tokenProblem(content.trim());
        return problem === undefined ? undefined : `what it holds ${problem}`;
      });
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      const explain = this.#options.explain ?? explainTokenFile(this.#path);
      throw explain(error);
    }
    this.#token = new Secret(text.trim());
    this.#readAt = monotonicMs();
    this.#warned = false;
    return this.#token;
  }
}

function explainTokenFile(path: string): ExplainFileProblem {
  return (cause) => new InformerError(`Cannot use token file ${JSON.stringify(path)}: ${cause.message}`, { cause });
}
