import { httpTransport } from "@kube/informer/connect";
import { ControlPlane } from "@kube/informer/testing/control-plane";
import { delay } from "@std/async";
import { byCertificate, type Keys, makeKeys, type UserFields } from "./keys.ts";
import { KINE, onKine } from "./kine.ts";
import { Servers } from "./servers.ts";

/** The two servers of a control plane. */
export type ServerName = "apiserver" | "etcd";

/** Options of a {@linkcode BreakableControlPlane}. */
export interface BreakableOptions {
  /** If `true`, lists and watches are answered from kube-apiserver's own cache instead of etcd. @default {true} */
  readonly watchCache?: boolean;
  /** Further flags of kube-apiserver. @default {none} */
  readonly flags?: readonly string[];
  /** If `true`, pods need the service account of their namespace, which a controller creates. @default {false} */
  readonly serviceAccounts?: boolean;
}

/** The time that a server may take to end after SIGTERM: open watches may stay open for 60 s. */
const END_MS = 70_000;

/** The time without an answer after which a server counts as paused. */
const SILENT_MS = 300;

/** The interval between looks at a server that ends. */
const LOOK_MS = 50;

/** A control plane whose servers can be killed, paused and started again, with users of several kinds. */
export class BreakableControlPlane implements AsyncDisposable {
  /** Path of a kubeconfig: an administrator by client certificate. */
  readonly kubeconfig: string;
  /** Path of a kubeconfig: an administrator by bearer token. */
  readonly tokenKubeconfig: string;
  /** Path of a kubeconfig: a user named "limited" without any rights, whose requests get 403. */
  readonly limitedKubeconfig: string;
  /** A folder of its own, removed in the end; `ca.crt` is the authority of the server's certificate. */
  readonly folder: string;
  readonly #keys: Keys;
  readonly #control: ControlPlane;
  /** The processes: further programs of this control plane end with it, too. */
  readonly servers: Servers;
  readonly #paused = new Set<ServerName>();

  private constructor(folder: string, keys: Keys, control: ControlPlane, servers: Servers) {
    this.folder = folder;
    this.#keys = keys;
    this.#control = control;
    this.servers = servers;
    this.kubeconfig = `${folder}/kubeconfig`;
    this.tokenKubeconfig = `${folder}/kubeconfig-token`;
    this.limitedKubeconfig = `${folder}/kubeconfig-limited`;
  }

  /** Starts one, of the programs `etcd` and `kube-apiserver` in the folder `assets`; it is ready then. */
  static async start(
    assets: string,
    { watchCache = true, flags = [], serviceAccounts = false }: BreakableOptions = {},
  ): Promise<BreakableControlPlane> {
    const folder = await Deno.makeTempDir({ prefix: "informer-keys-" });
    try {
      const keys = await makeKeys(folder);
      const own = [`--client-ca-file=${folder}/client-ca.crt`, `--watch-cache=${watchCache}`];
      const servers = new Servers((name, program) => {
        if (name === "etcd") return KINE === undefined ? program : onKine(program, KINE);
        if (!serviceAccounts) return program;
        return { ...program, args: program.args.filter((it) => it !== "--disable-admission-plugins=ServiceAccount") };
      });
      const control = await ControlPlane.start(assets, { flags: [...own, ...flags] }, servers);
      const plane = new BreakableControlPlane(folder, keys, control, servers);
      await plane.#writeFiles();
      return plane;
    } catch (error) {
      await Deno.remove(folder, { recursive: true });
      throw error;
    }
  }

  /** The folder of the two servers: their data, their logs, and the key `accounts.key` that signs tokens. */
  get serverFolder(): string {
    return this.#control.folder;
  }

  /** The address of kube-apiserver. */
  get url(): string {
    return this.#control.url;
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
    return await this.servers.pid(name);
  }

  /** Writes another kubeconfig for this server, into the folder, and answers with its path. */
  async kubeconfigOf(user: UserFields, name: string = crypto.randomUUID()): Promise<string> {
    const path = `${this.folder}/kubeconfig-${name}`;
    await Deno.writeTextFile(path, this.#control.kubeconfigOf(user));
    return path;
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
    await this.servers.signal(name, "SIGSTOP");
    // On a busy machine, its threads continue for a moment.
    while (await this.#answersNow(name));
  }

  /** Lets a paused server continue. */
  async resume(name: ServerName): Promise<void> {
    await this.servers.signal(name, "SIGCONT");
    this.#paused.delete(name);
  }

  /** Both servers run and are ready, whatever was done to them: on the ports and with the data they had. */
  async ensureRunning(): Promise<void> {
    for (const name of this.#paused) await this.resume(name);
    await this.#control.ensureRunning();
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

  /** Ends both servers and removes the folders. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#control[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }

  async #stopBoth(): Promise<void> {
    await this.kill9("apiserver");
    await this.terminate("etcd");
  }

  async #copyData(from: string, to: string): Promise<void> {
    const { folder } = this.#control;
    const { success } = await new Deno.Command("sh", {
      args: ["-c", 'rm -rf "$2" && cp -r "$1" "$2"', "sh", `${folder}/${from}`, `${folder}/${to}`],
    }).output();
    if (!success) throw new Error(`Cannot copy "${folder}/${from}" to "${folder}/${to}"`);
  }

  async #writeFiles(): Promise<void> {
    const files = {
      "ca.crt": this.#control.ca,
      "kubeconfig": this.#control.kubeconfigOf(this.adminFields),
      "kubeconfig-token": this.#control.kubeconfig,
      "kubeconfig-limited": this.#control.kubeconfigOf(this.limitedFields),
    };
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${this.folder}/${name}`, text);
  }

  /** Returns `true` if a server answers a request within {@linkcode SILENT_MS}. */
  async #answersNow(name: ServerName): Promise<boolean> {
    using http = httpTransport({ caCerts: [this.#control.ca], ...this.#keys.admin });
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), SILENT_MS);
    try {
      const url = name === "apiserver" ? `${this.url}/livez/ping` : `${this.#control.etcdUrl}/health`;
      await (await http.fetch(new Request(url, { signal: deadline.signal }))).text();
      return true;
    } catch (error) {
      if (!deadline.signal.aborted) throw error;
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  async #etcd(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(`${this.#control.etcdUrl}/v3/${path}`, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot ask etcd for "${path}": it answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  async #end(name: ServerName, signal: Deno.Signal): Promise<void> {
    const until = Date.now() + END_MS;
    await this.servers.signal(name, signal);
    while (await this.servers.isRunning(name)) {
      if (Date.now() > until) throw new Error(`Cannot end ${name}: it runs ${END_MS / 1_000} s after ${signal}`);
      await delay(LOOK_MS);
    }
    this.#paused.delete(name);
  }
}
