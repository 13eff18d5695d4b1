import { openssl } from "../certificates.ts";

/** The certificates and keys of a control plane and its users. */
export interface Keys {
  /** The certificate of the authority, PEM. */
  readonly ca: string;
  /** The certificate and key of a user of group "system:masters", PEM. */
  readonly admin: { readonly cert: string; readonly key: string };
  /** The same for a user without any rights. */
  readonly limited: { readonly cert: string; readonly key: string };
  /** A bearer token of group "system:masters". */
  readonly token: string;
}

/**
 * Makes keys in `folder`: besides what is returned, `ca.crt`, `server.crt` and `server.key` (for 127.0.0.1),
 * `accounts.key` and `accounts.pub` for service accounts' tokens, and `tokens.csv`.
 */
export async function makeKeys(folder: string): Promise<Keys> {
  const certificate = (name: string, subject: string, ...args: string[]) =>
    openssl(
      folder,
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
      ...["-subj", subject, "-keyout", `${name}.key`, "-out", `${name}.crt`, ...args],
    );
  const signed = (name: string, subject: string, ...extensions: string[]) =>
    certificate(
      name,
      subject,
      ...["-CA", "ca.crt", "-CAkey", "ca.key"],
      ...["basicConstraints=critical,CA:FALSE", ...extensions].flatMap((text) => ["-addext", text]),
    );
  await certificate("ca", "/CN=informer-tests", "-addext", "keyUsage=critical,keyCertSign");
  await signed("server", "/CN=kube-apiserver", "extendedKeyUsage=serverAuth", "subjectAltName=IP:127.0.0.1");
  await signed("admin", "/O=system:masters/CN=admin", "extendedKeyUsage=clientAuth");
  await signed("limited", "/O=nobodies/CN=limited", "extendedKeyUsage=clientAuth");
  const curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];
  await openssl(folder, "genpkey", ...curve, "-out", "accounts.key");
  await openssl(folder, "pkey", "-in", "accounts.key", "-pubout", "-out", "accounts.pub");
  const token = crypto.randomUUID();
  await Deno.writeTextFile(`${folder}/tokens.csv`, `${token},token-admin,token-admin,"system:masters"\n`);
  const read = (name: string): Promise<string> => Deno.readTextFile(`${folder}/${name}`);
  return {
    ca: await read("ca.crt"),
    admin: { cert: await read("admin.crt"), key: await read("admin.key") },
    limited: { cert: await read("limited.crt"), key: await read("limited.key") },
    token,
  };
}

/** The fields of a kubeconfig's user entry. */
export type UserFields = Readonly<Record<string, unknown>>;

/** The fields of a kubeconfig for a user with a certificate. */
export function byCertificate({ cert, key }: Keys["admin"]): UserFields {
  return { "client-certificate-data": btoa(cert), "client-key-data": btoa(key) };
}

/** Writes a kubeconfig whose only context is that user on that server, namespace "default". */
export async function writeKubeconfig(
  path: string,
  cluster: { readonly server: string; readonly ca: string },
  user: UserFields,
): Promise<void> {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{
      name: "tests",
      cluster: { server: cluster.server, "certificate-authority-data": btoa(cluster.ca) },
    }],
    users: [{ name: "user", user }],
    contexts: [{ name: "tests", context: { cluster: "tests", user: "user", namespace: "default" } }],
    "current-context": "tests",
  };
  await Deno.writeTextFile(path, JSON.stringify(config, undefined, 2)); // JSON is YAML too
}
