import { delay } from "@std/async";
import { byCertificate, type Keys, makeKeys, type UserFields, writeKubeconfig } from "./keys.ts";
import { Servers } from "./servers.ts";

/** The two servers of a control plane. */
export type ServerName = "apiserver" | "etcd";

/** Options of a {@linkcode ControlPlane}. */
export interface ControlPlaneOptions {
  /** If `true`, lists and watches are answered from kube-apiserver's own cache instead of etcd. @default {true} */
  readonly watchCache?: boolean;
  /** Further flags of kube-apiserver. @default {none} */
  readonly flags?: readonly string[];
}

/** The time that a server has to become ready. */
const READY_MS = 90_000;

/** The time that a server may take to end after SIGTERM: open watches may stay open for 60 s. */
const END_MS = 70_000;

/** The time without an answer after which a server counts as paused. */
const SILENT_MS = 300;

/** The interval between checks of a server that starts. */
const LOOK_MS = 50;

/**
 * A kube-apiserver with its etcd on loopback: no controllers, no scheduler, no nodes. Pods stay as they are written,
 * deleted namespaces stay there, terminating, and nothing is garbage collected.
 */
export class ControlPlane implements AsyncDisposable {
  /** The address of kube-apiserver. */
  readonly url: string;
  /** Path of a kubeconfig: an administrator by client certificate. */
  readonly kubeconfig: string;
  /** Path of a kubeconfig: an administrator by bearer token. */
  readonly tokenKubeconfig: string;
  /** Path of a kubeconfig: a user named "limited" without any rights, whose requests get 403. */
  readonly limitedKubeconfig: string;
  /** A folder of its own, removed in the end. */
  readonly folder: string;
  readonly #assets: string;
  readonly #options: ControlPlaneOptions;
  readonly #ports: { readonly [Name in ServerName]: number };
  readonly #keys: Keys;
  readonly #servers: Servers;
  readonly #paused = new Set<ServerName>();

  private constructor(assets: string, folder: string, keys: Keys, options: ControlPlaneOptions) {
    this.#assets = assets;
    this.#options = options;
    this.#keys = keys;
    this.#ports = freePorts();
    this.#servers = new Servers();
    this.folder = folder;
    this.url = `https://127.0.0.1:${this.#ports.apiserver}`;
    this.kubeconfig = `${folder}/kubeconfig`;
    this.tokenKubeconfig = `${folder}/kubeconfig-token`;
    this.limitedKubeconfig = `${folder}/kubeconfig-limited`;
  }

  /** Starts one, of the programs `etcd` and `kube-apiserver` in the folder `assets`; it is ready then. */
  static async start(assets: string, options: ControlPlaneOptions = {}): Promise<ControlPlane> {
    const folder = await Deno.makeTempDir({ prefix: "informer-cluster-" });
    let plane: ControlPlane | undefined;
    try {
      plane = new ControlPlane(assets, folder, await makeKeys(folder), options);
      await plane.#writeKubeconfigs();
      await plane.ensureRunning();
      return plane;
    } catch (error) {
      if (plane === undefined) await Deno.remove(folder, { recursive: true });
      else await plane[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The fields of a kubeconfig for the administrator by certificate. */
  get adminFields(): UserFields {
    return byCertificate(this.#keys.admin);
  }

  /** The fields of a kubeconfig for the user named "limited". */
  get limitedFields(): UserFields {
    return byCertificate(this.#keys.limited);
  }

  /** The id of the process of a server that runs. */
  async pidOf(name: ServerName): Promise<number> {
    return await this.#servers.pid(name);
  }

  /** Writes another kubeconfig for this server, into the folder, and answers with its path. */
  async kubeconfigOf(user: UserFields): Promise<string> {
    const path = `${this.folder}/kubeconfig-${crypto.randomUUID()}`;
    await this.#write(path, user);
    return path;
  }

  /** Starts a server that does not run, on the port and with the data it had, and waits until both are ready. */
  async start(name: ServerName): Promise<void> {
    await this.#servers.start(name, { ...this.#programOf(name), log: this.#logOf(name) });
    await this.#ready();
  }

  /** Ends a server as a crash would: SIGKILL. Its connections break off. */
  async kill9(name: ServerName): Promise<void> {
    await this.#end(name, "SIGKILL");
  }

  /** Sends SIGTERM to a server, and waits until it has ended. */
  async terminate(name: ServerName): Promise<void> {
    await this.#end(name, "SIGTERM");
  }

  /** Makes a server a black hole: connections stay, and new ones are accepted, but nothing is answered. */
  async pause(name: ServerName): Promise<void> {
    this.#paused.add(name);
    await this.#servers.signal(name, "SIGSTOP");
    // On a busy machine, its threads continue for a moment.
    while (await this.#answersNow(name));
  }

  /** Lets a paused server continue. */
  async resume(name: ServerName): Promise<void> {
    await this.#servers.signal(name, "SIGCONT");
    this.#paused.delete(name);
  }

  /** Both servers run and are ready, whatever was done to them. */
  async ensureRunning(): Promise<void> {
    for (const name of this.#paused) await this.resume(name);
    for (const name of ["etcd", "apiserver"] as const) {
      if (await this.#servers.isRunning(name)) continue;
      await this.#servers.start(name, { ...this.#programOf(name), log: this.#logOf(name) });
    }
    await this.#ready();
  }

  /**
   * Makes etcd forget everything but the newest revision, and answers with that. kube-apiserver's own watch cache still
   * knows what was before, until it is restarted.
   */
  async compact(): Promise<string> {
    const key = btoa("compact_rev_key");
    const { header } = await this.#etcd("kv/range", { key }) as { readonly header: { readonly revision: string } };
    const revision = String(BigInt(header.revision) + 1n);
    // As kube-apiserver's own compactor leaves word for the others.
    await this.#etcd("kv/put", { key, value: btoa(revision) });
    await this.#etcd("kv/compaction", { revision, physical: true });
    return revision;
  }

  /** Copies the data of etcd while both servers are down; they are ready again then. An earlier copy is replaced. */
  async saveData(): Promise<void> {
    await this.#stopBoth();
    await this.#copyData("data", "saved-data");
    await this.ensureRunning();
  }

  /**
   * Puts the data of etcd back to the last copy, as from a backup, while both servers are down; they are ready again
   * then.
   */
  async restoreData(): Promise<void> {
    await this.#stopBoth();
    await this.#copyData("saved-data", "data");
    await this.ensureRunning();
  }

  /** Ends both servers and removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#servers[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }

  async #stopBoth(): Promise<void> {
    await this.kill9("apiserver");
    await this.terminate("etcd");
  }

  async #copyData(from: string, to: string): Promise<void> {
    const { folder } = this;
    const { success } = await new Deno.Command("sh", {
      args: ["-c", 'rm -rf "$2" && cp -r "$1" "$2"', "sh", `${folder}/${from}`, `${folder}/${to}`],
    }).output();
    if (!success) throw new Error(`Cannot copy "${folder}/${from}" to "${folder}/${to}"`);
  }

  get #etcdUrl(): string {
    return `http://127.0.0.1:${this.#ports.etcd}`;
  }

  #logOf(name: ServerName): string {
    return `${this.folder}/${name}.log`;
  }

  #programOf(name: ServerName): { command: string; args: string[]; env?: Record<string, string> } {
    const { folder } = this;
    if (name === "etcd") {
      return {
        command: `${this.#assets}/etcd`,
        args: [
          ...[`--data-dir=${folder}/data`, "--unsafe-no-fsync", "--log-level=warn"],
          ...[`--listen-client-urls=${this.#etcdUrl}`, `--advertise-client-urls=${this.#etcdUrl}`],
          ...["--listen-peer-urls=http://127.0.0.1:0", "--heartbeat-interval=20", "--election-timeout=100"],
          // As kubeadm sets it: bookmarks of quiet kinds follow within seconds instead of ten minutes.
          "--watch-progress-notify-interval=5s",
        ],
      };
    }
    const { watchCache = true, flags = [] } = this.#options;
    return {
      command: `${this.#assets}/kube-apiserver`,
      env: { GOMEMLIMIT: "1500MiB" },
      args: [
        ...[`--etcd-servers=${this.#etcdUrl}`, "--bind-address=127.0.0.1", `--secure-port=${this.#ports.apiserver}`],
        ...["--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--profiling=false"],
        ...[`--tls-cert-file=${folder}/server.crt`, `--tls-private-key-file=${folder}/server.key`],
        ...[`--client-ca-file=${folder}/ca.crt`, `--token-auth-file=${folder}/tokens.csv`, "--authorization-mode=RBAC"],
        ...["--service-account-issuer=https://kubernetes.default.svc", "--disable-admission-plugins=ServiceAccount"],
        ...[`--service-account-key-file=${folder}/accounts.pub`],
        ...[`--service-account-signing-key-file=${folder}/accounts.key`, "--service-cluster-ip-range=10.96.0.0/16"],
        ...[`--watch-cache=${watchCache}`, ...flags],
      ],
    };
  }

  async #writeKubeconfigs(): Promise<void> {
    await this.#write(this.kubeconfig, byCertificate(this.#keys.admin));
    await this.#write(this.tokenKubeconfig, { token: this.#keys.token });
    await this.#write(this.limitedKubeconfig, byCertificate(this.#keys.limited));
  }

  async #write(path: string, user: UserFields): Promise<void> {
    await writeKubeconfig(path, { server: this.url, ca: this.#keys.ca }, user);
  }

  async #ready(): Promise<void> {
    const { ca, admin } = this.#keys;
    using http = Deno.createHttpClient({ caCerts: [ca], ...admin });
    const until = Date.now() + READY_MS;
    await this.#answers("etcd", `${this.#etcdUrl}/health`, until);
    await this.#answers("apiserver", `${this.url}/readyz`, until, http);
  }

  /** Returns `true` if a server answers a request within {@linkcode SILENT_MS}. */
  async #answersNow(name: ServerName): Promise<boolean> {
    const { ca, admin } = this.#keys;
    using http = Deno.createHttpClient({ caCerts: [ca], ...admin });
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), SILENT_MS);
    try {
      const options = name === "apiserver" ? { client: http } : {};
      const url = name === "apiserver" ? `${this.url}/livez/ping` : `${this.#etcdUrl}/health`;
      await (await fetch(url, { signal: deadline.signal, ...options })).text();
      return true;
    } catch (error) {
      if (!deadline.signal.aborted) throw error;
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Asks until the server says yes; gives up when its process has ended, or the time is over. */
  async #answers(name: ServerName, url: string, untilMs: number, client?: Deno.HttpClient): Promise<void> {
    let last: unknown;
    while (Date.now() < untilMs) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(new Error(`"${url}" was silent for 5 s`)), 5_000);
      try {
        const response = await fetch(url, { signal: deadline.signal, ...(client && { client }) });
        const text = await response.text();
        if (response.ok) return;
        last = new Error(`"${url}" answered ${response.status}: ${text.slice(0, 500)}`);
      } catch (error) {
        last = error; // nobody listens there yet
      } finally {
        clearTimeout(timer);
      }
      if (!await this.#servers.isRunning(name)) break;
      await delay(LOOK_MS);
    }
    const log = await Deno.readTextFile(this.#logOf(name));
    throw new Error(`Cannot start ${name}: its log ends with ${JSON.stringify(log.slice(-1_500))}`, { cause: last });
  }

  async #etcd(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(`${this.#etcdUrl}/v3/${path}`, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot ask etcd for "${path}": it answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  async #end(name: ServerName, signal: Deno.Signal): Promise<void> {
    const until = Date.now() + END_MS;
    await this.#servers.signal(name, signal);
    while (await this.#servers.isRunning(name)) {
      if (Date.now() > until) throw new Error(`Cannot end ${name}: it runs ${END_MS / 1_000} s after ${signal}`);
      await delay(LOOK_MS);
    }
    this.#paused.delete(name);
  }
}

/** Two ports that nobody listens on. */
function freePorts(): { readonly [Name in ServerName]: number } {
  using first = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using second = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return { apiserver: first.addr.port, etcd: second.addr.port };
}
