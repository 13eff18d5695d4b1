import { connect } from "@kube/informer/deno";
import { FaultProxy } from "../support/recovery/fault_proxy.ts";
import { DISCONNECTS } from "../support/recovery/fault_schedule.ts";
import { MarkerWriter } from "../support/recovery/marker.ts";
import { assertRecovery, InformerFollower, PATIENCE_MS, recoveriesOf } from "../support/recovery/recovery.ts";
import { clusterTests, report, STREAMS } from "./_cluster.ts";

const cluster = clusterTests();

cluster.withPlane(
  "SharedIndexInformer recovers from random network faults over TLS within seconds, without a relist",
  async ({ client, kubeconfig, plane }) => {
    await using _marker = new MarkerWriter(client);
    const recoveries = await Promise.all([...DISCONNECTS].map(async ([seed, schedule]) => {
      const proxy = new FaultProxy(plane.url);
      await using follower = new InformerFollower(proxy, await connect({ kubeconfig, server: proxy.url }));
      const [recovery] = await recoveriesOf(schedule, [follower], PATIENCE_MS);
      const percent = Math.round(recovery.share * 100);
      report(`seed ${seed}: current ${percent} % of the time, recovered in ${recovery.recoveryMs} ms`);
      return { seed, recovery };
    }));
    for (const { seed, recovery } of recoveries) assertRecovery(recovery, `seed ${seed}`, STREAMS ? 1 : 2);
  },
);
