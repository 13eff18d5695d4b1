// Storage migration on a real API server: etcd says in which version each object is stored.
import { type Client, defineResource, type KubernetesObject } from "@kube/informer";
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "@kube/informer/kinds/admissionregistration/v1";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { installCrds, migrateStorage } from "@kube/informer/schema";
import { startControlPlane } from "@kube/informer/testing/control-plane";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async";
import { definitionOf } from "../support/sources/widgets.ts";
import { testOfAssets } from "./_cluster.ts";

interface Site extends KubernetesObject {
  readonly spec?: { readonly size: number };
}

const SITE = { group: "example.com", plural: "sites", kind: "Site" } as const;
const [Old, Site] = ["v1alpha1", "v1"].map((version) => defineResource<Site>({ ...SITE, version }));

/** The CRD with these versions, of which the first one is stored. Since v1, sizes are below 39. */
function sites(...names: string[]): ReturnType<typeof definitionOf> {
  const size = { type: "integer", ...names.includes("v1") && { maximum: 38 } };
  const spec = { type: "object", properties: { size } };
  const crd = definitionOf(Site, { schema: { openAPIV3Schema: { type: "object", properties: { spec } } } });
  const [version] = crd.spec.versions;
  return { ...crd, spec: { ...crd.spec, versions: names.map((name, i) => ({ ...version, name, storage: i === 0 })) } };
}

/** The number of objects in etcd by the version in which they are stored. */
async function stored(etcdUrl: string): Promise<Record<string, number>> {
  const [key, range_end] = ["/registry/example.com/sites/", "/registry/example.com/sites0"].map(btoa);
  const answer = await fetch(`${etcdUrl}/v3/kv/range`, { method: "POST", body: JSON.stringify({ key, range_end }) });
  const { kvs = [] } = await answer.json() as { readonly kvs?: readonly { readonly value: string }[] };
  const count: Record<string, number> = {};
  for (const { value } of kvs) {
    const { apiVersion } = JSON.parse(atob(value));
    count[apiVersion] = (count[apiVersion] ?? 0) + 1;
  }
  return count;
}

/** Lets the server refuse updates of one object. Resolves when it does. */
async function refuse(client: Client, name: string): Promise<void> {
  const meta = { metadata: { name: "refuse-one" } };
  const rules = [{
    apiGroups: [SITE.group],
    apiVersions: ["*"],
    resources: [SITE.plural],
    operations: ["UPDATE"] as const,
  }];
  await client.resource(ValidatingAdmissionPolicy).create({
    ...meta,
    spec: {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: `object.metadata.name != '${name}'`, message: "sites of this name are closed" }],
    },
  });
  await client.resource(ValidatingAdmissionPolicyBinding).create({
    ...meta,
    spec: { policyName: meta.metadata.name, validationActions: ["Deny"] },
  });
  const one = client.resource(Site, { namespace: "default" });
  const isOpen = () => one.patch(name, { type: "merge", body: {} }, { dryRun: true }).then(() => true, () => false);
  for (const until = Date.now() + 60_000; await isOpen();) {
    assert(Date.now() < until, "the policy has no effect");
    await delay(200);
  }
}

testOfAssets(
  "migrateStorage stores all objects in the storage version, so that the older one can go",
  async (assets) => {
    await using plane = await startControlPlane({ assets });
    using client = plane.client({ namespace: "default" });
    const signal = AbortSignal.timeout(120_000);
    await installCrds(client, [sites("v1alpha1")], { signal });
    for (let i = 0; i < 40; i++) {
      await client.resource(Old).create({ metadata: { name: `site-${i}` }, spec: { size: i } });
    }
    const [{ toMigrate }] = await installCrds(client, [sites("v1", "v1alpha1")], { allowBreaking: true, signal });
    assertEquals([toMigrate, await stored(plane.etcdUrl)], [["v1alpha1"], { "example.com/v1alpha1": 40 }]);
    const versions = async () =>
      (await client.resource(Old).list()).items.map(({ metadata }) => metadata.resourceVersion);
    const before = await versions();

    await refuse(client, "site-7");
    const first = await migrateStorage(client, Old, { signal, serverMigrator: false });
    // The server lets site-39 pass, whose size is forbidden now: it checks only what a write changes.
    assertEquals(first.refused.map(({ key }) => key), ["default/site-7"]);
    assert(first.refused[0].reason.includes("sites of this name are closed"));
    assertEquals([first.rewritten, first.storedVersions], [39, ["v1alpha1", "v1"]]);
    assertEquals(await stored(plane.etcdUrl), { "example.com/v1": 39, "example.com/v1alpha1": 1 });
    await assertRejects(
      () => installCrds(client, [sites("v1")], { allowBreaking: true, signal }),
      Error,
      "storedVersions",
    );

    await client.resource(ValidatingAdmissionPolicyBinding).delete("refuse-one");
    for (const until = Date.now() + 60_000;;) {
      const { refused } = await migrateStorage(client, Site, { signal, serverMigrator: false });
      if (refused.length === 0) break;
      assert(Date.now() < until, "the policy keeps its effect");
      await delay(200);
    }
    assertEquals(await stored(plane.etcdUrl), { "example.com/v1": 40 });
    const after = await versions();
    assert(before.every((version, i) => version !== after[i]), "each object was stored again");
    const crd = await client.resource(CustomResourceDefinition).get("sites.example.com");
    assertEquals(crd.status?.storedVersions, ["v1"]);
    await installCrds(client, [sites("v1")], { allowBreaking: true, signal });
    assertEquals((await client.resource(Site).list()).items.length, 40);
  },
);
