import type { Transport } from "../api/transport.ts";
import type { Credentials } from "../client/http/credentials.ts";

/** Where a connection comes from, for people and tools. Holds no credentials. */
export interface ConnectionOrigin {
  /** Which kind of configuration it is. */
  readonly source: "options" | "kubeconfig" | "in-cluster";
  /** The kubeconfig files that were read. */
  readonly files: readonly string[];
  /** The kubeconfig context. */
  readonly context?: string;
  /** The user entry in use. */
  readonly user?: string;
  /** What is sent as `Authorization`. */
  readonly login: "none" | "token" | "tokenFile" | "basic" | "exec";
  /** Whether the configuration itself has a client certificate; a credential plugin may bring one. */
  readonly clientCertificate: boolean;
  /** When that certificate, as it was read at first, stops being valid. */
  readonly certificateExpires?: Date;
  /** The credential plugin: a name or path of a program. */
  readonly plugin?: string;
  /** The proxy that the configuration names, without user and password. */
  readonly proxy?: string;
  /** The name that the server's certificate must have, where it is not the address's. */
  readonly tlsServerName?: string;
  /** Whether the configuration asks for the server's certificate not to be checked, which takes a flag of Deno's. */
  readonly insecure?: boolean;
  /** Who the server is asked to take the caller for. */
  readonly actsAs?: string;
  /** The flags that allow what this connection reads and reaches, `--allow-net` last. */
  readonly permissions: readonly string[];
}

/** All a client needs, and where it comes from. Whoever resolves one disposes its transport, or gives it to a client. */
export interface FoundConnection {
  /** Address of the API server. */
  readonly server: URL;
  /** The namespace of objects by name where nothing else names one. */
  readonly namespace: string;
  /** Carries requests; trusts the right authorities and shows the right certificate. */
  readonly transport: Transport & Disposable;
  /** Sets `Authorization`. */
  readonly credentials?: Credentials;
  /** Whether lists may be compressed. */
  readonly compress: boolean;
  /** As it was given. */
  readonly userAgent?: string;
  /** As it was given. */
  readonly onWarning?: (warning: string) => void;
  /** Where all this comes from. */
  readonly origin: ConnectionOrigin;
}
