/** The files of a test's own public key infrastructure: their paths and contents. */
export interface Certificates extends AsyncDisposable {
  /** A fresh folder, removed on disposal. */
  readonly folder: string;
  /** The text of one of `ca.crt`, `server.crt`, `server.key`, `client.crt`, `client.key`, `other-ca.crt` and so on. */
  readonly text: (name: string) => string;
  /** The path of one of them, or of a file yet to be written. */
  readonly path: (name: string) => string;
}

const NAMES = ["ca", "other-ca", "server", "other-server", "named-server", "client", "other-client", "second"].flatMap((
  name,
) => [`${name}.crt`, `${name}.key`]);

/**
 * Writes two authorities, "ca" and "other-ca", and for each a server certificate for 127.0.0.1 and a client
 * certificate; "second" is another client of "ca", and "named-server" a server of the name "kubernetes.test". They are
 * made once in a test file.
 */
export async function makeCertificates(): Promise<Certificates> {
  const texts = await (made ??= makeTexts());
  const folder = await Deno.makeTempDir({ prefix: "informer-tls-" });
  await Promise.all([...texts].map(([name, text]) => Deno.writeTextFile(`${folder}/${name}`, text)));
  return {
    folder,
    text: (name) => texts.get(name)!,
    path: (name) => `${folder}/${name}`,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

let made: Promise<ReadonlyMap<string, string>> | undefined;

async function makeTexts(): Promise<ReadonlyMap<string, string>> {
  const folder = await Deno.makeTempDir({ prefix: "informer-tls-" });
  const authority = (name: string) =>
    certify(folder, name, "-subj", `/CN=${name}`, "-addext", "keyUsage=critical,keyCertSign");
  const leaf = (name: string, ca: string, usage: string, ...extra: string[]) =>
    certify(
      folder,
      name,
      ...["-CA", `${ca}.crt`, "-CAkey", `${ca}.key`, "-subj", `/O=informers/CN=${name}`],
      ...["-addext", "basicConstraints=critical,CA:FALSE", "-addext", `extendedKeyUsage=${usage}`, ...extra],
    );
  try {
    for (const prefix of ["", "other-"]) {
      await authority(`${prefix}ca`);
      await leaf(`${prefix}server`, `${prefix}ca`, "serverAuth", "-addext", "subjectAltName=IP:127.0.0.1");
      await leaf(`${prefix}client`, `${prefix}ca`, "clientAuth");
    }
    await leaf("named-server", "ca", "serverAuth", "-addext", "subjectAltName=DNS:kubernetes.test");
    await leaf("second", "ca", "clientAuth");
    const read = async (name: string) => [name, await Deno.readTextFile(`${folder}/${name}`)] as const;
    return new Map(await Promise.all(NAMES.map(read)));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Makes a key and a certificate of these names. */
async function certify(folder: string, name: string, ...args: string[]): Promise<void> {
  await openssl(
    folder,
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...["-keyout", `${name}.key`, "-out", `${name}.crt`, ...args],
  );
}

/** Runs openssl in a folder; returns what it prints. */
export async function openssl(folder: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("openssl", { args, cwd: folder, stdin: "null" }).output();
  if (!success) throw new Error(`Cannot run openssl ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
