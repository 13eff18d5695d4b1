/**
 * A bearer token in a file that another program keeps up to date.
 *
 * {@linkcode TokenFile} is the entry point. It sends no requests, and does not know when the token expires.
 *
 * @module
 */
import { monotonicMs } from "../../engine/async/time.ts";
import type { Credentials } from "../../engine/client/http/connection.ts";
import { messageOf, withSentence } from "../../engine/errors/errors.ts";
import type { InClusterOptions } from "./connect_options.ts";
import { type ExplainFileProblem, readCheckedFile } from "./files.ts";
import type { Host } from "./host.ts";
import { Redacted, Secret, tokenProblem } from "./kubeconfig/secrets.ts";

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
