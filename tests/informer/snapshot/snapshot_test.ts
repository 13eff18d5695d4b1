import { assertEquals } from "@std/assert";
import { fieldsOf } from "../../../src/api/fields.ts";
import { metadataOf } from "../../../src/api/resource.ts";
import { snapshotName } from "../../../src/informer/snapshot/snapshot.ts";
import { Deployment } from "../../../src/kinds/apps/v1.ts";

Deno.test("snapshotName names resource, version, form and selection, and nothing that is not restricted", () => {
  const names = [
    snapshotName(Deployment, {}, false),
    snapshotName(metadataOf(Deployment), { labelSelector: "", fieldSelector: "" }, false),
    snapshotName(fieldsOf(Deployment, ["spec.replicas"]), { namespaces: ["shop", "cart"] }, true),
    snapshotName(Deployment, { labelSelector: "app=web", fieldSelector: "metadata.name=a" }, false),
  ];
  assertEquals(names.map((name) => decodeURIComponent(name)), [
    "deployments.apps/v1",
    "deployments.apps/v1?representation=metadata",
    "deployments.apps/v1?namespaces=cart,shop&fields=spec.replicas&keep=data",
    "deployments.apps/v1?labelSelector=app=web&fieldSelector=metadata.name=a",
  ]);
});
