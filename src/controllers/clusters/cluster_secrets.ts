/**
 * Clusters whose kubeconfigs are in Secrets.
 *
 * {@linkcode followClusterSecrets} is the entry point. It adds clusters to a `ClusterSet` and removes them, and makes
 * no client by itself.
 *
 * @module
 */
import { decoder } from "../../api/object.ts";
import { type Abortable, defined } from "../../api/options.ts";
import { inTurn } from "../../async/signals.ts";
import { backoffMs, LongTimer } from "../../async/time.ts";
import type { Client } from "../../client/client.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { internals } from "../../errors/internals.ts";
import { checkNames } from "../../errors/option_names.ts";
import { SharedIndexInformer } from "../../informer/shared_index_informer.ts";
import { Secret } from "../../kinds/core/v1.ts";
import type { ClusterSet } from "./cluster_set.ts";

/** The label that multicluster-runtime gives to such Secrets. */
const LABEL = "sigs.k8s.io/multicluster-runtime-kubeconfig=true";

/** Options of {@linkcode followClusterSecrets}. The signal ends it. */
export interface ClusterSecretsOptions extends Abortable {
  /**
   * Returns a client of the text of a kubeconfig; `name` is that of the cluster. `connectKubeconfig` of `./connect`
   * does, and refuses what names commands or files.
   */
  readonly connect: (kubeconfig: string, name: string) => Client | Promise<Client>;
  /** The namespace of the Secrets. @default {that of the client} */
  readonly namespace?: string;
  /** The labels of the Secrets. @default {"sigs.k8s.io/multicluster-runtime-kubeconfig=true"} */
  readonly labelSelector?: string;
  /** The key of their data that has the kubeconfig. @default {"kubeconfig"} */
  readonly key?: string;
}

/** A Secret, as it was last looked at. */
interface KnownSecret {
  /** The kubeconfig of its cluster; `undefined` if that was not added. */
  text?: string;
  /** The number of times in a row that its kubeconfig could not be used. */
  failures: number;
  /** Armed by each of these. */
  readonly retry: LongTimer;
}

/**
 * Follows the Secrets of a label, each of which holds a kubeconfig: adds a cluster with the name of the Secret, makes
 * it anew when the kubeconfig changes, and removes it when the Secret is deleted. Resolves when the signal has aborted;
 * the clusters stay.
 *
 * A Secret that cannot be used is reported to `onError` of the set, with the name of the cluster, and the cluster that
 * it had before stays. It is tried again with the set's `backoff`, and as soon as it changes: the service that
 * `connect` asks may be away, or another cluster may have the name. The right to write such Secrets is the right to
 * choose the servers that this process asks.
 *
 * @example
 * ```ts ignore
 * import { ClusterSet, followClusterSecrets } from "@kube/informer/clusters";
 * import { connect, connectKubeconfig, shutdownSignal } from "@kube/informer/connect";
 *
 * using signal = shutdownSignal();
 * using client = await connect();
 * await using clusters = new ClusterSet();
 * await followClusterSecrets(clusters, client, { namespace: "fleet", connect: connectKubeconfig, signal });
 * ```
 */
export async function followClusterSecrets(
  clusters: ClusterSet,
  client: Client,
  options: ClusterSecretsOptions,
): Promise<void> {
  checkNames("follow Secrets", options, "connect namespace labelSelector key signal");
  const { connect, namespace = client.namespace || "default", labelSelector = LABEL, key = "kubeconfig", signal } =
    options;
  const known = new Map<string, KnownSecret>();
  const running = new Set<Promise<void>>();
  await using secrets = new SharedIndexInformer<Secret>(client.resource(Secret, { namespace, labelSelector }), {
    secretData: "keep",
    onError: (error) => clusters[internals].report(error, `Secrets of ${namespace}`),
  });

  async function apply(name: string, state: KnownSecret): Promise<void> {
    if (signal?.aborted) return;
    const secret = secrets.lister.get(`${namespace}/${name}`);
    const isGone = secret === undefined || secret.metadata.deletionTimestamp !== undefined;
    const text = isGone ? undefined : decoded(secret.data?.[key]);
    if (text === state.text) return;
    const made = text === undefined ? undefined : await connect(text, name);
    if (state.text !== undefined) await clusters.remove(name).catch((error) => clusters[internals].report(error, name)); // it has left
    state.text = undefined;
    if (made === undefined) return;
    try {
      clusters.add(name, made);
      state.text = text;
    } catch (error) {
      made[Symbol.dispose]();
      throw error;
    }
  }

  const changed = ({ name }: { readonly name: string }): void => {
    const state = known.get(name) ?? { failures: 0, retry: new LongTimer(() => changed({ name })) };
    known.set(name, state);
    const applied = inTurn(state, async () => {
      await apply(name, state);
      state.failures = 0;
    }).catch((cause) => {
      const error = new InformerError(`Cannot use the kubeconfig of Secret "${namespace}/${name}"`, { cause });
      clusters[internals].report(error, name);
      if (known.has(name)) state.retry.arm(backoffMs(state.failures++, clusters[internals].backoff()));
    }).finally(() => running.delete(applied));
    running.add(applied);
  };
  secrets.addEventHandler({ onAdd: changed, onUpdate: changed, onDelete: changed }, { name: "clusters" });
  try {
    await secrets.run(defined({ signal }));
    await Promise.all(running);
  } finally {
    for (const { retry } of known.values()) retry[Symbol.dispose]();
    known.clear(); // what runs still arms no timer
  }
}

/** Returns the text of a value of a Secret's data; `""` if there is none. */
function decoded(data = ""): string {
  return decoder.decode(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)));
}
