import { defineResource, type KubernetesObject, type ObjectDraft, type Resource } from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import type { FakeApiServer } from "@kube/informer/testing";
import { OPEN_SCHEMA } from "../servers/fake_server.ts";

/** A custom kind whose definition comes and goes. */
export interface Widget extends KubernetesObject {
  readonly spec?: { readonly size: number };
}

/** Widgets. */
export const Widget: Resource<Widget> = kindOf("widgets", "Widget");

/** Another kind of the same group. */
export const Gadget: Resource<Widget> = kindOf("gadgets", "Gadget");

function kindOf(plural: string, kind: string): Resource<Widget> {
  return defineResource<Widget>({ group: "acme.dev", version: "v1", plural, kind });
}

/** Returns the definition of a kind, whose one version has what is given besides, such as a schema. */
export function definitionOf(
  { group, scope, version, plural, kind }: Resource<KubernetesObject>,
  more: object = {},
): ObjectDraft<CustomResourceDefinition> {
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema: OPEN_SCHEMA, ...more }],
    },
  };
}

/** Creates the definition of such a kind. */
export function define(server: FakeApiServer, kind: Resource<Widget>): void {
  server.create(CustomResourceDefinition, definitionOf(kind));
}

/** Deletes the definition of such a kind. */
export function undefine(server: FakeApiServer, { plural, group }: Resource<Widget>): void {
  server.delete(CustomResourceDefinition, `${plural}.${group}`);
}

/** Creates a widget, or another object of such a kind. */
export function createWidget(server: FakeApiServer, name: string, kind: Resource<Widget> = Widget): void {
  server.create(kind, { metadata: { name, namespace: "shop" }, spec: { size: 1 } });
}
