// Serves the pods of a cluster from Deno Deploy: without a stored credential, and without a list after a stop. See
// README.md.
import { SharedInformerFactory } from "@kube/informer";
import { connect, type ConnectOptions, KvSnapshots, shutdownSignal } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";
import { InformerRelay } from "@kube/informer/relay";

using signal = shutdownSignal();
await using parts = new AsyncDisposableStack();
const viewer = Deno.env.get("VIEW_TOKEN");
let opened: Promise<InformerRelay> | undefined;

/** The server listens before anything is fetched; the first request opens the rest. */
const http = Deno.serve({ port: Number(Deno.env.get("PORT") ?? 8000) }, async (request, info) => {
  opened ??= open(); // where it fails, all requests are answered by 500, and a restart tries again
  return await (await opened).fetch(request, info);
});
await new Promise((resolve) => signal.addEventListener("abort", resolve));
await opened?.catch(() => {});
await parts.disposeAsync(); // ends streams, and writes what has changed
Deno.unrefTimer(setTimeout(() => Deno.exit(), 1_000)); // a connection may be idle
await http.shutdown();

async function open(): Promise<InformerRelay> {
  const client = parts.use(await connect(options()));
  const store = parts.use(await KvSnapshots.open());
  const informers = parts.use(new SharedInformerFactory(client, { snapshots: { store, intervalMs: 30_000 } }));
  return parts.use(
    new InformerRelay(informers, {
      collections: { pods: Pod },
      hosts: Deno.env.get("VIEW_HOSTS")?.split(","),
      authorize: ({ headers }) => viewer !== undefined && headers.get("authorization") === `Bearer ${viewer}`,
    }),
  );
}

/**
 * On Deno Deploy: the cluster of the environment, and tokens that Deno Deploy issues to this app; else those of
 * kubectl.
 */
function options(): ConnectOptions {
  if (!Deno.env.has("DENO_DEPLOY")) return {};
  const oidc = "jsr:@deno/oidc"; // a variable: the package is loaded on Deno Deploy alone
  return {
    server: Deno.env.get("CLUSTER_SERVER"),
    ca: Deno.env.get("CLUSTER_CA"),
    token: async () => (await import(oidc)).getIdToken(Deno.env.get("CLUSTER_AUDIENCE")),
  };
}
