import https from "node:https";
import type { AddressInfo } from "node:net";
import { CHECKUP_LIMITS, type CheckupLimits, type Step } from "../../../src/cli/doctor/checkup.ts";
import { doctor, type DoctorFlags } from "../../../src/cli/doctor/doctor.ts";
import { Terminal } from "../../../src/cli/terminal/terminal.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, type FakeApiServerOptions, pod } from "../../../src/testing/mod.ts";
import type { Certificates } from "../../support/servers/certificates.ts";
import { serve, type Served } from "../../support/servers/serve.ts";
import { Captured } from "../../support/processes/session.ts";

/** The report of the doctor, as `-o json` prints it. */
export interface Examined {
  readonly code: number;
  readonly report: {
    readonly ok: boolean;
    readonly server?: string;
    readonly exitCode: number;
    readonly steps: readonly Step[];
    readonly permissions: readonly string[];
  };
  /** All that was printed, on both outputs. */
  readonly text: string;
  /** The steps that did not end well, by name: status and words. */
  readonly ill: Readonly<Record<string, string>>;
  /** The duration, in milliseconds. */
  readonly ms: number;
}

/** Runs the doctor to its end. */
export async function examine(
  flags: Partial<DoctorFlags>,
  options: { readonly resources?: string[]; readonly limits?: Partial<CheckupLimits> } = {},
): Promise<Examined> {
  const { resources = [], limits = {} } = options;
  const [stdout, stderr] = [new Captured(), new Captured()];
  const terminal = new Terminal(() => {}, { stdout, stderr, columns: () => 80, capable: false });
  const settings = { limits: { ...CHECKUP_LIMITS, ...limits } };
  const startedAt = performance.now();
  const stop = new AbortController();
  const code = await doctor({ output: "json", ...flags }, resources, { terminal, signal: stop.signal }, settings);
  const ms = performance.now() - startedAt;
  await terminal.flush();
  const report = JSON.parse(stdout.text) as Examined["report"];
  const ill: Record<string, string> = {};
  for (const { name, status, what, remedy } of report.steps) {
    if (status !== "ok") ill[name] = `${status}: ${what}${remedy === undefined ? "" : `; ${remedy}`}`;
  }
  return { code, report, text: stdout.text + stderr.text, ill, ms };
}

/** A fake API server with a few pods, served over TLS with one of the certificates, or in clear. */
export async function fakeServed(
  options: FakeApiServerOptions = {},
  certificates?: Certificates,
): Promise<{ readonly fake: FakeApiServer; readonly url: string } & AsyncDisposable> {
  const fake = new FakeApiServer(options);
  for (const name of ["a", "b", "c"]) fake.create(Pod, pod({ name, namespace: "default" }));
  const served: Served = certificates === undefined
    ? await serve(fake)
    : await serve(fake, { cert: certificates.text("server.crt"), key: certificates.text("server.key") });
  return { fake, url: served.url, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

/** A server over TLS that answers everything with the version, and may say what time it is. */
export async function serveVersion(
  cert: string,
  key: string,
  options: { readonly date?: string; readonly clientCa?: string } = {},
): Promise<{ readonly url: string } & AsyncDisposable> {
  const { date, clientCa } = options;
  const server = https.createServer({
    cert,
    key,
    ...(clientCa !== undefined && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  }, (_request, response) => {
    if (date !== undefined) response.setHeader("date", date);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ gitVersion: "v1.36.0" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose](): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Takes every connection and says nothing. */
export class BlackHole implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #connections: Deno.Conn[] = [];
  readonly #accepting: Promise<void>;
  readonly host: string;

  constructor() {
    this.host = `127.0.0.1:${this.#listener.addr.port}`;
    this.#accepting = this.#accept();
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) this.#connections.push(connection);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#accepting;
    for (const connection of this.#connections) connection.close();
  }
}

/** A port where nobody listens. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** A server certificate for 127.0.0.1 by the authority "ca", valid from and until these times (`20200101000000Z`). */
export async function datedCertificate(
  folder: string,
  name: string,
  from: string,
  until: string,
): Promise<{ readonly cert: string; readonly key: string }> {
  const config = `
[ca]
default_ca = authority
[authority]
database = ${name}.db
new_certs_dir = .
certificate = ca.crt
private_key = ca.key
rand_serial = yes
default_md = sha256
policy = names
x509_extensions = usage
[names]
commonName = supplied
[usage]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1
[req]
distinguished_name = nobody
[nobody]
`;
  await Deno.writeTextFile(`${folder}/${name}.cnf`, config);
  await Deno.writeTextFile(`${folder}/${name}.db`, "");
  const openssl = async (...args: string[]): Promise<void> => {
    const command = new Deno.Command("openssl", {
      args: [...args, "-config", `${name}.cnf`],
      cwd: folder,
      stdin: "null",
    });
    const { success, stderr } = await command.output();
    if (!success) throw new Error(`Cannot make certificate "${name}": ${new TextDecoder().decode(stderr)}`);
  };
  await openssl(
    ...["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", `/CN=${name}`],
    ...["-keyout", `${name}.key`, "-out", `${name}.csr`],
  );
  await openssl(
    ...["ca", "-batch", "-notext", "-startdate", from, "-enddate", until, "-in", `${name}.csr`, "-out", `${name}.crt`],
  );
  const read = (suffix: string): Promise<string> => Deno.readTextFile(`${folder}/${name}.${suffix}`);
  return { cert: await read("crt"), key: await read("key") };
}

/** A JSON Web Token that is valid between these times, in milliseconds from now; its signature is none. */
export function webToken(fromMs: number, untilMs: number): string {
  const part = (value: unknown): string =>
    btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const at = (ms: number): number => Math.floor((Date.now() + ms) / 1_000);
  return `${part({ alg: "none" })}.${part({ sub: "ada", iat: at(fromMs), exp: at(untilMs) })}.c2lnbmF0dXJl`;
}
