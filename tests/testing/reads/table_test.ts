import { assertEquals } from "@std/assert";
import { deployment, FakeApiServer, namespace, node, pod } from "../../../src/testing/mod.ts";
import { Deployment } from "../../../src/kinds/apps/v1.ts";
import { Namespace, Node, Pod } from "../../../src/kinds/core/v1.ts";
import { ask, ConfigMap, Lines } from "../../support/fake_server.ts";

const NOW = Date.UTC(2026, 5, 1, 12);
const TABLE = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1,application/json" };

interface Table {
  readonly kind: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[] | null;
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: { readonly kind: string } | null }[];
}

async function table(server: FakeApiServer, path: string): Promise<Table> {
  return (await ask(server, path, { headers: TABLE })).json;
}

/** The columns that are always shown, by name. */
function shown({ columnDefinitions, rows }: Table): Record<string, unknown>[] {
  return rows.map(({ cells }) =>
    Object.fromEntries(cells.flatMap((cell, at) => {
      const { name, priority } = columnDefinitions![at];
      return priority === 0 ? [[name, cell]] : [];
    }))
  );
}

Deno.test("FakeApiServer makes tables of pods, deployments, nodes, namespaces and config maps", async () => {
  const server = new FakeApiServer({ now: () => NOW });
  const created = { creationTimestamp: "2026-06-01T11:30:00Z" };
  const running = pod({ name: "web-0", namespace: "shop" });
  server.create(Pod, { ...running, metadata: { ...running.metadata, ...created } });
  const pods = shown(await table(server, "/api/v1/namespaces/shop/pods"));
  assertEquals(pods.map(({ Ready: _, ...rest }) => rest), [
    { Name: "web-0", Status: running.status?.phase ?? "Pending", Restarts: "0", Age: "30m" },
  ]);
  const web = deployment({ name: "web" });
  server.create(Deployment, {
    ...web,
    spec: { ...web.spec, replicas: 3 },
    status: { readyReplicas: 2, updatedReplicas: 1 },
  });
  assertEquals(shown(await table(server, "/apis/apps/v1/deployments")), [
    {
      Name: "web",
      Ready: "2/3",
      "Up-to-date": 1,
      Available: 0,
      Age: shown(await table(server, "/apis/apps/v1/deployments"))[0].Age,
    },
  ]);
  const worker = node({ name: "n1", labels: { "node-role.kubernetes.io/worker": "" } });
  server.create(Node, {
    ...worker,
    spec: { unschedulable: true },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
  const [{ Name, Status, Roles }] = shown(await table(server, "/api/v1/nodes"));
  assertEquals([Name, Status, Roles], ["n1", "Ready,SchedulingDisabled", "worker"]);
  server.create(Namespace, namespace({ name: "shop" }));
  assertEquals(shown(await table(server, "/api/v1/namespaces"))[0].Status, "Active");
  server.create(ConfigMap, { metadata: { name: "a" }, data: { x: "1", y: "2" } });
  assertEquals(shown(await table(server, "/api/v1/configmaps")), [{ Name: "a", Data: 2, Age: "0s" }]);
  assertEquals(shown(await table(server, "/apis/rbac.authorization.k8s.io/v1/roles")), []);
});

Deno.test("FakeApiServer prints the columns that a custom resource's definition names", async () => {
  const columns = [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Tier", type: "string", jsonPath: ".metadata.labels['example.com/tier']", priority: 1 },
    { name: "Born", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ];
  const server = new FakeApiServer({ now: () => NOW });
  const path = "/apis/example.com/v1/namespaces/default/widgets";
  await ask(server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    method: "POST",
    body: {
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [{ name: "v1", served: true, storage: true, additionalPrinterColumns: columns }],
      },
    },
  });
  const metadata = { name: "w", labels: { "example.com/tier": "web" } };
  await ask(server, path, { method: "POST", body: { metadata, spec: { size: 3 } } });
  const { columnDefinitions, rows } = await table(server, path);
  assertEquals(columnDefinitions!.map(({ name }) => name), ["Name", "Size", "Tier", "Born"]);
  assertEquals(rows[0].cells, ["w", 3, "web", "0s"]);
});

Deno.test("FakeApiServer includes in a row what includeObject selects", async () => {
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { name: "a" } });
  const carried = async (include: string): Promise<unknown> => {
    const { rows } = await table(server, `/api/v1/namespaces/default/configmaps/a?includeObject=${include}`);
    return rows[0].object?.kind ?? null;
  };
  assertEquals([await carried(""), await carried("Object"), await carried("None")], [
    "PartialObjectMetadata",
    "ConfigMap",
    null,
  ]);
  const bad = await ask(server, "/api/v1/configmaps?includeObject=Some", { headers: TABLE });
  assertEquals([bad.status, bad.json.reason], [400, "BadRequest"]);
});

Deno.test("FakeApiServer sends watches as Tables, with the columns in the first one only", async () => {
  const server = new FakeApiServer();
  await using watch = await Lines.open(server, "/api/v1/configmaps?watch=1&resourceVersion=1", TABLE);
  server.create(ConfigMap, { metadata: { name: "a" }, data: { x: "1" } });
  server.delete(ConfigMap, "default/a");
  const [added, deleted] = await watch.take(2);
  assertEquals([added.type, added.object.kind, added.object.columnDefinitions.length], ["ADDED", "Table", 3]);
  assertEquals([deleted.type, deleted.object.columnDefinitions], ["DELETED", null]);
  assertEquals([deleted.object.rows[0].cells.slice(0, 2), deleted.object.metadata], [["a", 1], {
    resourceVersion: "3",
  }]);
});
