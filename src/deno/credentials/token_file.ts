import type { Credentials } from "../../client/http/credentials.ts";
import { Redacted, Secret } from "../../kubeconfig/text/secret.ts";
import { tokenProblem } from "../../kubeconfig/text/token_problem.ts";
import { monotonicMs } from "../../async/time/monotonic_ms.ts";
import { type ExplainFileProblem, FileProblem, readCheckedFile } from "../host/read_checked_file.ts";
import type { Host } from "../host/host.ts";

/** How long a token is used before its file is read again: a minute less ten seconds, as in client-go `token_source.go`. */
const FRESH_MS = 50_000;

/** What a token file may be given. */
export interface TokenFileOptions {
  /** Used while the file cannot be read and has not been read before. */
  readonly fallback?: Secret;
  /** Told once when the file can no longer be read and the token read before stays in use. */
  readonly onWarning?: (warning: string) => void;
  /** Makes the error of a file that is of no use. @default {one that names the path} */
  readonly explain?: ExplainFileProblem;
}

/**
 * A bearer token in a file that somebody keeps fresh, as the kubelet does. Prints as `[redacted]`.
 *
 * - The file is read again 50 s after it was last read, and at once when the server has refused the token.
 * - Requests that come together share one reading.
 * - A file that can no longer be read is tried again with each request, and meanwhile the last token stays in use; a
 *   token that the server refused does not.
 */
export class TokenFile extends Redacted {
  readonly #path: string;
  readonly #host: Pick<Host, "readTextFile">;
  readonly #options: TokenFileOptions;
  #token: Secret | undefined;
  #readAt = 0;
  #warned = false;
  #reading: Promise<Secret> | undefined;

  /** The token in the file at `path`, which is first read when it is first needed. */
  constructor(path: string, host: Pick<Host, "readTextFile">, options: TokenFileOptions = {}) {
    super();
    this.#path = path;
    this.#host = host;
    this.#options = options;
  }

  /**
   * Sets `Authorization`, unless the request brings its own.
   *
   * @throws {Error} when there is no token to use: the file cannot be read or holds none.
   */
  async apply(headers: Headers, options: Parameters<Credentials["apply"]>[1]): Promise<void> {
    if (headers.has("authorization")) return;
    options.signal?.throwIfAborted();
    const token = await this.#current(options.refresh);
    options.signal?.throwIfAborted();
    headers.set("authorization", `Bearer ${token.reveal()}`);
  }

  /** Reads the file if that has not been done. @throws {Error} when there is no token to use. */
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
      if (!this.#warned) this.#options.onWarning?.(`${(error as Error).message}; the token known before stays in use`);
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
  return (cause) => new Error(`Cannot use token file ${JSON.stringify(path)}: ${cause.message}`, { cause });
}
