// A handler that comes late receives everything that is cached, and after that every change, once.
//   deno run -A examples/late_handler.ts
import { SharedInformerFactory } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";

using signal = shutdownSignal();
using client = await connect();
await using informers = new SharedInformerFactory(client);
const pods = informers.forResource(Pod);

function addLateHandler(): void {
  let received = 0;
  pods.addEventHandler({
    onAdd: ({ key, initial }) => initial ? received++ : console.log("added", key),
    onSynced: () => console.log(`synced: the late handler received ${received} pods`),
  }, { name: "late" });
}

pods.addEventHandler({
  onSynced: ({ objects }) => {
    console.log(`cached: ${objects} pods`);
    addLateHandler();
  },
});
await informers.run({ signal });
