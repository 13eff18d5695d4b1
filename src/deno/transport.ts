import type { Transport } from "../api/transport.ts";
import { certificateProblem, privateKeyProblem } from "../kubeconfig/pem.ts";
import { netFlag } from "./host.ts";

/** Who a connection trusts, and who it says it is; PEM texts. */
export interface TlsMaterial {
  /** Certificates that may sign the server's, beside those that Deno trusts anyway. */
  readonly caCerts?: readonly string[];
  /** A certificate to show to the server, with its chain; needs `key`. */
  readonly cert?: string;
  /** The private key of `cert`, not encrypted. */
  readonly key?: string;
}

/** How requests are carried. */
export interface DenoTransportOptions extends TlsMaterial {
  /**
   * Whether HTTP/2 is used where the server offers it: one connection for all watches instead of one each. Off because
   * reading a body over a reused HTTP/2 connection can hang (denoland/deno#21749). @default {false}
   */
  readonly http2?: boolean;
  /** Header lines for every request that has none of that name. A name may come several times. @default {none} */
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

/** What a connection that lives on files needs beside them. */
export interface ReloadOptions {
  /** Reads the files again. */
  readonly reload: () => Promise<TlsMaterial>;
  /** Told when the files cannot be used, and what was read before stays in use. */
  readonly onWarning?: (warning: string) => void;
}

/** How often files are looked at again (client-go `transport/ca_rotation.go`, `cert_rotation.go`). */
const RELOAD_MS = 5 * 60_000;

/** How long a connection that nobody uses stays open: less than load balancers and API servers allow. */
const IDLE_MS = 30_000;

/**
 * A transport over one `Deno.createHttpClient`: certificates, keys, header lines. Dispose it to free its connections; a
 * client that was given it does that when it is disposed.
 *
 * @throws {TypeError} when a certificate or key is not PEM, is damaged, encrypted or without the other.
 *
 * @example
 * ```ts ignore
 * import { Client } from "@kube/informer";
 * import { denoTransport } from "@kube/informer/deno";
 *
 * const transport = denoTransport({ caCerts: [await Deno.readTextFile("ca.crt")] });
 * using client = new Client({ server: "https://10.0.0.1:6443", transport });
 * ```
 */
export function denoTransport(options: DenoTransportOptions = {}): Transport & Disposable {
  return new DenoTransport(options);
}

/**
 * One HTTP client, replaced by another when its files have changed. Files are looked at again with the first request 5
 * minutes after the last look, and with the request after one that failed. Open watches stay on the client they began on.
 */
export class DenoTransport implements Transport, Disposable {
  readonly #http2: boolean;
  readonly #headers: readonly (readonly [name: string, value: string])[];
  readonly #reloading: ReloadOptions | undefined;
  #material: TlsMaterial;
  #client: Deno.HttpClient;
  #lookedAt = Date.now();
  #looking: Promise<void> | undefined;
  #isDisposed = false;

  /** Nothing is opened yet. @throws {TypeError} when a certificate or key cannot be used. */
  constructor(options: DenoTransportOptions, reloading?: ReloadOptions) {
    const { http2 = false, headers = [], caCerts, cert, key } = options;
    this.#http2 = http2;
    this.#headers = headers;
    this.#reloading = reloading;
    this.#material = { caCerts, cert, key };
    this.#client = createClient(this.#material, http2);
  }

  /**
   * Sends a request. Adds header lines to it in place: a copy would join lines of one name into one.
   *
   * @throws {Deno.errors.NotCapable} when the program may not reach the host, naming the flag; else what `fetch` throws.
   */
  async fetch(request: Request): Promise<Response> {
    if (this.#reloading !== undefined) await this.#look(this.#reloading);
    if (this.#isDisposed) {
      throw new TypeError(`Cannot send a request to "${new URL(request.url).host}": the connection is disposed`);
    }
    const missing = this.#headers.filter(([name]) => !request.headers.has(name));
    for (const [name, value] of missing) request.headers.append(name, value);
    try {
      return await fetch(request, { client: this.#client });
    } catch (cause) {
      // The server's certificate or ours may just have been replaced.
      if (!request.signal.aborted) this.#lookedAt = Number.NEGATIVE_INFINITY;
      if (!(cause instanceof Deno.errors.NotCapable)) throw cause;
      throw new Deno.errors.NotCapable(
        `Cannot reach "${new URL(request.url).host}" without permission: run this program with ${
          flagFor(cause, request)
        }`,
        { cause },
      );
    }
  }

  /**
   * Lets no request begin and frees idle connections; bodies that are being read end with their signals. Twice does no
   * harm.
   */
  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#client.close();
  }

  async #look(reloading: ReloadOptions): Promise<void> {
    const age = Date.now() - this.#lookedAt;
    if (age >= 0 && age < RELOAD_MS) return;
    this.#looking ??= this.#reload(reloading).finally(() => this.#looking = undefined);
    await this.#looking;
  }

  async #reload({ reload, onWarning }: ReloadOptions): Promise<void> {
    this.#lookedAt = Date.now();
    let next: Deno.HttpClient;
    let material: TlsMaterial;
    try {
      material = await reload();
      if (this.#isDisposed || isSame(material, this.#material)) return;
      next = createClient(material, this.#http2);
    } catch (error) {
      onWarning?.(`${error instanceof Error ? error.message : error}; the certificates known before stay in use`);
      return;
    }
    const last = this.#client;
    this.#client = next;
    this.#material = material;
    last.close();
  }
}

function createClient({ caCerts, cert, key }: TlsMaterial, http2: boolean): Deno.HttpClient {
  for (const ca of caCerts ?? []) refuse("CA certificate", certificateProblem(ca));
  if (cert !== undefined) refuse("client certificate", certificateProblem(cert));
  if (key !== undefined) refuse("client key", privateKeyProblem(key));
  if ((cert === undefined) !== (key === undefined)) {
    throw new TypeError(
      `Cannot use client ${cert === undefined ? "key" : "certificate"}: ${
        cert === undefined ? "cert" : "key"
      } is missing`,
    );
  }
  try {
    return Deno.createHttpClient({
      ...(caCerts === undefined ? {} : { caCerts: [...caCerts] }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
      http2,
      poolIdleTimeout: IDLE_MS,
    });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`Cannot set up TLS with the certificates given: ${message}`, { cause });
  }
}

function refuse(what: string, problem: string | undefined): void {
  if (problem !== undefined) throw new TypeError(`Cannot use ${what}: ${problem}`);
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && JSON.stringify(a.caCerts) === JSON.stringify(b.caCerts);
}

/** Deno names the host it missed, which after a redirect is another one than the request's. */
function flagFor(error: Error, request: Request): string {
  const host = /access to "([^"]+)"/.exec(error.message)?.[1];
  return host === undefined ? netFlag(new URL(request.url)) : `--allow-net=${host}`;
}
