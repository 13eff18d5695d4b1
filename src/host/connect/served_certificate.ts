/**
 * The certificate of an HTTPS server, inline or in files that are replaced while the server runs.
 *
 * {@linkcode ServedCertificate} is the entry point. It reads and checks, and hands each new certificate to a server. It
 * opens no port.
 *
 * @module
 */
import { checkDurations } from "../../engine/errors/checks.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { thisHost } from "./host.ts";
import { certificateProblem, type PemCheck, privateKeyProblem } from "./kubeconfig/certificates.ts";
import { isSameMaterial } from "./runtime/connections.ts";
import { runtimeName } from "./runtime/runtime.ts";
import type { ServerKeys } from "./runtime/servers.ts";
import { filePemSource, type PemSource, TlsFiles } from "./tls_files.ts";

/** A certificate and its key in files, such as the mounted Secret of cert-manager. */
export interface CertificateFiles {
  /** The path of the PEM certificate with its chain, e.g. `"/certs/tls.crt"`. */
  readonly certFile: string;
  /** The path of its unencrypted PEM key, e.g. `"/certs/tls.key"`. */
  readonly keyFile: string;
  /** The interval between two reads of the files, in milliseconds. @default {10_000} */
  readonly reloadMs?: number;
}

/** A certificate as it is now, and its later versions. */
export class ServedCertificate implements Disposable {
  readonly #files: TlsFiles;
  readonly #reloadMs: number;
  readonly #onError: (error: unknown) => void;
  #keys: ServerKeys;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** `true` during a read, which may take longer than the interval. */
  #isLooking = false;
  /** The last problem, which is reported once. */
  #problem = "";

  private constructor(files: TlsFiles, keys: ServerKeys, reloadMs: number, onError: (error: unknown) => void) {
    this.#files = files;
    this.#keys = keys;
    this.#reloadMs = reloadMs;
    this.#onError = onError;
  }

  /** Reads and checks a certificate. `onError` gets later problems. @throws {InformerError} if it cannot be used. */
  static async read(
    given: CertificateFiles | ServerKeys,
    onError: (error: unknown) => void,
  ): Promise<ServedCertificate> {
    checkNames("serve HTTPS", given, ["certFile", "keyFile", "reloadMs", "cert", "key"]);
    const { reloadMs = 10_000 } = given as CertificateFiles;
    checkDurations("serve HTTPS", { reloadMs }, { min: 1 });
    const cert = sourceOf(given, "cert", certificateProblem);
    const files = new TlsFiles(
      { cert, key: sourceOf(given, "key", privateKeyProblem) },
      (text) => onError(new InformerError(text)),
    );
    return new ServedCertificate(files, await readKeys(files), reloadMs, onError);
  }

  /** The certificate that was read last, and its key. */
  get keys(): ServerKeys {
    return this.#keys;
  }

  /** Calls `use` with each later certificate, until the disposal. Without `use`, it reports that it cannot. */
  follow(use: ((keys: ServerKeys) => void) | undefined): void {
    if (!this.#files.mayChange) return;
    if (use !== undefined) return void (this.#timer = setInterval(() => void this.#look(use), this.#reloadMs));
    this.#onError(
      new InformerError(
        `Cannot replace the certificate while the server runs: ${runtimeName()} has no setSecureContext. ` +
          "Update it, or restart the program before the certificate expires",
      ),
    );
  }

  /** Ends the reads. A running read has no effect. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(use: (keys: ServerKeys) => void): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const keys = await readKeys(this.#files, this.#keys);
      this.#problem = "";
      if (this.#timer === undefined || isSameMaterial(keys, this.#keys)) return;
      use(keys);
      this.#keys = keys;
    } catch (cause) {
      if (this.#timer === undefined || errorLine(cause) === this.#problem) return;
      this.#problem = errorLine(cause);
      this.#onError(new InformerError("Cannot replace the certificate, so the server keeps the last one", { cause }));
    } finally {
      this.#isLooking = false;
    }
  }
}

/**
 * Reads until two reads agree, as the files may be replaced between the read of the certificate and of its key. The
 * check is ours, because Deno's server accepts a key of another certificate, and then each handshake fails.
 */
async function readKeys(files: TlsFiles, current: Partial<ServerKeys> = {}): Promise<ServerKeys> {
  let [last, keys] = [await files.read(), await files.read()];
  while (!isSameMaterial(keys, last)) [last, keys] = [keys, await files.read()];
  if (!isSameMaterial(keys, current)) files.check(keys);
  return keys as ServerKeys;
}

function sourceOf(
  given: Partial<CertificateFiles & ServerKeys>,
  name: keyof ServerKeys,
  problemOf: PemCheck,
): PemSource {
  const { [name]: text, [`${name}File` as const]: path } = given;
  if ((text === undefined) === (path === undefined)) {
    throw new TypeError(`Cannot serve HTTPS: "certificate" needs either ${name} or ${name}File`);
  }
  const place = path === undefined ? name : `${name}File`;
  const what = path === undefined ? "" : ` names ${JSON.stringify(path)}`;
  const explain = (cause: Error): Error =>
    new InformerError(`Cannot serve HTTPS: "${place}"${what}: ${cause.message}`, { cause });
  if (path !== undefined) return filePemSource(path, thisHost, problemOf, explain);
  const problem = problemOf(text!);
  if (problem !== undefined) throw explain(new Error(problem));
  return { isFile: false, read: () => Promise.resolve(text!), explain };
}
