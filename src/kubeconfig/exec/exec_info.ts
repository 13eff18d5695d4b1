import type { ExecPlugin } from "./exec_plugin.ts";

/** Cluster information for plugins (`ExecCredentialSpec.cluster`). */
export interface ExecCluster {
  /** Its address. */
  readonly server: string;
  /** The name that its certificate is verified for. */
  readonly tlsServerName?: string;
  /** `true` if verification of its certificate is disabled. */
  readonly insecureSkipTlsVerify?: boolean;
  /** CA certificates, PEM. */
  readonly certificateAuthority?: string;
  /** URL of the proxy, if any. */
  readonly proxyUrl?: string;
  /** `true` if compression of responses is disabled. */
  readonly disableCompression?: boolean;
  /** The cluster's extension for plugins. */
  readonly config?: unknown;
}

/** The most values in it: aliases of YAML let a small file have millions, and no variable can be that long. */
const MOST_VALUES = 20_000;

/**
 * Returns the value of `KUBERNETES_EXEC_INFO`: an `ExecCredential` with the cluster and the mode of this run.
 *
 * @throws {RangeError} when the cluster's extension for plugins has too many values.
 */
export function execInfo(
  plugin: ExecPlugin,
  occasion: { readonly interactive: boolean; readonly cluster?: ExecCluster },
): string {
  const { interactive, cluster } = occasion;
  let values = 0;
  const info = {
    apiVersion: plugin.apiVersion,
    kind: "ExecCredential",
    spec: { ...(cluster && plugin.provideClusterInfo && { cluster: clusterInfo(cluster) }), interactive },
  };
  return JSON.stringify(info, (_name, value) => {
    if (++values <= MOST_VALUES) return value;
    throw new RangeError(
      `Cannot pass the cluster's extension to the credential plugin: it has more than ${MOST_VALUES} values, with those of ` +
        "aliases; make it smaller",
    );
  });
}

function clusterInfo(cluster: ExecCluster): Record<string, unknown> {
  const { server, tlsServerName, insecureSkipTlsVerify, certificateAuthority, proxyUrl, disableCompression, config } =
    cluster;
  return {
    server,
    ...(tlsServerName !== undefined && { "tls-server-name": tlsServerName }),
    ...(insecureSkipTlsVerify && { "insecure-skip-tls-verify": true }),
    ...(certificateAuthority !== undefined && { "certificate-authority-data": base64(certificateAuthority) }),
    ...(proxyUrl !== undefined && { "proxy-url": proxyUrl }),
    ...(disableCompression && { "disable-compression": true }),
    ...(config !== undefined && { config }),
  };
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}
