import { type Client, findResource, isAlreadyExists, type KubernetesObject } from "@kube/informer";

/** Creates an object of any kind with strict validation of fields, if there is none. */
export async function create(client: Client, object: KubernetesObject, dryRun: boolean): Promise<void> {
  const resource = findResource(await client.discover(), object.kind!)!;
  await client.resource(resource, { namespace: object.metadata.namespace }).create(object as never, {
    fieldValidation: "Strict",
    dryRun,
  }).catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
