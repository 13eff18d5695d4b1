// Follows a custom resource: a type and a value of one name are all it takes.
//   deno run -A examples/custom_resource.ts
import { defineResource, type KubernetesObject, type Resource, SharedInformerFactory } from "@kube/informer";
import { connect } from "@kube/informer/deno";

interface CronTab extends KubernetesObject {
  readonly spec: { readonly cronSpec: string; readonly replicas?: number };
}
const CronTab: Resource<CronTab> = defineResource<CronTab>({
  group: "stable.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

const stop = new AbortController();
Deno.addSignalListener("SIGINT", () => stop.abort());

using client = await connect();
await using informers = new SharedInformerFactory(client);
const crontabs = informers.forResource(CronTab);
crontabs.addEventHandler({
  onAdd: ({ key, object }) => console.log(`${key} runs at "${object.spec.cronSpec}"`),
  onDelete: ({ key }) => console.log(`${key} runs no more`),
});
informers.start({ signal: stop.signal });
// Patient: the definition may come later.
await informers.waitForCacheSync({ signal: stop.signal, patient: true });
console.log(`synced: ${crontabs.indexer.size} crontabs`);
await new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
