import { assertEquals } from "@std/assert";
import { fieldsOf } from "../../../src/api/fields.ts";
import { metadataOf } from "../../../src/api/resource.ts";
import { CacheScope } from "../../../src/informer/cache/cache_scope.ts";
import { Deployment } from "../../../src/kinds/apps/v1.ts";

Deno.test("CacheScope names resource, version, form and selection, and nothing that is not restricted", () => {
  const scopes = [
    CacheScope.inFactory(Deployment, {}, {}),
    CacheScope.inFactory(metadataOf(Deployment), { labelSelector: "", fieldSelector: "" }, {}),
    CacheScope.inFactory(fieldsOf(Deployment, ["spec.replicas"]), { namespaces: ["shop", "cart"], keep: "data" }, {}),
    CacheScope.inFactory(Deployment, { labelSelector: "app=web", fieldSelector: "metadata.name=a" }, {}),
  ];
  assertEquals(scopes.map(({ name }) => decodeURIComponent(name)), [
    "deployments.apps/v1",
    "deployments.apps/v1?representation=metadata",
    "deployments.apps/v1?namespaces=cart,shop&fields=spec.replicas&keep=data",
    "deployments.apps/v1?labelSelector=app=web&fieldSelector=metadata.name=a",
  ]);
});

Deno.test("CacheScope gives other objects another name, also where a field has a comma", () => {
  const of = (fields: readonly string[]): string => CacheScope.inFactory({ ...Deployment, fields }, {}, {}).name;
  const names = [["a", "b"], ["a,b"], ["a%2Cb"], []].map(of);
  assertEquals(new Set([...names, CacheScope.inFactory(Deployment, {}, {}).name]).size, 5);
});
