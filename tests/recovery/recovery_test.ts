import { connect } from "@kube/informer/connect";
import { FakeApiServer } from "@kube/informer/testing";
import { FaultProxy } from "../support/recovery/fault_proxy.ts";
import { DISCONNECTS } from "../support/recovery/fault_schedule.ts";
import { MarkerWriter } from "../support/recovery/marker.ts";
import { assertRecovery, InformerFollower, PATIENCE_MS, recoveriesOf } from "../support/recovery/recovery.ts";
import { serve } from "../support/servers/serve.ts";

Deno.test("SharedIndexInformer recovers from random network faults over HTTP within seconds, without a relist", async () => {
  await using server = await serve(new FakeApiServer());
  using writer = await connect({ server: server.url });
  await using _marker = new MarkerWriter(writer);
  const recoveries = await Promise.all([...DISCONNECTS].map(async ([seed, schedule]) => {
    const proxy = new FaultProxy(server.url);
    await using follower = new InformerFollower(proxy, await connect({ server: proxy.url }));
    const [recovery] = await recoveriesOf(schedule, [follower], PATIENCE_MS);
    return { seed, recovery };
  }));
  for (const { seed, recovery } of recoveries) assertRecovery(recovery, `seed ${seed}`);
});
