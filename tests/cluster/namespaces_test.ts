// One informer of several namespaces, for a user with rights in some namespaces and not in all.
import { isForbidden, SharedInformerFactory } from "@kube/informer";
import { ConfigMap, Namespace } from "@kube/informer/kinds/core/v1";
import { ClusterRole, ClusterRoleBinding, RoleBinding } from "@kube/informer/kinds/rbac/v1";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { mapDraft } from "../support/cluster/writers.ts";
import { clusterTests, report, seconds } from "./_cluster.ts";
import { grantReading, newAccount } from "./_rights.ts";

const cluster = clusterTests();

cluster.anywhere(
  "SharedIndexInformer of several namespaces caches those that it may read, and the others once it may",
  async (setting) => {
    const { client, namespace: first } = setting;
    const second = await setting.newNamespace();
    const account = { kind: "User", name: `system:serviceaccount:${first}:reader` } as const;
    const token = await newAccount(client, first, "reader");
    await grantReading(client, first, "configmaps", account);
    const reader = await setting.connect({ token });
    await withDeadline("the right to read the first namespace", async (signal) => {
      for (;;) {
        try {
          return await reader.resource(ConfigMap, { namespace: first }).list({ limit: 1, signal });
        } catch (error) {
          if (!isForbidden(error)) throw error;
        }
      }
    });
    await using informers = new SharedInformerFactory(reader, {
      namespaces: [first, second],
      reflector: { watchTimeoutMs: 1_000, backoff: { initialMs: 200, maxMs: 1_000 } },
    });
    const maps = informers.forResource(ConfigMap);
    const checker = new EventChecker(maps);
    informers.start();
    const refused = await assertRejects(() =>
      withDeadline("a refusal", (signal) => informers.waitForCacheSync({ signal }))
    );
    assert(isForbidden((refused as Error).cause));
    assertStringIncludes((refused as Error).message, `in namespace "${second}"`);
    await withDeadline("the first namespace", (signal) => maps.waitForCacheSync({ namespace: first, signal }));

    const write = async (namespace: string, name: string): Promise<string> => {
      const { metadata } = await client.resource(ConfigMap, { namespace }).create(mapDraft(name));
      return metadata.resourceVersion;
    };
    const seen = await write(first, "seen");
    await write(second, "unseen");
    await withDeadline("a write", (signal) => maps.waitForVersion(seen, { namespace: first, signal }));
    assertEquals([maps.hasSynced, maps.lister.get(`${first}/seen`) !== undefined], [false, true]);
    assertEquals(maps.lister.namespace(second).list(), []);
    assertEquals(maps.status().namespaces?.map(({ state }) => state), ["live", "forbidden"]);

    const grantedAt = performance.now();
    await grantReading(client, second, "configmaps", account);
    await withDeadline("all namespaces", (signal) => informers.waitForCacheSync({ signal, patient: true }));
    await untilStatus(maps, "both live", ({ state }) => state === "live");
    const written = await write(second, "written");
    const took = seconds(grantedAt);
    // Named, it is there at once; unnamed, when the other namespace has come as far too: by a bookmark, within minutes,
    // or by a change of its own.
    await withDeadline(
      "a write in the second",
      (signal) => maps.waitForVersion(written, { namespace: second, signal }),
    );
    const names = maps.lister.namespace(second).list().map(({ metadata }) => metadata.name);
    assertEquals(names.filter((name) => name !== "kube-root-ca.crt").sort(), ["unseen", "written"]);
    await write(first, "later");
    await withDeadline("both namespaces", (signal) => maps.waitForVersion(written, { signal }));
    assertEquals(await checker.end(), []);
    const everywhere = await assertRejects(() => reader.resource(ConfigMap).list());
    assert(isForbidden(everywhere), `found ${everywhere}`);
    report(
      `one of two namespaces refused, the other live; both ${took} after the right was granted. ${checker.summary}`,
    );
  },
);

cluster.anywhere("readable namespaces follow the rights of a user, and those by label the labels", async (setting) => {
  const { client, namespace: first } = setting;
  const second = await setting.newNamespace();
  const name = `system:serviceaccount:${first}:follower`;
  const account = { kind: "User", name } as const;
  const token = await newAccount(client, first, "follower");
  const metadata = { name: `${first}-follower` };
  const rules = [{ apiGroups: [""], resources: ["namespaces"], verbs: ["list"] }];
  await client.resource(ClusterRole).create({ metadata, rules });
  const apiGroup = "rbac.authorization.k8s.io";
  await client.resource(ClusterRoleBinding).create({
    ...{ metadata, subjects: [{ ...account, apiGroup }], roleRef: { apiGroup, kind: "ClusterRole", ...metadata } },
  });
  for (const namespace of [first, second]) await client.resource(ConfigMap, { namespace }).create(mapDraft("map"));
  const labels = `follow=${first}`;
  const label = (namespace: string, value: string | null): Promise<unknown> =>
    client.resource(Namespace).patch(namespace, { type: "merge", body: { metadata: { labels: { follow: value } } } });
  await label(first, first);

  await grantReading(client, first, "configmaps", account);
  const reader = await setting.connect({ token });
  const reflector = { watchTimeoutMs: 1_000, backoff: { initialMs: 200, maxMs: 1_000 } };
  await using readable = new SharedInformerFactory(reader, { namespaces: "readable", reflector, onError: () => {} });
  await using labelled = new SharedInformerFactory(client, { namespaces: { labels }, reflector });
  const followed = [readable, labelled].map((informers) => informers.forResource(ConfigMap));
  const checkers = followed.map((maps) => new EventChecker(maps));
  readable.start();
  labelled.start();
  const [ours, theirs] = [`${first}/map`, `${second}/map`];
  for (const maps of followed) {
    await withDeadline("the first", (signal) => maps.until(() => true, { key: ours, signal }));
  }
  assertEquals(followed.map(({ entries }) => entries.getByKey(theirs)), [undefined, undefined]);

  await grantReading(client, second, "configmaps", account);
  await label(second, first);
  for (const maps of followed) {
    maps.pause(); // a resumed informer asks for rights at once, not a minute later
    maps.resume();
    await withDeadline("the second", (signal) => maps.until(() => true, { key: theirs, signal }));
  }
  await client.resource(RoleBinding, { namespace: first }).delete(`${name}-may-list-watch-configmaps`);
  await label(first, null);
  for (const maps of followed) await withDeadline("the end", (signal) => maps.untilDeleted(ours, { signal }));
  assertEquals(followed.map(({ entries }) => entries.getByKey(theirs) !== undefined), [true, true]);
  for (const checker of checkers) assertEquals(await checker.end(), []);
  await client.resource(ClusterRoleBinding).delete(metadata.name);
  await client.resource(ClusterRole).delete(metadata.name);
});
