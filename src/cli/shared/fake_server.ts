/**
 * Fills and changes the fake API server of `--fake` and `informer fake`.
 *
 * {@linkcode fakeTransport}, {@linkcode fillFakeServer} and {@linkcode SteadyChurn} are the entry points. The pods look
 * like those of a small company: teams, applications of four pods, and nodes of 30. They are not as large as real ones.
 *
 * @module
 */
import type { Transport } from "../../engine/api/lister_watcher.ts";
import { nextTurn } from "../../engine/async/turns.ts";
import { Namespace, Node, Pod, type Pod as PodObject } from "../../engine/kinds/core/v1.ts";
import { type BuiltPod, churn, type ChurnOptions, FakeApiServer, namespace, node, pod } from "../../testing/mod.ts";

/** The first pods are in the namespace "default", in which commands look without -n and -A. */
const IN_DEFAULT = 20;

/** The number of pods that are created in one turn. */
const AT_A_TIME = 500;

/** The pods that {@linkcode fillFakeServer} creates. */
interface Filling {
  /** Number of pods. */
  readonly count: number;
  /** The same seed, the same objects. @default {1} */
  readonly seed?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Called with the number of pods so far, between turns. */
  readonly onProgress?: (made: number) => void;
}

/** Creates pods on a fake server, and the namespaces and nodes that they are in; a few hundred in each turn. */
export async function fillFakeServer(server: FakeApiServer, filling: Filling): Promise<void> {
  const { count, seed = 1, signal, onProgress } = filling;
  const namespaces = new Set(["default", "kube-system"]);
  const nodes = new Set<string>();
  let made = 0;
  while (made < count) {
    const pod = samplePod(made, seed);
    const { namespace: own = "default" } = pod.metadata;
    const where = made++ < IN_DEFAULT ? "default" : own;
    server.create(Pod, { ...pod, metadata: { ...pod.metadata, namespace: where } });
    namespaces.add(where);
    if (pod.spec.nodeName !== undefined) nodes.add(pod.spec.nodeName);
    if (made % AT_A_TIME !== 0 || made === count) continue;
    onProgress?.(made);
    await nextTurn();
    if (signal?.aborted) return;
  }
  for (const name of namespaces) {
    if (server.get(Namespace, name) === undefined) server.create(Namespace, namespace({ name }));
  }
  for (const name of nodes) server.create(Node, node({ name }));
}

const TICK_MS = 10;

/** Changes pods of a fake server at a steady rate. */
export class SteadyChurn {
  readonly #step: () => void;
  readonly #perSecond: number;
  readonly #forMs: number;
  /** Set while the changes run. */
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Time of {@linkcode SteadyChurn.start}, by the monotonic clock. */
  #startedAt = 0;
  /** Changes made so far; at most those due by the rate. */
  #done = 0;

  /** Changes `perSecond` pods, by default without an end. */
  constructor(
    server: FakeApiServer,
    perSecond: number,
    { forMs = Infinity, ...options }: Pick<ChurnOptions<PodObject>, "mix" | "seed"> & { readonly forMs?: number } = {},
  ) {
    this.#perSecond = perSecond;
    this.#forMs = forMs;
    this.#step = churn(server, { resource: Pod, make: (index) => samplePod(index, options.seed), ...options });
  }

  /** Starts the changes. The average rate is exact, even if timers are late. */
  start(): void {
    if (this.#perSecond <= 0) return;
    this.#startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Stops the changes. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const elapsed = performance.now() - this.#startedAt;
    const due = Math.floor((Math.min(elapsed, this.#forMs) * this.#perSecond) / 1_000);
    while (this.#done < due) {
      this.#step();
      this.#done++;
    }
    if (elapsed >= this.#forMs) this.stop();
  }
}

const TEAMS = ["billing", "catalog", "checkout", "identity", "ingest", "mail", "media", "orders", "search", "shop"];
const STAGES = ["prod", "staging", "canary"];

/** Builds the pod of an index; the same index and seed give the same pod, and no two indexes give the same name. */
export function samplePod(index: number, seed = 1): BuiltPod {
  const application = Math.floor(index / 4);
  const [team, stage] = [TEAMS[application % TEAMS.length], STAGES[application % STAGES.length]];
  const app = `${team}-api-${application}`;
  const image = `registry.example.com/${team}/api:v1.${application % 30}`;
  const host = Math.floor(index / 30);
  const suffix = (Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b)) >>> 0;
  const startedAt = new Date(Date.UTC(2026, 0, 1) + (index % 500_000) * 7_000).toISOString().replace(".000", "");
  return pod({
    name: `${app}-${suffix.toString(36)}`,
    namespace: `${team}-${stage}`,
    labels: { app, team, stage },
    node: `ip-10-0-${host >>> 8}-${host & 255}.example.internal`,
    image,
    spec: { serviceAccountName: app },
    status: {
      podIP: `10.${42 + (index >>> 16)}.${(index >>> 8) & 255}.${index & 255}`,
      startTime: startedAt,
      containerStatuses: [{
        name: "app",
        image,
        imageID: "",
        ready: true,
        started: true,
        restartCount: suffix % 3,
        state: { running: { startedAt } },
      }],
    },
  });
}

/** Returns the transport of a client on a fake server with 100 pods that change. Disposing it disposes the server. */
export async function fakeTransport(): Promise<Transport & Disposable> {
  const server = new FakeApiServer();
  await fillFakeServer(server, { count: 100 });
  const churn = new SteadyChurn(server, 5, { mix: "all" });
  churn.start();
  return {
    fetch: (request) => server.fetch(request),
    [Symbol.dispose]: () => {
      churn.stop();
      server[Symbol.dispose]();
    },
  };
}
