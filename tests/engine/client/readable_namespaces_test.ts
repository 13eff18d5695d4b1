import { Client, readableNamespaces } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, namespace } from "@kube/informer/testing";
import { assert, assertEquals } from "@std/assert";

/** A transport that answers reviews of rules by `rules` of each namespace, and other requests by the fake. */
function withRules(
  server: FakeApiServer,
  rules: Readonly<Record<string, unknown[]>>,
): { fetch: FakeApiServer["fetch"] } {
  return {
    fetch: async (request) => {
      if (!request.url.includes("selfsubjectrulesreviews")) return await server.fetch(request);
      const { spec } = await request.json();
      const status = { resourceRules: rules[spec.namespace] ?? [], nonResourceRules: [], incomplete: false };
      const kind = { kind: "SelfSubjectRulesReview", apiVersion: "authorization.k8s.io/v1" };
      return Response.json({ ...kind, metadata: {}, spec, status }, { status: 201 });
    },
  };
}

Deno.test("readableNamespaces() returns the namespaces whose rules have list and watch of all kinds", async () => {
  using server = new FakeApiServer();
  const pods = { verbs: ["get", "list", "watch"], apiGroups: [""], resources: ["pods"] };
  const rules = {
    all: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    both: [pods, { ...pods, apiGroups: ["apps"], resources: ["deployments"] }],
    pods: [pods],
    lists: [{ ...pods, verbs: ["list"] }],
    named: [{ ...pods, resourceNames: ["web-0"] }],
    group: [{ ...pods, apiGroups: ["metrics.k8s.io"] }],
    none: [],
  };
  for (const name of Object.keys(rules)) server.create(Namespace, namespace({ name }));
  using client = new Client({ server: server.url, transport: withRules(server, rules) });
  assertEquals(await readableNamespaces(client, [Pod]), ["all", "both", "pods"]);
  assertEquals(await readableNamespaces(client, [Pod, Deployment]), ["all", "both"]);
  assert(!server.requests.some(({ url }) => url.includes("accessreviews")));
});

Deno.test("readableNamespaces() asks for access where rules are incomplete, ten namespaces at a time", async () => {
  let [asking, most] = [0, 0];
  using server = new FakeApiServer({
    authorize: ({ resource, namespace, verb }) => resource !== "pods" || (namespace.endsWith("0") && verb !== "delete"),
  });
  for (let i = 0; i < 25; i++) server.create(Namespace, namespace({ name: `team-${i}` }));
  const transport = {
    fetch: async (request: Request): Promise<Response> => {
      most = Math.max(most, ++asking);
      try {
        return await server.fetch(request);
      } finally {
        asking--;
      }
    },
  };
  using client = new Client({ server: server.url, transport });
  assertEquals(await readableNamespaces(client, [Pod]), ["team-0", "team-10", "team-20"]);
  assertEquals(most, 10);
});

Deno.test("readableNamespaces() looks at the client's namespace alone where namespaces may not be listed", async () => {
  using server = new FakeApiServer({
    authorize: ({ resource, namespace }) => resource !== "namespaces" && (resource !== "pods" || namespace === "shop"),
  });
  const of = async (namespace?: string): Promise<string[]> => {
    using client = new Client({ server: server.url, transport: server, ...namespace ? { namespace } : {} });
    return await readableNamespaces(client, [Pod]);
  };
  assertEquals([await of("shop"), await of("bank"), await of()], [["shop"], [], []]);
});
