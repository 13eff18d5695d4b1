/**
 * Clusters whose kubeconfigs are in Secrets.
 *
 * {@linkcode followClusterSecrets} is the entry point. It adds clusters to a `ClusterSet` and removes them. Your
 * function creates the clients.
 *
 * @module
 */
import type { Abortable } from "../../../engine/api/call_options.ts";
import { defined } from "../../../engine/api/json.ts";
import { decoder } from "../../../engine/api/object.ts";
import { backoffMs, LongTimer } from "../../../engine/async/time.ts";
import { inTurn } from "../../../engine/async/turns.ts";
import type { Client } from "../../../engine/client/client.ts";
import { InformerError } from "../../../engine/errors/informer_error.ts";
import { internals } from "../../../engine/errors/internals.ts";
import { checkNames } from "../../../engine/errors/option_names.ts";
import { SharedIndexInformer } from "../../../engine/informer/shared_index_informer.ts";
import { Secret } from "../../../engine/kinds/core/v1.ts";
import type { ClusterSet } from "./cluster_set.ts";

/** The label that multicluster-runtime sets on such Secrets. */
const LABEL = "sigs.k8s.io/multicluster-runtime-kubeconfig=true";

/** Options for {@linkcode followClusterSecrets}. The signal ends it. */
export interface ClusterSecretsOptions extends Abortable {
  /**
   * Returns a client for a kubeconfig's text. `name` is the cluster's name. Use `connectKubeconfig` in `./connect`: it
   * refuses kubeconfigs that name commands or files.
   */
  readonly connect: (kubeconfig: string, name: string) => Client | Promise<Client>;
  /** The Secrets' namespace. By default the client's namespace, or `default` if it has none. */
  readonly namespace?: string;
  /** Selects the Secrets by label. @default {"sigs.k8s.io/multicluster-runtime-kubeconfig=true"} */
  readonly labelSelector?: string;
  /** The key in the Secret's data that has the kubeconfig. @default {"kubeconfig"} */
  readonly key?: string;
}

/** A Secret, as it was last looked at. */
interface KnownSecret {
  /** Its cluster's kubeconfig, or `undefined` if the cluster was not added. */
  text?: string;
  /** The number of times in a row that its kubeconfig could not be used. */
  failures: number;
  /** Armed by each of these. */
  readonly retry: LongTimer;
}

/**
 * Keeps the clusters in a set equal to the Secrets with a label, each of which holds a kubeconfig. It adds a cluster
 * with the Secret's name, replaces it when the kubeconfig changes, and removes it when the Secret is deleted. It
 * resolves when the signal has aborted, and the clusters stay.
 *
 * A Secret that cannot be used is reported to the set's `onError`, with the cluster's name. The Secret's earlier
 * cluster stays. It is tried again with the set's `backoff`, and as soon as it changes: a service that `connect` needs
 * may be down, or another cluster may have the name.
 *
 * Be careful who may write such Secrets: they choose the servers to which this process connects.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ClusterSet, followClusterSecrets } from "@kube/informer/clusters";
 * import { Secret } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Secret, {
 *   metadata: {
 *     name: "berlin",
 *     namespace: "fleet",
 *     labels: { "sigs.k8s.io/multicluster-runtime-kubeconfig": "true" },
 *   },
 *   data: { kubeconfig: btoa("apiVersion: v1\nkind: Config") },
 * });
 * using client = new Client({ server: "http://fake", transport: server });
 * // In a program: connectKubeconfig of "@kube/informer/connect".
 * const connect = () => new Client({ server: "http://fake", transport: new FakeApiServer() });
 * const stop = new AbortController(); // in a program: using signal = shutdownSignal() of "@kube/informer/connect"
 * const { signal } = stop;
 * await using clusters = new ClusterSet();
 * await Promise.all([
 *   followClusterSecrets(clusters, client, { namespace: "fleet", connect, signal }),
 *   clusters.run(() => stop.abort(), { signal }), // called when the cluster was added
 * ]);
 * assertEquals(clusters.names, ["berlin"]);
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

/** Returns the text of a value in a Secret's data, or `""` if there is none. */
function decoded(data = ""): string {
  return decoder.decode(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)));
}
