import { assertEquals } from "@std/assert";
import { onlyFields } from "../../../../src/engine/api/fields.ts";
import { onlyMetadata, type Resource } from "../../../../src/engine/api/resource.ts";
import { CacheScope } from "../../../../src/engine/informer/cache/cache_scope.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { Secret } from "../../../../src/engine/kinds/core/v1.ts";

Deno.test("CacheScope names resource, version, form and selection, and nothing that is not restricted", () => {
  const scopes = [
    CacheScope.inFactory(Deployment, {}, {}),
    CacheScope.inFactory(onlyMetadata(Deployment), { labelSelector: "", fieldSelector: "" }, {}),
    CacheScope.inFactory(onlyFields(Deployment, ["spec.replicas"]), {
      namespaces: ["shop", "cart"],
      secretData: "keep",
    }, {}),
    CacheScope.inFactory(Deployment, { labelSelector: "app=web", fieldSelector: "metadata.name=a" }, {}),
    CacheScope.inFactory(Deployment, { readable: true }, {}),
    CacheScope.inFactory(Deployment, { shard: "0/2" }, {}),
  ];
  assertEquals(scopes.map(({ name }) => decodeURIComponent(name)), [
    "deployments.apps/v1",
    "deployments.apps/v1?representation=metadata",
    "deployments.apps/v1?namespaces=cart,shop&fields=spec.replicas&secretData=keep",
    "deployments.apps/v1?labelSelector=app=web&fieldSelector=metadata.name=a",
    "deployments.apps/v1?readable=true",
    "deployments.apps/v1?shard=0/2+by+uid",
  ]);
});

Deno.test("CacheScope gives other objects another name, also where a field has a comma", () => {
  const of = (fields: readonly string[]): string => CacheScope.inFactory({ ...Deployment, fields }, {}, {}).name;
  const names = [["a", "b"], ["a,b"], ["a%2Cb"], []].map(of);
  assertEquals(new Set([...names, CacheScope.inFactory(Deployment, {}, {}).name]).size, 5);
});

Deno.test("CacheScope says which part of objects is cached, and nothing of complete ones", () => {
  const of = (...[resource, options]: [Resource | undefined, object?]): string | undefined =>
    new CacheScope(resource, [{}], options).reduction;
  assertEquals([of(Deployment), of(Secret, { secretData: "keep" })], [undefined, undefined]);
  assertEquals([
    of(Deployment, { transform: () => {} }),
    of(Deployment, { readable: true }),
    of(Deployment, { shard: "0/2" }),
    of(undefined),
    of(onlyFields(Deployment, ["spec.replicas", "status"])),
    of(onlyMetadata(Deployment)),
    of(Secret),
  ], [
    "the results of a transform",
    "only the objects of readable namespaces",
    'only the objects of shard "0/2"',
    "objects of a source that does not say which fields they have",
    "only the fields spec.replicas, status",
    "only the metadata of objects",
    "Secrets without their data",
  ]);
});
