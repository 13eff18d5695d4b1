/**
 * The CPU of an event of a pod that is one of PODS of a Deployment, with and without `workloadStatus()`, on a fake
 * server in a process of its own: MODE PODS; `status`, or `none` for the informers alone. None of the pods is ready at
 * first, and each event makes one of them ready.
 */
import process from "node:process";
import { Client, SharedInformerFactory } from "../../mod.ts";
import { Deployment, ReplicaSet } from "../../src/engine/kinds/apps/v1.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { ownerReferenceTo } from "../../src/operator/controllers/reconcile/mod.ts";
import { workloadStatus } from "../../src/operator/workloads/mod.ts";
import { deployment, FakeApiServer, pod } from "../../src/testing/mod.ts";
import { median } from "../statistics.ts";
import { collect, measureCase, type Measurement, type Numbers, ratio } from "./measurement.ts";

/** The pods of the workload. */
const SIZES = { statusa: 50, statusb: 3_000 };
/** The events that are not counted, while code becomes warm, and those that are. */
const [WARM, COUNTED] = [100, 400];

/** What `workloadStatus()` adds to an event of a pod. */
export const WORKLOAD_STATUS: Measurement = {
  ids: Object.keys(SIZES),
  name: "status",
  measure: async ({ repetitions }) => {
    const limits = [];
    for (const [id, pods] of Object.entries(SIZES)) {
      const runs: Record<string, Numbers[]> = { status: [], none: [] };
      for (let repetition = 0; repetition < repetitions; repetition++) {
        for (const mode of Object.keys(runs)) {
          runs[mode].push(await measureCase(import.meta.url, { args: [mode, pods] }));
        }
      }
      const of = (mode: string): number => median(runs[mode].map(({ cpuUs }) => cpuUs));
      limits.push(
        ratio(
          id,
          `CPU of a pod's event, workload of ${pods}: with its status / without`,
          of("status") / of("none"),
          1.7,
        ),
      );
    }
    return limits;
  },
};

async function main(): Promise<void> {
  const [mode, count] = [Deno.args[0], Number(Deno.args[1])];
  const server = new FakeApiServer({ schemas: { requests: false } });
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "app", image: "web:1" }] } };
  const { metadata, status } = deployment({ name: "web", namespace: "shop", labels });
  const web = server.create(Deployment, {
    metadata,
    spec: { replicas: count, selector: { matchLabels: labels }, template },
    status: { ...status, replicas: count, updatedReplicas: count, availableReplicas: 0 },
  });
  const set = server.create(ReplicaSet, {
    metadata: {
      name: "web-1",
      namespace: "shop",
      labels,
      ownerReferences: [ownerReferenceTo(web, { controller: true })],
    },
    spec: { replicas: count, selector: { matchLabels: labels }, template },
  });
  const ownerReferences = [ownerReferenceTo(set, { controller: true })];
  for (let i = 0; i < count; i++) {
    server.create(Pod, pod({ name: `web-1-${i}`, namespace: "shop", labels, ownerReferences, phase: "Pending" }));
  }
  using client = new Client({ server: "http://fake", transport: server });
  await using informers = new SharedInformerFactory(client);
  const pods = informers.forResource(Pod);
  for (const kind of [Deployment, ReplicaSet] as const) informers.forResource<Deployment | ReplicaSet>(kind);
  await using workloads = mode === "status" ? workloadStatus(informers, { kinds: ["Deployment"] }) : undefined;
  informers.start();
  await informers.waitForCacheSync();
  await workloads?.waitForCacheSync();
  let began = process.cpuUsage();
  for (let i = 0; i < WARM + COUNTED; i++) {
    if (i === WARM) {
      collect();
      began = process.cpuUsage();
    }
    const isReady = Math.floor(i / count) % 2 === 0;
    const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }] as const;
    const status = { phase: "Running", podIP: `10.0.0.${i % 250}`, conditions } as const;
    const { metadata } = server.patch(Pod, `shop/web-1-${i % count}`, { status });
    await pods.waitForVersion(metadata.resourceVersion);
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
  }
  const { user, system } = process.cpuUsage(began);
  console.log(JSON.stringify({ cpuUs: (user + system) / COUNTED }));
}

if (import.meta.main) await main();
