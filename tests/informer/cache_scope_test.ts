import { assertEquals } from "@std/assert";
import { fieldsOf } from "../../src/api/fields.ts";
import { metadataOf } from "../../src/api/resource.ts";
import { CacheScope } from "../../src/informer/cache_scope.ts";
import { Deployment } from "../../src/kinds/apps/v1.ts";

Deno.test("CacheScope names resource, version, form and selection, and nothing that is not restricted", () => {
  const scopes = [
    new CacheScope(Deployment, {}, {}),
    new CacheScope(metadataOf(Deployment), { labelSelector: "", fieldSelector: "" }, {}),
    new CacheScope(fieldsOf(Deployment, ["spec.replicas"]), { namespaces: ["shop", "cart"], keep: "data" }, {}),
    new CacheScope(Deployment, { labelSelector: "app=web", fieldSelector: "metadata.name=a" }, {}),
  ];
  assertEquals(scopes.map(({ name }) => decodeURIComponent(name)), [
    "deployments.apps/v1",
    "deployments.apps/v1?representation=metadata",
    "deployments.apps/v1?namespaces=cart,shop&fields=spec.replicas&keep=data",
    "deployments.apps/v1?labelSelector=app=web&fieldSelector=metadata.name=a",
  ]);
});

Deno.test("CacheScope gives other objects another name, also where a field has a comma", () => {
  const of = (fields: readonly string[]): string => new CacheScope({ ...Deployment, fields }, {}, {}).name;
  const names = [["a", "b"], ["a,b"], ["a%2Cb"], []].map(of);
  assertEquals(new Set([...names, new CacheScope(Deployment, {}, {}).name]).size, 5);
});
