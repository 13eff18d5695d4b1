// A process of a shard group: KUBECONFIG NAMESPACE IDENTITY [default], with short durations or the default ones. Prints
// the ranges that it acts on, and the writes that it sends, with the time of day in milliseconds.
import { connect } from "@kube/informer/connect";
import { ShardGroup } from "@kube/informer/reconcile";

const [kubeconfig, namespace, identity, durations] = Deno.args;
using client = await connect({
  kubeconfig,
  onRequest: ({ step, method, url }) => {
    if (step === "sent" && method !== "GET") say(`writes ${method} ${new URL(url).pathname.split("/").at(-1)}`);
  },
});
const group = new ShardGroup(client, {
  ...{ name: "shards", namespace, identity },
  ...(durations === undefined && { leaseMs: 3_000, renewDeadlineMs: 2_000, renewMs: 1_000 }),
  onError: () => {},
});
function say(what: string): void {
  console.log(`${Date.now()} ${what}`);
}

const stop = new AbortController();
Deno.addSignalListener("SIGTERM", () => stop.abort(new Error("SIGTERM")));

const acting = setInterval(() => say(`acts ${group.status().ranges.join()}`), 20);
using _ = group.onChange(() => say(`holds ${group.status().ranges.length}`));
await group.run({ signal: stop.signal });
clearInterval(acting);
say("stopped");
Deno.exit(0);
