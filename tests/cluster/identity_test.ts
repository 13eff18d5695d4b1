// The user of a client, by each kind of credentials that a kubeconfig may have, and its rights, as a real server sees
// them.
import { accessUsed, type Client, isForbidden, rolesYaml, SharedIndexInformer } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { assertEqualToServer } from "../support/cluster/compare.ts";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { runSynced, untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { mapDraft, settle } from "../support/cluster/writers.ts";
import { Scripts } from "../support/servers/plugin.ts";
import { clusterTests, type PlaneSetting, report, seconds, type Setting } from "./_cluster.ts";
import { deleteAccount, grant, grantReading, newAccount } from "./_rights.ts";
import { whoAmI } from "./_who_am_i.ts";

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

/** A client that logs in by the token of one service account, and by that of another one after `renew`. */
interface Login {
  readonly reader: Client;
  renew(token: string): Promise<void>;
}

/**
 * An informer continues, without an error or another list, when the account of the token that it logs in by is deleted.
 */
async function outlives(setting: Setting, login: (token: string) => Promise<Login>): Promise<string> {
  const { client, namespace } = setting;
  const tokens = { first: "", second: "" };
  for (const name of ["first", "second"] as const) {
    tokens[name] = await newAccount(client, namespace, name);
    await grantReading(client, namespace, "configmaps", { kind: "ServiceAccount", name });
  }
  const { reader, renew } = await login(tokens.first);
  assertEquals((await whoAmI(reader)).username, `system:serviceaccount:${namespace}:first`);
  const errors: unknown[] = [];
  await using informer = new SharedIndexInformer(reader.resource(ConfigMap, { namespace }), {
    reflector: QUICK_RETRIES,
    onError: (error) => errors.push(error),
  });
  const checker = new EventChecker(informer);
  await runSynced(informer, { patient: true });
  const before = errors.length; // a right just granted may take a moment to get about
  const { lists } = informer.status();

  await renew(tokens.second);
  const deletedAt = performance.now();
  await deleteAccount(client, namespace, "first");
  // The server may accept the old token from its cache for some seconds.
  const second = `system:serviceaccount:${namespace}:second`;
  for (let username = ""; username !== second; username = (await whoAmI(reader)).username) {
    const { watches } = informer.status();
    await untilStatus(informer, "another watch", (status) => status.watches > watches);
  }
  const took = seconds(deletedAt);
  await settle([informer], client, ConfigMap, namespace);
  await assertEqualToServer(informer, client, ConfigMap, { namespace });
  assertEquals([await checker.end(), errors.slice(before), informer.status().lists], [[], [], lists]);
  return `the first token was refused ${took} after its account was deleted; no error, no other list`;
}

cluster.anywhere("informers continue with a token file that is replaced before the token expires", async (setting) => {
  const tokenFile = await Deno.makeTempFile({ prefix: "informer-token-" });
  try {
    report(
      await outlives(setting, async (first) => {
        await Deno.writeTextFile(tokenFile, first);
        return {
          reader: await setting.connect({ tokenFile }),
          renew: (token) => Deno.writeTextFile(tokenFile, token),
        };
      }),
    );
  } finally {
    await Deno.remove(tokenFile);
  }
});

cluster.withPlane(
  "connect reads its kubeconfig again when the server refuses the token in it, and informers continue",
  async (setting) => {
    report(
      await outlives(setting, async (first) => {
        const kubeconfig = await setting.plane.kubeconfigOf({ token: first });
        return {
          reader: await setting.connect({ kubeconfig }),
          renew: async (token) => {
            await Deno.writeTextFile(kubeconfig, (await Deno.readTextFile(kubeconfig)).replace(first, token));
          },
        };
      }),
    );
  },
);

cluster.withPlane(
  "connect uses the token of an exec plugin, and a new one when the server refuses it",
  async (setting) => {
    await using scripts = await Scripts.make();
    const outcome = await outlives(setting, async (first) => {
      const plugin = await scripts.printer({ token: first });
      const reader = await setting.connect({ kubeconfig: await setting.plane.kubeconfigOf(byScript(plugin)) });
      return { reader, renew: (token) => scripts.credential({ token }) };
    });
    assertEquals(await scripts.runs(), 2);
    report(`${outcome}; 2 runs of the plugin`);
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

cluster.withPlane("Client.as acts as another user, by the role that accessUsed and rolesYaml name", async (setting) => {
  const { client, namespace, plane } = setting;
  const user = {
    user: `Zoë-${namespace}`,
    uid: "uid-9",
    groups: [`Zürich-${namespace}`, "ops, all"],
    extra: { "example.com/Scopes%": ["read", "née, 世界"] },
  };
  const limited = await setting.connect({ kubeconfig: plane.limitedKubeconfig });
  const zoe = limited.as(user);
  assert(isForbidden(await assertRejects(() => whoAmI(zoe))));
  // The role that it needs, for this user alone.
  const post = async (plural: string, type: string, body: string): Promise<void> => {
    const path = `/apis/rbac.authorization.k8s.io/v1/${plural}`;
    const response = await client.fetch(path, { method: "POST", headers: { "content-type": type }, body });
    await response.body?.cancel();
  };
  const name = `act-${namespace}`;
  const rules = accessUsed(limited).filter(({ verbs }) => verbs.includes("impersonate"));
  await post("clusterroles", "application/yaml", rolesYaml(rules, { name }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const binding = {
    ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name }, roleRef },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "limited" }],
  };
  await post("clusterrolebindings", "application/json", JSON.stringify(binding));
  await withDeadline("the right to act as another user", async (signal) => {
    while (await whoAmI(zoe).then(() => false, isForbidden)) signal.throwIfAborted();
  });
  assertEquals(await whoAmI(zoe), {
    username: user.user,
    uid: "uid-9",
    groups: [...user.groups, "system:authenticated"],
    extra: { "example.com/scopes%": ["read", "née, 世界"] },
  });
  assertEquals((await whoAmI(limited)).username, "limited");
  const other = await assertRejects(() => whoAmI(limited.as({ user: "eve" })));
  assertMatch(String(other), /User "limited" cannot impersonate resource "users"/);
  const refused = await assertRejects(() => zoe.resource(ConfigMap, { namespace }).list());
  assertMatch(String(refused), new RegExp(`User "${user.user}" cannot list resource "configmaps"`));
  await grantReading(client, namespace, "configmaps", { kind: "Group", name: user.groups[0] });
  const asked = await follows(setting, zoe);
  const eve = client.as({ user: "eve", groups: ["system:masters"] });
  await eve.resource(ConfigMap, { namespace }).create(mapDraft("by-eve-too"));
  report(`as() by a role of ${rules.length} rules: "${user.user}", ${asked}`);
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
