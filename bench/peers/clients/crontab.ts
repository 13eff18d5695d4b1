import process from "node:process";
import { defineResource, type KubernetesObject, type Resource } from "@kube/informer";

/** The custom resource whose objects are reconciled. */
export interface CronTab extends KubernetesObject {
  /** The desired state. */
  readonly spec: { readonly schedule: string; readonly image: string; readonly replicas: number };
  /** The observed state; `round` is the number of the run that has written it. */
  readonly status?: { readonly round?: number; readonly replicas?: number };
}

/** The custom resource whose objects are reconciled. */
export const CronTab: Resource<CronTab> = defineResource<CronTab>({
  group: "bench.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

/** The job of one run, and its progress: each object must be reconciled with a status of this round in the cache. */
export class Round {
  /** The path of the kubeconfig. */
  readonly kubeconfig: string;
  /** The number of the round. */
  readonly number: number;
  readonly #objects: number;
  readonly #done = new Set<string>();
  readonly #finished = Promise.withResolvers<void>();

  /** Reads the command line: KUBECONFIG OBJECTS ROUND. */
  constructor() {
    const [kubeconfig, objects, round] = process.argv.slice(2);
    this.kubeconfig = kubeconfig;
    this.#objects = Number(objects);
    this.number = Number(round);
  }

  /** Counts an object whose status is of this round. */
  done(key: string): void {
    this.#done.add(key);
    if (this.#done.size === this.#objects) this.#finished.resolve();
  }

  /** Waits for the end of the job, says so, and stays until the parent has looked at the process. */
  async finish(): Promise<never> {
    await this.#finished.promise;
    process.stdout.write("done\n");
    process.stdin.resume();
    await new Promise((resolve) => process.stdin.once("end", resolve));
    process.exit(0);
  }
}
