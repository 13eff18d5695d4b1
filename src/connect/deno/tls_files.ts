/**
 * Certificates and keys of a connection, inline or in files that may change.
 *
 * {@linkcode TlsFiles} is the entry point. It reads and validates; `transport.ts` decides when.
 *
 * @module
 */
import { messageOf } from "../../errors/errors.ts";
import { validityOf, validityProblem } from "../kubeconfig/certificates.ts";
import { type ExplainFileProblem, FileProblem, readCheckedFile } from "./files.ts";
import type { Host } from "./host.ts";
import { createHttpClient, type TlsMaterial } from "./http_client.ts";

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
export function filePemSource(
  path: string,
  host: Host,
  problemOf: (pem: string) => string | undefined,
  explain: ExplainFileProblem,
): PemSource {
  const read = async (): Promise<string> => {
    try {
      return await readCheckedFile(path, host, problemOf);
    } catch (error) {
      throw error instanceof FileProblem ? explain(error) : error;
    }
  };
  return { isFile: true, read, explain };
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
    tryTls({ caCerts }, this.#sources.ca);
    tryTls({ cert, key }, this.#sources.cert);
  }

  /** Reports a problem after which the last material stays in use. */
  warn(warning: string): void {
    this.#onWarning?.(warning);
  }
}

function tryTls(material: TlsMaterial, source: PemSource | undefined): void {
  if (source === undefined) return;
  try {
    createHttpClient(material, {}).close();
  } catch (cause) {
    throw source.explain(new FileProblem(messageOf(cause), { cause }));
  }
}
