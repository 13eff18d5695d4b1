// Follows all deployments, reports what happens to them, and reads the cache with a lister.
//   deno run -A examples/deployments.ts
import { SharedInformerFactory } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { Deployment } from "@kube/informer/kinds/apps/v1";

using signal = shutdownSignal();
using client = await connect();
await using informers = new SharedInformerFactory(client);
const deployments = informers.forResource(Deployment);

deployments.addEventHandler({
  onAdd: ({ key, object }) => console.log(`added ${key}, ${object.spec.replicas ?? 1} replicas`),
  onUpdate: ({ key, object, previous }) => {
    if (object.spec.replicas !== previous.spec.replicas) {
      console.log(`scaled ${key} from ${previous.spec.replicas} to ${object.spec.replicas}`);
    }
  },
  onDelete: ({ key, finalStateUnknown }) => console.log(`deleted ${key}${finalStateUnknown ? ", some time ago" : ""}`),
  onSynced: ({ objects }) => {
    const web = deployments.lister.list("app=web");
    console.log(`synced: ${objects} deployments, ${web.length} of them with app=web`);
  },
});

await informers.run({ signal });
