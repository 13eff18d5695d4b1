// A process of an election: KUBECONFIG NAMESPACE IDENTITY. Prints what it does, with the time of day in milliseconds.
import { connect } from "@kube/informer/connect";
import { LeaderElector, LeadershipLostError } from "@kube/informer/reconcile";

const [kubeconfig, namespace, identity] = Deno.args;
using client = await connect({ kubeconfig });
const elector = new LeaderElector(client, {
  name: "election",
  namespace,
  identity,
  leaseMs: 3_000,
  renewDeadlineMs: 2_000,
  retryMs: 500,
});
const stop = new AbortController();
Deno.addSignalListener("SIGTERM", () => stop.abort(new Error("SIGTERM")));

const say = (what: string): void => console.log(`${Date.now()} ${what}`);
say("contends");
try {
  await elector.run(async (leadership) => {
    const { signal, fencing } = leadership;
    say(`leads ${fencing.transitions} ${fencing.resourceVersion}`);
    const acting = setInterval(() => {
      if (leadership.isHeld()) say("acts");
    }, 50);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    clearInterval(acting);
  }, { signal: stop.signal });
  say("stopped");
} catch (error) {
  if (!(error instanceof LeadershipLostError)) throw error;
  say(`lost: ${error.message}`);
  Deno.exit(3);
}
Deno.exit(0);
