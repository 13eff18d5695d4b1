// An informer follows 1,000 pods on a fake API server over real HTTP, with 200 changes per second, and compares its
// cache with the server after 10 s. It needs no cluster.
//   deno task demo
import { Client, SharedInformerFactory } from "@kube/informer";
import { FetchServer } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";
import { type BuiltPod, churn, FakeApiServer, pod } from "@kube/informer/testing";
import process from "node:process";

using server = new FakeApiServer({ managedFields: false });
const make = (index: number): BuiltPod => pod({ name: `web-${index}`, namespace: "shop", node: `node-${index % 30}` });
for (let index = 0; index < 1_000; index++) server.create(Pod, make(index));
await using http = await FetchServer.listen(server.fetch, { port: 0 });
using client = new Client({ server: `http://127.0.0.1:${http.port}` });
await using informers = new SharedInformerFactory(client);
const pods = informers.forResource(Pod);
const delivered = { added: 0, updated: 0, deleted: 0 };
pods.addEventHandler({
  onAdd: () => void delivered.added++,
  onUpdate: () => void delivered.updated++,
  onDelete: () => void delivered.deleted++,
});

const startedAt = performance.now();
informers.start();
await informers.waitForCacheSync();
console.log(`synced    ${pods.indexer.size} pods in ${Math.round(performance.now() - startedAt)} ms`);

const change = churn(server, { resource: Pod, make, mix: "all" });
for (let second = 1; second <= 10; second++) {
  for (let tick = 0; tick < 20; tick++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (let count = 0; count < 10; count++) change();
  }
  if (second % 2 === 0) console.log(`${pods.status().state}      ${pods.indexer.size} pods after ${second} s`);
}

await pods.waitForVersion(server.resourceVersion, { signal: AbortSignal.timeout(5_000) });
const texts = (objects: readonly Pod[]): string => objects.map((object) => JSON.stringify(object)).sort().join();
const equal = texts(pods.lister.list()) === texts(server.list(Pod));
const { added, updated, deleted } = delivered;
console.log(`events    ${added} added, ${updated} updated, ${deleted} deleted`);
console.log(equal ? "equal     yes: the cache equals the server" : "equal     NO: the cache differs from the server");
if (!equal) process.exitCode = 1;
