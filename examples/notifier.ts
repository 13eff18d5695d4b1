// Says which pods have failed, each once, also those that fail while it does not run: it neither misses nor repeats a
// message, but for that of a call in which it is killed.
//   STATE_DIRECTORY=/var/lib/notifier deno run -A examples/notifier.ts
import { Checkpoint, field, SharedInformerFactory } from "@kube/informer";
import { connect, FileCheckpoints, shutdownSignal } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";
import process from "node:process";

using signal = shutdownSignal();
using client = await connect();
const store = new FileCheckpoints(process.env.STATE_DIRECTORY ?? ".");
await using checkpoint = await Checkpoint.open(store, { name: "failed-pods" });
await using informers = new SharedInformerFactory(client);
informers.forResource(Pod).addEventHandler({
  onAdd: ({ key, object }) => notify(`${key} has failed: ${object.status?.reason ?? "no reason"}`),
  onDelete: ({ key }) => notify(`${key} is gone`),
}, { checkpoint, filter: field("status.phase").equals("Failed"), name: "notifier" });
await informers.run({ signal });

/** A message counts as sent when this has resolved. When it throws, it is called again until it succeeds. */
async function notify(text: string): Promise<void> {
  const url = process.env.WEBHOOK;
  if (url !== undefined) {
    const response = await fetch(url, { method: "POST", body: text, signal });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`The webhook answers ${response.status}`);
  }
  console.log(text);
}
