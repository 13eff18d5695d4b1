/**
 * Our reconciler with its defaults and 8 workers, as a process: KUBECONFIG OBJECTS ROUND. Its own writes of a status
 * lead to no reconcile, so a handler of its informer sees which objects the cache has with the status of this round.
 */
import { connect } from "@kube/informer/connect";
import { Reconciler, writeStatus } from "@kube/informer/reconcile";
import { CronTab, Round } from "./crontab.ts";

const round = new Round();
const client = await connect({ kubeconfig: round.kubeconfig });
const tabs = new Reconciler(client, CronTab, async ({ object, client }) => {
  if (object === undefined || object.status?.round === round.number) return;
  await writeStatus(client.resource(CronTab), object, { round: round.number, replicas: object.spec.replicas });
}, { concurrency: 8 });
tabs.informer.addEventHandler({
  onUpdate: ({ key, object }) => {
    if (object.status?.round === round.number) round.done(key);
  },
});
void tabs.run();
await round.finish();
