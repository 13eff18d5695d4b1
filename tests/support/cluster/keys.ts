import { openssl } from "../servers/certificates.ts";

/** The certificates and keys of users, PEM. */
export interface Keys {
  /** Those of a user of group "system:masters". */
  readonly admin: { readonly cert: string; readonly key: string };
  /** The same for a user without any rights. */
  readonly limited: { readonly cert: string; readonly key: string };
}

/** Makes keys in `folder`, with the certificate of their authority, `client-ca.crt`. */
export async function makeKeys(folder: string): Promise<Keys> {
  const certificate = (name: string, subject: string, ...args: string[]) =>
    openssl(
      folder,
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
      ...["-subj", subject, "-keyout", `${name}.key`, "-out", `${name}.crt`, ...args],
    );
  const signed = async (name: string, subject: string) => {
    const extensions = ["basicConstraints=critical,CA:FALSE", "extendedKeyUsage=clientAuth"];
    const authority = ["-CA", "client-ca.crt", "-CAkey", "client-ca.key"];
    await certificate(name, subject, ...authority, ...extensions.flatMap((text) => ["-addext", text]));
    const read = (suffix: string): Promise<string> => Deno.readTextFile(`${folder}/${name}.${suffix}`);
    return { cert: await read("crt"), key: await read("key") };
  };
  await certificate("client-ca", "/CN=informer-tests", "-addext", "keyUsage=critical,keyCertSign");
  return {
    admin: await signed("admin", "/O=system:masters/CN=admin"),
    limited: await signed("limited", "/O=nobodies/CN=limited"),
  };
}

/** The fields of a kubeconfig's user entry. */
export type UserFields = Readonly<Record<string, unknown>>;

/** The fields of a kubeconfig for a user with a certificate. */
export function byCertificate({ cert, key }: Keys["admin"]): UserFields {
  return { "client-certificate-data": btoa(cert), "client-key-data": btoa(key) };
}
