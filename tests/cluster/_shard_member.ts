// A process of a shard group: KUBECONFIG NAMESPACE IDENTITY. Prints the ranges that it acts on, with the time of day in
// milliseconds.
import { ShardGroup } from "@kube/informer/reconcile";
import { connect } from "@kube/informer/deno";

const [kubeconfig, namespace, identity] = Deno.args;
using client = await connect({ kubeconfig });
const group = new ShardGroup(client, {
  ...{ name: "shards", namespace, identity, leaseMs: 3_000, renewDeadlineMs: 2_000, renewMs: 1_000 },
  onError: () => {},
});
const stop = new AbortController();
Deno.addSignalListener("SIGTERM", () => stop.abort(new Error("SIGTERM")));

const say = (what: string): void => console.log(`${Date.now()} ${what}`);
const acting = setInterval(() => say(`acts ${group.status().ranges.join()}`), 20);
using _ = group.onChange(() => say(`holds ${group.status().ranges.length}`));
await group.run({ signal: stop.signal });
clearInterval(acting);
say("stopped");
Deno.exit(0);
