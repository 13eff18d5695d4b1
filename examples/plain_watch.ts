// Without a cache: lists once, then follows every change from there, over interruptions, for as long as it is allowed
// to.
//   deno run -A examples/plain_watch.ts
import { isExpired } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";

using signal = shutdownSignal();
using client = await connect();
const pods = client.resource(Pod);
while (!signal.aborted) {
  try {
    const { items, resourceVersion } = await pods.list({ signal });
    console.log(`listed: ${items.length} pods at version ${resourceVersion}`);
    for await (const event of pods.follow({ resourceVersion, signal })) {
      if (event.type !== "BOOKMARK") console.log(event.type, event.object.metadata.name);
    }
  } catch (error) {
    if (!signal.aborted && !isExpired(error)) throw error; // expired: list again
  }
}
