import { ExecPlugin } from "./exec_plugin.ts";

/** What a plugin may be told about the cluster (`ExecCredentialSpec.cluster`). */
export interface ExecCluster {
  /** Its address. */
  readonly server: string;
  /** The name its certificate is checked for. */
  readonly tlsServerName?: string;
  /** Whether its certificate is not to be checked. */
  readonly insecureSkipTlsVerify?: boolean;
  /** PEM of who may sign its certificate. */
  readonly certificateAuthority?: string;
  /** The proxy on the way to it. */
  readonly proxyUrl?: string;
  /** Whether it is to send everything as it is. */
  readonly disableCompression?: boolean;
  /** What the cluster's extension for plugins says. */
  readonly config?: unknown;
}

/** The text of `KUBERNETES_EXEC_INFO`: what a plugin is told about the occasion. */
export function execInfo(
  plugin: ExecPlugin,
  occasion: { readonly interactive: boolean; readonly cluster?: ExecCluster },
): string {
  const { interactive, cluster } = occasion;
  return JSON.stringify({
    apiVersion: plugin.apiVersion,
    kind: "ExecCredential",
    spec: { ...(cluster && plugin.provideClusterInfo && { cluster: clusterInfo(cluster) }), interactive },
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
