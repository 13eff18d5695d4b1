// A handler that comes late is told everything that is cached, and misses nothing and hears nothing twice after that.
//   deno run -A examples/late_handler.ts
import { SharedInformerFactory } from "@kube/informer";
import { connect } from "@kube/informer/deno";
import { Pod } from "@kube/informer/kinds/core/v1";

using client = await connect();
await using informers = new SharedInformerFactory(client);
const pods = informers.forResource(Pod);
informers.start();
await informers.waitForCacheSync();
console.log(`cached: ${pods.indexer.size} pods`);

let told = 0;
await using late = pods.addEventHandler({
  onAdd: ({ initial }) => {
    if (initial) told++;
  },
}, { name: "late" });
await late.waitForSync();
console.log(`synced: the late handler was told of ${told} pods`);
