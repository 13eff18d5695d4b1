import type { BasicLogin, BearerToken } from "./credentials.ts";
import type { Connection, ConnectionOptions, ConnectionOrigin } from "./connection.ts";
import { type Explain, FileProblem, readChecked } from "./files.ts";
import { type Host, netFlag, type RecordingHost } from "./host.ts";
import { TokenFile } from "./token_file.ts";
import { DenoTransport, type TlsMaterial } from "./transport.ts";

/** What is sent as `Authorization`. */
export type Login =
  | { readonly type: "token"; readonly credentials: BearerToken }
  | { readonly type: "tokenFile"; readonly credentials: TokenFile }
  | { readonly type: "basic"; readonly credentials: BasicLogin };

/** A PEM text that is at hand, or in a file that may change. */
export interface PemSource {
  /** Whether reading it again may give another text. */
  readonly isFile: boolean;
  /** The text, checked. Throws an error that says where it was to come from. */
  read(): Promise<string>;
  /** Makes a whole error of what is wrong with it. */
  readonly explain: Explain;
}

/** A PEM file, read and checked each time it is asked for. */
export function fileSource(
  path: string,
  host: Host,
  problemOf: (pem: string) => string | undefined,
  explain: Explain,
): PemSource {
  const read = async (): Promise<string> => {
    try {
      return await readChecked(path, host, problemOf);
    } catch (error) {
      throw error instanceof FileProblem ? explain(error) : error;
    }
  };
  return { isFile: true, read, explain };
}

/** A connection before its files are read. */
export interface Plan {
  /** Address of the API server. */
  readonly server: URL;
  /** The namespace the configuration names. */
  readonly namespace?: string;
  /** Who may sign the server's certificate. */
  readonly ca?: PemSource;
  /** A certificate to show to the server. */
  readonly cert?: PemSource;
  /** The key of `cert`. */
  readonly key?: PemSource;
  /** What is sent as `Authorization`. */
  readonly login?: Login;
  /** Whether lists may be compressed. @default {true} */
  readonly compress?: boolean;
  /** Other header lines. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Where it comes from. */
  readonly origin: Omit<ConnectionOrigin, "login" | "clientCertificate" | "permissions">;
}

/**
 * Reads what the plan's files hold and sets up its transport.
 *
 * @throws {Error} when a file cannot be read, or TLS does not take what is in it.
 */
export async function carryOut(plan: Plan, options: ConnectionOptions, host: RecordingHost): Promise<Connection> {
  const { server, ca, cert, key, login, headers } = plan;
  const { namespace = plan.namespace ?? "default", userAgent, onWarning, http2 = false } = options;
  const load = async (): Promise<TlsMaterial> => ({
    ...(ca && { caCerts: [await ca.read()] }),
    ...(cert && { cert: await cert.read() }),
    ...(key && { key: await key.read() }),
  });
  if (login?.credentials instanceof TokenFile) await login.credentials.ready();
  const material = await load();
  tryTls({ caCerts: material.caCerts }, ca);
  tryTls({ cert: material.cert, key: material.key }, cert);
  const mayChange = [ca, cert, key].some((source) => source?.isFile);
  const transport = new DenoTransport(
    { ...material, http2, headers },
    mayChange ? { reload: load, onWarning } : undefined,
  );
  return {
    server,
    namespace,
    transport,
    compress: plan.compress ?? true,
    ...(login && { credentials: login.credentials }),
    ...(userAgent !== undefined && { userAgent }),
    ...(onWarning && { onWarning }),
    origin: {
      ...plan.origin,
      login: login?.type ?? "none",
      clientCertificate: cert !== undefined,
      permissions: [...host.permissions, netFlag(server)],
    },
  };
}

/** What only the TLS stack notices, a certificate and key that do not belong together for one, is told of its source. */
function tryTls(material: TlsMaterial, source: PemSource | undefined): void {
  if (source === undefined) return;
  try {
    new DenoTransport(material)[Symbol.dispose]();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw source.explain(new FileProblem(message, { cause }));
  }
}
