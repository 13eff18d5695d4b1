import type { Client } from "@kube/informer";
import { connect } from "@kube/informer/connect";
import { Node, ServiceAccount } from "@kube/informer/kinds/core/v1";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { delay } from "@std/async";
import { BreakableControlPlane } from "../cluster/control_plane.ts";
import { byCertificate, signed } from "../cluster/keys.ts";
import { withDeadline } from "../cluster/with_deadline.ts";
import { forEach } from "../cluster/writers.ts";
import { type Output, outputOf } from "../processes/program.ts";

/** The programs in the folder of {@linkcode WholeAssets.whole}. */
export const PROGRAMS = ["kube-controller-manager", "kube-scheduler", "kubectl", "kwok"] as const;

/** The folders with the programs of a whole cluster. */
export interface WholeAssets {
  /** Has etcd and kube-apiserver. */
  readonly servers: string;
  /** Has {@linkcode PROGRAMS}. */
  readonly whole: string;
}

/** What pods do, by their images. */
const STAGES = new URL("./stages.yaml", import.meta.url).pathname;

/** The users of the programs next to the control plane. */
const SUBJECTS = {
  "kube-controller-manager": "/CN=system:kube-controller-manager",
  "kube-scheduler": "/CN=system:kube-scheduler",
  "kwok": "/O=system:masters/CN=kwok",
};

const LOOK_MS = 100;

/**
 * A cluster with all that a control plane has, and nodes that KWOK plays: kube-apiserver, etcd,
 * kube-controller-manager, kube-scheduler and KWOK, on loopback, without containers. Pods run nothing;
 * `stages.yaml` says what each image does. All programs end with this, and when the test program ends.
 */
export class WholeCluster implements AsyncDisposable {
  /** The API server, its users and its files. */
  readonly plane: BreakableControlPlane;
  /** An administrator's client. */
  readonly client: Client;
  readonly #assets: WholeAssets;

  private constructor(plane: BreakableControlPlane, client: Client, assets: WholeAssets) {
    this.plane = plane;
    this.client = client;
    this.#assets = assets;
  }

  /** Starts one with so many nodes, `node-0` and so on, in three zones. All of them are ready then. */
  static async start(assets: WholeAssets, nodes: number): Promise<WholeCluster> {
    const plane = await BreakableControlPlane.start(assets.servers, { serviceAccounts: true });
    try {
      const client = await connect({ kubeconfig: plane.kubeconfig });
      const cluster = new WholeCluster(plane, client, assets);
      await cluster.#startPrograms();
      await cluster.#makeNodes(nodes);
      await cluster.#ready(nodes);
      return cluster;
    } catch (error) {
      await plane[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs kubectl as the administrator. */
  async kubectl(...args: string[]): Promise<Output> {
    return await outputOf(`${this.#assets.whole}/kubectl`, ["--kubeconfig", this.plane.kubeconfig, ...args]);
  }

  /** What somebody needs who looks for the reason of a failure: folders, processes and a kubeconfig. */
  async describe(): Promise<string> {
    const pids: string[] = [];
    for (const name of ["etcd", "apiserver", ...Object.keys(SUBJECTS)]) {
      const isRunning = await this.plane.servers.isRunning(name);
      pids.push(`${name} ${isRunning ? await this.plane.servers.pid(name) : "has ended"}`);
    }
    const { kubeconfig, folder, serverFolder } = this.plane;
    return [
      `whole cluster: KUBECONFIG=${kubeconfig} ${this.#assets.whole}/kubectl`,
      `  logs: ${folder}/*.log ${serverFolder}/*.log`,
      `  processes: ${pids.join(", ")}`,
    ].join("\n");
  }

  /** Copies the logs of all programs into a new folder that stays, and returns its path. */
  async saveLogs(): Promise<string> {
    const to = await Deno.makeTempDir({ prefix: "informer-whole-logs-" });
    for (const from of [this.plane.folder, this.plane.serverFolder]) {
      for await (const { name } of Deno.readDir(from)) {
        if (name.endsWith(".log")) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
      }
    }
    return to;
  }

  /** Ends all programs, and removes their files. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.client[Symbol.dispose]();
    await this.plane[Symbol.asyncDispose]();
  }

  async #startPrograms(): Promise<void> {
    const { folder, serverFolder } = this.plane;
    const flags: Readonly<Record<keyof typeof SUBJECTS, readonly string[]>> = {
      "kube-controller-manager": [
        ...["--secure-port=0", "--profiling=false", "--controllers=*,bootstrapsigner,tokencleaner"],
        ...[`--root-ca-file=${folder}/ca.crt`, "--use-service-account-credentials"],
        `--service-account-private-key-file=${serverFolder}/accounts.key`,
        ...[
          `--cluster-signing-cert-file=${folder}/client-ca.crt`,
          `--cluster-signing-key-file=${folder}/client-ca.key`,
        ],
      ],
      "kube-scheduler": ["--secure-port=0", "--profiling=false"],
      "kwok": [
        `--config=${STAGES}`,
        "--manage-all-nodes=true",
        "--cidr=10.0.0.1/16",
        "--node-ip=127.0.0.1",
        "--node-lease-duration-seconds=40",
      ],
    };
    for (const name of Object.keys(SUBJECTS) as (keyof typeof SUBJECTS)[]) {
      const user = byCertificate(await signed(folder, name, SUBJECTS[name]));
      await this.plane.servers.start(name, {
        command: `${this.#assets.whole}/${name}`,
        args: [`--kubeconfig=${await this.plane.kubeconfigOf(user, name)}`, ...flags[name]],
        log: `${folder}/${name}.log`,
      });
    }
  }

  async #makeNodes(count: number): Promise<void> {
    await forEach(Array.from({ length: count }, (_, i) => i), (i) =>
      this.client.resource(Node).create({
        metadata: {
          name: `node-${i}`,
          labels: { "kubernetes.io/hostname": `node-${i}`, "topology.kubernetes.io/zone": `zone-${i % 3}` },
        },
      }));
  }

  /** Waits for the nodes, for a service account, and for the leader among the controllers. */
  async #ready(nodes: number): Promise<void> {
    await withDeadline(`${nodes} ready nodes, controllers and a scheduler`, async (signal) => {
      for (;; await delay(LOOK_MS, { signal })) {
        for (const name of Object.keys(SUBJECTS)) {
          if (!await this.plane.servers.isRunning(name)) await this.#fail(name);
        }
        const { items } = await this.client.resource(Node).list({ signal });
        const ready = items.filter(({ spec, status }) =>
          !spec?.taints?.length && status?.conditions?.some((it) => it.type === "Ready" && it.status === "True")
        );
        const accounts = await this.client.resource(ServiceAccount, { namespace: "default" }).list({ signal });
        const leases = await this.client.resource(Lease, { namespace: "kube-system" }).list({ signal });
        const leaders = leases.items.filter(({ metadata: { name }, spec }) =>
          ["kube-controller-manager", "kube-scheduler"].includes(name) && spec?.holderIdentity
        );
        if (ready.length === nodes && accounts.items.length > 0 && leaders.length === 2) return;
      }
    });
  }

  async #fail(name: string): Promise<never> {
    const log = await Deno.readTextFile(`${this.plane.folder}/${name}.log`);
    throw new Error(`Cannot start ${name}: it has ended. The end of its log:\n${log.slice(-1_500)}`);
  }
}
