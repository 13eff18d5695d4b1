import { type Client, defineResource, isNotFound, type KubernetesObject, type Resource } from "@kube/informer";
import { delay } from "@std/async/delay";
import { withDeadline } from "./with_deadline.ts";

/** A custom resource, as it is described to the server. */
export interface Definition extends KubernetesObject {
  /** Its names, scope and versions. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The resource of CustomResourceDefinitions. */
export const Definition: Resource<Definition> = defineResource<Definition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  scope: "Cluster",
});

/** An OpenAPI v3 schema, by which the server checks, prunes and fills in objects. */
export type Schema = Readonly<Record<string, unknown>>;

/** A schema that lets everything pass. */
const ANYTHING: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** The name that the definition of a resource has. */
export function definitionName({ plural, group }: Resource): string {
  return `${plural}.${group}`;
}

/** The one version of a resource that its definition names. */
export function versionsOf({ version }: Resource, openAPIV3Schema: Schema = ANYTHING): readonly unknown[] {
  return [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }];
}

/** Has the server serve a custom resource, which it does within a second. */
export async function define(client: Client, resource: Resource<KubernetesObject>, schema?: Schema): Promise<void> {
  const { group, scope, plural, kind } = resource;
  await client.resource(Definition).create({
    metadata: { name: definitionName(resource) },
    spec: {
      group,
      scope,
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: versionsOf(resource, schema),
    },
  });
}

/** Sends a request about a kind that was just defined, until the server serves the kind: it answers 404 before that. */
export async function onceServed<R>(request: () => Promise<R>): Promise<R> {
  return await withDeadline("the server to serve a kind", async (signal) => {
    for (;; await delay(50, { signal })) {
      try {
        return await request();
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  });
}

/** Has the server serve it no longer, and delete its objects. */
export async function undefine(client: Client, resource: Resource<KubernetesObject>): Promise<void> {
  await client.resource(Definition).delete(definitionName(resource));
}
