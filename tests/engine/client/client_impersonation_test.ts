import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { Resource } from "../../../src/engine/api/resource.ts";
import { rolesYaml } from "../../../src/engine/api/roles.ts";
import { isForbidden, StatusError } from "../../../src/engine/api/status.ts";
import { accessUsed } from "../../../src/engine/client/access_used.ts";
import { Client, type ClientOptions } from "../../../src/engine/client/client.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { collect, json, LiveBody, refusal, ScriptedTransport, watchOf } from "../../support/servers/transport.ts";

const ADA = { user: "ada", groups: ["analysts"] };

function clientOf(transport: ScriptedTransport, options: Partial<ClientOptions> = {}): Client {
  return new Client({ server: "https://kube.test:6443", namespace: "shop", transport, ...options });
}

/** The headers of each request that name a user. */
function users({ requests }: ScriptedTransport): string[] {
  return requests.map(({ headers }) =>
    [...headers].filter(([name]) => name.startsWith("impersonate-")).map((line) => line.join("=")).join(" ")
  );
}

Deno.test("Client.as sends the user with each request, and the credentials and options of its client", async () => {
  const no = refusal(401, "Unauthorized", "Unauthorized");
  const transport = new ScriptedTransport(no, json({}), json({}), json({}), watchOf());
  const refreshes: boolean[] = [];
  using client = clientOf(transport, {
    credentials: {
      apply: (headers, { refresh }) => {
        refreshes.push(refresh);
        headers.set("authorization", "Bearer abc");
        // Credentials with a user of their own, as programs write them.
        headers.set("impersonate-user", "grace");
        headers.set("impersonate-uid", "7");
      },
    },
    userAgent: "test/1",
  });
  const ada = client.as(ADA);
  await (await ada.fetch("/version", { headers: { "impersonate-group": "admins" } })).text();
  await (await client.fetch("/version")).text();
  await (await ada.as({ user: "eve" }).fetch("/version")).text();
  await collect(ada.resource(ConfigMap, { namespace: "shop" }).watch());
  const ofAda = "impersonate-group=analysts impersonate-user=ada";
  assertEquals(
    users(transport),
    [ofAda, ofAda, "impersonate-uid=7 impersonate-user=grace", "impersonate-user=eve", ofAda],
  );
  assertEquals(refreshes, [false, true, false, false, false]);
  assertEquals(new Set(transport.requests.map(({ headers }) => headers.get("authorization"))), new Set(["Bearer abc"]));
  assertEquals(new Set(transport.requests.map(({ headers }) => headers.get("user-agent"))), new Set(["test/1"]));
  assertEquals([ada.namespace, ada.server.href], [client.namespace, client.server.href]);
});

Deno.test("Client.as keeps the option validate", async () => {
  const transport = new ScriptedTransport();
  using client = clientOf(transport, { validate: true });
  const causes = [{ reason: "FieldValueInvalid", field: "data", message: "no" }];
  const refusing: Resource<ConfigMap> = { ...ConfigMap, loadValidator: () => Promise.resolve(() => causes) };
  const create = () => client.as(ADA).resource(refusing).create({ metadata: { name: "a" } });
  await assertRejects(create, StatusError, "422 Invalid");
  assertEquals(transport.requests, []);
});

Deno.test("Client.as refuses a user that cannot be sent", () => {
  using client = clientOf(new ScriptedTransport());
  assertThrows(() => client.as({ user: "" }), TypeError, 'Cannot act as another user: "user" is empty');
  assertThrows(() => client.as({ user: "a", groups: ["b\n"] }), TypeError, '"groups" contains line ends');
});

Deno.test("Client.as shares its transport, and ends with the client that has connected", async () => {
  const [one, two, three] = [new LiveBody(), new LiveBody(), new LiveBody()];
  const transport = new ScriptedTransport(one.answer, two.answer, three.answer);
  const client = clientOf(transport);
  const [ada, eve] = [client.as(ADA), client.as(ADA).as({ user: "eve" })];
  const watchOfUser = (user: Client): Promise<unknown> =>
    assertRejects(() => collect(user.resource(ConfigMap).watch()), DOMException, "The client was disposed");
  const watches = [watchOfUser(ada), watchOfUser(eve), watchOfUser(client)];
  while (transport.requests.length < 3) await new Promise((resolve) => setImmediate(resolve));
  ada[Symbol.dispose]();
  await watches[0];
  assertEquals([one.ended, two.ended, three.ended, transport.disposed], ["aborted", "no", "no", 0]);
  await assertRejects(() => ada.fetch("/version"), Error, 'Cannot GET "/version": the client was disposed');
  client[Symbol.dispose]();
  await Promise.all(watches);
  assertEquals([two.ended, three.ended, transport.disposed], ["aborted", "aborted", 1]);
  await assertRejects(() => eve.fetch("/version"), Error, 'Cannot GET "/version": the client was disposed');
  assertEquals(transport.requests.length, 3);
});

Deno.test("Client.as discovers for itself: whether a user may is a right, too", async () => {
  const empty = (): Response => json({ kind: "APIGroupDiscoveryList", items: [] });
  const no = (): Response => refusal(403, "Forbidden", "no");
  const transport = new ScriptedTransport(empty(), empty(), no(), no());
  using client = clientOf(transport);
  await client.discover();
  const error = await assertRejects(() => client.as({ user: "system:anonymous" }).discover());
  assert(isForbidden(error));
  await client.discover();
  assertEquals(transport.requests.length, 4);
});

Deno.test("accessUsed has the rights of the user that a client acts as, and those to act as it", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const user = { ...ADA, uid: "7", extra: { "Example.com/Scopes": ["read"] } };
  const ada = client.as(user);
  await ada.resource(ConfigMap, { namespace: "shop" }).list();
  client.as({ user: "system:serviceaccount:bank:teller" });
  assertEquals(accessUsed(ada), [{ verbs: ["list"], groups: [""], resources: ["configmaps"], namespace: "shop" }]);
  const of = (namespace: string, group: string, resource: string, name: string) => (
    { verbs: ["impersonate"], groups: [group], resources: [resource], namespace, names: [name] }
  );
  assertEquals(accessUsed(client), [
    of("", "", "users", "ada"),
    of("", "", "groups", "analysts"),
    of("", "authentication.k8s.io", "uids", "7"),
    of("", "authentication.k8s.io", "userextras/example.com/scopes", "read"),
    of("bank", "", "serviceaccounts", "teller"),
  ]);
  // A role for any user would be an administrator's.
  assertEquals(
    rolesYaml(accessUsed(client).slice(0, 1), { name: "actor" }),
    `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: "actor"
rules:
- apiGroups: [""]
  resources: ["users"]
  resourceNames: ["ada"]
  verbs: ["impersonate"]
`,
  );
});

Deno.test("informers of Client.as list and watch as the user", async () => {
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { name: "a", namespace: "shop" } });
  const seen = new Set<string | null>();
  using client = new Client({
    server: "http://fake",
    transport: {
      fetch: (request) => {
        seen.add(request.headers.get("impersonate-user"));
        return server.fetch(request);
      },
    },
  });
  await using informers = new SharedInformerFactory(client.as(ADA));
  const maps = informers.forResource(ConfigMap);
  informers.start();
  await informers.waitForCacheSync();
  server.create(ConfigMap, { metadata: { name: "b", namespace: "shop" } });
  await maps.until(({ metadata }) => metadata.name === "b");
  assertEquals([...seen], ["ada"]);
});
