// Reads events in a loop instead of handlers: what is cached, then what changes, until the tenth change.
//   deno run -A examples/events.ts
import { SharedInformerFactory } from "@kube/informer";
import { connect } from "@kube/informer/deno";
import { Pod } from "@kube/informer/kinds/core/v1";

using client = await connect();
await using informers = new SharedInformerFactory(client);
const pods = informers.forResource(Pod);
informers.start();

let changes = 0;
for await (const event of pods.events()) {
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
      continue;
  }
  if (!(event.type === "added" && event.initial) && ++changes === 10) break;
}
