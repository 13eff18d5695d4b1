/** Who a connection trusts, and who it says it is; PEM texts. */
export interface TlsMaterial {
  /** Certificates that may sign the server's, beside those that Deno trusts anyway. */
  readonly caCerts?: readonly string[];
  /** A certificate to show to the server, with its chain; needs `key`. */
  readonly cert?: string;
  /** The private key of `cert`, not encrypted. */
  readonly key?: string;
}

/** Whether two are the same in all they say. */
export function isSameMaterial(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && JSON.stringify(a.caCerts) === JSON.stringify(b.caCerts);
}
