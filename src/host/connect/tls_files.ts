/**
 * Certificates and keys of a connection, inline or in files that may change.
 *
 * {@linkcode TlsFiles} is the entry point. It reads and validates; `transport.ts` decides when.
 *
 * @module
 */
import { type ExplainFileProblem, FileProblem, readCheckedFile } from "./files.ts";
import type { Host } from "./host.ts";
import { type PemCheck, validityOf } from "./kubeconfig/certificates.ts";
import type { Term } from "./kubeconfig/secrets.ts";
import type { TlsMaterial } from "./runtime/connections.ts";
import { tlsProblem } from "./runtime/open_connections.ts";

/** A PEM text, inline or in a file that may change. */
export interface PemSource {
  /** `true` if another read may return another text. */
  readonly isFile: boolean;
  /** Returns the validated text. The error names its source. */
  read(): Promise<string>;
  /** Adds the source to a problem with the text. */
  readonly explain: ExplainFileProblem;
}

/** A PEM file, read and validated with each call of `read`. */
export function filePemSource(path: string, host: Host, problemOf: PemCheck, explain: ExplainFileProblem): PemSource {
  return { isFile: true, read: () => readCheckedFile(path, host, problemOf, explain), explain };
}

/** The sources of the CA certificates, the client certificate and its key. */
export type PemSources = Partial<Record<"ca" | "cert" | "key", PemSource>>;

/** The certificates and the key of a connection, inline or in files that may change. */
export class TlsFiles {
  readonly #sources: PemSources;
  readonly #onWarning: ((warning: string) => void) | undefined;
  /** The last problem with the validity of the certificate, which is reported once. */
  #warned: string | undefined;

  /** Nothing is read yet. `onWarning` is called for a certificate that is expired or not yet valid. */
  constructor(sources: PemSources, onWarning?: (warning: string) => void) {
    this.#sources = sources;
    this.#onWarning = onWarning;
  }

  /** Returns those of other sources, with the same reports. */
  of(sources: PemSources): TlsFiles {
    return new TlsFiles(sources, this.#onWarning);
  }

  /** `true` if another read may return another material. */
  get mayChange(): boolean {
    const { ca, cert, key } = this.#sources;
    return [ca, cert, key].some((source) => source?.isFile);
  }

  /** Returns the material as it is now. @throws {Error} when a file cannot be read. */
  async read(): Promise<TlsMaterial> {
    const { ca, cert, key } = this.#sources;
    const material = {
      ...(ca && { caCerts: [await ca.read()] }),
      ...(cert && { cert: await cert.read() }),
      ...(key && { key: await key.read() }),
    };
    const validity = material.cert === undefined ? undefined : validityOf(material.cert);
    const problem = validity && validityProblem(validity, Date.now());
    if (problem !== undefined && problem !== this.#warned) {
      this.warn(cert!.explain(new FileProblem(`the certificate ${problem}`)).message);
    }
    this.#warned = problem;
    return material;
  }

  /**
   * Rejects material that only the TLS stack finds invalid, such as a key of another certificate, with an error that
   * names the source.
   */
  check({ caCerts, cert, key }: TlsMaterial): void {
    const { ca, cert: certificate } = this.#sources;
    for (const [source, part] of [[ca, { caCerts }], [certificate, { cert, key }]] as const) {
      if (source === undefined) continue;
      const problem = tlsProblem(part);
      if (problem !== undefined) throw source.explain(new FileProblem(problem));
    }
  }

  /** Reports a problem after which the last material stays in use. */
  warn(warning: string): void {
    this.#onWarning?.(warning);
  }
}

/**
 * Returns the problem with the validity of a certificate, to follow its name in a sentence; `undefined` if it is valid
 * for the next hour.
 */
export function validityProblem(validity: Required<Term>, nowMs: number): string | undefined {
  const { fromMs, untilMs } = validity;
  if (nowMs < fromMs) {
    return `is valid only from ${new Date(fromMs).toISOString()} on, or this machine's clock is wrong`;
  }
  if (nowMs > untilMs) return `expired on ${new Date(untilMs).toISOString()}`;
  return untilMs - nowMs < 3_600_000 ? `expires on ${new Date(untilMs).toISOString()}` : undefined;
}
