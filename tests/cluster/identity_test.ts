// The user of a client, by each kind of credentials that a kubeconfig may have, and its rights, as a real server sees
// them.
import { type Client, isForbidden, SharedIndexInformer } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Scripts } from "../support/plugin.ts";
import { clusterTests, type PlaneSetting, report, seconds, type Setting } from "./_cluster.ts";
import { assertEqualToServer } from "../support/cluster/compare.ts";
import { deleteAccount, grant, grantReading, newAccount } from "./_rights.ts";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { whoAmI } from "./_who_am_i.ts";
import { runSynced, untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { mapDraft, settle } from "../support/cluster/writers.ts";

const cluster = clusterTests();

/** Tries again within a second. */
const QUICK_RETRIES = { watchTimeoutMs: 1_000, backoff: { initialMs: 200, maxMs: 1_000 } };

/** An informer of `reader` gets what there is, and what is written then. Answers with what it asked for. */
async function follows({ client, namespace }: Setting, reader: Client): Promise<string> {
  await using informer = new SharedIndexInformer(reader.resource(ConfigMap, { namespace }), {
    reflector: QUICK_RETRIES,
  });
  const checker = new EventChecker(informer);
  await runSynced(informer, { patient: true });
  await settle([informer], client, ConfigMap, namespace);
  await assertEqualToServer(informer, client, ConfigMap, { namespace });
  assertEquals(await checker.end(), []);
  const { lists, watches } = informer.status();
  return `${lists} list requests, ${watches} watches`;
}

cluster.withPlane("connect presents a client certificate, given as data or as files", async (setting) => {
  const { client, namespace, plane } = setting;
  await grantReading(client, namespace, "configmaps", { kind: "Group", name: "nobodies" });
  const files = { "client-certificate": "limited.crt", "client-key": `${plane.folder}/limited.key` };
  for (const [title, fields] of [["data", plane.limitedFields], ["files", files]] as const) {
    const limited = await setting.connect({ kubeconfig: await plane.kubeconfigOf(fields) });
    const { username, groups } = await whoAmI(limited);
    assertEquals([username, groups], ["limited", ["nobodies", "system:authenticated"]]);
    assert(isForbidden(await assertRejects(() => limited.resource(ConfigMap).list())));
    const asked = await follows(setting, limited);
    report(`certificate by ${title}: "${username}" of ${groups?.join(", ")}; ${asked}`);
  }
});

cluster.withPlane(
  "connect sends a token and presents a certificate if both are given, and an option replaces both",
  async (setting) => {
    const { client, namespace, plane } = setting;
    const token = await newAccount(client, namespace, "reader");
    const kubeconfig = await plane.kubeconfigOf({ token });
    const { username } = await whoAmI(await setting.connect({ kubeconfig }));
    assertEquals(username, `system:serviceaccount:${namespace}:reader`);
    // The server looks at certificates first; options replace all that the kubeconfig has.
    const both = await whoAmI(
      await setting.connect({ kubeconfig: await plane.kubeconfigOf({ token, ...plane.limitedFields }) }),
    );
    assertEquals(both.username, "limited");
    const instead = await whoAmI(await setting.connect({ kubeconfig: plane.limitedKubeconfig, token }));
    assertEquals(instead.username, `system:serviceaccount:${namespace}:reader`);
    report(
      `token: "${username}"; token and certificate: "${both.username}"; token as an option: "${instead.username}"`,
    );
  },
);

/** The fields of a kubeconfig for a user whose credentials a script prints. */
function byScript(command: string): Record<string, unknown> {
  const apiVersion = "client.authentication.k8s.io/v1";
  return { exec: { apiVersion, command, interactiveMode: "Never", installHint: "it is a script of this test" } };
}

cluster.withPlane(
  "connect uses the token of an exec plugin, and a new one when the server refuses it",
  async (setting) => {
    const { client, namespace, plane } = setting;
    await using scripts = await Scripts.make();
    const tokens = { first: "", second: "" };
    for (const name of ["first", "second"] as const) {
      tokens[name] = await newAccount(client, namespace, name);
      await grantReading(client, namespace, "configmaps", { kind: "ServiceAccount", name });
    }
    const plugin = await scripts.printer({ token: tokens.first });
    const reader = await setting.connect({ kubeconfig: await plane.kubeconfigOf(byScript(plugin)) });
    assertEquals((await whoAmI(reader)).username, `system:serviceaccount:${namespace}:first`);
    const errors: unknown[] = [];
    await using informer = new SharedIndexInformer(reader.resource(ConfigMap, { namespace }), {
      reflector: QUICK_RETRIES,
      onError: (error) => errors.push(error),
    });
    const checker = new EventChecker(informer);
    await runSynced(informer, { patient: true });
    assertEquals(await scripts.runs(), 1);
    const before = errors.length; // a right just granted may take a moment to get about

    const deletedAt = performance.now();
    await scripts.credential({ token: tokens.second });
    await deleteAccount(client, namespace, "first");
    for (let runs = 1; runs === 1; runs = await scripts.runs()) {
      const { watches } = informer.status();
      await untilStatus(informer, "another watch", (status) => status.watches > watches);
    }
    const took = seconds(deletedAt);
    await settle([informer], client, ConfigMap, namespace);
    await assertEqualToServer(informer, client, ConfigMap, { namespace });
    assertEquals((await whoAmI(reader)).username, `system:serviceaccount:${namespace}:second`);
    assertEquals([await checker.end(), errors.slice(before), await scripts.runs()], [[], [], 2]);
    const { watches } = informer.status();
    report(`plugin's first token refused ${took} after its account was deleted; 2 runs, ${watches} watches, no error`);
  },
);

cluster.withPlane("connect presents the certificate of an exec plugin", async (setting) => {
  const { client, namespace, plane } = setting;
  await using scripts = await Scripts.make();
  const plugin = await scripts.printer({
    clientCertificateData: await Deno.readTextFile(`${plane.folder}/limited.crt`),
    clientKeyData: await Deno.readTextFile(`${plane.folder}/limited.key`),
  });
  const reader = await setting.connect({ kubeconfig: await plane.kubeconfigOf(byScript(plugin)) });
  const { username, groups } = await whoAmI(reader);
  assertEquals([username, groups], ["limited", ["nobodies", "system:authenticated"]]);
  await grantReading(client, namespace, "configmaps", { kind: "User", name: "limited" });
  const asked = await follows(setting, reader);
  assertEquals(await scripts.runs(), 1);
  report(`plugin's certificate: "${username}"; 1 run, ${asked}`);
});

/** A client of a user who acts as another. */
async function acting(
  setting: PlaneSetting,
  user: Record<string, unknown>,
  as: Record<string, unknown>,
): Promise<Client> {
  return await setting.connect({ kubeconfig: await setting.plane.kubeconfigOf({ ...user, ...as }) });
}

cluster.withPlane("connect impersonates another user, with that user's rights only", async (setting) => {
  const { client, namespace, plane } = setting;
  const ada = await acting(setting, plane.adminFields, {
    as: "ada",
    "as-uid": "uid-7",
    "as-groups": ["analysts", "Zürich, Büro"],
    "as-user-extra": { "example.com/Scopes": ["read", "née, 世界"] },
  });
  assertEquals(await whoAmI(ada), {
    username: "ada",
    uid: "uid-7",
    groups: ["analysts", "Zürich, Büro", "system:authenticated"],
    extra: { "example.com/scopes": ["read", "née, 世界"] },
  });
  // The certificate is an administrator's, and ada is none.
  const error = await assertRejects(() => ada.resource(ConfigMap, { namespace }).list());
  assert(isForbidden(error), `found ${error}`);
  assertMatch(error.message, /User "ada" cannot list resource "configmaps"/);
  await grantReading(client, namespace, "configmaps", { kind: "Group", name: "Zürich, Büro" });
  const asked = await follows(setting, ada);
  report(`acting as "ada" of two groups: ${asked}; without the groups' rights: ${error.message}`);

  const master = await acting(setting, plane.adminFields, { as: "eve", "as-groups": ["system:masters"] });
  assertEquals((await whoAmI(master)).username, "eve");
  await master.resource(ConfigMap, { namespace }).create(mapDraft("by-eve"));

  const limited = await acting(setting, plane.limitedFields, { as: "ada" });
  const refusal = await assertRejects(() => limited.resource(ConfigMap, { namespace }).list());
  assert(isForbidden(refusal), `found ${refusal}`);
  assertMatch(refusal.message, /User "limited" cannot impersonate/);
  report(`without the right to impersonate: ${refusal.message}`);
});

cluster.withPlane("SharedIndexInformer names the verb that it lacks", async (setting) => {
  const { client, namespace, plane } = setting;
  await grant(client, namespace, "configmaps", ["list"], { kind: "User", name: "limited" });
  const limited = await setting.connect({ kubeconfig: plane.limitedKubeconfig });
  await client.resource(ConfigMap, { namespace }).create(mapDraft("there"));
  await using informer = new SharedIndexInformer(limited.resource(ConfigMap, { namespace }), {
    reflector: QUICK_RETRIES,
  });
  informer.run();
  // It may list, so that it has a cache; it may not watch, and reports that.
  await withDeadline("the first sync", (signal) => informer.waitForCacheSync({ signal, patient: true }));
  const { cause } = await untilStatus(
    informer,
    "the refusal of a watch",
    ({ state, cause }) => state === "forbidden" && isForbidden(cause) && cause.message.includes("cannot watch"),
  );
  assertEquals(informer.lister.namespace(namespace).get("there")?.metadata.name, "there");
  const startedAt = performance.now();
  await grant(client, namespace, "configmaps", ["watch"], { kind: "User", name: "limited" });
  await untilStatus(informer, "a live watch", ({ state }) => state === "live");
  const took = seconds(startedAt);
  await settle([informer], client, ConfigMap, namespace);
  await assertEqualToServer(informer, client, ConfigMap, { namespace });
  report(`may list and not watch: ${(cause as Error).message}; live ${took} after that right was granted`);
});
