// Storage migration on a real API server: etcd says in which version each object is stored.
import { type Client, defineResource, type KubernetesObject, StatusError } from "@kube/informer";
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

/** The CRD with these versions, of which the first one is stored, and those with "!" are not served. */
function sites(...names: string[]): ReturnType<typeof definitionOf> {
  // Since v1, sizes are below 39.
  const size = { type: "integer", ...names.includes("v1") && { maximum: 38 } };
  const spec = { type: "object", properties: { size } };
  const crd = definitionOf(Site, { schema: { openAPIV3Schema: { type: "object", properties: { spec } } } });
  const [version] = crd.spec.versions;
  const versions = names.map((name, at) => (
    { ...version, name: name.replace("!", ""), served: !name.endsWith("!"), storage: at === 0 }
  ));
  return { ...crd, spec: { ...crd.spec, versions } };
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

testOfAssets("after migrateStorage, users can apply objects whose old version is gone", async (assets) => {
  await using plane = await startControlPlane({ assets });
  using client = plane.client({ namespace: "default" });
  const signal = AbortSignal.timeout(120_000);
  const install = (...versions: string[]) => installCrds(client, [sites(...versions)], { allowBreaking: true, signal });
  const migrate = async () => (await migrateStorage(client, Site, { signal, serverMigrator: false })).cleaned;
  const one = client.resource(Site);
  const apply = (kind: typeof Site, name: string, fieldManager: string, labels?: Record<string, string>) =>
    client.resource(kind).apply({ metadata: { name, labels }, spec: { size: 1 } }, { fieldManager });
  const managersOf = async (name: string) =>
    (await one.get(name)).metadata.managedFields!.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`);

  await install("v1alpha1");
  for (const name of ["both", "old", "forgotten"]) await apply(Old, name, "user", { tier: "web" });
  await install("v1", "v1alpha1");
  await apply(Site, "both", "operator");
  assertEquals(await migrate(), 0, "both versions are served");
  await install("v1", "v1alpha1!");
  await apply(Site, "forgotten", "operator"); // it works at this step, so that nobody notices what comes
  const { managedFields } = (await one.get("forgotten")).metadata;
  assertEquals(await migrate(), 3);
  assertEquals(await managersOf("both"), ["operator example.com/v1"]);
  assertEquals(await managersOf("old"), ["user example.com/v1"]);
  // As if this object had not been cleaned.
  const back = [{ op: "replace", path: "/metadata/managedFields", value: managedFields! }] as const;
  await one.patch("forgotten", { type: "json", body: back });
  await install("v1");

  for (const name of ["both", "old"]) await apply(Site, name, "user", { tier: "web" });
  // Nobody else owns the label, so the user can remove it.
  assertEquals((await apply(Site, "old", "user")).metadata.labels, undefined);
  const refusal = "request to convert CR to an invalid group/version: example.com/v1alpha1";
  await assertRejects(() => apply(Site, "forgotten", "user"), StatusError, refusal);
  await assertRejects(() => apply(Site, "forgotten", "operator"), StatusError, refusal);
  assertEquals(await migrate(), 1);
  assertEquals(await managersOf("forgotten"), ["operator example.com/v1"]);
  await apply(Site, "forgotten", "user");
});
