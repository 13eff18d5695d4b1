/**
 * Opens connections on the runtime that this program runs on.
 *
 * {@linkcode openConnections} is the entry point: it checks the certificates, and asks for the runtime when it is
 * called. `transport.ts` decides when connections are replaced.
 *
 * @module
 */
import { ArgumentError } from "../../../engine/errors/checks.ts";
import { messageOf } from "../../../engine/errors/errors.ts";
import { certificateProblem, privateKeyProblem } from "../kubeconfig/certificates.ts";
import type { Connections, ConnectionsOptions, TlsMaterial } from "./connections.ts";
import { DenoConnections } from "./deno_connections.ts";
import { NodeConnections } from "./node_connections.ts";
import { isDeno } from "./runtime.ts";

/**
 * Makes connections of this runtime. None is opened yet.
 *
 * @throws {TypeError} when a certificate or key is invalid, or the runtime cannot use the proxy.
 */
export function openConnections(options: ConnectionsOptions): Connections {
  const { caCerts = [], cert, key } = options;
  for (const ca of caCerts) refuse("CA certificate", certificateProblem(ca));
  if (cert !== undefined) refuse("client certificate", certificateProblem(cert));
  if (key !== undefined) refuse("client key", privateKeyProblem(key));
  if ((cert === undefined) !== (key === undefined)) {
    const [has, lacks] = cert === undefined ? ["key", "cert"] : ["certificate", "key"];
    throw new ArgumentError(`Cannot use client ${has}: ${lacks} is missing`);
  }
  // The clients of Deno verify a certificate for the host of the URL only.
  const isOfDeno = isDeno() && options.serverName === undefined;
  return isOfDeno ? new DenoConnections(options) : new NodeConnections(options);
}

function refuse(what: string, problem: string | undefined): void {
  if (problem !== undefined) throw new ArgumentError(`Cannot use ${what}: ${problem}`);
}

/** Returns the problem that TLS has with certificates and key, such as a key of another one; `undefined` for none. */
export function tlsProblem(material: TlsMaterial): string | undefined {
  try {
    openConnections(material).close();
  } catch (error) {
    return messageOf(error);
  }
  return undefined;
}
