// Without a cache: lists once, then follows every change from there, over interruptions, for as long as it is allowed to.
//   deno run -A examples/plain_watch.ts
import { isExpired } from "@kube/informer";
import { connect } from "@kube/informer/deno";
import { Pod } from "@kube/informer/kinds/core/v1";

const stop = new AbortController();
Deno.addSignalListener("SIGINT", () => stop.abort());

using client = await connect();
const pods = client.resource(Pod);
while (!stop.signal.aborted) {
  const { items, resourceVersion } = await pods.list();
  console.log(`listed: ${items.length} pods at version ${resourceVersion}`);
  try {
    for await (const event of pods.follow({ resourceVersion, signal: stop.signal })) {
      if (event.type !== "BOOKMARK") console.log(event.type, event.object.metadata.name);
    }
  } catch (error) {
    if (!stop.signal.aborted && !isExpired(error)) throw error; // expired: list again
  }
}
