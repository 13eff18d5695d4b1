// A relay of the config maps of one namespace, a process of its own: KUBECONFIG NAMESPACE PORT. Prints its port.
import { SharedInformerFactory } from "@kube/informer";
import { connect, FetchServer } from "@kube/informer/connect";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { InformerRelay } from "@kube/informer/relay";

const [kubeconfig, namespace, port] = Deno.args;
using client = await connect({ kubeconfig });
await using informers = new SharedInformerFactory(client, { namespace });
await using relay = new InformerRelay(informers, {
  collections: { maps: ConfigMap },
  cluster: "replicas",
  heartbeatMs: 5_000,
});
await using server = await FetchServer.listen(relay.fetch, { port: Number(port) });
console.log(server.port);
await new Promise(() => {}); // until it is killed
