import { Client } from "@kube/informer";
import { Job } from "@kube/informer/kinds/batch/v1";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { ClusterRole } from "@kube/informer/kinds/rbac/v1";
import {
  AlreadyControlledError,
  controllerOf,
  createOrUpdate,
  ownerReferenceTo,
  withController,
  withOwner,
} from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { thing } from "../../../support/sources/fixtures.ts";

const owner = thing("owner", 5, { namespace: "shop" });

const reference = { apiVersion: "acme.dev/v1", kind: "Thing", name: "owner", uid: "uid-owner" };

Deno.test("withController adds a controller reference to a copy of a draft", () => {
  const draft = { metadata: { name: "owned" }, spec: { size: 1 } };
  const owned = withController(draft, owner);
  const ownerReferences = [{ ...reference, controller: true, blockOwnerDeletion: true }];
  assertEquals<unknown>(owned, { metadata: { name: "owned", namespace: "shop", ownerReferences }, spec: { size: 1 } });
  assertEquals(draft, { metadata: { name: "owned" }, spec: { size: 1 } });
  assertEquals(controllerOf(owned)?.uid, "uid-owner");
});

Deno.test("withController replaces a reference to the same owner, and keeps those to others", () => {
  const other = thing("other", 6, { namespace: "shop" });
  const draft = withOwner(withOwner({ metadata: { name: "owned" } }, owner), other);
  const owned = withController(draft, owner, { blockOwnerDeletion: false });
  assertEquals<unknown>(owned.metadata, {
    name: "owned",
    namespace: "shop",
    ownerReferences: [{ ...reference, controller: true }, { ...reference, name: "other", uid: "uid-other" }],
  });
  assertEquals(withController(owned, owner, { blockOwnerDeletion: false }), owned);
});

Deno.test("withController refuses an object that has another controller, and names both", () => {
  const owned = withController({ metadata: { name: "owned" } }, owner);
  const error = assertThrows(
    () => withController(owned, thing("thief", 7)),
    AlreadyControlledError,
    'Cannot set Thing "thief" (uid uid-thief) as controller of "owned": Thing "owner" (uid uid-owner) is',
  );
  assertEquals(error.controller.name, "owner");
});

Deno.test("withController refuses an object of an earlier owner of the same name", () => {
  const owned = withController({ metadata: { name: "owned" } }, thing("owner", 1, { uid: "uid-earlier" }));
  assertThrows(() => withController(owned, owner), AlreadyControlledError, "uid-earlier");
});

Deno.test("withOwner adds an owner beside the controller", () => {
  const second = thing("second", 1, { namespace: "shop" });
  const owned = withOwner(withController({ metadata: { name: "owned" } }, owner), second);
  assertEquals<unknown>(owned.metadata, {
    name: "owned",
    namespace: "shop",
    ownerReferences: [
      { ...reference, controller: true, blockOwnerDeletion: true },
      { ...reference, name: "second", uid: "uid-second" },
    ],
  });
  assertEquals(controllerOf(owned)?.name, "owner");
  assertEquals(controllerOf({ metadata: {} }), undefined);
});

Deno.test("withOwner and withController refuse an owner of another namespace, and allow a cluster-scoped one", () => {
  const draft = { metadata: { name: "owned", namespace: "other" } };
  for (const set of [withOwner, withController]) {
    assertThrows(() => set(draft, owner), TypeError, 'in namespace "shop" as owner of "owned" in namespace "other"');
    assertEquals(set(draft, thing("node", 1, { namespace: "" })).metadata.namespace, "other");
  }
});

Deno.test("a draft with an owner goes to the owner's namespace, and nowhere else", async () => {
  const server = new FakeApiServer({ namespaces: "any" });
  using client = new Client({ server: "http://fake", transport: server, namespace: "operators" });
  const parent = server.create(ConfigMap, { metadata: { name: "parent", namespace: "shop" } });
  const maps = client.resource(ConfigMap);
  for (const set of [withOwner, withController]) {
    const draft = (name: string) => set({ metadata: { name } }, parent);
    const by = { fieldManager: "test" };
    for (const namespace of [undefined, "shop"]) {
      const own = namespace === undefined ? maps : maps.namespace(namespace);
      await own.create(draft(`c-${set.name.toLowerCase()}-${namespace}`));
      await own.apply(draft(`a-${set.name.toLowerCase()}-${namespace}`), by);
      const { object } = await own.applyIfChanged(draft(`i-${set.name.toLowerCase()}-${namespace}`), by);
      assertEquals(
        (await own.applyIfChanged(draft(object.metadata.name), { ...by, current: object })).reason,
        undefined,
      );
    }
    const elsewhere = maps.namespace("bank");
    const wrong = 'the collection covers only namespace "bank"';
    await assertRejects(() => elsewhere.create(draft("x")), TypeError, wrong);
    await assertRejects(() => elsewhere.apply(draft("x"), by), TypeError, wrong);
    await assertRejects(() => elsewhere.applyIfChanged(draft("x"), by), TypeError, wrong);

    const role = set({ metadata: { name: "x" } }, parent);
    const roles = client.resource(ClusterRole);
    const scoped = 'the object has namespace "shop", but ClusterRole is cluster-scoped. Remove the namespace';
    await assertRejects(() => roles.create(role), TypeError, `Cannot create "clusterroles.rbac.authorization.k8s.io`);
    await assertRejects(() => roles.create(role), TypeError, scoped);
    await assertRejects(() => roles.apply(role, by), TypeError, scoped);
    await assertRejects(() => roles.applyIfChanged(role, by), TypeError, scoped);
    await assertRejects(() => roles.update({ ...role, rules: [] } as never), TypeError, scoped);
    await assertRejects(() => createOrUpdate(roles, role, () => {}), TypeError, scoped);
  }
  assertEquals(server.list(ConfigMap).map(({ metadata }) => metadata.namespace), Array(13).fill("shop"));
  assertEquals(await client.resource(ClusterRole, { namespace: "shop" }).getOrUndefined("x"), undefined); // documented
});

Deno.test("ownerReferenceTo refuses an owner without apiVersion, kind, name or uid, and names what is missing", () => {
  const { apiVersion: _apiVersion, ...unversioned } = owner;
  const { kind: _kind, ...unkind } = owner;
  assertThrows(() => ownerReferenceTo(unversioned), TypeError, "apiVersion is missing");
  assertThrows(() => ownerReferenceTo(unkind), TypeError, 'an object "owner" as owner: kind is missing');
  const withoutUid = { ...owner, metadata: { ...owner.metadata, uid: "" } };
  assertThrows(() => ownerReferenceTo(withoutUid), TypeError, "metadata.uid is missing");
});

Deno.test("withController and withOwner keep the literal types of a draft, so that it can be created", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer(), namespace: "shop" });
  const owner = await client.resource(ConfigMap).create({ metadata: { name: "owner" } });
  for (const own of [withController, withOwner]) {
    const draft = own({
      metadata: { name: `job-${own.name.toLowerCase()}`, labels: { app: "web" } },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "web" }] } } },
    }, owner);
    const made = await client.resource(Job).create(draft);
    assertEquals(made.spec?.template.spec?.restartPolicy, "Never");
  }
});
