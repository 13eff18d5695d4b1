/** CA certificates, client certificate and key of a connection, as PEM texts. */
export interface TlsMaterial {
  /** CA certificates, in addition to those that Deno trusts. */
  readonly caCerts?: readonly string[];
  /** The client certificate with its chain; needs `key`. */
  readonly cert?: string;
  /** The private key of `cert`, not encrypted. */
  readonly key?: string;
}

/** Returns `true` if both have the same certificates and key. */
export function isSameMaterial(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && JSON.stringify(a.caCerts) === JSON.stringify(b.caCerts);
}
