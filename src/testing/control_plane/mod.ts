/**
 * Starts a real kube-apiserver and etcd for a test, without containers, in two to six seconds.
 *
 * Import this module if a test depends on details that {@linkcode FakeApiServer} in `./testing` does not have, such as
 * CEL rules in a CRD. {@linkcode startControlPlane} starts both servers, and {@linkcode readCrds} reads CRDs from YAML
 * files. No controllers, scheduler or nodes run. You need the programs `etcd` and `kube-apiserver`, which setup-envtest
 * downloads:
 *
 * ```sh
 * go install sigs.k8s.io/controller-runtime/tools/setup-envtest@latest
 * setup-envtest use 1.37.x
 * ```
 *
 * Read the guide: [Test on a real kube-apiserver](../../../docs/testing/control-plane.md).
 *
 * @example
 * ```ts ignore
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { startControlPlane } from "@kube/informer/testing/control-plane";
 *
 * await using server = await startControlPlane({ version: "1.37" });
 * using client = server.client({ namespace: "default" });
 * await client.resource(ConfigMap).create({ metadata: { name: "settings" } });
 * ```
 *
 * @module
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Transport } from "../../engine/api/lister_watcher.ts";
import type { Abortable } from "../../engine/api/call_options.ts";
import { isNotFound } from "../../engine/api/status.ts";
import type { ObjectDraft } from "../../engine/api/written.ts";
import { DerivedController } from "../../engine/async/signals.ts";
import { monotonicMs, sleep, timedController } from "../../engine/async/time.ts";
import { Client, type ClientOptions } from "../../engine/client/client.ts";
import { readYaml } from "../../host/connect/kubeconfig/yaml.ts";
import { httpTransport } from "../../host/connect/transport.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { CustomResourceDefinition } from "../../engine/kinds/apiextensions/v1.ts";
import { Namespace } from "../../engine/kinds/core/v1.ts";
import { installCrds } from "../../operator/schema/install_crds.ts";
import { generateKeys, lastCertificate, pem } from "./certificates.ts";
import { findServerPrograms, programPath } from "./server_programs.ts";
import { serveWebhooks, type TestWebhooks } from "./webhooks.ts";

export type { ClientOptions } from "../../engine/client/client.ts";
export type { TestConfigurations, TestWebhooks } from "./webhooks.ts";
export { type MadeCertificates, makeCertificates, type MakeCertificatesOptions } from "./certificates.ts";

/** Options for {@linkcode startControlPlane}. */
export interface ControlPlaneOptions extends Abortable {
  /** The Kubernetes version: `"1.37"`, or `"1.37.2"`. @default {the version of the programs found} */
  readonly version?: string;
  /**
   * The folder with `etcd` and `kube-apiserver`. @default {KUBEBUILDER_ASSETS, otherwise the folder of setup-envtest}
   */
  readonly assets?: string;
  /**
   * CustomResourceDefinitions, or paths and `file:` URLs for {@linkcode readCrds}. The server serves their kinds when
   * the control plane has started. @default {none}
   */
  readonly crds?: readonly (ObjectDraft<CustomResourceDefinition> | string | URL)[];
  /**
   * Webhooks that the server calls over HTTPS on 127.0.0.1, with a certificate made by {@linkcode makeCertificates}.
   * When the control plane has started, their configurations and CRDs are installed and in effect.
   * @default {none}
   */
  readonly webhooks?: TestWebhooks;
  /** Additional flags for kube-apiserver. @default {none} */
  readonly flags?: readonly string[];
}

/** A server to run. */
export interface ServerProgram {
  /** The program's path. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Environment variables, in addition to the inherited ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** The file to which its output is appended. */
  readonly log: string;
}

/** Keeps a control plane's processes. Tests that restart them implement it in another way. */
export interface ServerProcesses extends AsyncDisposable {
  /** Starts a process. */
  start(name: string, program: ServerProgram): Promise<void>;
  /** Returns `true` while a process runs. */
  isRunning(name: string): Promise<boolean>;
}

type ServerName = "apiserver" | "etcd";

/** How long a server may take to become ready. */
const READY_MS = 90_000;

/** The longest wait for a response to a readiness check. */
const ANSWER_MS = 5_000;

/** The interval between checks while a server starts. */
const LOOK_MS = 50;

/**
 * Starts kube-apiserver and etcd on free ports of 127.0.0.1. Resolves when the server is ready and serves the CRDs.
 *
 * It looks for programs with the requested version in `KUBEBUILDER_ASSETS`, and then in the folder where setup-envtest
 * keeps its downloads. There, it takes the newest version that matches. With the option `assets`, it looks only in that
 * folder.
 *
 * - No controllers, scheduler or nodes run: pods stay as you write them, deleted namespaces stay terminating, and
 *   nothing is garbage collected.
 * - RBAC applies. Pods need no service account.
 * - Dispose the result to end both servers and remove their files. The signal, a failed start, and the end of your
 *   program do the same, however the program ends. On Windows, which is not tested, the end of your program does not
 *   end the servers: dispose the result.
 * - It needs `--allow-env`, `--allow-read`, `--allow-write`, `--allow-run` and `--allow-net=127.0.0.1`.
 *
 * @throws {InformerError} if the programs are missing. The message has the places, and the command that downloads them.
 * @throws {InformerError} if a server is not ready within 90 s. The message has the end of its log.
 * @throws {InformerError} if a file in `crds` has no CRD, or a CRD's names belong to another CRD.
 * @throws {StatusError} if the server refuses a CRD or a webhook configuration.
 * @throws {InformerError} if the server does not call the webhooks within 30 s.
 * @throws the signal's reason.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  checkNames("start a control plane", options, "version assets crds webhooks flags signal");
  options.signal?.throwIfAborted();
  return await ControlPlane.start(await findServerPrograms(options), options, new HostProcesses());
}

/**
 * A running kube-apiserver with its etcd, from {@linkcode startControlPlane}.
 *
 * It is also a transport, like a `FakeApiServer`: `new Client({ server: server.url, transport: server })` connects to
 * it.
 */
export class ControlPlane implements Transport, AsyncDisposable {
  /** The control plane's own folder, with the logs `apiserver.log` and `etcd.log`. It is removed in the end. */
  readonly folder: string;
  /** The address of kube-apiserver. */
  readonly url: string;
  /** An administrator's bearer token, in the group `system:masters`. */
  readonly token: string = crypto.randomUUID();
  readonly #assets: string;
  readonly #flags: readonly string[];
  readonly #ports: { readonly [Name in ServerName]: number };
  readonly #processes: ServerProcesses;
  /** Aborts with the given signal, and with the disposal. */
  readonly #stop: DerivedController;
  #ca = "";
  #transport: (Transport & Disposable) | undefined;
  #ended: Promise<void> | undefined;
  #webhooks: AsyncDisposable | undefined;

  private constructor(
    assets: string,
    folder: string,
    ports: Readonly<Record<"apiserver" | "etcd", number>>,
    options: ControlPlaneOptions,
    processes: ServerProcesses,
  ) {
    this.folder = folder;
    this.#assets = assets;
    this.#flags = options.flags ?? [];
    this.#processes = processes;
    this.#ports = ports;
    this.#stop = new DerivedController(options.signal);
    this.url = `https://127.0.0.1:${this.#ports.apiserver}`;
  }

  /**
   * Starts like {@linkcode startControlPlane}, with the programs in a folder. `processes` runs them, and is disposed
   * with the result.
   */
  static async start(assets: string, options: ControlPlaneOptions, processes: ServerProcesses): Promise<ControlPlane> {
    const given = (options.crds ?? []).map((crd) =>
      typeof crd === "string" || crd instanceof URL ? readCrds(crd) : [crd]
    );
    const definitions = (await Promise.all(given)).flat();
    const ports = await freePorts();
    const folder = await mkdtemp(join(tmpdir(), "informer-cluster-"));
    const plane = new ControlPlane(assets, folder, ports, options, processes);
    try {
      await plane.#writeKeys();
      await plane.ensureRunning();
      await plane.#furnish(definitions);
      await plane.#serve(options.webhooks);
    } catch (error) {
      await plane[Symbol.asyncDispose]();
      throw error;
    }
    plane.#stop.signal.addEventListener("abort", plane.#abort, { once: true });
    return plane;
  }

  /** The PEM certificate for the authority that has signed the server's certificate. */
  get ca(): string {
    return this.#ca;
  }

  /** An administrator's kubeconfig, as text. */
  get kubeconfig(): string {
    return this.kubeconfigOf({ token: this.token });
  }

  /** Returns a kubeconfig for this server, with a user entry that has these fields. */
  kubeconfigOf(user: Readonly<Record<string, unknown>>): string {
    const cluster = { server: this.url, "certificate-authority-data": btoa(this.#ca) };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "tests", cluster }],
      users: [{ name: "user", user }],
      contexts: [{ name: "tests", context: { cluster: "tests", user: "user", namespace: "default" } }],
      "current-context": "tests",
    };
    return JSON.stringify(config, undefined, 2); // JSON is YAML too
  }

  /** Creates an administrator's client with its own connections. Dispose it yourself. */
  client(options: Omit<ClientOptions, "server" | "transport" | "credentials"> = {}): Client {
    return new Client({ server: this.url, transport: this.#connection(), ...options });
  }

  /** Sends a request as an administrator. */
  fetch(request: Request): Promise<Response> {
    this.#transport ??= this.#connection();
    return this.#transport.fetch(request);
  }

  /** See `Transport.probe`. */
  async probe(signal: AbortSignal, url: string): Promise<void> {
    this.#transport ??= this.#connection();
    await this.#transport.probe?.(signal, url);
  }

  /** Starts each server that does not run, with the same ports and data, and waits until both are ready. */
  async ensureRunning(): Promise<void> {
    const until = monotonicMs() + READY_MS;
    for (const name of ["etcd", "apiserver"] as const) {
      if (!await this.#processes.isRunning(name)) await this.#processes.start(name, this.#programOf(name));
    }
    await this.#ready("etcd", until, async (signal) => await ok(fetch(`${this.etcdUrl}/health`, { signal })));
    await this.#ready("apiserver", until, async (signal) => {
      // The server creates this file: first its own certificate, then its authority's certificate.
      this.#ca = lastCertificate(await readFile(`${this.folder}/apiserver.crt`, "utf8")) ?? "";
      using connection = this.#connection();
      await ok(connection.fetch(new Request(`${this.url}/readyz`, { signal })));
    });
  }

  /** The address of etcd. */
  get etcdUrl(): string {
    return `http://127.0.0.1:${this.#ports.etcd}`;
  }

  /** Ends both servers and removes the folder. A second call waits for the first. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#ended ??= this.#end();
  }

  async #end(): Promise<void> {
    this.#stop.signal.removeEventListener("abort", this.#abort);
    this.#stop.abort(new InformerError("The control plane has been disposed"));
    this.#stop[Symbol.dispose]();
    this.#transport?.[Symbol.dispose]();
    await this.#processes[Symbol.asyncDispose]();
    await this.#webhooks?.[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true }); // its processes may have removed it
  }

  readonly #abort = (): void => void this[Symbol.asyncDispose]();

  #connection(): Transport & Disposable {
    return httpTransport({ caCerts: [this.#ca], headers: [["authorization", `Bearer ${this.token}`]] });
  }

  /** Waits until `check` passes. Gives up when the process has ended, or the time is over. */
  async #ready(name: ServerName, untilMs: number, check: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    let cause: unknown;
    for (; monotonicMs() < untilMs; await sleep(LOOK_MS, { signal })) {
      using attempt = timedController(ANSWER_MS, "No answer in time", signal);
      try {
        return await check(attempt.signal);
      } catch (error) {
        signal.throwIfAborted();
        cause = error; // nobody listens there yet
      }
      if (!await this.#processes.isRunning(name)) await this.#fail(name, "it has ended", cause);
    }
    await this.#fail(name, `it is not ready after ${READY_MS / 1_000} s`, cause);
  }

  async #fail(name: ServerName, why: string, cause: unknown): Promise<never> {
    const log = await readFile(`${this.folder}/${name}.log`, "utf8").catch(() => "");
    throw new InformerError(`Cannot start ${name}: ${why}. The end of its log:\n${log.slice(-1_500)}`, { cause });
  }

  /** Waits for the namespace "default", which the server creates itself, and then installs the CRDs. */
  async #furnish(definitions: readonly ObjectDraft<CustomResourceDefinition>[]): Promise<void> {
    const { signal } = this.#stop;
    using client = this.client();
    await this.#once(() => client.resource(Namespace).get("default", { signal }));
    await installCrds(client, definitions, { force: true, allowBreaking: true, signal });
    for (const { spec } of definitions) {
      for (const { name: version, served } of spec.versions) {
        if (!served) continue;
        const path = `/apis/${spec.group}/${version}/${spec.names.plural}?limit=1`;
        await this.#once(async () => await (await client.fetch(path, { signal })).text());
      }
    }
  }

  async #serve(webhooks: TestWebhooks | undefined): Promise<void> {
    if (webhooks === undefined) return;
    using client = this.client();
    this.#webhooks = await serveWebhooks(client, webhooks, { signal: this.#stop.signal });
  }

  /** Asks until there is a response that is not false. A server that has just started responds with 404 for a while. */
  async #once(ask: () => Promise<unknown>): Promise<void> {
    for (;; await sleep(LOOK_MS, { signal: this.#stop.signal })) {
      try {
        if (await ask()) return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  }

  /** Writes the key that signs service account tokens, and the administrator's token. */
  async #writeKeys(): Promise<void> {
    const { privateKey, publicKey } = await generateKeys();
    const files = {
      "accounts.key": pem("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", privateKey)),
      "accounts.pub": pem("PUBLIC KEY", await crypto.subtle.exportKey("spki", publicKey)),
      "tokens.csv": `${this.token},admin,admin,"system:masters"\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      await writeFile(`${this.folder}/${name}`, text, { mode: 0o600 });
    }
  }

  #programOf(name: ServerName): ServerProgram {
    const { folder, etcdUrl } = this;
    if (name === "etcd") {
      return {
        command: programPath(this.#assets, "etcd"),
        log: `${folder}/etcd.log`,
        args: [
          ...[`--data-dir=${folder}/data`, "--unsafe-no-fsync", "--log-level=warn"],
          ...[`--listen-client-urls=${etcdUrl}`, `--advertise-client-urls=${etcdUrl}`],
          "--listen-peer-urls=http://127.0.0.1:0",
          "--heartbeat-interval=20",
          "--election-timeout=100",
          // As kubeadm sets it: bookmarks of quiet kinds follow within seconds instead of ten minutes.
          "--watch-progress-notify-interval=5s",
        ],
      };
    }
    return {
      command: programPath(this.#assets, "kube-apiserver"),
      env: { GOMEMLIMIT: "1500MiB" },
      log: `${folder}/apiserver.log`,
      args: [
        ...[`--etcd-servers=${etcdUrl}`, "--bind-address=127.0.0.1", `--secure-port=${this.#ports.apiserver}`],
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        "--profiling=false",
        ...[`--cert-dir=${folder}`, `--token-auth-file=${folder}/tokens.csv`, "--authorization-mode=RBAC"],
        "--service-account-issuer=https://kubernetes.default.svc",
        "--disable-admission-plugins=ServiceAccount",
        ...[`--service-account-key-file=${folder}/accounts.pub`],
        ...[`--service-account-signing-key-file=${folder}/accounts.key`, "--service-cluster-ip-range=10.96.0.0/16"],
        ...this.#flags,
      ],
    };
  }
}

/**
 * Reads the CustomResourceDefinitions from a YAML or JSON file, or from the `.yaml`, `.yml` and `.json` files in a
 * folder. Pass them to the option `crds`, or create them on a `FakeApiServer`.
 *
 * It reads files in the order of their names, without subfolders, and skips other objects. It needs `--allow-read`.
 *
 * @throws {InformerError} if there is no CRD, or a file is neither YAML nor JSON.
 * @throws {Error} with the code `ENOENT` if there is no such file or folder.
 */
export async function readCrds(path: string | URL): Promise<ObjectDraft<CustomResourceDefinition>[]> {
  let files = [path];
  if ((await stat(path)).isDirectory()) {
    const folder = path instanceof URL ? fileURLToPath(path) : path;
    const names = await readdir(folder);
    files = names.filter((name) => /\.(?:ya?ml|json)$/.test(name)).sort().map((name) => join(folder, name));
  }
  const found: ObjectDraft<CustomResourceDefinition>[] = [];
  for (const file of files) {
    try {
      const documents = readYaml(await readFile(file, "utf8")) as (typeof found[number] | null | undefined)[];
      found.push(...documents.filter((document) => document?.kind === "CustomResourceDefinition") as typeof found);
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new InformerError(`Cannot read "${file}": ${cause.message}`, { cause });
    }
  }
  if (found.length === 0) throw new InformerError(`Cannot read "${path}": it has no CustomResourceDefinition`);
  return found;
}

async function ok(answer: Promise<Response>): Promise<void> {
  const response = await answer;
  const text = await response.text();
  if (!response.ok) throw new Error(`"${response.url}" responded with ${response.status}: ${text.slice(0, 500)}`);
}

/** Returns two ports that nobody listens on. */
async function freePorts(): Promise<{ readonly [Name in ServerName]: number }> {
  const servers = await Promise.all([1, 2].map(async () => {
    const server = createServer();
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return server;
  }));
  const [apiserver, etcd] = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return { apiserver, etcd };
}

/**
 * A shell that runs a server, and ends with it. Its second half waits until standard input ends, kills the server and
 * removes its log's folder. If the test program is killed, and with it the runtime and the shell, nothing is left. The
 * other server may still write to the folder, so it tries the removal twice.
 */
const SHELL = `exec 3<&0
folder=\${LOG%/*}
"$@" >>"$LOG" 2>&1 3<&- </dev/null & server=$!
{
  read -r _ <&3; true >"$LOG.end"; kill -9 "$server"
  rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
} 2>/dev/null & watcher=$!
wait "$server"; code=$?
if [ -d "$folder" ] && [ ! -e "$LOG.end" ]; then kill "$watcher" 2>/dev/null; fi
wait "$watcher"
exit "$code"`;

const IS_WINDOWS: boolean = process.platform === "win32";

/** Processes that end when this is disposed. */
class HostProcesses implements ServerProcesses {
  readonly #children = new Map<string, ChildProcess>();
  readonly #ended = new Map<string, Promise<unknown>>();

  /** Starts a process. On Windows it starts without a shell, so its output is lost. */
  start(name: string, { command, args, env, log }: ServerProgram): Promise<void> {
    const [program, ...given] = IS_WINDOWS ? [command, ...args] : ["/bin/sh", "-c", SHELL, "sh", command, ...args];
    const child = spawn(program, given, {
      env: { ...process.env, ...env, LOG: log },
      stdio: [IS_WINDOWS ? "ignore" : "pipe", "ignore", "ignore"],
    });
    this.#children.set(name, child);
    this.#ended.set(name, new Promise((resolve) => child.on("close", resolve)));
    return new Promise((resolve, reject) => child.on("spawn", resolve).on("error", reject));
  }

  /** Returns `true` while a process runs. */
  isRunning(name: string): Promise<boolean> {
    const child = this.#children.get(name);
    return Promise.resolve(child !== undefined && child.exitCode === null && child.signalCode === null);
  }

  /** Kills all processes, and waits until they have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.values()) {
      if (IS_WINDOWS) child.kill("SIGKILL");
      else child.stdin!.end();
    }
    await Promise.all(this.#ended.values());
    this.#children.clear();
  }
}
