/** Our reconciler with its defaults and 8 workers, as a process: KUBECONFIG OBJECTS ROUND. */
import { connect } from "../../../src/deno/mod.ts";
import { Reconciler, writeStatus } from "../../../src/reconcile/mod.ts";
import { CronTab, Round } from "./crontab.ts";

const round = new Round();
const client = await connect({ kubeconfig: round.kubeconfig });
const tabs = new Reconciler(client, CronTab, async (key, { object, client }) => {
  if (object === undefined) return;
  if (object.status?.round === round.number) return round.done(key);
  await writeStatus(client.resource(CronTab), object, { round: round.number, replicas: object.spec.replicas });
}, { concurrency: 8 });
void tabs.run();
await round.finish();
