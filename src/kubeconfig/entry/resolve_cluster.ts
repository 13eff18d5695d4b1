/**
 * The meaning of cluster and user entries: addresses, certificates, proxies, credentials, impersonation.
 *
 * {@linkcode resolveCluster} and `resolveUser` are the entry points.
 * This folder does not choose the context and does not read the files that entries name.
 *
 * @module
 */
import { execExtension } from "../model/exec_extension.ts";
import { EntryFields } from "../model/entry_fields.ts";
import type { KubeconfigEntry } from "../model/kubeconfig.ts";
import { type Material, readMaterial } from "./material.ts";
import { certificateProblem } from "../pem/certificate_problem.ts";
import { type ProxyAddress, readProxy } from "./proxy_address.ts";
import { serverProblem } from "./server_problem.ts";
import { quote } from "../text/quote.ts";

/** The server of a cluster entry, with its TLS and proxy settings. */
export interface ResolvedCluster {
  /** Name of the cluster entry. */
  readonly name: string;
  /** Address of the API server; its path is a prefix of all API paths. */
  readonly server: URL;
  /** CA certificates, in addition to those that Deno trusts. */
  readonly certificateAuthority?: Material;
  /** The name that the server's certificate must have, instead of the host of the address. */
  readonly tlsServerName?: string;
  /** `true` if the entry disables verification of the server's certificate, which needs a Deno flag for the process. */
  readonly insecureSkipTlsVerify: boolean;
  /** The proxy, if any. */
  readonly proxy?: ProxyAddress;
  /** `true` if the entry disables compression of responses. */
  readonly disableCompression: boolean;
  /** The extension of the entry for credential plugins. Not a secret. */
  readonly execConfig?: unknown;
}

/**
 * Resolves a cluster entry.
 *
 * @param override An address that replaces the entry's. `tls-server-name`, and without TLS the CA, belong to the
 * replaced address and are ignored.
 * @throws {KubeconfigError} for a field that is invalid or contradicts another.
 */
export function resolveCluster(entry: KubeconfigEntry, override: string | undefined): ResolvedCluster {
  const fields = new EntryFields(entry);
  const server = readServer(fields, override);
  const disableCompression = fields.flag("disable-compression");
  const insecureSkipTlsVerify = fields.flag("insecure-skip-tls-verify");
  const proxy = readProxy(fields);
  const tlsServerName = readServerName(fields, server, override);
  const authority = readMaterial(fields, "certificate-authority", certificateProblem);
  if (tlsServerName !== undefined && proxy !== undefined) {
    throw fields.error(
      "tls-server-name",
      `is set together with "proxy-url", and Deno offers no way to do both: use a server URL whose host is in the certificate`,
    );
  }
  if (authority !== undefined && insecureSkipTlsVerify) {
    throw fields.error(
      "insecure-skip-tls-verify",
      `is set together with "${authority.place.field}", and they contradict each other: remove one of them`,
    );
  }
  const hasTls = server.protocol === "https:";
  // It belongs to the address that is replaced.
  const certificateAuthority = hasTls || override === undefined ? authority : undefined;
  if (certificateAuthority !== undefined && !hasTls) {
    throw fields.error(
      certificateAuthority.place.field,
      `does not apply to ${quote(server.origin)}, which has no TLS: use an "https://" server or remove it`,
    );
  }
  const execConfig = execExtension(fields.raw("extensions"));
  return {
    name: entry.name,
    server,
    ...(certificateAuthority && { certificateAuthority }),
    ...(tlsServerName !== undefined && { tlsServerName }),
    insecureSkipTlsVerify,
    ...(proxy && { proxy }),
    disableCompression,
    ...(execConfig !== undefined && { execConfig }),
  };
}

function readServer(fields: EntryFields, override: string | undefined): URL {
  const server = override ?? fields.text("server");
  if (server === undefined) {
    throw fields.error("server", `is missing: write the address, such as "https://10.0.0.1:6443"`);
  }
  const problem = serverProblem(server);
  if (problem === undefined) return new URL(server);
  if (override !== undefined) throw new TypeError(`Cannot use server: it ${problem}`);
  throw fields.error("server", problem);
}

function readServerName(fields: EntryFields, server: URL, override: string | undefined): string | undefined {
  const name = fields.text("tls-server-name");
  // It belongs to the address that is replaced (clientcmd overrides).
  if (name === undefined || override !== undefined) return undefined;
  const problem = serverNameProblem(name);
  if (problem !== undefined) throw fields.error("tls-server-name", problem);
  if (server.protocol === "https:") return name;
  throw fields.error(
    "tls-server-name",
    `does not apply to ${quote(server.origin)}, which has no TLS: use an "https://" server or remove it`,
  );
}

/**
 * Returns the problem with a server name, to follow the name of its setting in a sentence; `undefined` if it is valid.
 */
export function serverNameProblem(name: string): string | undefined {
  const url = URL.parse(`https://${name.includes(":") && !name.startsWith("[") ? `[${name}]` : name}/`);
  if (
    url !== null && url.port === "" && url.pathname === "/" && url.username === "" && url.href.split("/").length === 4
  ) {
    return undefined;
  }
  return `must be a host name or an IP address, without a port, found ${quote(name)}`;
}
