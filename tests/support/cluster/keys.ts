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
  await certificate(folder, "client-ca", "/CN=informer-tests", "-addext", "keyUsage=critical,keyCertSign");
  return {
    admin: await signed(folder, "admin", "/O=system:masters/CN=admin"),
    limited: await signed(folder, "limited", "/O=nobodies/CN=limited"),
  };
}

/** Makes the certificate and key of one more user, in a folder of {@linkcode makeKeys}. */
export async function signed(folder: string, name: string, subject: string): Promise<Keys["admin"]> {
  const extensions = ["basicConstraints=critical,CA:FALSE", "extendedKeyUsage=clientAuth"];
  const authority = ["-CA", "client-ca.crt", "-CAkey", "client-ca.key"];
  await certificate(folder, name, subject, ...authority, ...extensions.flatMap((text) => ["-addext", text]));
  const read = (suffix: string): Promise<string> => Deno.readTextFile(`${folder}/${name}.${suffix}`);
  return { cert: await read("crt"), key: await read("key") };
}

async function certificate(folder: string, name: string, subject: string, ...args: string[]): Promise<void> {
  await openssl(
    folder,
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...["-subj", subject, "-keyout", `${name}.key`, "-out", `${name}.crt`, ...args],
  );
}

/** The fields of a kubeconfig's user entry. */
export type UserFields = Readonly<Record<string, unknown>>;

/** The fields of a kubeconfig for a user with a certificate. */
export function byCertificate({ cert, key }: Keys["admin"]): UserFields {
  return { "client-certificate-data": btoa(cert), "client-key-data": btoa(key) };
}
