// What the fake server says of itself, beside a real server.
import { assertEquals } from "@std/assert";
import { Client } from "@kube/informer";
import { FakeApiServer } from "@kube/informer/testing";
import { isBuiltInGroup } from "../../src/testing/storage/definition.ts";
import { clusterTests } from "./_cluster.ts";

const cluster = clusterTests();

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

interface Group {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly version: string; readonly resources: readonly unknown[] }[];
}

/** The built-in groups of a server, with their resources. */
async function groupsOf(client: Client, path: string): Promise<unknown> {
  const { items } = await (await client.fetch(path, { headers: { accept: AGGREGATED } })).json();
  return (items as Group[]).filter(({ metadata: { name = "" } }) => isBuiltInGroup(name)).map((group) => ({
    name: group.metadata.name ?? "",
    versions: group.versions.map(({ version, resources }) => ({ version, resources })),
  }));
}

cluster.anywhere(
  "the fake server serves the resources that a real server serves, as it lists them",
  async ({ client }) => {
    using copies = new Client({ server: "http://fake", transport: new FakeApiServer() });
    for (const path of ["/api", "/apis"]) assertEquals(await groupsOf(copies, path), await groupsOf(client, path));
  },
);

cluster.anywhere("the fake server has the columns of a real server for each kind", async ({ client }) => {
  using copies = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const kinds = (await client.discover()).filter(({ group, verbs }) => isBuiltInGroup(group) && verbs.includes("list"));
  for (const kind of kinds) {
    const columns = async (of: Client): Promise<unknown> =>
      (await (await of.fetch(pathOf(kind), { headers: { accept: TABLE } })).json()).columnDefinitions;
    assertEquals(await columns(copies), await columns(client), kind.kind);
  }
});

const TABLE = "application/json;g=meta.k8s.io;v=v1;as=Table";

function pathOf({ group, version, plural }: { group: string; version: string; plural: string }): string {
  return `${group === "" ? "/api" : `/apis/${group}`}/${version}/${plural}`;
}
