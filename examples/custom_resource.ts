// Follows a custom resource: a type and a value of one name are all it takes.
//   deno run -A examples/custom_resource.ts
import { defineResource, type KubernetesObject, type Resource, SharedInformerFactory } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";

interface CronTab extends KubernetesObject {
  readonly spec: { readonly cronSpec: string; readonly replicas?: number };
}
const CronTab: Resource<CronTab> = defineResource<CronTab>({
  group: "stable.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

using signal = shutdownSignal();
using client = await connect();
await using informers = new SharedInformerFactory(client);
informers.forResource(CronTab).addEventHandler({
  onAdd: ({ key, object }) => console.log(`${key} runs at "${object.spec.cronSpec}"`),
  onDelete: ({ key }) => console.log(`${key} runs no more`),
  onSynced: ({ objects }) => console.log(`synced: ${objects} crontabs`),
});
await informers.run({ signal }); // until it is defined, a warning says that the server does not have it
