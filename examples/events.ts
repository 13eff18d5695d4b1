// Reads events in a loop instead of handlers: what is cached, then what changes, until it is interrupted.
//   deno run -A examples/events.ts
import { SharedInformerFactory } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";

using signal = shutdownSignal();
using client = await connect();
await using informers = new SharedInformerFactory(client);
const pods = informers.forResource(Pod);
const running = informers.run({ signal });

for await (const event of pods.events()) { // ends when the informer stops
  switch (event.type) {
    case "added":
      console.log(event.initial ? "found" : "added", event.key);
      break;
    case "updated":
      console.log("updated", event.key, event.previous.status?.phase, "→", event.object.status?.phase);
      break;
    case "deleted":
      console.log("deleted", event.key);
      break;
    case "synced":
      console.log(`synced: ${event.objects} pods`);
      break;
  }
}
await running;
